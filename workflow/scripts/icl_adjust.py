"""Adjust the constraint: the demonstrations keep it, the policies so far break it (Algorithm 3)."""

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.learning.engine.density import Density
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint, should_stop
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.methods.icl.state import ConstraintState, LoopSettings, PolicyState
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import problem_of


def main(stage: Stage) -> None:
    """Read all policies so far, stop the runs that are close enough, adjust the others, write."""
    problem = problem_of(stage)
    policies = [PolicyState.from_tensors(read_tensors(path)) for path in stage.input.policies]
    known = ConstraintState.from_tensors(read_tensors(stage.input.constraint))
    loop = stage.build(LoopSettings, "learning.icl.loop")
    state, log = adjust_constraint(
        problem,
        Density.from_tensors(read_tensors(stage.input.density)),
        policies,
        known.stop(should_stop(problem, policies, loop)),
        stage.build(AdjustmentSettings, "learning.icl.adjustment"),
        Job(stage.progress()),
    )
    provenance = stage.provenance()
    write_table(stage.output.adjustment, log, provenance)
    write_tensors(stage.output.constraint, state.tensors(), provenance)


if __name__ == "__main__":
    run(main)
