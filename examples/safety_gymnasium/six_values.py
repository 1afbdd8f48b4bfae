"""A learned cost as safety-gymnasium's users expect it: six values of a step, the third the cost.

    ../omnisafe/.venv/bin/python six_values.py

`SixValues` does what safety-gymnasium's own Gymnasium2SafetyGymnasium does, without needing it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import icl_core as icl

CONSTRAINT = Path(__file__).parents[1] / "omnisafe" / "constraint.safetensors"
EPISODES = 100


class SixValues(gymnasium.Wrapper):
    """Observation, reward, cost, terminated, truncated, info, the cost being info["cost"]."""

    def step(self, action: Any) -> tuple[Any, float, float, bool, bool, dict[str, Any]]:
        """Move, and tell the cost by itself too."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "cost" not in info:
            raise icl.InputError(
                "SixValues: expected a 'cost' in the environment's info, found none; put a learned "
                "one there: SixValues(LearnedCost(env, constraint))"
            )
        return observation, reward, info["cost"], terminated, truncated, info


class Robot(gymnasium.Env):
    """The world "nav" in any Gymnasium; with Gymnasium 1, gymnasium.make("Nav-v0") is the same."""

    def __init__(self) -> None:
        self.world = icl.make_world("nav")
        low, high = self.world.observation_low, self.world.observation_high
        self.observation_space = gymnasium.spaces.Box(low, high)
        self.action_space = gymnasium.spaces.Box(self.world.action_low, self.world.action_high)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Begin near the left edge."""
        super().reset(seed=seed)
        self.steps, self.state = 0, self.world.initial_states(self.np_random, 1)
        return self.state[0].astype(np.float32), {}

    def step(self, action):
        """Move; the true cost is in the info, for comparison."""
        true = float(self.world.true_constraint(self.state)[0])
        self.state, reward, over = self.world.step(self.state, np.asarray(action)[None])
        self.steps += 1
        seen, late = self.state[0].astype(np.float32), self.steps >= self.world.horizon
        return seen, float(reward[0]), bool(over[0]), late, {"cost": true}


def straight(seen: np.ndarray) -> np.ndarray:
    """To the goal, through the disc."""
    way = np.array([1.0, 0.0]) - seen
    return (way / np.hypot(*way)).astype(np.float32)


def around(seen: np.ndarray) -> np.ndarray:
    """Above the disc, then to the goal."""
    way = (np.array([0.0, 0.4]) if seen[0] < -0.05 else np.array([1.0, 0.0])) - seen
    return (way / np.hypot(*way)).astype(np.float32)


def mean_costs(env: gymnasium.Env, policy: Any, discount: float) -> tuple[float, float]:
    """The discounted learned and true cost of an episode."""
    learned = true = 0.0
    for seed in range(EPISODES):
        (seen, _), factor, over = env.reset(seed=seed), 1.0, False
        while not over:
            seen, _, cost, terminated, truncated, info = env.step(policy(seen))
            learned, true = learned + factor * cost, true + factor * info["env_cost"]
            factor, over = factor * discount, terminated or truncated
    return learned / EPISODES, true / EPISODES


def main() -> None:
    """Two drivers, judged by what was learned."""
    constraint = icl.Constraint.load(CONSTRAINT)
    env = SixValues(icl.LearnedCost(Robot(), constraint))
    print(f"beta {constraint.beta:g}, discount {constraint.discount:g}")
    for policy in (straight, around):
        learned, true = mean_costs(env, policy, constraint.discount)
        print(f"{policy.__name__}: learned cost {learned:.2f}, true cost {true:.2f} per episode")


if __name__ == "__main__":
    main()
