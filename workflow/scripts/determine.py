"""What the demonstrations determine of the constraint, whatever is learned from them."""

from icl_core.artifacts import write_table
from icl_core.demonstrations.files import read_sets
from icl_core.measuring.determined import NOBODY, determined_rows
from icl_core.measuring.metrics import Run, concatenate
from icl_core.measuring.results import Results
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read each expert's demonstrations, ask, write."""
    results = Results.from_settings(stage.settings, stage.input)
    tables = []
    for name, world in results.worlds.items():
        for found in results.find("demonstrations", experiment=name):
            for seed, shown in read_sets(found.path, world).items():
                run = Run(name, NOBODY, world, [seed or 0])
                tables.append(determined_rows(run, shown, results.beta(name)))
    write_table(stage.output[0], concatenate(tables), stage.provenance())


if __name__ == "__main__":
    run(main)
