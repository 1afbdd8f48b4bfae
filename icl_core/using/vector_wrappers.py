"""The wrappers of `icl_core.using.wrappers` for vectors of environments, in all autoreset modes.

NEXT_STEP: the step after an episode's end ignores the action and begins the next one; such a row is
idle, and costs nothing. SAME_STEP: the next episode has begun when an end is told. DISABLED:
whoever steps resets the rows that have ended, with `reset(options={"reset_mask": rows})`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper

from icl_core.errors import InputError
from icl_core.using.constraint import Constraint
from icl_core.using.costs import Budget, costs_in, no_cost

MASK = "reset_mask"


class _Rows(VectorWrapper):
    """Knows which rows are idle in the next step."""

    def __init__(self, env: VectorEnv):
        super().__init__(env)
        self.mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self._idle = np.zeros(self.num_envs, bool)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None):
        """Start all episodes, or those that the options name."""
        options = dict(options) if options else None  # Gymnasium takes the mask out of it
        rows = (options or {}).get(MASK, np.ones(self.num_envs, bool))
        observations, info = self.env.reset(seed=seed, options=options)
        self._begin(np.asarray(rows, bool), observations)
        return observations, info

    def _begin(self, rows: np.ndarray, observations: np.ndarray) -> None:
        self._idle[rows] = False

    def _after(self, terminated: np.ndarray, truncated: np.ndarray) -> None:
        if self.mode is AutoresetMode.NEXT_STEP:
            self._idle = np.asarray(terminated) | np.asarray(truncated)

    def _costs(self, info: dict[str, Any]) -> np.ndarray:
        """(rows,) what the step has cost, 0 for idle ones."""
        values, there = costs_in(info, self.num_envs)
        if (~self._idle & ~there).any():
            raise no_cost(type(self).__name__.removeprefix("Vector"), info)
        return np.where(self._idle, 0.0, values)


class VectorLearnedCost(_Rows):
    """See `LearnedCost`."""

    def __init__(self, env: VectorEnv, constraint: Constraint):
        super().__init__(env)
        self.constraint = constraint
        self._before: np.ndarray | None = None

    def _begin(self, rows: np.ndarray, observations: np.ndarray) -> None:
        super()._begin(rows, observations)
        self._before = np.array(observations)

    def step(self, actions):
        """Move all, and say what it cost."""
        if self._before is None:
            raise ResetNeeded("there are no observations yet: call reset() before step()")
        due, (cost, std) = ~self._idle, np.zeros((2, self.num_envs))
        asked = self._before[due], np.asarray(actions)[due]
        cost[due], std[due] = self.constraint.predict_with_disagreement(*asked)
        observations, rewards, terminated, truncated, given = self.env.step(actions)
        self._before = np.array(observations)
        self._after(terminated, truncated)
        values, there = costs_in(given, self.num_envs)
        own = {"env_cost": values, "_env_cost": there} if there.any() else {}
        new = {"cost": cost, "_cost": due, "cost_std": std, "_cost_std": due.copy()}
        return observations, rewards, terminated, truncated, {**given, **own, **new}


class VectorPenaliseCost(_Rows):
    """See `PenaliseCost`."""

    def __init__(self, env: VectorEnv, weight: float):
        super().__init__(env)
        self.weight = weight

    def step(self, actions):
        """Move all, and pay for it."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        paid = np.asarray(rewards) - self.weight * self._costs(info)
        self._after(terminated, truncated)
        return observations, paid, terminated, truncated, info


class VectorCostBudget(_Rows):
    """See `CostBudget`.

    The environment does not know of the ends that are ours: its rows are reset by a mask.
    """

    def __init__(self, env: VectorEnv, budget: Budget):
        super().__init__(env)
        if not _resets_rows(env, self.mode):
            raise InputError(
                f"CostBudget: expected a vector that can reset single rows, found {env}; put "
                "CostBudget around each of its environments"
            )
        self.budget = budget
        self._sum, self._factor = np.zeros(self.num_envs), np.ones(self.num_envs)
        self._ours = np.zeros(self.num_envs, bool)  # rows that only we ended, to be reset

    def _begin(self, rows: np.ndarray, observations: np.ndarray) -> None:
        super()._begin(rows, observations)
        self._sum[rows], self._factor[rows], self._ours[rows] = 0.0, 1.0, False

    def step(self, actions):
        """Move all, and end those episodes whose budget is spent."""
        observations, rewards, terminated, truncated, info = self._step(actions)
        going = ~self._idle
        self._sum[~going], self._factor[~going] = 0.0, 1.0
        self._sum += self._factor * self._costs(info)
        self._factor[going] *= self.budget.discount
        info = {**info, "cost_sum": self._sum.copy(), "_cost_sum": going}
        spent = going & (self._sum >= self.budget.limit)
        self._ours = spent & ~(terminated | truncated)
        (terminated if self.budget.terminates else truncated)[spent] = True
        self._after(terminated, truncated)
        if self.mode is AutoresetMode.SAME_STEP:
            observations, info = self._begin_anew(observations, info)
            over = terminated | truncated
            self._sum[over], self._factor[over] = 0.0, 1.0
        return observations, rewards, terminated, truncated, info

    def _step(self, actions):
        """A step, in which the rows that we ended begin anew as the environment's own do."""
        observations, *numbers, info = self.env.step(actions)
        rewards, terminated, truncated = map(np.array, numbers)  # copies, to write into
        if self.mode is AutoresetMode.NEXT_STEP and self._ours.any():
            ours = self._ours.copy()
            # They have been moved once more: what came of it is forgotten.
            observations, _ = self.env.reset(options={MASK: ours})
            rewards[ours], terminated[ours], truncated[ours] = 0.0, False, False
            info = {key: value & ~ours if _is_mask(key) else value for key, value in info.items()}
        return observations, rewards, terminated, truncated, info

    def _begin_anew(self, observations, info: dict[str, Any]):
        """Reset the rows that we ended at once, and tell their ends as the environment does."""
        if not self._ours.any():
            return observations, info
        for row in np.flatnonzero(self._ours).tolist():
            last = {key: info[key][row] for key in info if _is_told(info, key, row)}
            info = self._add_info(info, {"final_obs": observations[row], "final_info": last}, row)
        return self.env.reset(options={MASK: self._ours.copy()})[0], info


def _is_mask(key: str) -> bool:
    return key.startswith("_")


def _is_told(info: dict[str, Any], key: str, row: int) -> bool:
    """Whether a vector's info has something of a row under a key."""
    mask = info.get(f"_{key}")
    plain = not isinstance(info[key], dict) and not key.startswith(("_", "final_"))
    return plain and mask is not None and bool(mask[row])


def _resets_rows(env: VectorEnv, mode: AutoresetMode) -> bool:
    """Whether a vector knows `reset_mask`: who does not, would silently reset all of its rows."""
    base = env.unwrapped
    known = isinstance(base, SyncVectorEnv | AsyncVectorEnv) or getattr(base, "resets_rows", False)
    return known or mode is AutoresetMode.DISABLED
