"""What the demonstrations determine of the constraint, whatever is learned from them."""

from icl_core.artifacts import write_table
from icl_core.demonstrations.files import read_demonstrations
from icl_core.measuring.determined import determined_rows
from icl_core.measuring.metrics import concatenate
from icl_core.measuring.results import Results
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read each experiment's demonstrations, ask, write."""
    results = Results.from_settings(stage.settings, stage.input)
    tables = []
    for name, world in results.worlds.items():
        (found,) = results.find("demonstrations", experiment=name)
        shown = read_demonstrations(found.path, world)
        tables.append(determined_rows(name, world, shown, results.beta(name)))
    write_table(stage.output[0], concatenate(tables), stage.provenance())


if __name__ == "__main__":
    run(main)
