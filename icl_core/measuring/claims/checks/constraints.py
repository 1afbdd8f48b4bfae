"""Checks on the recovered constraints at the nodes of the grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import stats

from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import (
    difference_of_means,
    mean_above,
    mean_below,
    slope_over,
)
from icl_core.measuring.claims.verdicts import Effect

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
    ranks = stats.rankdata(_flat(values), axis=1)
    ones, zeros = truth.sum(), (~truth).sum()
    return (ranks[:, truth].sum(axis=1) - ones * (ones + 1) / 2) / (ones * zeros)


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


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1)
