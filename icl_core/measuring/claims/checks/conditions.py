"""Checks on networks, times, settings and training; and on the theorem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import described, mean_effect, ratio, runs, sample_effect
from icl_core.measuring.claims.evidence import ICL, Evidence
from icl_core.measuring.claims.verdicts import Effect

PART = 10  # the beginning and the end of training are a tenth of the epochs each


@reads("true_fit")
def can_hold(evidence: Evidence, architecture: str, error: float) -> list[Effect]:
    """A network fitted to the truth itself comes closer than this CMSE."""
    parts = []
    for name in evidence.experiments:
        found = evidence.error(name, architecture).times(-1).plus(error)
        part = f"{evidence.title(name)}, {architecture.upper()}"
        parts.append(sample_effect(part, f"{error:g} less CMSE", found, runs(found.number)))
    return parts


@reads("true_fit")
def cannot_hold(evidence: Evidence, architecture: str, like: str, error: float) -> list[Effect]:
    """A network is still further away than this when another, `like`, first comes so close."""
    parts = []
    for name in evidence.experiments:
        found = evidence.error(name, architecture, like).plus(-error)
        part = f"{evidence.title(name)}, {architecture.upper()}"
        unit = f"CMSE less {error:g}, when {like.upper()} comes under it"
        parts.append(sample_effect(part, unit, found, runs(found.number)))
    return parts


@reads("true_fit")
def capacity_helps(
    evidence: Evidence, pairs: Sequence[Sequence[str]], margin: float
) -> list[Effect]:
    """Larger networks come at least as close as smaller ones, but for `margin`, everywhere."""
    parts = []
    for small, large in pairs:
        for name in evidence.experiments:
            gain = evidence.error(name, small).less(evidence.error(name, large)).plus(margin)
            part = f"{evidence.title(name)}, {large.upper()} against {small.upper()}"
            unit = f"CMSE, difference plus {margin:g}"
            parts.append(sample_effect(part, unit, gain, f"{runs(gain.number)}, Welch"))
    return parts


@reads("job_time", "iteration_time", "adjustment:method=icl", "metrics")
def times_comparable(
    evidence: Evidence, others: Sequence[str], least: float, most: float
) -> list[Effect]:
    """ICL's CPU time, as if of all iterations, over that of the slowest other lies in a range.

    Seeds train in one job together: there is one time, and no interval.
    """
    parts = []
    for name in evidence.experiments:
        slowest = max(evidence.seconds(name, one) for one in others)
        found = ratio(evidence.seconds(name, ICL), slowest)
        unit = f"ratio of CPU times, {found:.3g}, distance inside [{least:.2g}, {most:.2g}]"
        room = min(found - least, most - found)
        parts.append(described(evidence.title(name), unit, room, "one time each, no interval"))
    return parts


@reads("metrics")
def fewer_settings(evidence: Evidence, method: str, other: str) -> list[Effect]:
    """A method has fewer settings than another, as we have written both."""
    counts = [evidence.settings_of(one) for one in (other, method)]
    unit = f"settings, {counts[0]} less {counts[1]}"
    part = evidence.against(method, other)
    return [described(part, unit, float(counts[0] - counts[1]), "a count, no interval")]


@reads("training:method=icl", "metrics")
def training_improves(evidence: Evidence) -> list[Effect]:
    """While ICL's last policy trains, its return rises and its cost falls."""
    parts = []
    for name in evidence.experiments:
        logs = evidence.training(name)
        for column, sign, word in (("return", 1, "rise"), ("constraint_value", -1, "fall")):
            found = {}
            for seed, log in logs.items():
                values = log[column].to_numpy()
                part = max(1, len(values) // PART)
                change = np.nanmean(values[-part:]) - np.nanmean(values[:part])
                found[seed] = sign * float(change)
            unit = f"{word} from the first tenth of the epochs to the last"
            parts.append(mean_effect(f"{evidence.title(name)}, {column}", unit, found))
    return parts


@reads("training", "iteration_training:method=icl", "metrics")
def takes_more_steps(evidence: Evidence, others: Sequence[str], times: float) -> list[Effect]:
    """ICL makes more than so many times the steps in the environment that others make."""
    parts = []
    for name in evidence.experiments:
        mine = evidence.steps(name, ICL)
        for other in others:
            theirs = evidence.steps(name, other)
            ratios = {
                s: ratio(mine[s], theirs[s]) - times for s in sorted(mine.keys() & theirs.keys())
            }
            part = f"{evidence.title(name)}, {evidence.against(ICL, other)}"
            parts.append(mean_effect(part, f"ratio of steps less {times:g}", ratios))
    return parts


@reads("metrics")
def alternation_ends_at_the_expert(evidence: Evidence, share: float) -> list[Effect]:
    """On made-up problems that keep its assumptions, the theorem's alternation finds the expert.

    Each step is solved exactly; a value is 1 where the last policy is the expert's, else 0.
    """
    ends = evidence.alternations()
    found = {number: end - share for number, end in ends.items()}
    return [mean_effect("Equations 3 and 4", f"share of problems less {share:g}", found)]
