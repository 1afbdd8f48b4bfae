"""Constraint functions, and what trajectories cost under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, discounts, zero_after_end
from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks
from icl_core.randomness import generators

# c on constraint inputs: (runs, n, inputs) -> (runs, n)
ConstraintFunction = Callable[[np.ndarray], np.ndarray]


def no_constraint(inputs: np.ndarray) -> np.ndarray:
    """The empty constraint: nothing is forbidden."""
    return np.zeros(inputs.shape[:-1], np.float32)


def fresh_constraints(world: World, seeds: Sequence[int], hidden: Sequence[int]) -> Networks:
    """A new constraint network for each run, the same whatever the method: c = sigmoid(output)."""
    return Networks.initialise(generators(seeds, "constraint"), (world.input_size, *hidden, 1))


def visited_inputs(world: World, episodes: Trajectories) -> np.ndarray:
    """The constraint inputs of all steps that were taken, episode after episode: (n, inputs)."""
    return world.constraint_inputs(episodes.states, episodes.actions)[episodes.mask]


def constraint_values(
    world: World, constraint: ConstraintFunction, episodes: Trajectories
) -> np.ndarray:
    """c(s_t, a_t) of a (runs, episodes) stack, (runs, episodes, steps), zero beyond the end."""
    inputs = world.constraint_inputs(episodes.states, episodes.actions)
    flat = inputs.reshape(len(inputs), -1, inputs.shape[-1])
    return constraint(flat).reshape(inputs.shape[:-1]) * episodes.mask


def truncate(
    episodes: Trajectories, costs: np.ndarray, discount: float, beta: float
) -> Trajectories:
    """End each episode with the step at which its running discounted cost reaches beta."""
    running = np.cumsum(costs * discounts(discount, costs.shape[-1]), axis=-1)
    reached = (running < beta).sum(axis=-1) + 1  # costs are not negative
    lengths = np.minimum(episodes.lengths, reached)
    kept = np.arange(costs.shape[-1]) < lengths[..., None]
    return Trajectories(
        zero_after_end(episodes.states, kept),
        zero_after_end(episodes.actions, kept),
        zero_after_end(episodes.rewards, kept),
        lengths,
    )
