"""Draw the constraint network that the first iteration starts from (Algorithm 1, line 3)."""

from icl_core.artifacts import write_tensors
from icl_core.learning.methods.icl.state import ConstraintSettings, initial_constraint
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import problem_of


def main(stage: Stage) -> None:
    """Draw, write."""
    settings = stage.build(ConstraintSettings, "learning.icl.constraint")
    state = initial_constraint(problem_of(stage), settings)
    write_tensors(stage.output[0], state.tensors(), stage.provenance())


if __name__ == "__main__":
    run(main)
