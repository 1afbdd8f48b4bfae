"""Checks on the reported values: what Tables 1 to 6 print."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.measuring.claims.evidence import Evidence, difference_of_means, mean_of
from icl_core.measuring.claims.intervals import deviation_of, ratio_of_deviations
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import CMSE
from icl_core.showing.naming import METHODS


def lowest_of_methods(
    evidence: Evidence, metric: str, method: str, others: Sequence[str]
) -> list[Effect]:
    """A method's mean is lower than that of each other one, in every experiment."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {METHODS[method]} against {METHODS[other]}",
            f"{metric.upper()}, difference of means",
            difference_of_means,
            [list(evidence.reported(metric, name, m).values()) for m in (method, other)],
        )
        for name in evidence.experiments
        for other in others
    ]


def lower_than_experiment(evidence: Evidence, metric: str) -> list[Effect]:
    """ICL's mean in the first experiment is lower than in the second."""
    first, second = evidence.experiments
    groups = [list(evidence.reported(metric, name).values()) for name in (first, second)]
    part = f"{evidence.title(first)}, against {evidence.title(second)}"
    unit = f"{metric.upper()}, difference of means"
    return [evidence.effect(part, unit, difference_of_means, groups)]


def highest_experiment(
    evidence: Evidence, metric: str, method: str, experiment: str
) -> list[Effect]:
    """A method's mean is higher in one experiment than in each of the others."""
    highest = list(evidence.reported(metric, experiment, method).values())
    return [
        evidence.effect(
            f"{METHODS[method]}, {evidence.title(experiment)} against {evidence.title(name)}",
            f"{metric.upper()}, difference of means",
            difference_of_means,
            [list(evidence.reported(metric, name, method).values()), highest],
        )
        for name in evidence.experiments
        if name != experiment
    ]


def grows_with(
    evidence: Evidence, metric: str, of: str, values: Sequence[float], paired: bool = False
) -> list[Effect]:
    """ICL's values grow along a sweep: the slope of a straight line through them is positive.

    Experiments come in as many runs of `values` as there are environments.
    """
    parts = []
    for start in range(0, len(evidence.experiments), len(values)):
        names = evidence.experiments[start : start + len(values)]
        groups = [list(evidence.reported(metric, name).values()) for name in names]
        part = evidence.world(names[0]).title
        unit = f"{metric.upper()} per unit of {of}"
        parts.append(evidence.effect(part, unit, slope_over(values), groups, paired))
    return parts


def share_of_first_iteration(evidence: Evidence, metric: str, at_most: float) -> list[Effect]:
    """What is reported is at most this share of what the first policy had.

    ICL's first policy is trained without a constraint.
    """
    parts = []
    for name in evidence.experiments:
        first = evidence.by_iteration(metric, name)[:, 0]
        values = list(evidence.reported(metric, name).values())
        parts.append(
            evidence.effect(
                evidence.title(name),
                f"{at_most:g} less the ratio of {metric.upper()} to the first policy's",
                lambda groups: at_most - groups[0].mean(axis=-1) / groups[1].mean(axis=-1),
                [values, first],
                paired=True,
            )
        )
    return parts


def worse_than_constant(evidence: Evidence, method: str) -> list[Effect]:
    """A method's CMSE is higher than that of the constant that comes closest to the truth.

    On a line the order of the nodes says little: whatever falls along it has them in order,
    wherever it falls and however little.
    """
    parts = []
    for name in evidence.experiments:
        bound = float(evidence.world(name).true_on_grid.var())
        unit = f"CMSE less {bound:.3f}, that of the best constant"
        values = list(evidence.reported(CMSE, name, method).values())
        parts.append(
            evidence.effect(
                f"{evidence.title(name)}, {METHODS[method]}",
                unit,
                lambda groups, bound=bound: mean_of(groups) - bound,
                [values],
            )
        )
    return parts


def varies(evidence: Evidence, metric: str, at_least: float) -> list[Effect]:
    """ICL's values differ between seeds by at least this share of their mean."""
    unit = f"deviation of {metric.upper()} over its mean, less {at_least:g}"
    return [
        deviation_of(
            evidence.title(name), unit, list(evidence.reported(metric, name).values()), at_least
        )
        for name in evidence.experiments
    ]


def most_variable(evidence: Evidence, metric: str, experiment: str) -> list[Effect]:
    """ICL's values differ more between seeds in one experiment than in the others."""
    return [
        ratio_of_deviations(
            f"{evidence.title(experiment)} against {evidence.title(name)}",
            f"{metric.upper()}, ratio of deviations, in powers of 2",
            [list(evidence.reported(metric, one).values()) for one in (experiment, name)],
        )
        for name in evidence.experiments
        if name != experiment
    ]


def slope_over(values: Sequence[float]):
    """The least-squares slope of groups at `values`, a group at each."""

    def slope(groups: Sequence[np.ndarray]) -> np.ndarray:
        weights = np.array([len(group[0]) for group in groups], dtype=float)
        centred = np.asarray(values) - np.average(values, weights=weights)
        means = np.stack([group.mean(axis=-1) for group in groups])
        return np.tensordot(weights * centred, means, 1) / (weights @ centred**2)

    return slope
