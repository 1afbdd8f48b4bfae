"""Train a stack of ICRL runs."""

from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.icrl import ICRLSettings, train_icrl
from icl_core.learning.on_policy import OnPolicySettings
from workflow.lib.final import write_final
from workflow.lib.stage import Stage, run
from workflow.lib.unfinished import store_of


def main(stage: Stage) -> None:
    """Train, from where a killed job stopped; write."""
    world, store = stage.world(), store_of(stage)
    settings = stage.build(ICRLSettings, "icrl")
    end = train_icrl(
        world,
        read_demonstrations(stage.input.demonstrations, world),
        stage.seeds,
        settings,
        stage.build(OnPolicySettings, "on_policy"),
        stage.settings["constraint"]["hidden"],
        stage.settings["measuring"]["rollouts"],
        stage.progress(settings.iterations),
        store,
    )
    write_final(stage, end.constraint, end.policy, end.log, end.rollouts)
    store.clear()


if __name__ == "__main__":
    run(main, snakemake)
