"""Six small continuous worlds: points, double integrators, a pendulum and a corridor."""

from __future__ import annotations

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, World

STRIDE = 0.1  # of a point at full speed, in metres a step
PERIOD = 0.1  # s a step, where there are speeds


def axis(name: str, low: float, high: float, nodes: int, unit: str) -> Axis:
    """Evenly spaced nodes from end to end."""
    return Axis(name, np.linspace(low, high, nodes), unit)


class Small(World):
    """What all six share: the state is seen as it is, and starts lie in a box."""

    discount = 0.99
    horizon = 40
    low: np.ndarray  # of the states, which are held within
    high: np.ndarray
    start: np.ndarray
    room: np.ndarray  # how far from there an episode begins

    def __init__(self, name: str):
        super().__init__()
        self.name = name
        self.observation_low, self.observation_high = (
            np.asarray(end, np.float32) for end in (self.low, self.high)
        )

    def initial_states(self, rng, n):
        return self.start + self.room * rng.uniform(-1, 1, size=(n, len(self.start)))

    def constraint_inputs(self, observations, actions):
        return np.asarray(observations, dtype=np.float32)[..., : self.input_size]


class Point(Small):
    """State (x, y); the action is a velocity, cut to a speed of 1; it is after a goal."""

    action_high = np.ones(2, dtype=np.float32)
    action_low = -action_high
    input_resolution = np.full(2, STRIDE / 2)
    low, high = np.array([-1.2, -1.2]), np.array([1.2, 1.2])
    goal = np.array([0.8, 0.8])
    radius = 0.2
    start, room = np.array([-0.8, -0.8]), np.array([0.15, 0.15])
    grid = EvaluationGrid((axis("x", -1.2, 1.2, 25, "m"), axis("y", -1.2, 1.2, 25, "m")))
    disc, disc_radius = np.array([0.05, -0.1]), 0.4

    title, threshold = "Point and disc", 0.5

    def step(self, states, actions, noise=None):
        velocities = np.asarray(actions, dtype=np.float64)
        speed = np.hypot(velocities[:, 0], velocities[:, 1])[:, None]
        moved = np.clip(states + STRIDE * velocities / np.maximum(speed, 1), self.low, self.high)
        return moved, *self.paid(states, moved)

    def paid(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rewards, what a step brings nearer to the goal, and whether it is reached."""
        far, near = (np.hypot(*(places - self.goal).T) for places in (before, after))
        return (far - near).astype(np.float32), near < self.radius

    def true_constraint(self, inputs):
        apart = np.asarray(inputs) - self.disc
        return (np.hypot(apart[..., 0], apart[..., 1]) < self.disc_radius).astype(np.float32)


class PointLine(Point):
    """To leave the middle pays, to the left more than to the right, where a line is to be kept."""

    title, threshold = "Point and line", 1.5
    start, room = np.zeros(2), np.array([0.1, 0.5])
    line = -0.3

    def paid(self, before, after):
        worth = [np.where(x < 0, -1.5, 1.0) * x for x in (before[:, 0], after[:, 0])]
        return (worth[1] - worth[0]).astype(np.float32), np.zeros(len(after), bool)

    def true_constraint(self, inputs):
        return (np.asarray(inputs)[..., 0] < self.line).astype(np.float32)


class Corridor(Point):
    """A narrow way to the right, and a disc that leaves room above it alone."""

    title, threshold = "Corridor and disc", 2.5
    low, high = np.array([-1.5, -0.6]), np.array([1.5, 0.6])
    start, room = np.array([-1.2, -0.1]), np.array([0.1, 0.2])
    goal = np.array([1.2, -0.1])
    disc, disc_radius = np.array([0.0, -0.2]), 0.35
    grid = EvaluationGrid((axis("x", -1.5, 1.5, 31, "m"), axis("y", -0.6, 0.6, 13, "m")))


class Integrator(Small):
    """State (x, v); the action is an acceleration; the way to the right pays, x = 1 ends it."""

    title, threshold = "Double integrator and band", 0.5
    action_high = np.ones(1, dtype=np.float32)
    action_low = -action_high
    low, high = np.array([-1.5, -1.0]), np.array([1.5, 1.0])
    start, room = np.array([-1.0, 0.0]), np.array([0.1, 0.05])
    input_resolution = np.full(2, 0.05)
    grid = EvaluationGrid((axis("x", -1.5, 1.5, 31, "m"), axis("v", -1.0, 1.0, 21, "m/s")))
    band, limit = 0.4, 0.5

    def step(self, states, actions, noise=None):
        force = np.clip(np.asarray(actions, np.float64)[:, 0], -1, 1)
        speed = np.clip(states[:, 1] + 2 * PERIOD * force, self.low[1], self.high[1])
        place = np.clip(states[:, 0] + PERIOD * speed, self.low[0], self.high[0])
        return (
            np.stack([place, speed], axis=1),
            (place - states[:, 0]).astype(np.float32),
            place > 1.0,
        )

    def true_constraint(self, inputs):
        """In a band of places it must be slow."""
        place, speed = np.moveaxis(np.asarray(inputs), -1, 0)
        return ((np.abs(place) < self.band) & (speed > self.limit)).astype(np.float32)


class IntegratorLine(Integrator):
    """A speed limit everywhere, a little of which may be spent."""

    title, threshold = "Double integrator and line", 2.5
    limit = 0.65

    def true_constraint(self, inputs):
        return (np.asarray(inputs)[..., 1] > self.limit).astype(np.float32)


class Pendulum(Small):
    """State (angle from hanging, speed); to rise pays, to the right more; a band is forbidden."""

    title, threshold = "Pendulum and band", 1.5
    action_high = np.ones(1, dtype=np.float32)
    action_low = -action_high
    low, high = np.array([-np.pi, -3.0]), np.array([np.pi, 3.0])
    start, room = np.zeros(2), np.array([0.3, 0.1])
    input_resolution = np.array([0.05])
    grid = EvaluationGrid((axis("angle", -3.1, 3.1, 63, "rad"),))
    band = (0.8, 1.6)

    def step(self, states, actions, noise=None):
        torque = np.clip(np.asarray(actions, np.float64)[:, 0], -1, 1)
        angle, speed = states.T
        speed = np.clip(speed + PERIOD * (4 * torque - 2 * np.sin(angle)), -3, 3)
        turned = np.clip(angle + PERIOD * speed, -np.pi, np.pi)
        gained = self._height(turned) - self._height(angle)
        over = np.abs(turned) > 2.8
        return np.stack([turned, speed], axis=1), gained.astype(np.float32), over

    @staticmethod
    def _height(angle: np.ndarray) -> np.ndarray:
        return (1 - np.cos(angle)) * np.where(angle > 0, 1.5, 1.0)

    def true_constraint(self, inputs):
        angle = np.asarray(inputs)[..., 0]
        return ((angle > self.band[0]) & (angle < self.band[1])).astype(np.float32)


PLANES: dict[str, type[Small]] = {
    "point-disc": Point,
    "point-line": PointLine,
    "integrator-band": Integrator,
    "integrator-line": IntegratorLine,
    "pendulum-band": Pendulum,
    "corridor-disc": Corridor,
}
