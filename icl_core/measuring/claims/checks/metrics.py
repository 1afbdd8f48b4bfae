"""Checks on the reported values: what Tables 1 to 6 print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from icl_core.learning.problem import LAST
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import (
    deviation_effect,
    mean_effect,
    ratio,
    separate_effect,
)
from icl_core.measuring.claims.evidence import ICL, Evidence
from icl_core.measuring.claims.evidence.experts import own
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import CMSE, NAD

QUARTER = 0.25  # of the paper's value: as near is alike
ROUNDING = 0.01  # of what the paper prints


@reads("metrics")
def lowest_of_methods(
    evidence: Evidence, metric: str, method: str, others: Sequence[str], selection: str = LAST
) -> list[Effect]:
    """A method's mean is lower than that of each other one, in every experiment.

    All methods are selected alike: the last policy of each, or of equally many candidates the
    nearest to the expert.
    """
    return [
        evidence.lower(
            metric,
            (name, method),
            (name, other),
            f"{evidence.title(name)}, {evidence.against(method, other)}",
            selection=selection,
        )
        for name in evidence.experiments
        for other in others
    ]


@reads("metrics")
def as_in_the_paper(
    evidence: Evidence, metric: str, method: str, or_better: bool = False
) -> list[Effect]:
    """A row of a table: our mean is within a quarter of the paper's, or two of its deviations.

    Its own mean is known to 1.4 deviations: nearer nothing can be shown to be. `or_better`: a lower
    mean is as good.
    """
    parts = []
    for name in evidence.experiments:
        mean, deviation = evidence.printed(metric, (name, method))
        margin = max(QUARTER * mean, 2 * deviation, ROUNDING)
        within = (-math.inf if or_better else -margin, margin)
        part = f"{evidence.title(name)}, {evidence.method(method)}"
        parts.append(evidence.beside_the_paper(metric, (name, method), part, within))
    return parts


@reads("metrics")
def worse_than_constant(evidence: Evidence, method: str) -> list[Effect]:
    """A method's CMSE is higher than that of the constant that comes closest to the truth.

    On a line the order of the nodes says little: whatever falls along it has them in order,
    wherever it falls and however little.
    """
    return [
        evidence.above(
            CMSE,
            (name, method),
            evidence.best_constant(name),
            f"{evidence.title(name)}, {evidence.method(method)}, the best constant",
        )
        for name in evidence.experiments
    ]


@reads("metrics")
def between_methods(evidence: Evidence, method: str, better: str, worse: str) -> list[Effect]:
    """A method's CMSE lies above a better method's, and below a worse one's and any constant's."""
    parts = []
    for name in evidence.experiments:
        title, constant = evidence.title(name), evidence.best_constant(name)
        for low, high in ((better, method), (method, worse)):
            part = f"{title}, {evidence.against(low, high)}"
            parts.append(evidence.lower(CMSE, (name, low), (name, high), part))
        part = f"{title}, {evidence.method(method)}, the best constant"
        parts.append(evidence.below(CMSE, (name, method), constant, part))
    return parts


@reads("metrics", "demonstrations", "iteration_policy:method=icl,iteration=01")
def near_the_expert(evidence: Evidence, at_most: float) -> list[Effect]:
    """Of the first policy's distance to the expert, ICL's has at most this share left.

    Both NADs are of equally many episodes, and taken less what two samples of the expert itself
    would have. ICL's first policy is trained under its first constraint.
    """
    parts = []
    for name in evidence.experiments:
        first = evidence.first_nad(name, evidence.played(name))
        floor = evidence.noise_floor(name)
        left = {
            seed: ratio(nad - own(floor, seed), first[seed] - own(floor, seed))
            for seed, nad in evidence.reported(NAD, name).items()
            if seed in first
        }
        unit = f"{at_most:g} less the share of the first policy's NAD that is left"
        room = {seed: at_most - share for seed, share in left.items()}
        parts.append(mean_effect(evidence.title(name), unit, room))
    return parts


@reads("metrics")
def furthest_on(evidence: Evidence, method: str, experiment: str) -> list[Effect]:
    """A method's NAD, as a share of the first policy's of ICL, is higher there than elsewhere.

    Environments have bins of their own: only shares compare.
    """
    shares = {}
    for name in evidence.experiments:
        first = evidence.by_iteration(NAD, name)
        found = evidence.reported(NAD, name, method)
        shares[name] = {s: ratio(nad, first[s][0]) for s, nad in found.items() if s in first}
    part = f"{evidence.method(method)}, {evidence.title(experiment)} against"
    unit = "share of the first policy's NAD, difference of means"
    return [
        separate_effect(f"{part} {evidence.title(name)}", unit, shares[name], shares[experiment])
        for name in evidence.experiments
        if name != experiment
    ]


@reads("metrics")
def steps_up(evidence: Evidence, metric: str, steps: int = 2, paired: bool = False) -> list[Effect]:
    """ICL's mean grows from each experiment to the next, in rows of so many.

    `paired`: they share their experts.
    """
    parts = []
    for start in range(0, len(evidence.experiments), steps):
        names = evidence.experiments[start : start + steps]
        for low, high in pairwise(names):
            part = f"{evidence.title(low)}, against {evidence.title(high)}"
            parts.append(evidence.lower(metric, (low, ICL), (high, ICL), part, paired))
    return parts


@reads("evaluation", "demonstrations", "metrics")
def varies_between_runs(evidence: Evidence, share: float) -> list[Effect]:
    """NAD of ICL deviates between runs at least as much as so large a share of the paper's.

    What a policy's own NAD varies from one set of episodes to the next is taken off.
    """
    parts = []
    for name in evidence.experiments:
        sets = evidence.nad_of_sets(name)
        means = {seed: float(values.mean()) for seed, values in sets.items()}
        noise = float(np.mean([v.var(ddof=1) / len(v) for v in sets.values()]))
        bound = share * evidence.printed(NAD, (name, ICL))[1]
        unit = f"deviation of NAD less {bound:.2g}"
        parts.append(deviation_effect(evidence.title(name), unit, means, bound, noise))
    return parts


@reads("metrics")
def ends_varied(evidence: Evidence, variant: str, share: float) -> list[Effect]:
    """CMSE at the end of all iterations deviates by at least such a share of the paper's."""
    parts = []
    for name in evidence.experiments:
        curves = evidence.by_iteration(CMSE, f"{name}-{variant}")
        ends = {seed: float(curve[-1]) for seed, curve in curves.items()}
        bound = share * evidence.printed(CMSE, (name, ICL))[1]
        unit = f"deviation of CMSE less {bound:.2g}"
        parts.append(deviation_effect(evidence.title(name), unit, ends, bound))
    return parts
