"""How far policies are from what their runs were shown: a choice that needs no true constraint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.learning.problem import Problem


def dissimilarities(problem: Problem, runs: Sequence[int], episodes: Trajectories) -> np.ndarray:
    """NAD of the episodes (runs, episodes) of some runs to what each of them was shown, (runs,)."""
    world = problem.world
    experts = problem.of_each(lambda shown: visits(world, shown))
    agents = zip(runs, visits(world, episodes), strict=True)
    return np.array(
        [accrual_dissimilarity(world.grid, experts[run], agent) for run, agent in agents]
    )
