"""Train a stack of GAIL-Constraint runs."""

from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.gail_constraint import GAILSettings, rollouts_of, train_gail_constraint
from icl_core.learning.on_policy import OnPolicySettings
from workflow.lib.final import write_final
from workflow.lib.stage import Stage, run
from workflow.lib.unfinished import store_of


def main(stage: Stage) -> None:
    """Train, from where a killed job stopped; write."""
    world, store = stage.world(), store_of(stage)
    settings = stage.build(GAILSettings, "gail_constraint")
    ppo = stage.build(OnPolicySettings, "on_policy")
    end = train_gail_constraint(
        world,
        read_demonstrations(stage.input.demonstrations, world),
        stage.seeds,
        settings,
        ppo,
        stage.settings["constraint"]["hidden"],
        stage.settings["measuring"]["rollouts"],
        stage.progress(rollouts_of(settings, ppo)),
        store,
    )
    write_final(stage, end.constraint, end.policy, end.log, end.rollouts)
    store.clear()


if __name__ == "__main__":
    run(main, snakemake)
