"""Nav: a point robot on a plane, and a disc on the straight way to its goal. Not of the paper."""

from __future__ import annotations

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, ExpectedSteps, World, stepped

GYMNASIUM_ID = "Nav-v0"
WALL = 1.5  # metres from the middle, on all four sides
STRIDE = 0.1  # metres per step at full speed
START, START_ROOM = np.array([-1.0, 0.0]), np.array([0.1, 0.2])  # its middle, and how far from it
GOAL, GOAL_RADIUS = np.array([1.0, 0.0]), 0.2
# A little below the straight way, so that there is one shortest way round and not two.
DISC, DISC_RADIUS = np.array([0.0, -0.1]), 0.4
PIXELS = 80  # per metre


class Nav(World):
    """State (x, y); the action is a velocity, cut to a speed of 1; the episode ends at the goal.

    The reward is what a step brings nearer to the goal: in all the same on every way there, so
    that to avoid the disc costs time alone, and a crossing that is cut short is paid less.
    """

    title = "Point robot"
    drawing = __name__
    observation_names = ("x", "y")
    action_names = ("vx", "vy")
    discount = 0.99
    threshold = 0.5  # less than one step in the disc: the expert keeps out
    horizon = 40
    action_high = np.ones(2, dtype=np.float32)
    action_low = -action_high
    observation_high = np.full(2, WALL, dtype=np.float32)
    observation_low = -observation_high
    input_resolution = np.full(2, STRIDE / 2)
    grid = EvaluationGrid(
        (
            Axis("position x", np.arange(-15, 16) / 10, "m"),
            Axis("position y", np.arange(-15, 16) / 10, "m"),
        )
    )

    def initial_states(self, rng, n):
        return START + START_ROOM * rng.uniform(-1, 1, size=(n, 2))

    def step(self, states, actions, noise=None):
        velocities = np.asarray(actions, dtype=np.float64)
        speed = np.hypot(velocities[:, 0], velocities[:, 1])[:, None]
        moved = np.clip(states + STRIDE * velocities / np.maximum(speed, 1), -WALL, WALL)
        before, after = to_goal(states), to_goal(moved)
        return moved, (before - after).astype(np.float32), after < GOAL_RADIUS

    def off_start(self, observations):
        return np.maximum(np.abs(observations - START) - START_ROOM, 0)

    def expected_steps(self, observations, actions) -> ExpectedSteps:
        expected = stepped(self, observations.astype(np.float64), actions)
        # Observations are rounded: who has hardly arrived may have been hardly away.
        surely = to_goal(expected.observations) < GOAL_RADIUS - self.step_room
        return expected._replace(over=surely)

    def constraint_inputs(self, observations, actions):
        return np.asarray(observations, dtype=np.float32)

    def true_constraint(self, inputs):
        apart = inputs - DISC
        return (np.hypot(apart[..., 0], apart[..., 1]) < DISC_RADIUS).astype(np.float32)


def to_goal(places: np.ndarray) -> np.ndarray:
    """Distance of (..., 2) places from the goal."""
    apart = places - GOAL
    return np.hypot(apart[..., 0], apart[..., 1])


def picture(world: Nav, state: np.ndarray) -> np.ndarray:
    """The plane from above: the disc red, the goal green, the robot blue."""
    from icl_core.environments.pictures import BLUE, GREEN, RED, WHITE

    side = np.arange(int(2 * WALL * PIXELS)) / PIXELS - WALL
    x, y = np.meshgrid(side, -side)
    image = np.full((len(side), len(side), 3), WHITE, dtype=np.uint8)
    image[world.true_constraint(np.stack([x, y], axis=-1)) > 0] = RED
    image[np.hypot(x - GOAL[0], y - GOAL[1]) < GOAL_RADIUS] = GREEN
    image[np.hypot(x - state[0], y - state[1]) < 0.05] = BLUE
    return image
