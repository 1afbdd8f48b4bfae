"""Checks on iterations: CMSE (the ablations of Figure 5) and the adjustments (Figures 1 and 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import (
    Statistic,
    difference_of_means,
    mean_below,
    mean_of,
)
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import CMSE

LAST = 3  # iterations that count as the end
SWING = 0.1  # of the multiplier's range: what is smaller is noise and no swing
PART = 4  # the beginning and the end are a quarter of the steps each


@reads("metrics")
def ends_lower(
    evidence: Evidence, variant: str, others: Sequence[str], margin: float = 0.0
) -> list[Effect]:
    """CMSE at the end is lower than that of each other variant, or higher by at most `margin`."""
    return [
        evidence.effect(
            f"{evidence.world(name).title}, {_written(variant)} against {_written(other)}",
            f"CMSE of the last iteration{f', plus {margin:g}' if margin else ''}",
            lambda groups: difference_of_means(groups) + margin,
            [_curve(evidence, name, one)[:, -1] for one in (variant, other)],
            paired=True,
        )
        for name in evidence.experiments
        for other in others
    ]


@reads("metrics")
def learns_faster(evidence: Evidence, variant: str, other: str) -> list[Effect]:
    """CMSE is lower on average over all iterations, the start left out."""
    return [
        evidence.effect(
            f"{evidence.world(name).title}, {_written(variant)} against {_written(other)}",
            "CMSE, mean over iterations",
            difference_of_means,
            [_curve(evidence, name, one)[:, 1:].mean(axis=1) for one in (variant, other)],
            paired=True,
        )
        for name in evidence.experiments
    ]


@reads("metrics")
def ends_alike(
    evidence: Evidence, variant: str, others: Sequence[str], margin: float
) -> list[Effect]:
    """CMSE at the end differs by less than `margin`, in either direction."""
    parts = []
    for name in evidence.experiments:
        mine = _curve(evidence, name, variant)[:, -1]
        for other in others:
            gap = _curve(evidence, name, other)[:, -1] - mine
            part = f"{evidence.world(name).title}, {_written(variant)} and {_written(other)}"
            unit = f"{margin:g} less the difference of CMSE"
            parts.append(evidence.effect(part, unit, _within(margin), [gap]))
    return parts


@reads("metrics")
def mean_gain_is_small(
    evidence: Evidence, variant: str, other: str, at_most: float
) -> list[Effect]:
    """Over all environments together, CMSE at the end is lower, by `at_most` at most."""
    gains = [
        _curve(evidence, name, other)[:, -1] - _curve(evidence, name, variant)[:, -1]
        for name in evidence.experiments
    ]
    gain = np.mean(gains, axis=0)
    part = f"{_written(variant)} against {_written(other)}, mean of {len(gains)} environments"
    return [
        evidence.effect(part, "CMSE, gain", mean_of, [gain]),
        evidence.effect(part, f"{at_most:g} less the gain in CMSE", mean_below(at_most), [gain]),
    ]


@reads("metrics")
def rises(evidence: Evidence, variant: str) -> list[Effect]:
    """CMSE at the end, over the last iterations, is higher than after the first adjustment."""
    parts = []
    for name in evidence.experiments:
        curve = _curve(evidence, name, variant)
        rise = curve[:, -LAST:].mean(axis=1) - curve[:, 1]
        part = f"{evidence.world(name).title}, {_written(variant)}"
        parts.append(evidence.effect(part, "CMSE, rise", mean_of, [rise]))
    return parts


@reads("metrics")
def settles(evidence: Evidence, variant: str, margin: float) -> list[Effect]:
    """Over the last iterations CMSE changes by less than `margin`."""
    parts = []
    for name in evidence.experiments:
        curve = _curve(evidence, name, variant)
        change = curve[:, -1] - curve[:, -min(LAST + 1, curve.shape[1])]
        part = evidence.world(name).title
        unit = f"{margin:g} less the change in CMSE over the last {LAST} iterations"
        parts.append(evidence.effect(part, unit, _within(margin), [change]))
    return parts


@reads("metrics")
def does_not_rise(evidence: Evidence, variant: str, margin: float) -> list[Effect]:
    """CMSE at the end is above its least value on the way by less than `margin`."""
    parts = []
    for name in evidence.experiments:
        curve = _curve(evidence, name, variant)
        rise = curve[:, -1] - curve.min(axis=1)
        unit = f"{margin:g} less the rise in CMSE from its least value"
        part = evidence.world(name).title
        parts.append(evidence.effect(part, unit, mean_below(margin), [rise]))
    return parts


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


def _curve(evidence: Evidence, experiment: str, variant: str) -> np.ndarray:
    """(seeds, iterations + 1), from the initial constraint on."""
    return evidence.by_iteration(CMSE, f"{experiment}-{variant}")


def _within(margin: float) -> Statistic:
    def room(groups: Sequence[np.ndarray]) -> np.ndarray:
        return margin - np.abs(groups[0].mean(axis=-1))

    return room


def _written(variant: str) -> str:
    return {"all-iterations": "ICL"}.get(variant, variant.replace("-", " "))


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
