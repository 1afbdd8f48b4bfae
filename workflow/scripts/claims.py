"""Check the paper's statements."""

from icl_core.artifacts import atomic, write_table
from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.evaluate import claims_table, evaluate
from icl_core.measuring.claims.telling import as_csv, as_markdown
from icl_core.showing.sources import Sources
from workflow.lib.stage import Stage, run, world_of


def main(stage: Stage) -> None:
    """Read, check, write the verdicts three times: for programs, spreadsheets and readers."""
    scale = stage.settings["scale"]
    worlds = {name: world_of(settings) for name, settings in stage.settings["worlds"].items()}
    sources = Sources(scale, worlds, tuple(stage.input))
    table = claims_table(evaluate(read_claims(stage.input.claims), sources))
    write_table(stage.output.parquet, table, stage.provenance())
    texts = {stage.output.csv: as_csv(table), stage.output.md: as_markdown(table, scale)}
    for path, text in texts.items():
        with atomic(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main, snakemake)
