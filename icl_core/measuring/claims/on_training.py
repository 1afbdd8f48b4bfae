"""Checks on training curves: of the experts, and of the final policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from icl_core.measuring.claims.evidence import Evidence, difference_of_means, mean_of
from icl_core.measuring.claims.on_metrics import slope_over
from icl_core.measuring.claims.verdicts import Effect
from icl_core.showing.naming import METHODS

PART = 10  # the beginning and the end are a tenth of the epochs each


def expert_earns(evidence: Evidence, share: float, best: Mapping[str, float]) -> list[Effect]:
    """At the end an expert's return is at least this share of the best possible one.

    There is one expert: the interval is over the epochs of the last tenth.
    """
    parts = []
    for name in evidence.experiments:
        (log,) = evidence.training(name).values()
        last = _ends(log, "return")[1] / best[name]
        unit = f"return, share of {best[name]:g}, less {share:g}"
        parts.append(
            evidence.effect(
                evidence.title(name), unit, lambda g: mean_of(g) - share, [last], of="epochs"
            )
        )
    return parts


def expert_violates_less(evidence: Evidence) -> list[Effect]:
    """Over training, fewer and fewer of an expert's episodes break the constraint.

    There is one expert: the interval is over the epochs of the first and the last tenth.
    """
    parts = []
    for name in evidence.experiments:
        (log,) = evidence.training(name).values()
        first, last = _ends(log, "violations")
        unit = "share of episodes that break it, first tenth less last"
        groups = [last, first]
        parts.append(
            evidence.effect(evidence.title(name), unit, difference_of_means, groups, of="epochs")
        )
    return parts


def return_falls_with(evidence: Evidence, of: str, values: Sequence[float]) -> list[Effect]:
    """Along a sweep the final policies of ICL earn ever less."""
    groups = [_returns(evidence, name, "icl") for name in evidence.experiments]
    unit = f"fall of the return per unit of {of}"
    slope = slope_over(values)
    part = evidence.world(evidence.experiments[0]).title
    return [evidence.effect(part, unit, lambda groups: -slope(groups), groups)]


def earns_more(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """The final policies of a method earn more than those of another one."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {METHODS[method]} against {METHODS[other]}",
            "return at the end of training",
            difference_of_means,
            [_returns(evidence, name, one) for one in (other, method)],
        )
        for name in evidence.experiments
    ]


def _returns(evidence: Evidence, name: str, method: str) -> list[float]:
    """Each seed's return over the last tenth of training."""
    logs = evidence.training(name, method).values()
    return [float(_ends(log, "return")[1].mean()) for log in logs]


def _ends(log: pa.Table, column: str) -> tuple[np.ndarray, np.ndarray]:
    values = log[column].to_numpy()
    part = max(1, len(values) // PART)
    return values[:part], values[-part:]
