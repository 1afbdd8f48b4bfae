"""Checks on what final policies do: where they go, what they earn, what it costs.

All of episodes of their own, not of training: a run of ICL that has stopped early trains no last
policy, and where episodes are long a rollout may see none of them end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import mean_effect, paired_effect, ratio
from icl_core.measuring.claims.evidence import ICL, Evidence
from icl_core.measuring.claims.evidence.experts import own
from icl_core.measuring.claims.verdicts import Effect


@reads("evaluation")
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
            shares = [_shares(evidence.visits(name, one), inside) for one in order]
            part = f"{evidence.title(name)}, {evidence.against(method, other)}, {region}"
            parts.append(paired_effect(part, "share of the steps on the grid", *shares))
    return parts


@reads("evaluation", "demonstrations")
def shifted_right(evidence: Evidence, methods: Sequence[str]) -> list[Effect]:
    """On a line, the mean position of methods' policies is beyond that of their experts."""
    parts = []
    for name in evidence.experiments:
        (axis,) = evidence.world(name).grid.axes
        shown = evidence.expert_visits(name)
        for method in methods:
            shift = {
                seed: _position(taken, axis.physical) - _position(own(shown, seed), axis.physical)
                for seed, taken in evidence.visits(name, method).items()
            }
            part = f"{evidence.title(name)}, {evidence.method(method)}"
            parts.append(mean_effect(part, "mean z less the expert's [m]", shift))
    return parts


@reads("evaluation")
def earns_more_within_budget(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """The final policies of a method earn more than another's, and keep the true constraint."""
    parts = []
    for name in evidence.experiments:
        returns = [evidence.returns(name, one) for one in (other, method)]
        part = f"{evidence.title(name)}, {evidence.against(method, other)}"
        parts.append(paired_effect(part, "return of the final policy", *returns))
        beta = evidence.world(name).threshold
        room = {seed: 1 - cost / beta for seed, cost in evidence.costs(name, method).items()}
        part = f"{evidence.title(name)}, {evidence.method(method)}"
        parts.append(mean_effect(part, "share of beta that the true cost leaves", room))
    return parts


@reads("evaluation", "demonstrations")
def earns_like_the_expert(evidence: Evidence, share: float) -> list[Effect]:
    """The final policies of ICL earn at least this share of what their experts earn."""
    parts = []
    for name in evidence.experiments:
        shown = evidence.demonstrations(name)
        found = {
            seed: ratio(earned, own(shown, seed).returns.mean(dtype=np.float64)) - share
            for seed, earned in evidence.returns(name, ICL).items()
        }
        unit = f"return, share of the expert's, less {share:g}"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


def _shares(visits: Mapping[int, np.ndarray], inside: np.ndarray) -> dict[int, float]:
    return {seed: ratio(one[inside].sum(), one.sum()) for seed, one in visits.items()}


def _position(visits: np.ndarray, places: np.ndarray) -> float:
    return ratio(visits @ places, visits.sum())
