"""What episodes cost."""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.engine.costs import ConstraintFunction, constraint_values


def episode_costs(
    world: World, constraint: ConstraintFunction, episodes: Trajectories
) -> np.ndarray:
    """The discounted cost of each episode under a constraint."""
    values = constraint_values(world, constraint, episodes[None])[0]
    return accumulate(values, episodes.mask, world.discount)
