"""Train the last policy on the last constraint, then keep the best iteration."""

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.constrained_rl import ConstrainedRLSettings
from icl_core.learning.icl.conclusion import conclude
from icl_core.learning.icl.states import ConstraintState, ICLSettings, PolicyState
from icl_core.measuring.loading import rollouts_table
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read every iteration, conclude, write."""
    world = stage.world()
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
    )
    provenance = stage.provenance()
    tensors = final.constraint.tensors() | {"kept": final.kept}
    write_tensors(stage.output.constraint, tensors, provenance)
    write_tensors(stage.output.policy, final.policy.tensors(), provenance)
    write_table(stage.output.training, final.log, provenance)
    write_table(stage.output.rollouts, rollouts_table(final.rollouts, stage.seeds), provenance)


if __name__ == "__main__":
    run(main, snakemake)
