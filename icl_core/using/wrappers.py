"""Gymnasium environments with a learned cost: shown, taken off the reward, or with a budget.

`LearnedCost`, `PenaliseCost` and `CostBudget` take one environment or a vector of them. All speak
`info["cost"]`, as safe-RL libraries do: PenaliseCost and CostBudget also work on an environment
that gives a cost of its own, as those of this package do.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv

from icl_core.using.constraint import Constraint
from icl_core.using.costs import Budget, checked_weight, no_cost

Env = gymnasium.Env | VectorEnv


def LearnedCost(env: Env, constraint: Constraint) -> Any:
    """Put c(s_t, a_t) of every step into `info["cost"]`, and its deviation over seeds beside it.

    That is `info["cost_std"]`. s_t is the observation before the step. A cost of the environment's
    own moves to `info["env_cost"]`. In a vector, the step that only begins a new episode has no
    cost: `info["_cost"]` is False there.
    """
    if isinstance(env, VectorEnv):
        return _vectors().VectorLearnedCost(env, constraint)
    return SingleLearnedCost(env, constraint)


def PenaliseCost(env: Env, weight: float) -> Any:
    """Take `weight` times `info["cost"]` off every reward."""
    weight = checked_weight(weight)
    if isinstance(env, VectorEnv):
        return _vectors().VectorPenaliseCost(env, weight)
    return SinglePenaliseCost(env, weight)


def CostBudget(
    env: Env, limit: float | None = None, discount: float | None = None, end: str = "terminate"
) -> Any:
    """End an episode whose discounted sum of costs, `info["cost_sum"]`, reaches the limit.

    Limit and discount are beta and gamma of the constraint of a LearnedCost below, unless given.
    `end` says how: "terminate", as a failure, or "truncate", as a limit of time.
    """
    budget = Budget.of(_constraint_below(env), limit, discount, end)
    if isinstance(env, VectorEnv):
        return _vectors().VectorCostBudget(env, budget)
    return SingleCostBudget(env, budget)


class SingleLearnedCost(gymnasium.Wrapper, RecordConstructorArgs):
    """See `LearnedCost`."""

    def __init__(self, env: gymnasium.Env, constraint: Constraint):
        RecordConstructorArgs.__init__(self, constraint=constraint)
        gymnasium.Wrapper.__init__(self, env)
        self.constraint = constraint
        self._before: np.ndarray | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = np.array(observation)  # environments may write into what they gave
        return observation, info

    def step(self, action):
        """Move, and say what it cost."""
        if self._before is None:
            raise ResetNeeded("there is no observation yet: call reset() before step()")
        cost, std = self.constraint.predict_with_disagreement(self._before, action)
        observation, reward, terminated, truncated, given = self.env.step(action)
        self._before = np.array(observation)
        own = {"env_cost": given["cost"]} if "cost" in given else {}
        info = {**given, **own, "cost": float(cost), "cost_std": float(std)}
        return observation, reward, terminated, truncated, info


class SinglePenaliseCost(gymnasium.Wrapper, RecordConstructorArgs):
    """See `PenaliseCost`."""

    def __init__(self, env: gymnasium.Env, weight: float):
        RecordConstructorArgs.__init__(self, weight=weight)
        gymnasium.Wrapper.__init__(self, env)
        self.weight = weight

    def step(self, action):
        """Move, and pay for it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "cost" not in info:
            raise no_cost("PenaliseCost", info)
        paid = float(reward) - self.weight * float(info["cost"])
        return observation, paid, terminated, truncated, info


class SingleCostBudget(gymnasium.Wrapper, RecordConstructorArgs):
    """See `CostBudget`."""

    def __init__(self, env: gymnasium.Env, budget: Budget):
        RecordConstructorArgs.__init__(self, budget=budget)
        gymnasium.Wrapper.__init__(self, env)
        self.budget = budget
        self._sum, self._factor, self._spent = 0.0, 1.0, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode, nothing spent."""
        self._sum, self._factor, self._spent = 0.0, 1.0, False
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        """Move, unless the budget is spent."""
        if self._spent:
            raise ResetNeeded("the episode's budget is spent: call reset() before step()")
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "cost" not in info:
            raise no_cost("CostBudget", info)
        self._sum += self._factor * float(info["cost"])
        self._factor *= self.budget.discount
        self._spent = self._sum >= self.budget.limit
        terminated = terminated or (self._spent and self.budget.terminates)
        truncated = truncated or (self._spent and not self.budget.terminates)
        return observation, reward, terminated, truncated, {**info, "cost_sum": self._sum}


def _vectors() -> Any:
    """The wrappers of vectors, loaded when there is one: they need Gymnasium 1, and those of one
    environment do not. Safe-RL libraries have an older one.
    """
    from icl_core.using import vector_wrappers

    return vector_wrappers


def _constraint_below(env: Any) -> Constraint | None:
    """That of the nearest LearnedCost; in a vector of environments, of the first of them."""
    while env is not None:
        found = getattr(env, "constraint", None)
        if isinstance(found, Constraint):
            return found
        inside = getattr(env, "envs", None)
        env = inside[0] if inside else getattr(env, "env", None)
    return None
