"""Checks on where agents and experts go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import difference_of_means
from icl_core.measuring.claims.verdicts import Effect

HIGH = 0.5


@reads("constraint", "demonstrations")
def forbids_fewer_expert_states(
    evidence: Evidence, method: str, others: Sequence[str]
) -> list[Effect]:
    """Of the nodes that the expert visits, a method gives a high value to fewer than the others."""
    parts = []
    for name in evidence.experiments:
        visited = evidence.expert_visits(name) > 0

        def share(one: str, name: str = name, visited: np.ndarray = visited) -> np.ndarray:
            return (evidence.constraints(name, one)[:, visited] >= HIGH).mean(axis=1)

        parts += [
            evidence.effect(
                f"{evidence.title(name)}, {evidence.against(method, other)}",
                f"share of the expert's nodes with c >= {HIGH:g}",
                difference_of_means,
                [share(method), share(other)],
            )
            for other in others
        ]
    return parts


@reads("rollouts")
def visits_more(
    evidence: Evidence, method: str, other: str, at_least: float, less_at_most: float
) -> list[Effect]:
    """On a line, a method is beyond one value more often than another, and below one less often.

    Of the steps on the grid, as accruals count them.
    """
    parts = []
    for name in evidence.experiments:
        (axis,) = evidence.world(name).grid.axes
        regions = {
            f"z <= {less_at_most:g}": (axis.physical <= less_at_most + 1e-9, (method, other)),
            f"z >= {at_least:g}": (axis.physical >= at_least - 1e-9, (other, method)),
        }
        for region, (inside, order) in regions.items():
            shares = [_share(evidence.visits(name, one), inside) for one in order]
            part = f"{evidence.title(name)}, {evidence.against(method, other)}, {region}"
            parts.append(
                evidence.effect(part, "share of the steps on the grid", difference_of_means, shares)
            )
    return parts


def _share(visits: np.ndarray, inside: np.ndarray) -> np.ndarray:
    return visits[:, inside].sum(axis=1) / visits.sum(axis=1)
