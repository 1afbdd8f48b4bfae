"""Gridworlds so small that policies can be listed, and experts that are optimal."""

from __future__ import annotations

from itertools import product

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.environments.gridworld import MOVES, Gridworld
from icl_core.learning.exact_policies import Cells, sample_episodes


def two_ways(horizon: int = 3, slip: float = 0.0, discount: float = 1.0) -> Gridworld:
    """From (0, 0) to (0, 2), at once by (0, 1) or by (1, 1): with three steps there is no other."""
    world = make_world("gridworld-a", slip=slip)
    world.starts = np.zeros((7, 7), bool)
    world.starts[0, 0] = True
    world.start_cells, world.goal = np.array([[0, 0]]), (0, 2)
    world.horizon, world.discount = horizon, discount
    return world


def walk(*cells: tuple[int, int], world: Gridworld, times: int = 1) -> Trajectories:
    """An episode through these cells, some times over; actions as the moves say."""
    states = np.array(cells, np.float32)
    moves = [tuple(one) for one in MOVES.tolist()]
    steps = [moves.index(tuple(int(k) for k in step)) for step in np.diff(states, axis=0)]
    rewards = np.array([cell == world.goal for cell in cells], np.float32)
    one = Trajectories(states, np.array([*steps, 0]), rewards, np.array(len(cells)))
    return one[None][[0] * times]


def all_visits(world: Gridworld) -> np.ndarray:
    """(policies, cells): the visits of every deterministic policy from the one start, no slip."""
    found = []
    for actions in product(range(8), repeat=world.horizon - 1):
        cell, visits = np.array([[0.0, 0.0]], np.float32), np.zeros(49)
        for t in range(world.horizon):
            visits[int(cell[0] @ (7, 1))] += world.discount**t
            cell, _, over = world.step(cell, np.array([[*actions, 0][t]]))
            if over[0]:
                break
        found.append(visits)
    return np.unique(found, axis=0)


def optimal_expert(world: Gridworld, constraint: np.ndarray, episodes: int = 50) -> Trajectories:
    """Episodes of the optimum under a constraint."""
    policy = Cells(world).constrained_optimum(constraint, world.threshold).policy()
    stack = np.broadcast_to(policy, (episodes, *policy.shape))
    return sample_episodes(world, stack, np.random.default_rng(0))
