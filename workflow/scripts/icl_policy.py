"""Train policies under the current constraint (Algorithm 1, line 6; Algorithm 2)."""

from icl_core.artifacts import read_table, read_tensors, write_table, write_tensors
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.training import TRAINING_SCHEMA
from icl_core.learning.methods.icl.continuing import merged_log, with_policies_of
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.state import ConstraintState, LoopSettings, PolicyState
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of, problem_of


def main(stage: Stage) -> None:
    """Read the constraint of the iteration before, train what nobody has trained yet, write."""
    job = job_of(stage)
    state = ConstraintState.from_tensors(read_tensors(stage.input.constraint))
    original = list(stage.input.original)
    if original:
        known = ConstraintState.from_tensors(read_tensors(original[0])).stopped == 0
        state = state.stop(known)
    policy = train_policy(
        problem_of(stage),
        state,
        stage.iteration,
        stage.build(ConstrainedRLSettings, "learning.icl.constrained_rl"),
        stage.build(LoopSettings, "learning.icl.loop"),
        job,
    )
    log = policy.log
    if original:
        there = PolicyState.from_tensors(read_tensors(original[1]))
        policy = with_policies_of(policy, there, known)
        log = merged_log(log, read_table(original[2], TRAINING_SCHEMA), stage.seeds)
    provenance = stage.provenance()
    write_table(stage.output.training, log, provenance)
    write_tensors(stage.output.policy, policy.tensors(), provenance)
    finish(job)


if __name__ == "__main__":
    run(main)
