"""Fit the density of the demonstrations' constraint inputs, once per seed."""

from icl_core.artifacts import write_tensors
from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.flow import DensitySettings, fit_density
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read, fit, write."""
    world = stage.world()
    demonstrations = read_demonstrations(stage.input.demonstrations, world)
    settings = stage.build(DensitySettings, "density")
    density = fit_density(world, demonstrations, stage.seeds, settings)
    write_tensors(stage.output[0], density.tensors(), stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
