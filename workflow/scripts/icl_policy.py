"""Train policies under the current constraint (Algorithm 1, line 6; Algorithm 2)."""

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.state import ConstraintState, LoopSettings
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of, problem_of


def main(stage: Stage) -> None:
    """Read the constraint of the iteration before, train, write."""
    job = job_of(stage)
    policy = train_policy(
        problem_of(stage),
        ConstraintState.from_tensors(read_tensors(stage.input.constraint)),
        stage.iteration,
        stage.build(ConstrainedRLSettings, "learning.icl.constrained_rl"),
        stage.build(LoopSettings, "learning.icl.loop"),
        job,
    )
    provenance = stage.provenance()
    write_table(stage.output.training, policy.log, provenance)
    write_tensors(stage.output.policy, policy.tensors(), provenance)
    finish(job)


if __name__ == "__main__":
    run(main)
