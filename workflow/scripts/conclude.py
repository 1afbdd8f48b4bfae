"""Train the last policy on the last constraint, then keep the best iteration."""

from icl_core.artifacts import read_tensors
from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.constrained_rl import ConstrainedRLSettings
from icl_core.learning.icl.conclusion import conclude
from icl_core.learning.icl.states import ConstraintState, ICLSettings, PolicyState
from workflow.lib.final import write_final
from workflow.lib.stage import Stage, run
from workflow.lib.unfinished import store_of


def main(stage: Stage) -> None:
    """Read every iteration, conclude, write."""
    world, store = stage.world(), store_of(stage)
    settings = stage.build(ConstrainedRLSettings, "constrained_rl")
    final = conclude(
        world,
        read_demonstrations(stage.input.demonstrations, world),
        [ConstraintState.from_tensors(read_tensors(path)) for path in stage.input.constraints],
        [PolicyState.from_tensors(read_tensors(path)) for path in stage.input.policies],
        stage.seeds,
        settings,
        stage.build(ICLSettings, "icl"),
        stage.settings["measuring"]["rollouts"],
        stage.progress(settings.epochs),
        store,
    )
    parts = (final.constraint, final.policy, final.log, final.rollouts)
    write_final(stage, *parts, kept=final.kept)
    store.clear()


if __name__ == "__main__":
    run(main, snakemake)
