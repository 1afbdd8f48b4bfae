"""Adjust the constraint: the demonstrations keep it, the policies so far break it (Algorithm 3)."""

from icl_core.artifacts import read_table, read_tensors, write_table, write_tensors
from icl_core.learning.engine.density import Density
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint, should_stop
from icl_core.learning.methods.icl.continuing import merged_log, with_constraints_of
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.methods.icl.state import ConstraintState, LoopSettings, PolicyState
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import problem_of

LOOP = "learning.icl.loop"


def main(stage: Stage) -> None:
    """Read all policies so far, stop the runs that are close enough, adjust the others, write.

    What the original of a variant has adjusted just so is taken over.
    """
    problem = problem_of(stage)
    policies = [PolicyState.from_tensors(read_tensors(path)) for path in stage.input.policies]
    known = ConstraintState.from_tensors(read_tensors(stage.input.constraint))
    known = known.stop(should_stop(problem, policies, stage.build(LoopSettings, LOOP)))
    original = list(stage.input.original)
    if original:
        there = ConstraintState.from_tensors(read_tensors(original[0]))
        known = known.stop(there.stopped == 0)
    state, log = adjust_constraint(
        problem,
        Density.from_tensors(read_tensors(stage.input.density)),
        policies,
        known,
        stage.build(AdjustmentSettings, "learning.icl.adjustment"),
        Job(stage.progress()),
    )
    if original:
        state = with_constraints_of(state, there, there.stopped == 0)
        log = merged_log(log, read_table(original[1], ADJUSTMENT_SCHEMA), stage.seeds)
    provenance = stage.provenance()
    write_table(stage.output.adjustment, log, provenance)
    write_tensors(stage.output.constraint, state.tensors(), provenance)


if __name__ == "__main__":
    run(main)
