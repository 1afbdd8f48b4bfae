"""What a constraint sees of an observation and an action: a few numbers, each along an axis.

All worlds of the paper, and whoever chooses components by name, see linear functions of the two:
these can be written to a file and used without the world. A function of one's own cannot, so it
must be given again to whoever reads the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, World

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (..., size), (..., size) -> (..., k)


@dataclass(frozen=True)
class Inputs:
    """From observations and actions to the k inputs of a constraint.

    Input k is what `function` gives, or the k-th row of `weights` times the joined observation and
    action (one of n actions is the number that it has); then `offset` is added.
    """

    grid: (
        EvaluationGrid  # an axis for each input: its name, unit, and the nodes that it is drawn at
    )
    observation_size: int
    action_size: int  # 1 for one of n actions
    weights: (
        np.ndarray
    )  # (inputs, observation_size + action_size) float32; of a function (inputs, inputs)
    offset: np.ndarray  # (inputs,) float32
    function: Function | None = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.grid.axes

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    def __call__(self, observations: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """(..., inputs) float32 of observations (..., size) and actions (...) or (..., size)."""
        if self.function is not None:
            seen = np.asarray(self.function(observations, actions), np.float32)
        else:
            observations = np.asarray(observations, np.float32)
            actions = np.asarray(actions, np.float32)
            if actions.ndim < observations.ndim:
                actions = actions[..., None]
            seen = np.concatenate([observations, actions], axis=-1)
        return seen @ self.weights.T + self.offset


def inputs_of(world: World) -> Inputs:
    """What the constraints of a world see, as a linear function: found by trying.

    A world whose inputs are no linear function keeps its own.
    """
    size = world.observation_size + world.action_size

    def seen(joined: np.ndarray) -> np.ndarray:
        observations, actions = np.split(joined, [world.observation_size], axis=-1)
        return world.constraint_inputs(observations, actions[..., 0] if world.discrete else actions)

    zero = np.zeros((1, size), np.float32)
    offset = seen(zero)[0]
    weights = (seen(np.eye(size, dtype=np.float32)) - offset).T
    trial = np.random.default_rng(0).uniform(-9, 9, (16, size)).astype(np.float32)
    linear = np.allclose(trial @ weights.T + offset, seen(trial), atol=1e-4)
    rest = (world.observation_size, world.action_size)
    if linear:
        return Inputs(world.grid, *rest, weights, offset)
    k = world.input_size
    own = world.constraint_inputs
    return Inputs(world.grid, *rest, np.eye(k, dtype=np.float32), np.zeros(k, np.float32), own)
