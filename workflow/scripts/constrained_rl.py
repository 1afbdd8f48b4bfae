"""Train policies under the current constraint (paper, Algorithm 2)."""

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.constrained_rl import ConstrainedRLSettings
from icl_core.learning.icl.policies import improve_policy
from icl_core.learning.icl.states import ConstraintState, ICLSettings
from workflow.lib.stage import Stage, run
from workflow.lib.unfinished import store_of


def main(stage: Stage) -> None:
    """Read the constraint of the iteration before, train, write."""
    world, store = stage.world(), store_of(stage)
    settings = stage.build(ConstrainedRLSettings, "constrained_rl")
    policy = improve_policy(
        world,
        read_demonstrations(stage.input.demonstrations, world),
        ConstraintState.from_tensors(read_tensors(stage.input.constraint)),
        stage.iteration,
        stage.seeds,
        settings,
        stage.build(ICLSettings, "icl"),
        stage.progress(settings.epochs),
        store,
    )
    provenance = stage.provenance()
    write_table(stage.output.training, policy.log, provenance)
    write_tensors(stage.output.policy, policy.tensors(), provenance)
    store.clear()


if __name__ == "__main__":
    run(main, snakemake)
