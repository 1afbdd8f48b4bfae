"""Checks on the recovered constraints at the nodes of the grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

import numpy as np

from icl_core.environments.world import World
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import mean_effect, paired_effect, separate_effect
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import CMSE

HIGH = 0.5  # from here on a value counts as high
NOTHING = 0.1  # a constraint that is nowhere higher has found nothing
CHANCE = 0.5
LEAST = 0.05  # of the nodes: fewer on one side are no edge


@reads("constraint", "metrics")
def resembles(evidence: Evidence, method: str, explained: float, overlap: float) -> list[Effect]:
    """More than such a share of the truth's variance is explained, and the high nodes are its own.

    1 - CMSE / Var(c) compares with the best constant; the overlap is Jaccard's, of the nodes with
    c >= 0.5 and those that are truly constrained.
    """
    parts = []
    for name in evidence.experiments:
        part, truth = f"{evidence.title(name)}, {evidence.method(method)}", evidence.truth(name)
        bound = (1 - explained) * evidence.best_constant(name)
        unit = f"{bound:.3g}, which leaves {1 - explained:g} of the variance, less CMSE"
        parts.append(evidence.below(CMSE, (name, method), bound, part, unit))
        alike = {
            seed: jaccard(values, truth) - overlap
            for seed, values in evidence.constraints(name, method).items()
        }
        parts.append(mean_effect(part, f"overlap of the high nodes less {overlap:g}", alike))
    return parts


@reads("constraint")
def finds(
    evidence: Evidence,
    method: str,
    above: Mapping[str, float],
    below: Mapping[str, float],
    less_than: Mapping[str, str] | None = None,
) -> list[Effect]:
    """Truly constrained nodes stand above the others, or do not, by experiment.

    The measure is the probability that a constrained node has a higher value than an
    unconstrained one (the area under the ROC curve), 0.5 by chance; a constraint that is nowhere
    above 0.1 has found nothing, and counts as chance. `above` and `below` give by experiment what
    it should be more, or less, than, `less_than` in which other experiment it is larger.
    """
    parts, places = [], {}
    for name in dict.fromkeys([*above, *below, *(less_than or {}), *(less_than or {}).values()]):
        truth, found = evidence.truth(name), evidence.constraints(name, method)
        places[name] = {seed: ranking(values, truth) for seed, values in found.items()}
    for bounds, sign, word in ((above, 1, "less"), (below, -1, "short of")):
        for name, bound in bounds.items():
            part = f"{evidence.method(method)}, {evidence.title(name)}"
            values = {seed: sign * (value - bound) for seed, value in places[name].items()}
            parts.append(mean_effect(part, f"P(constrained node higher), {word} {bound:g}", values))
    for low, high in (less_than or {}).items():
        part = f"{evidence.method(method)}, {evidence.title(low)} against {evidence.title(high)}"
        unit = "P(constrained node higher), difference of means"
        parts.append(separate_effect(part, unit, places[low], places[high]))
    return parts


@reads("constraint")
def finds_more(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """Over all environments together, a method's constrained nodes stand out more than another's.

    The measure is that of `finds`; run k has an expert of its own in each of them.
    """
    means = []
    for one in (other, method):
        found = [
            {
                s: ranking(c, evidence.truth(name))
                for s, c in evidence.constraints(name, one).items()
            }
            for name in evidence.experiments
        ]
        means.append(over_environments(found))
    part = f"{evidence.against(method, other)}, mean of {len(evidence.experiments)} environments"
    return [paired_effect(part, "P(constrained node higher), difference", *means)]


@reads("constraint", "metrics")
def spills_less(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """A method gives lower values to unconstrained nodes than another, and has found something.

    Found: its CMSE is below that of the best constant, which c = 0 is not.
    """

    def spill(values: np.ndarray, name: str) -> float:
        return float(values.ravel()[evidence.truth(name) == 0].mean())

    return _compared(evidence, method, other, spill, "mean c at unconstrained nodes")


@reads("constraint", "metrics")
def sharper(evidence: Evidence, method: str, other: str, most: float) -> list[Effect]:
    """A method's values are nearer to 0 and 1 than another's, near enough, and in place.

    In place: its CMSE is below that of the best constant.
    """
    parts = _compared(evidence, method, other, lambda c, _: blur(c), "mean of 4 c (1 - c)")
    return parts + _sharp(evidence, method, most)


@reads("constraint")
def hard(evidence: Evidence, method: str, most: float) -> list[Effect]:
    """A method's values are near to 0 and 1, and there are both."""
    parts = _sharp(evidence, method, most)
    for name in evidence.experiments:
        both = {s: edge_room(c) for s, c in evidence.constraints(name, method).items()}
        part = f"{evidence.title(name)}, {evidence.method(method)}"
        unit = f"share of nodes on the smaller side of {HIGH:g}, less {LEAST:g}"
        parts.append(mean_effect(part, unit, both))
    return parts


@reads("constraint")
def rougher(evidence: Evidence) -> list[Effect]:
    """ICL's values in the first experiment differ more between neighbours than in the second.

    Of neighbours that are truly alike: the edge of the truth is no noise.
    """
    found = []
    for name in evidence.experiments:
        measure = partial(roughness, world=evidence.world(name))
        found.append({seed: measure(c) for seed, c in evidence.constraints(name).items()})
    first, second = map(evidence.title, evidence.experiments)
    unit = "mean difference of neighbours, difference of means"
    return [paired_effect(f"{first}, against {second}", unit, found[1], found[0])]


@reads("constraint")
def more_high_nodes(evidence: Evidence, steps: int = 2) -> list[Effect]:
    """More nodes have a high value from each experiment to the next, in rows of so many.

    They share their experts.
    """
    parts = []
    unit = f"share of nodes with c >= {HIGH:g}, difference of means"
    for start in range(0, len(evidence.experiments), steps):
        names = evidence.experiments[start : start + steps]
        for low, high in pairwise(names):
            shares = [
                {seed: float((c >= HIGH).mean()) for seed, c in evidence.constraints(one).items()}
                for one in (low, high)
            ]
            part = f"{evidence.title(low)}, against {evidence.title(high)}"
            parts.append(paired_effect(part, unit, *shares))
    return parts


def ranking(values: np.ndarray, truth: np.ndarray) -> float:
    """P(c at a constrained node > c at an unconstrained one), ties by half; nan where a value is.

    Where nothing is higher than 0.1 there is no order, however small differences are ranked.
    """
    flat, truth = values.ravel(), truth.astype(bool)
    if np.isnan(flat).any():
        return float("nan")
    if flat.max() < NOTHING:
        return CHANCE
    ones, zeros = flat[truth], np.sort(flat[~truth])
    below, not_above = (np.searchsorted(zeros, ones, side).sum() for side in ("left", "right"))
    return float((below + not_above) / 2 / (ones.size * zeros.size))


def jaccard(values: np.ndarray, truth: np.ndarray) -> float:
    """High nodes that are truly constrained, of all that are one or the other."""
    high, true = values.ravel() >= HIGH, truth.astype(bool)
    return float((high & true).sum() / (high | true).sum())


def blur(values: np.ndarray) -> float:
    """0 where all values are 0 or 1, 1 where all are one half."""
    return float((4 * values * (1 - values)).mean())


def edge_room(values: np.ndarray) -> float:
    """By how much the smaller of the two sides, high and low, is larger than no side at all."""
    share = float((values >= HIGH).mean())
    return min(share, 1 - share) - LEAST


def roughness(values: np.ndarray, world: World) -> float:
    """Mean difference of neighbouring nodes that have the same true value."""
    assert world.true_on_grid is not None
    true, gaps = world.true_on_grid.reshape(world.grid.shape), []
    for axis in range(true.ndim):
        alike = np.diff(true, axis=axis) == 0
        gaps.append(np.abs(np.diff(values.reshape(true.shape), axis=axis))[alike])
    return float(np.concatenate(gaps).mean())


def over_environments(found: list[dict[int, float]]) -> dict[int, float]:
    """Each run's mean over environments, of the runs that all of them have."""
    seeds = set.intersection(*(set(one) for one in found))
    return {seed: float(np.mean([one[seed] for one in found])) for seed in sorted(seeds)}


def _compared(
    evidence: Evidence,
    method: str,
    other: str,
    measure: Callable[[np.ndarray, str], float],
    unit: str,
) -> list[Effect]:
    parts = []
    for name in evidence.experiments:
        found = [
            {seed: measure(c, name) for seed, c in evidence.constraints(name, one).items()}
            for one in (method, other)
        ]
        title = evidence.title(name)
        part = f"{title}, {evidence.against(method, other)}"
        parts.append(paired_effect(part, unit, *found))
        part = f"{title}, {evidence.method(method)}, the best constant"
        bound = evidence.best_constant(name)
        parts.append(evidence.below(CMSE, (name, method), bound, part))
    return parts


def _sharp(evidence: Evidence, method: str, most: float) -> list[Effect]:
    return [
        mean_effect(
            f"{evidence.title(name)}, {evidence.method(method)}",
            f"{most:g} less the mean of 4 c (1 - c)",
            {seed: most - blur(c) for seed, c in evidence.constraints(name, method).items()},
        )
        for name in evidence.experiments
    ]
