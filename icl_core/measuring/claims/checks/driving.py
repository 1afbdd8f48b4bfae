"""Checks on the constraints of driving: gaps on the highway, lateral moves on the ramp.

Gaps are the edge of the mean constraint, from centre to centre. A constraint without an edge fails:
it lies `FAR` outside of whatever is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan

import numpy as np

from icl_core.measuring.claims.checks.constraints import HIGH, LEAST, edge_room
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import curve_effect, mean_effect
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.evidence.experts import own
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.statistics import curve_at, edge_of_curve

FAR = 100.0  # m


@reads("constraint")
def gap_grows_with_speed(
    evidence: Evidence, methods: Sequence[str], speeds: Sequence[float]
) -> list[Effect]:
    """At the highest of the speeds the constraint asks for a larger gap than at the lowest."""
    low, high = min(speeds), max(speeds)
    unit = f"gap at {high:g} m/s less gap at {low:g} m/s [m]"

    def grown(edges: list[float]) -> float:
        return edges[1] - edges[0]

    return [_edges(evidence, method, unit, (low, high), grown) for method in methods]


@reads("constraint")
def time_gap_between(
    evidence: Evidence, methods: Sequence[str], speeds: Sequence[float], low: float, high: float
) -> list[Effect]:
    """The time gap at which the constraint ends, mean over the speeds, lies between two values."""
    unit = f"time gap, distance inside [{low:g}, {high:g}] s"

    def room(edges: list[float]) -> float:
        mean = float(np.mean([edge / speed for edge, speed in zip(edges, speeds, strict=True)]))
        return min(mean - low, high - mean)

    return [_edges(evidence, method, unit, speeds, room) for method in methods]


@reads("constraint")
def gap_between(
    evidence: Evidence, speed: float, ranges: Mapping[str, Sequence[float]]
) -> list[Effect]:
    """The gap at a speed lies in the range that is given for each method [m]."""

    def inside(low: float, high: float) -> Callable[[list[float]], float]:
        return lambda edges: min(edges[0] - low, high - edges[0])

    return [
        _edges(
            evidence,
            method,
            f"gap at {speed:g} m/s, distance inside [{low:g}, {high:g}] m",
            [speed],
            inside(low, high),
        )
        for method, (low, high) in ranges.items()
    ]


@reads("constraint")
def allows_large_gaps(
    evidence: Evidence, method: str, others: Sequence[str], seconds: float, most: float
) -> list[Effect]:
    """Of nodes with a larger time gap, a method forbids hardly any, and each other one more."""
    (name,) = evidence.experiments
    speeds, gaps = (axis.physical for axis in evidence.world(name).grid.axes)
    far = gaps[None, :] + evidence.between_centres(name) > seconds * speeds[:, None]
    parts = []
    for one in (method, *others):
        shares = {s: float((c[far] >= HIGH).mean()) for s, c in _all(evidence, one).items()}
        sign = -1 if one == method else 1
        room = {seed: sign * (share - most) for seed, share in shares.items()}
        unit = f"share of nodes beyond {seconds:g} s with c >= {HIGH:g}, on its side of {most:g}"
        parts.append(mean_effect(evidence.method(one), unit, room))
    return parts


@reads("constraint", "demonstrations")
def satisfies(
    evidence: Evidence, methods: Sequence[str], others: Sequence[str], most: float
) -> list[Effect]:
    """The constraints of `methods` allow what the expert does and have an edge; `others` fail one.

    Allowed: at most such a share of the nodes that the expert visits is high. An edge: of all nodes
    at least a twentieth is high, and at least a twentieth low.
    """
    (name,) = evidence.experiments
    visited = evidence.expert_visits(name)
    parts = []
    for one in (*methods, *others):
        found = _all(evidence, one)
        allowed = {
            seed: most - float((c[own(visited, seed) > 0] >= HIGH).mean())
            for seed, c in found.items()
        }
        edges = {seed: edge_room(c) for seed, c in found.items()}
        title = evidence.method(one)
        if one in methods:
            unit = f"{most:g} less the share of the expert's nodes with c >= {HIGH:g}"
            parts.append(mean_effect(title, unit, allowed))
            unit = f"share of nodes on the smaller side of {HIGH:g}, less {LEAST:g}"
            parts.append(mean_effect(title, unit, edges))
        else:
            fails = {seed: max(-allowed[seed], -edges[seed]) for seed in found}
            parts.append(mean_effect(title, "by how much it fails the worse of the two", fails))
    return parts


@reads("constraint")
def forbids_moving_away(evidence: Evidence, method: str) -> list[Effect]:
    """Values are higher where lateral velocity and distance have the same sign."""
    (name,) = evidence.experiments
    distance, velocity = (axis.physical for axis in evidence.world(name).grid.axes)
    product = distance[:, None] * velocity[None, :]
    excess = {
        seed: float(c[product > 0].mean() - c[product < 0].mean())
        for seed, c in _all(evidence, method).items()
    }
    unit = "mean c where d v > 0, less where d v < 0"
    return [mean_effect(evidence.method(method), unit, excess)]


@reads("constraint")
def narrows_with_distance(
    evidence: Evidence, method: str, far: float, near: float, towards: float
) -> list[Effect]:
    """Far from the target only velocities beyond `towards` are allowed, near to it all are."""
    (name,) = evidence.experiments
    distance, velocity = (axis.physical for axis in evidence.world(name).grid.axes)
    rows = [int(np.abs(distance - place).argmin()) for place in (far, near)]
    allowed = velocity <= towards + 1e-9
    parts: dict[str, dict[int, float]] = {}
    for seed, c in _all(evidence, method).items():
        at_far, at_near = c[rows[0]], c[rows[1]]
        for part, value in (
            (f"d = {far:g} m, v <= {towards:g} m/s", HIGH - at_far[allowed].mean()),
            (f"d = {far:g} m, v > {towards:g} m/s", at_far[~allowed].mean() - HIGH),
            (f"d = {near:g} m, any v", HIGH - at_near.max()),
        ):
            parts.setdefault(part, {})[seed] = float(value)
    unit, title = f"c, on its side of {HIGH:g}", evidence.method(method)
    return [mean_effect(f"{title}, {part}", unit, values) for part, values in parts.items()]


def _edges(
    evidence: Evidence,
    method: str,
    unit: str,
    speeds: Sequence[float],
    measure: Callable[[list[float]], float],
) -> Effect:
    """What is read off the edges of the mean constraint at some speeds."""
    (name,) = evidence.experiments
    world, room = evidence.world(name), evidence.between_centres(name)
    gaps = world.grid.axes[1].physical
    curves = {
        seed: np.stack([curve_at(world, c, speed) for speed in speeds])
        for seed, c in _all(evidence, method).items()
    }

    def read(mean: np.ndarray) -> float:
        edges = [edge_of_curve(gaps, curve) + room for curve in mean]
        return -FAR if any(map(isnan, edges)) else measure(edges)

    return curve_effect(evidence.method(method), unit, read, curves, evidence.rng)


def _all(evidence: Evidence, method: str) -> dict[int, np.ndarray]:
    (name,) = evidence.experiments
    return evidence.constraints(name, method)
