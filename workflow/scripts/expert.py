"""Train an expert on the true constraint and keep its trajectories (paper, App. C)."""

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.files import write_demonstrations
from icl_core.learning.experts import ExpertSettings, train_experts
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of


def main(stage: Stage) -> None:
    """Train, roll out, write."""
    world, job = stage.world(), job_of(stage)
    settings = stage.build(ExpertSettings, "demonstrations")
    expert = train_experts(world, settings, [settings.seed], job)
    provenance = stage.provenance()
    write_table(stage.output.training, expert.log, provenance)
    write_tensors(stage.output.policy, expert.policy.tensors(), provenance)
    write_demonstrations(stage.output.trajectories, expert.trajectories[0], world, provenance)
    finish(job)


if __name__ == "__main__":
    run(main)
