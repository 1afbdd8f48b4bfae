"""Episodes from tables of steps, and what they cost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.engine.costs import ConstraintFunction, constraint_values


def episodes_of(rows: pa.Table, world: World) -> Trajectories:
    """The steps of one run, or of demonstrations, as episodes."""
    episode, step = (rows[name].to_numpy() for name in ("trajectory", "step"))
    _, place = np.unique(episode, return_inverse=True)
    shape = int(place.max()) + 1, int(step.max()) + 1
    states, actions = (_matrix(rows[name]) for name in ("state", "action"))
    if world.discrete:
        actions = np.rint(actions[:, 0]).astype(np.int64)

    def spread(values: np.ndarray) -> np.ndarray:
        filled = np.zeros((*shape, *values.shape[1:]), values.dtype)
        filled[place, step] = values
        return filled

    rewards = rows["reward"].to_numpy()
    lengths = np.bincount(place)
    return Trajectories(spread(states), spread(actions), spread(rewards), lengths)


def _matrix(column: pa.ChunkedArray) -> np.ndarray:
    """A column of equally long lists as (rows, length)."""
    return column.combine_chunks().flatten().to_numpy().reshape(len(column), -1)


def episode_costs(
    world: World, constraint: ConstraintFunction, episodes: Trajectories
) -> np.ndarray:
    """The discounted cost of each episode under a constraint."""
    values = constraint_values(world, constraint, episodes[None])[0]
    return accumulate(values, episodes.mask, world.discount)
