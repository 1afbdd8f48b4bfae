"""Checks on the adjustment of the constraint, by its log (Figures 1 and 7)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import mean_effect, paired_effect, ratio
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.metrics import NAD

FIRST = 1000  # steps that count as the beginning
PART = 4  # the end is a quarter of the steps


@reads("adjustment:method=icl")
def adjusts_both_ways(evidence: Evidence) -> list[Effect]:
    """In the first adjustment the expert's cost falls, and the agents' rises."""
    parts = []
    for name in evidence.experiments:
        for column, sign, word in (("expert_value", -1, "fall"), ("agent_value", 1, "rise")):
            found = {}
            for seed, logs in evidence.adjustments(name).items():
                values = logs[0][column].to_numpy()
                found[seed] = sign * float(values[-1] - values[0])
            whose = "the expert" if sign < 0 else "the agents"
            unit = f"{word} of J(c) in the first adjustment"
            parts.append(mean_effect(f"{evidence.title(name)}, {whose}", unit, found))
    return parts


@reads("adjustment:method=icl")
def ends_within_budget(
    evidence: Evidence, at_most: Mapping[str, float], above: Mapping[str, float] | None = None
) -> list[Effect]:
    """At the end of adjustments the expert's cost is at most so many betas, or more than so many.

    Of each run the mean of its adjustments' ends.
    """
    parts = []
    for bounds, sign, words in ((at_most, -1, "{:g} less"), (above or {}, 1, "above {:g},")):
        for name, bound in bounds.items():
            beta, found = evidence.beta(name), {}
            for seed, logs in evidence.adjustments(name).items():
                ends = [log["expert_value"].to_numpy()[-1] / beta for log in logs]
                found[seed] = sign * (float(np.mean(ends)) - bound)
            unit = f"{words.format(bound)} J_E(c) over beta at the end"
            parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("adjustment:method=icl")
def budget_is_crossed(evidence: Evidence, times: float) -> list[Effect]:
    """With a multiplier J_E crosses beta again and again: more than so often an iteration.

    The first 1,000 steps, in which it comes down from its start, do not count.
    """
    parts = []
    for name in evidence.experiments:
        beta, found = evidence.beta(name), {}
        for seed, logs in evidence.adjustments(name).items():
            steps, values = _joined(logs, "expert_value")
            often, left = crossings(values[steps > FIRST], beta), max(0, steps[-1] - FIRST)
            found[seed] = ratio(often * _length(logs[0]), left) - times
        unit = f"crossings of J_E = beta an iteration, less {times:g}"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("adjustment:method=icl")
def starts_satisfied(evidence: Evidence, share: float) -> list[Effect]:
    """At some time in the first 1,000 steps so many demonstrations keep the constraint."""
    parts = []
    for name in evidence.experiments:
        found = {
            seed: _best_at_first(*_joined(logs, "expert_satisfaction")) - share
            for seed, logs in evidence.adjustments(name).items()
        }
        unit = f"largest share of demonstrations in the first {FIRST} steps, less {share:g}"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("adjustment:method=icl")
def satisfaction_falls(evidence: Evidence, more_than: float) -> list[Effect]:
    """From its best in the first 1,000 steps to the last quarter the share falls by so much."""
    parts = []
    for name in evidence.experiments:
        found = {seed: fall - more_than for seed, fall in _falls(evidence, name).items()}
        unit = f"fall of the share of demonstrations, less {more_than:g}"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("adjustment:method=icl")
def satisfaction_holds(evidence: Evidence, at_most: float) -> list[Effect]:
    """In the first experiment the share falls by no more, and by less than in the second."""
    first, second = evidence.experiments
    falls = [_falls(evidence, name) for name in (first, second)]
    room = {seed: at_most - fall for seed, fall in falls[0].items()}
    part = f"{evidence.title(first)}, against {evidence.title(second)}"
    unit = "fall of the share of demonstrations"
    return [
        mean_effect(evidence.title(first), f"{at_most:g} less the {unit}", room),
        paired_effect(part, f"{unit}, difference of means", *falls),
    ]


@reads("iteration_policy:method=icl", "iteration_constraint:method=icl", "adjustment:method=icl")
def raises_all_members(evidence: Evidence, share: float) -> list[Effect]:
    """Adjustments raise the cost of more than such a share of the policies so far.

    Though what they maximise is the cost of the mixture. Counted over all adjustments and policies.
    """
    parts = []
    for name in evidence.experiments:
        found = {}
        for seed, adjustments in evidence.member_costs(name).items():
            risen = np.concatenate([after > before for before, after in adjustments])
            found[seed] = float(risen.mean()) - share
        unit = f"share of policies whose J(c) rises, less {share:g}"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("adjustment:method=icl", "metrics")
def overlap_slows(evidence: Evidence) -> list[Effect]:
    """Within a run, adjustments gain more where the newest policy is further from the expert.

    The gain is that of J_mix(c) - J_E(c), the distance is NAD, and the measure their rank
    correlation over iterations.
    """
    parts = []
    for name in evidence.experiments:
        nads, found = evidence.by_iteration(NAD, name), {}
        for seed, logs in evidence.adjustments(name).items():
            gains = [_gain(log) for log in logs]
            found[seed] = rank_correlation(nads[seed][: len(gains)], np.array(gains))
        unit = "rank correlation of gain and NAD"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


def crossings(values: np.ndarray, level: float) -> int:
    """How often values pass a level.

    >>> crossings(np.array([0, 2, 2, 0, 0, 2]), 1)
    3
    """
    return int(np.count_nonzero(np.diff(values > level)))


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's; nan where one of both is constant.

    >>> float(round(rank_correlation(np.array([1, 2, 9]), np.array([3, 4, 5])), 9))
    1.0
    """
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    ranks = np.array([np.searchsorted(np.sort(one), one) for one in (first, second)], float)
    return float(np.corrcoef(ranks)[0, 1])


def _gain(log: pa.Table) -> float:
    gap = log["agent_value"].to_numpy() - log["expert_value"].to_numpy()
    return float(gap[-1] - gap[0])


def _falls(evidence: Evidence, name: str) -> dict[int, float]:
    """By how much the share of demonstrations that keep the constraint falls in each run."""
    found = {}
    for seed, logs in evidence.adjustments(name).items():
        steps, values = _joined(logs, "expert_satisfaction")
        end = values[steps > steps[-1] - max(1, steps[-1] // PART)]
        found[seed] = _best_at_first(steps, values) - float(end.mean())
    return found


def _best_at_first(steps: np.ndarray, values: np.ndarray) -> float:
    return float(values[steps <= FIRST].max())


def _joined(logs: list[pa.Table], column: str) -> tuple[np.ndarray, np.ndarray]:
    """A column over all adjustments, and the steps at which it was logged, counted through."""
    before = np.cumsum([0, *map(_length, logs)])
    steps = [log["step"].to_numpy() + n for n, log in zip(before[:-1], logs, strict=True)]
    return np.concatenate(steps), np.concatenate([log[column].to_numpy() for log in logs])


def _length(log: pa.Table) -> int:
    """Steps of an adjustment, of which its log keeps some and the last."""
    return int(log["step"].to_numpy()[-1])
