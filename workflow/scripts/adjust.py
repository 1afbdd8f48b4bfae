"""Adjust the constraint: the demonstrations keep it, the policies so far break it (Algorithm 3)."""

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.adjustment import AdjustmentSettings
from icl_core.learning.flow import Density
from icl_core.learning.icl.constraints import adjust_constraint
from icl_core.learning.icl.states import ConstraintState, ICLSettings, PolicyState
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read all policies so far, adjust, write."""
    world = stage.world()
    settings = stage.build(AdjustmentSettings, "adjustment")
    state, log = adjust_constraint(
        world,
        read_demonstrations(stage.input.demonstrations, world),
        Density.from_tensors(read_tensors(stage.input.density)),
        [PolicyState.from_tensors(read_tensors(path)) for path in stage.input.policies],
        ConstraintState.from_tensors(read_tensors(stage.input.constraint)),
        stage.seeds,
        settings,
        stage.build(ICLSettings, "icl"),
        stage.progress(len(stage.seeds)),
    )
    provenance = stage.provenance()
    write_table(stage.output.adjustment, log, provenance)
    write_tensors(stage.output.constraint, state.tensors(), provenance)


if __name__ == "__main__":
    run(main, snakemake)
