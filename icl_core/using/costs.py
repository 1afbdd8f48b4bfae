"""What the wrappers of one environment and of many share: budgets, and how a cost is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from icl_core.errors import InputError
from icl_core.using.constraint import Constraint

ENDS = ("terminate", "truncate")


class Budget(NamedTuple):
    """How much an episode may cost, and how it ends."""

    limit: float
    discount: float
    terminates: bool

    @classmethod
    def of(
        cls, below: Constraint | None, limit: float | None, discount: float | None, end: str
    ) -> Budget:
        """What was given, and the constraint's where nothing was."""
        if end not in ENDS:
            raise InputError(f"end: expected {' or '.join(map(repr, ENDS))}, found {end!r}")
        if below is None and (limit is None or discount is None):
            raise InputError(
                "CostBudget: expected a limit and a discount, found none, and no LearnedCost below "
                "to take them from; give both, or CostBudget(LearnedCost(env, constraint))"
            )
        if below is not None:
            limit = below.beta if limit is None else limit
            discount = below.discount if discount is None else discount
        numbers = np.asarray([limit, discount], np.float64)
        if not (np.isfinite(numbers).all() and 0 <= numbers[1] <= 1):
            raise InputError(
                "CostBudget: expected a finite limit and a discount from 0 to 1, found "
                f"{limit} and {discount}; correct them"
            )
        return cls(float(numbers[0]), float(numbers[1]), end == "terminate")


def checked_weight(weight: float) -> float:
    """A weight that can be taken times a cost."""
    if not (isinstance(weight, int | float | np.number) and 0 <= weight < np.inf):
        raise InputError(
            f"weight: expected a finite number of at least 0, found {weight!r}; correct it"
        )
    return float(weight)


def no_cost(wrapper: str, info: Mapping[str, Any]) -> InputError:
    """What is said of an environment that gives none."""
    found = ", ".join(key for key in info if not key.startswith("_")) or "nothing"
    return InputError(
        f"{wrapper}: expected a 'cost' in the environment's info, found {found}; put a learned one "
        f"there: {wrapper}(LearnedCost(env, constraint), ...)"
    )


def costs_in(info: Mapping[str, Any], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The costs (n,) that a vector's info tells, and of which rows it does (n,) bool.

    Where an episode ends and the next one begins in the same step, they stand in its last info.
    """
    values, there = np.zeros(n), np.zeros(n, bool)
    for part in (info, info.get("final_info", {})):
        if isinstance(part, Mapping) and "cost" in part:
            new = np.asarray(part.get("_cost", np.ones(n, bool)), bool) & ~there
            values[new], there = np.asarray(part["cost"], np.float64)[new], there | new
    return values, there
