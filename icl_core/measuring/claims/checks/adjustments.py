"""Checks on the logs of constraint adjustment: Figures 1 and 7."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import difference_of_means, mean_below, mean_of
from icl_core.measuring.claims.verdicts import Effect

SWING = 0.1  # of the multiplier's range: what is smaller is noise and no swing
PART = 4  # the beginning and the end are a quarter of the steps each


@reads("adjustment:method=icl")
def multiplier_oscillates(evidence: Evidence, swings: float) -> list[Effect]:
    """The multiplier goes up and down more often than `swings` times in an iteration.

    One rise and one fall an iteration is what new data alone would ask for: a swing is a
    rise or fall of at least a tenth of the multiplier's range.
    """
    (name,) = evidence.experiments
    logs = evidence.adjustments(name)
    found = [count_swings(_joined(log, "multiplier")) / len(log) - swings for log in logs.values()]
    unit = f"swings an iteration, less {swings:g}"
    return [evidence.effect(evidence.title(name), unit, mean_of, [found])]


@reads("adjustment:method=icl")
def satisfaction_falls(evidence: Evidence) -> list[Effect]:
    """Fewer demonstrations keep the constraint in the last quarter of the steps than before."""
    (name,) = evidence.experiments
    unit = "share of demonstrations, first quarter less last"
    return [evidence.effect(evidence.title(name), unit, mean_of, [_falls(evidence, name)])]


@reads("adjustment:method=icl")
def satisfaction_holds(evidence: Evidence, margin: float) -> list[Effect]:
    """The same share falls by less than `margin`, or rises."""
    (name,) = evidence.experiments
    unit = f"{margin:g} less the fall in the share of demonstrations"
    falls = _falls(evidence, name)
    return [evidence.effect(evidence.title(name), unit, mean_below(margin), [falls])]


@reads("adjustment:method=icl")
def satisfaction_is_higher(evidence: Evidence) -> list[Effect]:
    """In the last quarter more demonstrations keep the constraint in the first experiment.

    Both learn from the same demonstrations, so the same seeds are compared.
    """
    first, second = evidence.experiments
    ends = [_quarters(evidence, name) for name in (second, first)]
    seeds = sorted(ends[0].keys() & ends[1].keys())
    groups = [[end[seed][1] for seed in seeds] for end in ends]
    part = f"{evidence.title(first)}, against {evidence.title(second)}"
    unit = "share of demonstrations, difference of means"
    return [evidence.effect(part, unit, difference_of_means, groups, paired=True)]


@reads("adjustment:method=icl")
def parts_agents_from_experts(evidence: Evidence) -> list[Effect]:
    """In the first adjustment J_mix less J_E grows: it separates agents from the expert."""
    (name,) = evidence.experiments
    gains = []
    for log in evidence.adjustments(name).values():
        gap = log[0]["agent_value"].to_numpy() - log[0]["expert_value"].to_numpy()
        gains.append(gap[-1] - gap[0])
    unit = "J_mix(c) - J_E(c), gain in the first adjustment"
    return [evidence.effect(evidence.title(name), unit, mean_of, [gains])]


def count_swings(values: np.ndarray, share: float = SWING) -> int:
    """Rises and falls of at least `share` of the range of the values, one after the other."""
    enough = share * np.ptp(values)
    if enough == 0:
        return 0
    count, low, high, direction = 0, values[0], values[0], 0
    for value in values:
        low, high = min(low, value), max(high, value)
        if direction <= 0 and value - low >= enough:
            count, direction, high = count + 1, 1, value
        elif direction >= 0 and high - value >= enough:
            count, direction, low = count + 1, -1, value
    return count


def _falls(evidence: Evidence, name: str) -> list[float]:
    return [first - last for first, last in _quarters(evidence, name).values()]


def _quarters(evidence: Evidence, name: str) -> dict[int, tuple[float, float]]:
    """Share of demonstrations that keep the constraint in the first and last quarter, by seed."""
    found = {}
    for seed, log in evidence.adjustments(name).items():
        values = _joined(log, "expert_satisfaction")
        part = max(1, len(values) // PART)
        found[seed] = values[:part].mean(), values[-part:].mean()
    return found


def _joined(log: list[pa.Table], column: str) -> np.ndarray:
    return np.concatenate([table[column].to_numpy() for table in log])
