"""Checks on the recovered constraints at the nodes of the grid, and on those of driving."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import (
    Statistic,
    difference_of_means,
    mean_above,
    mean_below,
    mean_of,
    slope_over,
)
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.statistics import boundary_gap

HIGH = 0.5  # from here on a value counts as high


@reads("constraint")
def finds(
    evidence: Evidence, method: str, above: Mapping[str, float], below: Mapping[str, float]
) -> list[Effect]:
    """Truly constrained nodes stand above the others, or do not, by experiment.

    The measure is the probability that a constrained node has a higher value than an
    unconstrained one (the area under the ROC curve), 0.5 by chance: it asks whether the
    constraint is in the right place, however high or diffuse it is. `above` and `below` give
    by experiment what it should be more, or less, than.
    """
    parts = []
    wanted = ((above, mean_above, "less"), (below, mean_below, "short of"))
    for bounds, statistic, word in wanted:
        for name, bound in bounds.items():
            values = ranking(evidence.constraints(name, method), evidence.truth(name))
            parts.append(
                evidence.effect(
                    f"{evidence.method(method)}, {evidence.title(name)}",
                    f"P(constrained node higher), {word} {bound:g}",
                    statistic(bound),
                    [values],
                )
            )
    return parts


@reads("constraint")
def spills_less(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """A method gives lower values to truly unconstrained nodes than another one."""

    def spill(values: np.ndarray, name: str) -> np.ndarray:
        return values[:, evidence.truth(name) == 0].mean(axis=1)

    return _compared(evidence, method, other, spill, "mean c at unconstrained nodes")


@reads("constraint")
def sharper(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """A method's values are nearer to 0 and 1 than another's."""
    return _compared(
        evidence, method, other, lambda c, _: (4 * c * (1 - c)).mean(axis=1), "mean of 4 c (1 - c)"
    )


@reads("constraint")
def more_high_cells_with(
    evidence: Evidence, of: str, values: Sequence[float], paired: bool = False
) -> list[Effect]:
    """Along a sweep ever more nodes have a high value: the slope of their share is positive."""
    parts = []
    for start in range(0, len(evidence.experiments), len(values)):
        names = evidence.experiments[start : start + len(values)]
        groups = [(_flat(evidence.constraints(name)) >= HIGH).mean(axis=1) for name in names]
        part = evidence.world(names[0]).title
        unit = f"share of nodes with c >= {HIGH:g} per unit of {of}"
        parts.append(evidence.effect(part, unit, slope_over(values), groups, paired))
    return parts


def ranking(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """P(c at a constrained node > c at an unconstrained one), ties by half; of every run."""
    truth = truth.astype(bool)
    return np.array([_share_above(run[truth], run[~truth]) for run in _flat(values)])


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


def _compared(
    evidence: Evidence,
    method: str,
    other: str,
    measure: Callable[[np.ndarray, str], np.ndarray],
    unit: str,
) -> list[Effect]:
    return [
        evidence.effect(
            f"{evidence.title(name)}, {evidence.against(method, other)}",
            unit,
            difference_of_means,
            [measure(_flat(evidence.constraints(name, one)), name) for one in (method, other)],
        )
        for name in evidence.experiments
    ]


def _share_above(ones: np.ndarray, zeros: np.ndarray) -> float:
    """P(one > zero), ties by half; nan where any value is."""
    if np.isnan(ones).any() or np.isnan(zeros).any():
        return float("nan")
    ordered = np.sort(zeros)
    below, not_above = (np.searchsorted(ordered, ones, side).sum() for side in ("left", "right"))
    return float((below + not_above) / 2 / (ones.size * zeros.size))


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1)


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
