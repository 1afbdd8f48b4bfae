"""Checks on what networks can hold, and on how long training takes."""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.artifacts import read_table
from icl_core.learning.true_fit import FIT_SCHEMA, failed_fits, final_errors
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.evidence import Evidence, MissingError
from icl_core.measuring.claims.intervals import mean_above, mean_below
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.times import Time, training_time


@reads("true_fit")
def can_hold(evidence: Evidence, architecture: str, error: float) -> list[Effect]:
    """A network fitted to the truth itself comes closer than this CMSE."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {architecture.upper()}",
            f"{error:g} less CMSE",
            mean_below(error),
            [_errors(evidence, name, architecture)],
        )
        for name in evidence.experiments
    ]


@reads("true_fit")
def cannot_hold(evidence: Evidence, architecture: str, error: float) -> list[Effect]:
    """A network fitted to the truth itself stays further away than this CMSE."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {architecture.upper()}",
            f"CMSE less {error:g}",
            mean_above(error),
            [_errors(evidence, name, architecture)],
        )
        for name in evidence.experiments
    ]


@reads("job_time", "iteration_time")
def takes_at_most(
    evidence: Evidence, method: str, others: Sequence[str], times: float
) -> list[Effect]:
    """A method's CPU time is at most so many times that of the slowest of the others.

    Seeds train in one job together: there is one time and no interval.
    """
    parts = []
    for name in evidence.experiments:
        own, *theirs = (_time(evidence, name, one) for one in (method, *others))
        room = times - own.per_seed[0] / max(time.per_seed[0] for time in theirs)
        unit = f"{times:g} less the ratio of CPU times"
        over = f"{own.seeds} seeds in one job, no interval"
        parts.append(Effect(evidence.title(name), room, room, room, unit, over, own.seeds))
    return parts


def _time(evidence: Evidence, name: str, method: str) -> Time:
    evidence.world(name)
    time = training_time(evidence.results, name, method)
    if time is None:
        raise MissingError(f"{evidence.method(method)} on {name} was not run")
    return time


def _errors(evidence: Evidence, name: str, architecture: str) -> list[float]:
    evidence.world(name)
    found = evidence.results.find("true_fit", experiment=name, architecture=architecture)
    if not found:
        raise MissingError(f"network {architecture} was not fitted to {name}")
    tables = [read_table(one.path, FIT_SCHEMA) for one in found]
    failed = sorted(seed for table in tables for seed in failed_fits(table))
    evidence.leave_out(f"network {architecture} on {name}", failed)
    errors = {seed: error for table in tables for seed, error in final_errors(table).items()}
    left = [error for seed, error in errors.items() if seed not in evidence.without]
    if not left:
        raise MissingError(f"network {architecture} on {name} has no seed left")
    return left
