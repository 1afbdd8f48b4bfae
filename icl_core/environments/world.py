"""What every environment declares, in one place.

A `World` is the paper's CMDP (S, A, p, mu, r, gamma) with its constraint
function c and threshold beta. It is written over batches: `initial_states`
draws n start states and `step` moves n episodes at once, so that a stack of
independent runs can be simulated together. It keeps no state and no random
generator of its own: randomness is passed in, which is what makes a run
reproducible and independent of the runs it is stacked with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Axis:
    """One input of the constraint function and the nodes at which it is evaluated."""

    name: str
    nodes: np.ndarray  # (n,) evenly spaced, increasing
    unit: str = ""

    @property
    def label(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """Index of the nearest node, or -1 where a value lies outside the grid."""
        spacing = self.nodes[1] - self.nodes[0]
        index = np.rint((values - self.nodes[0]) / spacing)
        # Compared before the cast: NaN, infinite and huge values are outside, without a warning.
        inside = (index >= 0) & (index < len(self.nodes))
        return np.where(inside, index, -1).astype(np.int64)


@dataclass(frozen=True)
class EvaluationGrid:
    """The nodes on which constraints are compared (CMSE) and visits counted (NAD).

    `sliced_by` names an axis whose slices are compared separately: CartPole's
    accruals are normalised per action and their distances added (paper, App. C).
    """

    axes: tuple[Axis, ...]
    sliced_by: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.nodes) for axis in self.axes)

    @cached_property
    def nodes(self) -> np.ndarray:
        """All nodes, (n, inputs), last axis fastest."""
        mesh = np.meshgrid(*(axis.nodes for axis in self.axes), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=-1)

    def locate(self, inputs: np.ndarray) -> np.ndarray:
        """Flat node index of each row of constraint inputs (..., k); -1 outside."""
        index = [axis.nearest(inputs[..., k]) for k, axis in enumerate(self.axes)]
        outside = np.any([i < 0 for i in index], axis=0)
        flat = np.ravel_multi_index([np.maximum(i, 0) for i in index], self.shape)
        return np.where(outside, -1, flat)


class World(ABC):
    """A constrained environment; see the module's docstring."""

    name: str  # as it appears in configuration, paths and tables
    title: str  # as the paper writes it
    gymnasium_id: str
    discount: float  # gamma
    threshold: float  # beta
    horizon: int  # steps after which an episode ends
    n_actions: int  # actions are 0 .. n_actions - 1
    observation_low: np.ndarray  # (state_size,)
    observation_high: np.ndarray  # (state_size,)
    grid: EvaluationGrid
    noise_size: int = 0  # uniform draws that `step` needs per episode
    input_resolution: np.ndarray  # (inputs,) spacing below which two inputs count as the same

    @property
    def state_size(self) -> int:
        return len(self.observation_low)

    @property
    def input_size(self) -> int:
        """Number of inputs of the constraint function."""
        return len(self.grid.axes)

    @abstractmethod
    def initial_states(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n start states from mu, (n, state_size), as precise as the simulation needs them."""

    @abstractmethod
    def step(
        self, states: np.ndarray, actions: np.ndarray, noise: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Move (n, state_size) states: next states, rewards (n,), terminated (n,).

        `noise` holds (n, noise_size) uniform draws where the world needs them.
        The horizon is kept by whoever rolls out, not here.
        """

    @abstractmethod
    def constraint_inputs(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """What the constraint function sees of (s, a): (..., input_size) float32."""

    @abstractmethod
    def true_constraint(self, inputs: np.ndarray) -> np.ndarray:
        """The true c at inputs (..., input_size), 0 or 1. For experts and scoring only."""

    @cached_property
    def true_on_grid(self) -> np.ndarray:
        """The true c at the grid's nodes, flat."""
        return self.true_constraint(self.grid.nodes).astype(np.float64)
