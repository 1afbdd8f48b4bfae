"""Fit the density of the demonstrations' constraint inputs, once per seed."""

import numpy as np

from icl_core.artifacts import write_tensors
from icl_core.demonstrations.files import read_demonstrations
from icl_core.learning.costs import taken_inputs
from icl_core.learning.flow import DensitySettings, fit_density, normal_surprise
from workflow.lib.stage import Stage, run

ROOM = 0.5  # by which a flow that has learned enough may be worse than a normal distribution


def main(stage: Stage) -> None:
    """Read, fit, write."""
    world = stage.world()
    demonstrations = read_demonstrations(stage.input.demonstrations, world)
    settings = stage.build(DensitySettings, "density")
    density = fit_density(world, demonstrations, stage.seeds, settings)
    normal = normal_surprise(density, taken_inputs(world, demonstrations))
    for seed, surprise in zip(stage.seeds, density.mean, strict=True):
        if np.isfinite(normal) and surprise > normal + ROOM:  # infinite: inputs on a line
            stage.warn(
                f"density of {world.name}, seed {seed}: expected -log p of at most {normal:.2f} "
                f"as a normal distribution has it, found {surprise:.2f}; "
                "raise learning.density.epochs"
            )
    write_tensors(stage.output[0], density.tensors(), stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
