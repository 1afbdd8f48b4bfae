"""Train an expert on the true constraint and keep its trajectories (paper, App. C)."""

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.expert import ExpertSettings, train_expert
from icl_core.demonstrations.files import write_demonstrations
from workflow.lib.stage import Stage, run
from workflow.lib.unfinished import store_of


def main(stage: Stage) -> None:
    """Train, roll out, write."""
    world = stage.world()
    settings = stage.build(ExpertSettings, "demonstrations")
    progress, store = stage.progress(settings.constrained_rl.epochs), store_of(stage)
    expert = train_expert(world, settings, progress, store)
    provenance = stage.provenance()
    write_table(stage.output.training, expert.log, provenance)
    write_tensors(stage.output.policy, expert.policy.tensors(), provenance)
    write_demonstrations(stage.output.trajectories, expert.trajectories, world, provenance)
    store.clear()


if __name__ == "__main__":
    run(main, snakemake)
