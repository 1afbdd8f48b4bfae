"""Checks on what networks can hold, and on how long training takes."""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.artifacts import read_table
from icl_core.learning.supervised import FIT_SCHEMA, final_errors
from icl_core.measuring.claims.evidence import Evidence, MissingError, mean_of
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.times import training_time
from icl_core.showing.catalogue.item import ARCHITECTURES
from icl_core.showing.naming import METHODS


def can_hold(evidence: Evidence, architecture: str, error: float) -> list[Effect]:
    """A network fitted to the truth itself comes closer than this CMSE."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {architecture.upper()}",
            f"{error:g} less CMSE",
            lambda groups: error - mean_of(groups),
            [_errors(evidence, name, architecture)],
        )
        for name in evidence.experiments
    ]


def cannot_hold(evidence: Evidence, architecture: str, error: float) -> list[Effect]:
    """A network fitted to the truth itself stays further away than this CMSE."""
    return [
        evidence.effect(
            f"{evidence.title(name)}, {architecture.upper()}",
            f"CMSE less {error:g}",
            lambda groups: mean_of(groups) - error,
            [_errors(evidence, name, architecture)],
        )
        for name in evidence.experiments
    ]


def takes_at_most(evidence: Evidence, method: str, others: Sequence[str], times: float) -> list:
    """A method's CPU time is at most so many times that of the slowest of the others.

    Seeds train in one job together: there is one time and no interval.
    """
    parts = []
    for name in evidence.experiments:
        evidence.world(name)
        found = {one: training_time(evidence.sources, name, one) for one in (method, *others)}
        for one, time in found.items():
            if time is None:
                raise MissingError(f"{METHODS[one]} on {name} was not run")
        slowest = max(found[other].per_seed[0] for other in others)
        room = times - found[method].per_seed[0] / slowest
        unit = f"{times:g} less the ratio of CPU times"
        told = f"{found[method].seeds} seeds in one job, no interval"
        parts.append(
            Effect(evidence.title(name), room, room, room, unit, told, found[method].seeds)
        )
    return parts


def _errors(evidence: Evidence, name: str, architecture: str) -> list[float]:
    evidence.world(name)
    found = evidence.sources.find(ARCHITECTURES, experiment=name, architecture=architecture)
    errors = {}
    for _, path in found:
        errors |= final_errors(read_table(path, FIT_SCHEMA))
    if not errors:
        raise MissingError(f"network {architecture} was not fitted to {name}")
    return list(errors.values())
