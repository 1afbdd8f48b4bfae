"""Robots: Gymnasium's, kept to z >= -1.

z is the paper's name for the position along the world's x axis (App. C.2).
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, World

if TYPE_CHECKING:
    from icl_core.environments.mujoco_batch import Simulation

FRAME_SKIP = 5
TIME_STEP = 0.05  # seconds: FRAME_SKIP steps of the simulation, under the same action
LIMIT = -1.0  # z at and below which the constraint is violated
START_NOISE = 0.1


class Robot(World):
    """Positions and velocities are observed; actions are torques, clipped to [-1, 1].

    The state adds the solver's warm start (see `mujoco_batch`). Nothing terminates an
    episode but the horizon. `threads` simulate a batch; the results do not depend on it.
    """

    model_file: ClassVar[str]
    positions: ClassVar[int]  # numbers in qpos
    velocities: ClassVar[int]  # numbers in qvel

    drawing = "icl_core.environments.pictures.robot"
    discount = 0.99
    input_resolution = np.array([0.05])  # half of the grid's spacing
    # Sums of 0.1 in floating point, as the authors' are: 41 nodes are at or below -1.
    grid = EvaluationGrid((Axis("position z", np.arange(-5, 5.05, 0.1), "m"),))

    def __init__(self, settings: World.Settings | None = None, threads: int = 1):
        super().__init__(settings)
        self.threads = threads

    @property
    def state_size(self) -> int:
        return self.positions + 2 * self.velocities

    @cached_property
    def simulation(self) -> Simulation:
        """Loaded on first use: who only asks for the world's declarations needs no MuJoCo."""
        from icl_core.environments.mujoco_batch import Simulation

        return Simulation(self.model_file, FRAME_SKIP, self.threads)

    def observe(self, states):
        return states[..., : self.positions + self.velocities].astype(np.float32)

    def initial_states(self, rng, n):
        states = np.tile(self.simulation.start, (n, 1))
        moving = slice(self.positions, self.positions + self.velocities)
        states[:, : self.positions] += rng.uniform(
            -START_NOISE, START_NOISE, size=(n, self.positions)
        )
        states[:, moving] += self._start_velocities(rng, (n, self.velocities))
        return states

    def step(self, states, actions, noise=None):
        torques = np.clip(np.asarray(actions, dtype=np.float64), -1, 1)
        next_states = self.simulation.advance(states, torques)
        rewards = self._rewards(states, torques, next_states)
        return next_states, rewards.astype(np.float32), np.zeros(len(states), dtype=bool)

    def constraint_inputs(self, observations, actions):
        return observations[..., :1].astype(np.float32)

    def true_constraint(self, inputs):
        return (inputs[..., 0] <= LIMIT).astype(np.float32)

    @abstractmethod
    def _start_velocities(self, rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        """What is added to the velocities of the model at the start."""

    @abstractmethod
    def _rewards(self, states, torques, next_states) -> np.ndarray:
        """Of a step, (n,)."""
