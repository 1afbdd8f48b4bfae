"""Checks on the constraints that were recovered from driving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import Statistic, difference_of_means, mean_of
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.headway import boundary_gap

HIGH = 0.5


@reads("constraint")
def gap_grows_with_speed(
    evidence: Evidence, methods: Sequence[str], speeds: Sequence[float]
) -> list[Effect]:
    """At the highest of the speeds a constraint asks for a larger gap than at the lowest."""
    low, high = min(speeds), max(speeds)
    return [
        evidence.effect(
            evidence.method(method),
            f"gap at {high:g} m/s less gap at {low:g} m/s [m]",
            mean_of,
            [_gaps(evidence, method, high) - _gaps(evidence, method, low)],
        )
        for method in methods
    ]


@reads("constraint")
def time_gap_between(
    evidence: Evidence, methods: Sequence[str], speeds: Sequence[float], low: float, high: float
) -> list[Effect]:
    """The time gap at which constraints end, mean over the speeds, lies between two values."""
    parts = []
    for method in methods:
        times = np.mean([_gaps(evidence, method, speed) / speed for speed in speeds], axis=0)
        unit = f"time gap, distance inside [{low:g}, {high:g}] s"
        parts.append(evidence.effect(evidence.method(method), unit, _inside(low, high), [times]))
    return parts


@reads("constraint")
def gap_between(
    evidence: Evidence, speed: float, ranges: Mapping[str, Sequence[float]]
) -> list[Effect]:
    """The gap at a speed lies in the range that is given for each method [m]."""
    return [
        evidence.effect(
            evidence.method(method),
            f"gap at {speed:g} m/s, distance inside [{low:g}, {high:g}] m",
            _inside(low, high),
            [_gaps(evidence, method, speed)],
        )
        for method, (low, high) in ranges.items()
    ]


@reads("constraint")
def allows_large_gaps(
    evidence: Evidence, method: str, others: Sequence[str], seconds: float
) -> list[Effect]:
    """Of nodes with a larger time gap than this, a method forbids fewer than the others."""
    (name,) = evidence.experiments
    speeds, gaps = (axis.physical for axis in evidence.world(name).grid.axes)
    far = gaps[None, :] > seconds * speeds[:, None]

    def share(one: str) -> np.ndarray:
        return (evidence.constraints(name, one)[:, far] >= HIGH).mean(axis=1)

    return [
        evidence.effect(
            f"{evidence.against(method, other)}",
            f"share of nodes beyond {seconds:g} s with c >= {HIGH:g}",
            difference_of_means,
            [share(method), share(other)],
        )
        for other in others
    ]


@reads("constraint")
def forbids_moving_away(evidence: Evidence, method: str) -> list[Effect]:
    """Values are higher where lateral velocity and distance have the same sign."""
    (name,) = evidence.experiments
    distance, velocity = (axis.physical for axis in evidence.world(name).grid.axes)
    product = distance[:, None] * velocity[None, :]
    values = evidence.constraints(name, method)
    excess = values[:, product > 0].mean(axis=1) - values[:, product < 0].mean(axis=1)
    unit = "mean c where d v > 0, less where d v < 0"
    return [evidence.effect(evidence.method(method), unit, mean_of, [excess])]


@reads("constraint")
def narrows_with_distance(
    evidence: Evidence, method: str, far: float, near: float, towards: float
) -> list[Effect]:
    """Far from the target only velocities beyond `towards` are allowed, near to it all are."""
    (name,) = evidence.experiments
    distance, velocity = (axis.physical for axis in evidence.world(name).grid.axes)
    values = evidence.constraints(name, method)
    at_far = values[:, np.abs(distance - far).argmin()]
    at_near = values[:, np.abs(distance - near).argmin()]
    allowed = velocity <= towards + 1e-9
    measures = {
        f"d = {far:g} m, v <= {towards:g} m/s": HIGH - at_far[:, allowed].mean(axis=1),
        f"d = {far:g} m, v > {towards:g} m/s": at_far[:, ~allowed].mean(axis=1) - HIGH,
        f"d = {near:g} m, any v": HIGH - at_near.max(axis=1),
    }
    return [
        evidence.effect(
            f"{evidence.method(method)}, {part}", f"c, on its side of {HIGH:g}", mean_of, [runs]
        )
        for part, runs in measures.items()
    ]


def _gaps(evidence: Evidence, method: str, speed: float) -> np.ndarray:
    """The gap at which each seed's constraint ends [m]; nan where it has no end."""
    (name,) = evidence.experiments
    world = evidence.world(name)
    return np.array([boundary_gap(world, c, speed) for c in evidence.constraints(name, method)])


def _inside(low: float, high: float) -> Statistic:
    """How far a mean is from the nearer end of a range, positive inside."""

    def room(groups: Sequence[np.ndarray]) -> np.ndarray:
        mean = groups[0].mean(axis=-1)
        return np.minimum(mean - low, high - mean)

    return room
