"""PPO of Stable-Baselines3 in a vector of Gymnasium's, kept to a cost limit by a multiplier.

Stable-Baselines3 has vectors of its own kind. Those of Gymnasium step all worlds at once, several
times as fast as one by one. The cost's weight in the reward begins at 0 and follows the discounted
cost of the episodes that ended: so agents first learn what pays, then to do without what costs, and
no weight has to be chosen for each world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

STEPS, BATCH = 16, 512  # of a rollout in each environment, and of an update
# PPO values what lies beyond the horizon as if the episode went on: with a discount of 1 it would
# have all the time in the world, and never go to the goal.
PATIENCE = 0.99
ENTROPY = 0.01  # its weight


class Vector(VecEnv):
    """A vector of Gymnasium's that can reset single rows (`reset_mask`).

    The episode after one that has ended begins at once; its last observation is told beside.
    `spent` collects the discounted cost of every episode that ends.
    """

    def __init__(self, env: VectorEnv, discount: float = 1.0):
        self.env, self.discount = env, discount
        self.spent: list[float] = []
        self._actions = np.zeros(0)
        self._sum, self._factor = np.zeros(env.num_envs), np.ones(env.num_envs)
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        """Start all episodes, from the seed that was given last."""
        observations, _ = self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._sum[:], self._factor[:] = 0.0, 1.0
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """What `step_wait` is to do."""
        self._actions = actions

    def step_wait(self):
        """Move all."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        over = terminated | truncated
        self._sum += self._factor * info["cost"]
        self._factor *= self.discount
        self.spent += self._sum[over].tolist()
        self._sum[over], self._factor[over] = 0.0, 1.0
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


class Multiplier(BaseCallback):
    """After each rollout, raises the weight of the cost in the reward where beta was exceeded."""

    def __init__(self, vector: Vector, beta: float, rate: float):
        super().__init__()
        self.vector, self.beta, self.rate = vector, beta, rate
        self.priced: Any = vector.env  # a PenaliseCost

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.vector.spent:
            # In betas, and bounded: costs far beyond beta must not throw the reward away at once.
            excess = np.clip(np.mean(self.vector.spent) / self.beta - 1, -1, 1)
            self.priced.weight = max(0.0, self.priced.weight + self.rate * float(excess))
            self.vector.spent.clear()


class Limit(NamedTuple):
    """What an agent may spend, and how fast its multiplier follows; a rate of 0: as it likes."""

    beta: float
    rate: float


def train_ppo(
    env: VectorEnv, steps: int, discount: float, seed: int, limit: Limit
) -> Callable[[np.ndarray], np.ndarray]:
    """Train for about so many steps: a function from observations to actions that it draws.

    `env` is a PenaliseCost, whose weight is moved.
    """
    torch.set_num_threads(1)
    vector = Vector(env, discount)
    length = max(2, min(STEPS, steps // env.num_envs))
    agent = PPO(
        "MlpPolicy",
        vector,
        learning_rate=1e-3,
        n_steps=length,
        batch_size=min(BATCH, length * env.num_envs),
        gamma=min(discount, PATIENCE),
        ent_coef=ENTROPY,
        seed=seed,
        device="cpu",
    )
    # The logger that it would make leaves a folder in /tmp for every agent.
    agent.set_logger(Logger(None, []))
    agent.learn(steps, callback=Multiplier(vector, *limit))
    return lambda observations: agent.predict(observations)[0]
