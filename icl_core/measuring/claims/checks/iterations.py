"""Checks on CMSE by iteration: the ablations of Figure 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.measuring.claims.check import reads
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


def _curve(evidence: Evidence, experiment: str, variant: str) -> np.ndarray:
    """(seeds, iterations + 1), from the initial constraint on."""
    return evidence.by_iteration(CMSE, f"{experiment}-{variant}")


def _within(margin: float) -> Statistic:
    def room(groups: Sequence[np.ndarray]) -> np.ndarray:
        return margin - np.abs(groups[0].mean(axis=-1))

    return room


def _written(variant: str) -> str:
    return {"all-iterations": "ICL"}.get(variant, variant.replace("-", " "))
