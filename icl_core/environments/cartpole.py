"""CartPole: Gymnasium's CartPole with a constraint (paper, App. C.2)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, ExpectedSteps, World, stepped
from icl_core.settings import setting

GRAVITY = 9.8
MASS_POLE = 0.1
MASS_TOTAL = 1.0 + MASS_POLE
FORCE = 10.0
TIME_STEP = 0.02
X_LIMIT = 2.4
ANGLE_LIMIT = 12 * 2 * np.pi / 360
START = 0.05  # how far from 0 the state is at most at the start


class CartPole(World):
    """State (x, x', theta, theta'); action 0 pushes left, 1 pushes right; reward 1 per step.

    The constraint sees (x, a). The grid's nodes are sums of 0.1 in floating
    point, as the authors' are: which of the two sides of a boundary a node such
    as 0.2 falls on is decided by its last bit, and the published CMSE with it.
    """

    @dataclass(frozen=True)
    class Settings(World.Settings):
        """Of both tasks."""

        pole_length: float = setting(
            1.0, "metres; its mass stays the same", above=0.01, at_most=100
        )

    drawing = "icl_core.environments.pictures.synthetic"
    discount = 0.99
    n_actions = 2
    input_resolution = np.array([0.01, 1.0])
    observation_low = np.array([-2 * X_LIMIT, -np.inf, -2 * ANGLE_LIMIT, -np.inf], dtype=np.float32)
    observation_high = -observation_low
    grid = EvaluationGrid(
        (
            Axis("position x", np.arange(-2.4, 2.45, 0.1), "m"),
            Axis("action a", np.arange(2, dtype=np.float64)),
        ),
        sliced_by=1,
    )

    def __init__(self, settings: Settings | None = None):
        given = settings or self.Settings()
        super().__init__(given)
        self.half_length = given.pole_length / 2

    def initial_states(self, rng, n):
        return rng.uniform(-START, START, size=(n, 4))

    def step(self, states, actions, noise=None):
        _, x_dot, theta, theta_dot = np.asarray(states, dtype=np.float64).T
        force = np.where(np.asarray(actions) == 1, FORCE, -FORCE)
        cos, sin, half = np.cos(theta), np.sin(theta), self.half_length
        push = (force + MASS_POLE * half * theta_dot**2 * sin) / MASS_TOTAL
        theta_acc = (GRAVITY * sin - cos * push) / (
            half * (4.0 / 3.0 - MASS_POLE * cos**2 / MASS_TOTAL)
        )
        x_acc = push - MASS_POLE * half * theta_acc * cos / MASS_TOTAL
        # Explicit Euler: positions move with the old velocities.
        derivative = np.stack([x_dot, x_acc, theta_dot, theta_acc], axis=1)
        next_states = states + TIME_STEP * derivative
        failed = (np.abs(next_states[:, 0]) > X_LIMIT) | (np.abs(next_states[:, 2]) > ANGLE_LIMIT)
        return next_states, np.ones(len(states), dtype=np.float32), failed

    def off_start(self, observations):
        return np.maximum(np.abs(observations) - START, 0)

    def expected_steps(self, observations, actions) -> ExpectedSteps:
        expected = stepped(self, observations.astype(np.float64), actions)
        # Observations are rounded: who is hardly beyond a limit may have been hardly within it.
        x, _, theta, _ = np.moveaxis(np.abs(expected.observations), -1, 0)
        surely = (x > X_LIMIT + self.step_room) | (theta > ANGLE_LIMIT + self.step_room)
        return expected._replace(over=surely)

    def constraint_inputs(self, states, actions):
        return np.stack([states[..., 0], actions], axis=-1).astype(np.float32)

    @abstractmethod
    def true_constraint(self, inputs: np.ndarray) -> np.ndarray:
        """The true c, 0 or 1."""
