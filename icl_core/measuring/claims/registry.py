"""Every check by its name: where it stands and what it is made from.

The workflow reads this to know its inputs, so nothing heavy is imported here and a
check is named, not imported. A check is a function (Evidence, **arguments) -> effects.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from icl_core.showing.catalogue.item import (
    ADJUSTMENTS,
    ARCHITECTURES,
    CONSTRAINT,
    DEMONSTRATIONS,
    METRICS,
    ROLLOUTS,
    TIMES,
    TRAINING,
)


@dataclass(frozen=True)
class Check:
    """A check: the module and function that make it, and the patterns of files that it reads."""

    module: str
    function: str
    needs: tuple[str, ...]

    def load(self) -> Callable:
        """The function itself."""
        return getattr(importlib.import_module(self.module), self.function)


def _checks(module: str, needs: tuple[str, ...], *names: str) -> dict[str, Check]:
    place = f"icl_core.measuring.claims.{module}"
    return {name: Check(place, name, needs) for name in names}


CHECKS: dict[str, Check] = {
    **_checks(
        "on_metrics",
        (METRICS,),
        "lowest_of_methods",
        "lower_than_experiment",
        "highest_experiment",
        "grows_with",
        "share_of_first_iteration",
        "worse_than_constant",
        "varies",
        "most_variable",
    ),
    **_checks(
        "on_iterations",
        (METRICS,),
        "ends_lower",
        "learns_faster",
        "ends_alike",
        "mean_gain_is_small",
        "rises",
        "settles",
        "does_not_rise",
    ),
    **_checks(
        "on_constraints",
        (CONSTRAINT,),
        "finds",
        "spills_less",
        "sharper",
        "more_high_cells_with",
    ),
    **_checks(
        "on_driving",
        (CONSTRAINT,),
        "gap_grows_with_speed",
        "time_gap_between",
        "gap_between",
        "allows_large_gaps",
        "forbids_moving_away",
        "narrows_with_distance",
    ),
    **_checks("on_visits", (CONSTRAINT, DEMONSTRATIONS), "forbids_fewer_expert_states"),
    **_checks("on_visits", (ROLLOUTS,), "visits_more"),
    **_checks(
        "on_adjustments",
        (ADJUSTMENTS,),
        "multiplier_oscillates",
        "satisfaction_falls",
        "satisfaction_holds",
        "satisfaction_is_higher",
        "parts_agents_from_experts",
    ),
    **_checks("on_training", (TRAINING,), "expert_earns", "expert_violates_less"),
    **_checks("on_returns", (ROLLOUTS,), "return_falls_with", "earns_more"),
    **_checks("on_demonstrations", (DEMONSTRATIONS,), "demonstrations_keep_threshold"),
    **_checks("on_conditions", (ARCHITECTURES,), "can_hold", "cannot_hold"),
    **_checks("on_conditions", (TIMES,), "takes_at_most"),
}
