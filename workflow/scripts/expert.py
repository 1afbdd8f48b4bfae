"""Train an expert for each seed on the true constraint; keep its trajectories (paper, App. C)."""

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.files import write_demonstrations
from icl_core.learning.experts import ExpertSettings, train_experts
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of


def main(stage: Stage) -> None:
    """Train, roll out, write."""
    world, job = stage.world(), job_of(stage)
    settings, seeds = stage.build(ExpertSettings, "demonstrations"), stage.seeds
    experts = train_experts(world, settings, seeds, job)
    provenance = stage.provenance()
    write_table(stage.output.training, experts.log, provenance)
    write_tensors(stage.output.policy, experts.policy.tensors(), provenance)
    shown = stage.output.trajectories
    write_demonstrations(shown, experts.trajectories, world, provenance, seeds)
    finish(job)


if __name__ == "__main__":
    run(main)
