"""Checks on the iterations of ICL and its variants: CMSE and NAD by iteration (Figure 5).

All variants share their experts, so they are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from icl_core.measuring.claims.checks.constraints import over_environments
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import differences, mean_effect, paired_effect, ratio
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import CMSE, NAD

LAST = 3  # iterations that count as the end
NEAR = 1.1  # times its own least: a curve has arrived

Curve = np.ndarray  # CMSE begins with the initial constraint, NAD with the first policy


@reads("metrics")
def settles(evidence: Evidence, variant: str, margin: float, times: float) -> list[Effect]:
    """In the last iterations CMSE hardly changes, and NAD stays near to its best.

    Each run by itself: what goes up in one and down in another does not settle.
    """
    parts = []
    for name in evidence.experiments:
        title = evidence.world(name).title
        moves = _each(evidence, CMSE, name, variant, lambda c: margin - _moves(c)[-LAST:].mean())
        unit = f"{margin:g} less the mean change of CMSE in the last {LAST} iterations"
        parts.append(mean_effect(title, unit, moves))
        near = _each(
            evidence, NAD, name, variant, lambda c: times - ratio(c[-LAST:].mean(), c.min())
        )
        unit = f"{times:g} less NAD of the last {LAST} iterations over the best"
        parts.append(mean_effect(title, unit, near))
    return parts


@reads("metrics")
def ends_lower(
    evidence: Evidence, variant: str, others: Sequence[str], margin: float = 0.0
) -> list[Effect]:
    """CMSE at the end is lower than that of each other variant, or higher by at most `margin`."""
    unit = f"CMSE of the last iteration{f', plus {margin:g}' if margin else ''}"
    parts = []
    for name in evidence.experiments:
        mine = _each(evidence, CMSE, name, variant, _end)
        for other in others:
            gains = differences(mine, _each(evidence, CMSE, name, other, _end))
            gains = {seed: gain + margin for seed, gain in gains.items()}
            parts.append(
                mean_effect(_pair(evidence, name, variant, other), unit, gains, paired=True)
            )
    return parts


@reads("metrics")
def worse_on_the_way(
    evidence: Evidence, variant: str, others: Sequence[str], first: int
) -> list[Effect]:
    """CMSE is higher than that of each other variant, on average from iteration `first` on."""

    def level(curve: Curve) -> float:
        return curve[first:].mean()

    unit = f"CMSE, mean of the iterations from {first} on"
    return [
        paired_effect(
            _pair(evidence, name, other, variant),
            unit,
            *(_each(evidence, CMSE, name, one, level) for one in (other, variant)),
        )
        for name in evidence.experiments
        for other in others
    ]


@reads("metrics")
def moves_more(evidence: Evidence, variant: str, other: str) -> list[Effect]:
    """NAD changes more from iteration to iteration than with another variant."""
    return [
        paired_effect(
            _pair(evidence, name, other, variant),
            "mean change of NAD between iterations",
            *(
                _each(evidence, NAD, name, one, lambda c: _moves(c).mean())
                for one in (other, variant)
            ),
        )
        for name in evidence.experiments
    ]


@reads("metrics")
def cycles(evidence: Evidence, variant: str) -> list[Effect]:
    """NAD is nearer to that of two iterations before than to that of the one before."""

    def returns(curve: Curve) -> float:
        if len(curve) <= 2:
            return float("nan")
        return _moves(curve).mean() - np.abs(curve[2:] - curve[:-2]).mean()

    unit = "mean change of NAD over one iteration, less that over two"
    return [
        mean_effect(
            f"{evidence.world(name).title}, {_written(variant)}",
            unit,
            _each(evidence, NAD, name, variant, returns),
        )
        for name in evidence.experiments
    ]


@reads("metrics")
def learns_slower(evidence: Evidence, variant: str, other: str) -> list[Effect]:
    """A variant has a higher CMSE after one iteration, and needs more of them for its own least."""
    measures: dict[str, Callable[[Curve], float]] = {
        "CMSE after iteration 1": lambda curve: curve[1],
        f"iterations until CMSE is {NEAR:g} times its least": _arrives,
    }
    return [
        paired_effect(
            _pair(evidence, name, other, variant),
            unit,
            *(_each(evidence, CMSE, name, one, measure) for one in (other, variant)),
        )
        for name in evidence.experiments
        for unit, measure in measures.items()
    ]


@reads("metrics")
def ends_alike(
    evidence: Evidence, variant: str, others: Sequence[str], margin: float
) -> list[Effect]:
    """CMSE at the end differs by less than `margin`, in either direction."""
    parts = []
    unit = f"{margin:g} less the difference of CMSE"
    for name in evidence.experiments:
        mine = _each(evidence, CMSE, name, variant, _end)
        for other in others:
            gaps = differences(mine, _each(evidence, CMSE, name, other, _end))
            part = _pair(evidence, name, variant, other)
            parts.append(mean_effect(part, unit, gaps, (-margin, margin), paired=True))
    return parts


@reads("metrics")
def converges_by(
    evidence: Evidence, variants: Sequence[str], iteration: int, margin: float
) -> list[Effect]:
    """From an early iteration on, CMSE is within `margin` of where it ends."""

    def room(curve: Curve) -> float:
        later = curve[iteration:]  # none where fewer iterations were run: then nothing is known
        return margin - np.abs(later - curve[-1]).max() if len(later) else float("nan")

    unit = f"{margin:g} less the largest distance to the last CMSE from iteration {iteration} on"
    return [
        mean_effect(
            f"{evidence.world(name).title}, {_written(variant)}",
            unit,
            _each(evidence, CMSE, name, variant, room),
        )
        for name in evidence.experiments
        for variant in variants
    ]


@reads("metrics")
def mean_gain_is_small(
    evidence: Evidence, variant: str, other: str, at_most: float
) -> list[Effect]:
    """Over all environments together, CMSE at the end is lower, but by `at_most` at most."""
    gains = [
        differences(*(_each(evidence, CMSE, name, one, _end) for one in (variant, other)))
        for name in evidence.experiments
    ]
    part = f"{_written(variant)} against {_written(other)}, mean of {len(gains)} environments"
    unit = f"gain in CMSE, distance inside [0, {at_most:g}]"
    return [mean_effect(part, unit, over_environments(gains), (0.0, at_most), paired=True)]


def _each(
    evidence: Evidence, metric: str, name: str, variant: str, measure: Callable[[Curve], float]
) -> dict[int, float]:
    """A number of each run's curve."""
    curves = evidence.by_iteration(metric, f"{name}-{variant}")
    return {seed: float(measure(curve)) for seed, curve in curves.items()}


def _end(curve: Curve) -> float:
    return float(curve[-1])


def _moves(curve: Curve) -> np.ndarray:
    return np.abs(np.diff(curve))


def _arrives(curve: Curve) -> float:
    return float(np.argmax(curve[1:] <= NEAR * curve[1:].min())) + 1


def _pair(evidence: Evidence, name: str, one: str, other: str) -> str:
    return f"{evidence.world(name).title}, {_written(one)} against {_written(other)}"


def _written(variant: str) -> str:
    return {"all-iterations": "ICL"}.get(variant, variant.replace("-", " "))
