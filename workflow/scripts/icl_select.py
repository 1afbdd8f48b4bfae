"""Train the last policy on the last constraint, then keep the best iteration."""

from icl_core.artifacts import read_tensors
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.methods.icl.selection import select_final
from icl_core.learning.methods.icl.state import ConstraintState, LoopSettings, PolicyState
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of, problem_of, write_outcome


def main(stage: Stage) -> None:
    """Read every iteration, select, write."""
    job = job_of(stage)
    outcome = select_final(
        problem_of(stage),
        [ConstraintState.from_tensors(read_tensors(path)) for path in stage.input.constraints],
        [PolicyState.from_tensors(read_tensors(path)) for path in stage.input.policies],
        stage.build(ConstrainedRLSettings, "learning.icl.constrained_rl"),
        stage.build(LoopSettings, "learning.icl.loop"),
        job,
    )
    write_outcome(stage, outcome)
    finish(job)


if __name__ == "__main__":
    run(main)
