"""Fit the density of the demonstrations' constraint inputs, once per seed (Algorithm 1, line 2)."""

import numpy as np

from icl_core.artifacts import write_tensors
from icl_core.learning.engine.costs import visited_inputs
from icl_core.learning.engine.density import DensitySettings, normal_surprise
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.training import Job
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import problem_of

ROOM = 0.5  # by which a flow that has learned enough may be worse than a normal distribution


def main(stage: Stage) -> None:
    """Read, fit, write."""
    problem = problem_of(stage)
    settings = stage.build(DensitySettings, "learning.icl.density")
    density = fit_density(problem, settings, Job(stage.progress()))
    shown = problem.of_each(lambda one: visited_inputs(problem.world, one))
    for k, seed in enumerate(stage.seeds):
        normal, surprise = normal_surprise(density, k, shown[k]), density.mean[k]
        # The normal distribution's is infinite where inputs lie on a line.
        if np.isfinite(normal) and surprise > normal + ROOM and not density.failed[k]:
            stage.warn(
                f"density of {problem.world.name}, seed {seed}: expected -log p of at most "
                f"{normal:.2f} as a normal distribution has it, found {surprise:.2f}; "
                "raise learning.icl.density.epochs"
            )
    write_tensors(stage.output[0], density.tensors(), stage.provenance())


if __name__ == "__main__":
    run(main)
