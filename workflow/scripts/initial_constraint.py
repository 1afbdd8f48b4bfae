"""Draw the constraint network that the first iteration starts from."""

from icl_core.artifacts import write_tensors
from icl_core.learning.icl.states import initial_constraint
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Draw, write."""
    state = initial_constraint(stage.world(), stage.seeds, **stage.settings["constraint"])
    write_tensors(stage.output[0], state.tensors(), stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
