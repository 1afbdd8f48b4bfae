"""HalfCheetah-Constrained: two legs, kept to z >= -1 (paper, App. C.2)."""

from __future__ import annotations

import numpy as np

from icl_core.environments.robot import START_NOISE, TIME_STEP, Robot

GYMNASIUM_ID = "icl/HalfCheetahConstrained-v0"


class HalfCheetahConstrained(Robot):
    """Two legs in a plane; the reward is the speed, forwards or backwards."""

    title = "HalfCheetah-Constrained"
    model_file = "half_cheetah.xml"
    threshold = 15.0
    horizon = 1000
    positions, velocities = 9, 9
    start_velocities = (0.0, START_NOISE)
    action_high = np.ones(6, dtype=np.float32)
    action_low = -action_high
    observation_high = np.full(18, np.inf, dtype=np.float32)
    observation_low = -observation_high

    def _start_velocities(self, rng, size):
        return rng.uniform(0, START_NOISE, size=size)

    def _rewards(self, states, torques, next_states):
        speed = np.abs(next_states[:, 0] - states[:, 0]) / TIME_STEP
        return speed - 0.1 * np.sum(torques**2, axis=1)
