"""Checks on what final policies earn, in their reported rollouts.

Not in their training: a run of ICL that has stopped early trains no last policy, and where
episodes are long a rollout may see none of them end.
"""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import ICL, Evidence
from icl_core.measuring.claims.intervals import difference_of_means, slope_over
from icl_core.measuring.claims.verdicts import Effect


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
