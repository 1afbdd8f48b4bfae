"""Checks on behaviour: where agents and experts go, the demonstrations, the experts' training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import accumulate
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.evidence import Evidence, MissingError
from icl_core.measuring.claims.intervals import difference_of_means, mean_above, mean_of
from icl_core.measuring.claims.verdicts import Effect

HIGH = 0.5
PART = 10  # the beginning and the end are a tenth of the epochs each


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


@reads("demonstrations")
def demonstrations_keep_threshold(evidence: Evidence) -> list[Effect]:
    """Their mean discounted true constraint value is at most beta.

    The interval is over the trajectories of all experts.
    """
    parts = []
    for name in evidence.experiments:
        world = evidence.world(name)
        if world.true_constraint is None:
            raise MissingError(f"nobody knows the true constraint of {name}")
        costs = []
        for taken in evidence.demonstrations(name):
            values = world.true_constraint(world.constraint_inputs(taken.states, taken.actions))
            costs.append(accumulate(values, taken.mask, world.discount))
        room = 1 - np.concatenate(costs) / world.threshold
        unit = "share of beta that is left"
        parts.append(
            evidence.effect(evidence.title(name), unit, mean_of, [room], of="demonstrations")
        )
    return parts


@reads("expert_training")
def expert_earns(evidence: Evidence, share: float, best: Mapping[str, float]) -> list[Effect]:
    """At the end an expert's return is at least this share of the best possible one.

    The curve is the mean over experts: the interval is over the epochs of the last tenth.
    """
    parts = []
    for name in evidence.experiments:
        log = evidence.expert_training(name)
        last = _ends(log, "return")[1] / best[name]
        unit = f"return, share of {best[name]:g}, less {share:g}"
        parts.append(
            evidence.effect(evidence.title(name), unit, mean_above(share), [last], of="epochs")
        )
    return parts


@reads("expert_training")
def expert_violates_less(evidence: Evidence) -> list[Effect]:
    """Over training, fewer and fewer of an expert's episodes break the constraint.

    The curve is the mean over experts: the interval is over the epochs of the first and the last
    tenth.
    """
    parts = []
    for name in evidence.experiments:
        log = evidence.expert_training(name)
        first, last = _ends(log, "violations")
        unit = "share of episodes that break it, first tenth less last"
        groups = [last, first]
        parts.append(
            evidence.effect(evidence.title(name), unit, difference_of_means, groups, of="epochs")
        )
    return parts


def _share(visits: np.ndarray, inside: np.ndarray) -> np.ndarray:
    return visits[:, inside].sum(axis=1) / visits.sum(axis=1)


def _ends(log: pa.Table, column: str) -> tuple[np.ndarray, np.ndarray]:
    values = log[column].to_numpy()
    part = max(1, len(values) // PART)
    return values[:part], values[-part:]
