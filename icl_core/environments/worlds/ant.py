"""Ant-Constrained: four legs, kept to z >= -1 (paper, App. C.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from icl_core.environments.robot import FRAME_SKIP, START_NOISE, Robot, Simulation
from icl_core.environments.world import World
from icl_core.settings import setting

GYMNASIUM_ID = "icl/AntConstrained-v0"
HEALTHY_HEIGHTS = (0.2, 1.0)  # of the torso, metres
HEIGHT_ROOM = 0.01  # so near to a bound, rounding may decide whether a torso counts as healthy


class AntConstrained(Robot):
    """Four legs on a plane; the reward is the distance from the origin, in any direction."""

    @dataclass(frozen=True)
    class Settings(World.Settings):
        """Of the robot."""

        torso_mass: float = setting(
            1.0,
            "the torso's mass and inertia, as a multiple of the model's",
            above=0.01,
            at_most=100,
        )

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

    def __init__(self, settings: Settings | None = None, threads: int = 1):
        given = settings or self.Settings()
        super().__init__(given, threads)
        self.torso_mass = given.torso_mass

    @cached_property
    def simulation(self) -> Simulation:
        """Loaded on first use, with the torso as heavy as it is to be."""
        if self.torso_mass == 1:
            return super().simulation
        return Laden(self.model_file, self.torso_mass, self.threads)

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


class Laden(Simulation):
    """The same robot with another torso: mass and inertia are a multiple of the model's."""

    def __init__(self, model_file: str, torso_mass: float, threads: int):
        import mujoco

        super().__init__(model_file, FRAME_SKIP, threads)
        torso = self.model.body("torso").id
        self.model.body_mass[torso] *= torso_mass
        self.model.body_inertia[torso] *= torso_mass
        # What MuJoCo derives from masses; and the batch keeps a copy of the model.
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
        self._make_room(1)
