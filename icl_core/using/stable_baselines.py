"""PPO of Stable-Baselines3 in a vector of Gymnasium's, learned costs and budgets included.

Stable-Baselines3 has vectors of its own kind. Those of Gymnasium step all worlds at once, several
times as fast as one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

STEPS, BATCH = 16, 512  # of a rollout in each environment, and of an update
# PPO values what lies beyond the horizon as if the episode went on: with a discount of 1 it would
# have all the time in the world, and never go to the goal.
PATIENCE = 0.99


class Vector(VecEnv):
    """A vector of Gymnasium's that can reset single rows (`reset_mask`).

    The episode after one that has ended begins at once; its last observation is told beside.
    """

    def __init__(self, env: VectorEnv):
        self.env = env
        self._actions = np.zeros(0)
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        """Start all episodes, from the seed that was given last."""
        observations, _ = self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """What `step_wait` is to do."""
        self._actions = actions

    def step_wait(self):
        """Move all."""
        observations, rewards, terminated, truncated, _ = self.env.step(self._actions)
        over = terminated | truncated
        infos: list[dict] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(over).tolist():
            cut = bool(truncated[row] and not terminated[row])
            infos[row] = {"terminal_observation": observations[row], "TimeLimit.truncated": cut}
        if over.any():
            observations, _ = self.env.reset(options={"reset_mask": over})
        return observations, rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Nothing is held."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """All rows have the same."""
        return [getattr(self.env, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Rows have nothing of their own."""
        raise AttributeError(f"{attr_name}: rows of a vector of Gymnasium's cannot be changed")

    def env_method(self, method_name: str, *args, indices: Any = None, **kwargs) -> list[Any]:
        """Rows have nothing of their own."""
        raise AttributeError(f"{method_name}: rows of a vector of Gymnasium's have no methods")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Rows are not wrapped one by one."""
        return [False] * self.num_envs


def train_ppo(
    env: VectorEnv, steps: int, discount: float, seed: int
) -> Callable[[np.ndarray], np.ndarray]:
    """Train for about so many steps: a function from observations to actions that it draws."""
    torch.set_num_threads(1)
    length = max(2, min(STEPS, steps // env.num_envs))
    agent = PPO(
        "MlpPolicy",
        Vector(env),
        learning_rate=1e-3,
        n_steps=length,
        batch_size=min(BATCH, length * env.num_envs),
        gamma=min(discount, PATIENCE),
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    agent.learn(steps)
    return lambda observations: agent.predict(observations)[0]
