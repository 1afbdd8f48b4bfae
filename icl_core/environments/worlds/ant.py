"""Ant-Constrained: four legs, kept to z >= -1 (paper, App. C.2)."""

from __future__ import annotations

import numpy as np

from icl_core.environments.robot import START_NOISE, Robot

GYMNASIUM_ID = "icl/AntConstrained-v0"
HEALTHY_HEIGHTS = (0.2, 1.0)  # of the torso, metres
HEIGHT_ROOM = 0.01  # so near to a bound, rounding may decide whether a torso counts as healthy


class AntConstrained(Robot):
    """Four legs on a plane; the reward is the distance from the origin, in any direction."""

    title = "Ant-Constrained"
    model_file = "ant.xml"
    threshold = 5.0
    horizon = 500
    positions, velocities = 15, 14
    start_velocities = (-10 * START_NOISE, 10 * START_NOISE)  # ten standard deviations
    action_high = np.ones(8, dtype=np.float32)
    action_low = -action_high
    observation_high = np.full(29, np.inf, dtype=np.float32)
    observation_low = -observation_high

    def expected_steps(self, observations, actions):
        expected = super().expected_steps(observations, actions)
        height = expected.observations[..., 2, None]
        doubtful = (np.abs(height - HEALTHY_HEIGHTS) < HEIGHT_ROOM).any(axis=-1)
        return expected._replace(rewards=np.where(doubtful, np.nan, expected.rewards))

    def _start_velocities(self, rng, size):
        return START_NOISE * rng.standard_normal(size)

    def _rewards(self, states, torques, next_states):
        x, y, height = next_states[:, :3].T
        low, high = HEALTHY_HEIGHTS
        seen = next_states[:, : self.positions + self.velocities]
        healthy = np.isfinite(seen).all(axis=1) & (low <= height) & (height <= high)
        return np.hypot(x, y) + healthy - 0.5 * np.sum(torques**2, axis=1)
