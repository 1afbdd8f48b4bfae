"""A seventh continuous world: who falls earns no more. Every step pays, as in no other one here."""

from __future__ import annotations

import numpy as np

from develop.planes import PERIOD, Small, axis
from icl_core.environments.world import EvaluationGrid


class Balance(Small):
    """State (place, speed); what leaves the middle is driven on. To stand pays, more on the right.

    A beginner falls within some ten steps: methods that shape rewards can teach it to.
    """

    title, threshold = "Balance and line", 1.5
    action_high = np.ones(1, dtype=np.float32)
    action_low = -action_high
    horizon = 60
    low, high = np.array([-1.2, -3.0]), np.array([1.2, 3.0])
    start, room = np.zeros(2), np.array([0.2, 0.1])
    input_resolution = np.array([0.02])
    grid = EvaluationGrid((axis("place", -1.0, 1.0, 41, "m"),))
    line, fallen = 0.3, 1.0

    def step(self, states, actions, noise=None):
        push = np.clip(np.asarray(actions, np.float64)[:, 0], -1, 1)
        place, speed = states.T
        speed = np.clip(speed + PERIOD * (2 * place + 3 * push), self.low[1], self.high[1])
        moved = np.clip(place + PERIOD * speed, self.low[0], self.high[0])
        return (
            np.stack([moved, speed], axis=1),
            (1 + 2 * place).astype(np.float32),
            np.abs(moved) > self.fallen,
        )

    def true_constraint(self, inputs):
        return (np.asarray(inputs)[..., 0] > self.line).astype(np.float32)
