"""Check the paper's statements."""

from icl_core.artifacts import of_files, write_table
from icl_core.disk import write_whole
from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.evaluate import as_csv, as_markdown, claims_table, evaluate
from icl_core.measuring.results import Results
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read, check, write the verdicts three times: for programs, spreadsheets and readers."""
    results = Results.from_settings(stage.settings, stage.input)
    table = claims_table(evaluate(read_claims(stage.input.claims), results))
    texts = {stage.output.csv: as_csv(table), stage.output.md: as_markdown(table, results.scale)}
    for path, text in texts.items():
        write_whole(path, text)
    described = stage.provenance() | of_files(stage.output.parquet, texts)
    write_table(stage.output.parquet, table, described)


if __name__ == "__main__":
    run(main)
