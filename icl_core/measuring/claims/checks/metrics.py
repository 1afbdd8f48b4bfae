"""Checks on the reported values: what Tables 1 to 6 print, and what final policies earn.

Returns are those of the reported rollouts, not of training: a run of ICL that has stopped early
trains no last policy, and where episodes are long a rollout may see none of them end.
"""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.evidence import ICL, Evidence
from icl_core.measuring.claims.intervals import (
    Estimate,
    difference_of_means,
    mean_above,
    ratio_of_deviations,
    relative_deviation,
    slope_over,
)
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import CMSE


@reads("metrics")
def lowest_of_methods(
    evidence: Evidence, metric: str, method: str, others: Sequence[str]
) -> list[Effect]:
    """A method's mean is lower than that of each other one, in every experiment."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {evidence.against(method, other)}",
            f"{metric.upper()}, difference of means",
            difference_of_means,
            [evidence.values(metric, name, m) for m in (method, other)],
        )
        for name in evidence.experiments
        for other in others
    ]


@reads("metrics")
def lower_than_experiment(evidence: Evidence, metric: str) -> list[Effect]:
    """ICL's mean in the first experiment is lower than in the second."""
    first, second = evidence.experiments
    groups = [evidence.values(metric, name) for name in (first, second)]
    part = f"{evidence.title(first)}, against {evidence.title(second)}"
    unit = f"{metric.upper()}, difference of means"
    return [evidence.effect(part, unit, difference_of_means, groups)]


@reads("metrics")
def highest_experiment(
    evidence: Evidence, metric: str, method: str, experiment: str
) -> list[Effect]:
    """A method's mean is higher in one experiment than in each of the others."""
    highest = evidence.values(metric, experiment, method)
    part = f"{evidence.method(method)}, {evidence.title(experiment)} against"
    return [
        evidence.effect(
            f"{part} {evidence.title(name)}",
            f"{metric.upper()}, difference of means",
            difference_of_means,
            [evidence.values(metric, name, method), highest],
        )
        for name in evidence.experiments
        if name != experiment
    ]


@reads("metrics")
def grows_with(
    evidence: Evidence, metric: str, of: str, values: Sequence[float], paired: bool = False
) -> list[Effect]:
    """ICL's values grow along a sweep: the slope of a straight line through them is positive.

    Experiments come in as many runs of `values` as there are environments.
    """
    parts = []
    for start in range(0, len(evidence.experiments), len(values)):
        names = evidence.experiments[start : start + len(values)]
        groups = [evidence.values(metric, name) for name in names]
        part = evidence.world(names[0]).title
        unit = f"{metric.upper()} per unit of {of}"
        parts.append(evidence.effect(part, unit, slope_over(values), groups, paired))
    return parts


@reads("metrics")
def share_of_first_iteration(evidence: Evidence, metric: str, at_most: float) -> list[Effect]:
    """What is reported is at most this share of what the first policy had.

    ICL's first policy is trained without a constraint.
    """
    parts = []
    for name in evidence.experiments:
        first = evidence.by_iteration(metric, name)[:, 0]
        values = evidence.values(metric, name)
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


@reads("metrics")
def worse_than_constant(evidence: Evidence, method: str) -> list[Effect]:
    """A method's CMSE is higher than that of the constant that comes closest to the truth.

    On a line the order of the nodes says little: whatever falls along it has them in order,
    wherever it falls and however little.
    """
    parts = []
    for name in evidence.experiments:
        bound = float(evidence.truth(name).var())
        unit = f"CMSE less {bound:.3f}, that of the best constant"
        values = evidence.values(CMSE, name, method)
        parts.append(
            evidence.effect(
                f"{evidence.title(name)}, {evidence.method(method)}",
                unit,
                mean_above(bound),
                [values],
            )
        )
    return parts


@reads("metrics")
def varies(evidence: Evidence, metric: str, at_least: float) -> list[Effect]:
    """ICL's values differ between seeds by at least this share of their mean."""
    unit = f"deviation of {metric.upper()} over its mean, less {at_least:g}"
    parts = []
    for name in evidence.experiments:
        values = evidence.values(metric, name)
        found = relative_deviation(values, at_least)
        parts.append(_taken_as_normal(evidence.title(name), found, unit, len(values)))
    return parts


@reads("metrics")
def most_variable(evidence: Evidence, metric: str, experiment: str) -> list[Effect]:
    """ICL's values differ more between seeds in one experiment than in the others."""
    unit = f"{metric.upper()}, ratio of deviations, in powers of 2"
    parts = []
    for name in evidence.experiments:
        if name != experiment:
            first, second = (evidence.values(metric, one) for one in (experiment, name))
            part = f"{evidence.title(experiment)} against {evidence.title(name)}"
            seeds = min(len(first), len(second))
            parts.append(_taken_as_normal(part, ratio_of_deviations(first, second), unit, seeds))
    return parts


@reads("rollouts")
def return_falls_with(evidence: Evidence, of: str, values: Sequence[float]) -> list[Effect]:
    """Along a sweep the final policies of ICL earn ever less."""
    groups = [evidence.returns(name, ICL) for name in evidence.experiments]
    unit = f"fall of the return per unit of {of}"
    slope = slope_over(values)
    part = evidence.world(evidence.experiments[0]).title
    return [evidence.effect(part, unit, lambda groups: -slope(groups), groups)]


@reads("rollouts")
def earns_more(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """The final policies of a method earn more than those of another one."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {evidence.against(method, other)}",
            "return of the final policy",
            difference_of_means,
            [evidence.returns(name, one) for one in (other, method)],
        )
        for name in evidence.experiments
    ]


def _taken_as_normal(part: str, found: Estimate, unit: str, seeds: int) -> Effect:
    return Effect(part, *found, unit, f"{seeds} seeds, taken as normal", seeds)
