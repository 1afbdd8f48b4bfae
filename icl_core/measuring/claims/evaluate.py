"""Every claim's verdict, as a table with a row for each part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from icl_core.artifacts import SIMULATED
from icl_core.measuring.claims.check import Check, find_checks
from icl_core.measuring.claims.claim import RECORDINGS, Claim
from icl_core.measuring.claims.evidence import Evidence, MissingError
from icl_core.measuring.claims.verdicts import (
    FEWEST,
    INCONCLUSIVE,
    LICENSED,
    NOT_REPRODUCED,
    NOT_RUN,
    Effect,
    combined_verdict,
    weakest_effect,
)
from icl_core.measuring.results import Results

FEW = 3  # failed parts that are named in a reason; of more, only the number is given

CLAIMS_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("statement", pa.string()),
        ("reading", pa.string()),  # what we take a word without a number to mean
        ("source", pa.string()),
        ("check", pa.string()),
        ("verdict", pa.string()),  # of the claim
        ("reason", pa.string()),  # why it is not simply yes or no
        ("part", pa.string()),
        ("part_verdict", pa.string()),  # of the part alone, on simulated recordings too
        ("effect", pa.float64()),  # positive where the paper is right
        ("low", pa.float64()),  # 95 % interval
        ("high", pa.float64()),
        ("unit", pa.string()),
        ("over", pa.string()),  # what the interval is over
        ("deciding", pa.bool_()),  # the part that the verdict hangs on
    ]
)


@dataclass(frozen=True)
class Outcome:
    """A claim, its verdict and what it rests on."""

    claim: Claim
    verdict: str
    reason: str
    effects: tuple[Effect, ...]


def evaluate(claims: Iterable[Claim], results: Results) -> list[Outcome]:
    """The outcome of each claim over these results."""
    checks = find_checks()
    return [_outcome(claim, checks[claim.check], results) for claim in claims]


def _outcome(claim: Claim, check: Check, results: Results) -> Outcome:
    evidence = Evidence(results, claim.experiments, claim.id)
    try:
        effects = tuple(check.load()(evidence, **claim.arguments))
    except MissingError as missing:
        return Outcome(claim, NOT_RUN, f"{missing}.", ())
    verdict = combined_verdict(effects)
    if claim.needs == RECORDINGS and _simulated(claim, results):
        reason = f"On simulated recordings, which decide nothing, it would be: {verdict}."
        return Outcome(claim, LICENSED, reason, effects)
    return Outcome(claim, verdict, _reason(verdict, effects), effects)


def _simulated(claim: Claim, results: Results) -> bool:
    worlds = [results.worlds[name] for name in claim.experiments]
    # Only the worlds that replay recordings know where these come from.
    return any(getattr(world, "source", None) == SIMULATED for world in worlds)


def _reason(verdict: str, effects: Sequence[Effect]) -> str:
    """Why a verdict is not simply yes or no."""
    held = sum(effect.size > 0 for effect in effects)
    if verdict == NOT_REPRODUCED and len(effects) > 1:
        failed = [effect.part for effect in effects if effect.verdict == NOT_REPRODUCED]
        fails = f"Fails in {len(failed)} of {len(effects)} parts"
        return f"{fails}: {'; '.join(failed)}." if len(failed) <= FEW else f"{fails}."
    if verdict != INCONCLUSIVE:
        return ""
    fewest = min(effect.samples for effect in effects)
    if fewest < FEWEST:
        why = f"Too few seeds ({fewest}); at least {FEWEST} are needed."
    elif any(effect.size != effect.size for effect in effects):
        why = "A value is undefined in at least one seed."
    else:
        why = "The interval includes no effect."
    return f"{why} The sign is the paper's in {held} of {len(effects)} parts."


def claims_table(outcomes: Iterable[Outcome]) -> pa.Table:
    """A row for each part of each claim; one without numbers for a claim that was not run."""
    rows = [row for outcome in outcomes for row in _rows(outcome)]
    return pa.Table.from_pylist(rows, schema=CLAIMS_SCHEMA)


def _rows(outcome: Outcome) -> list[dict]:
    claim = outcome.claim
    shared = {
        "id": claim.id,
        "statement": claim.statement,
        "reading": claim.reading,
        "source": ", ".join(claim.source),
        "check": claim.check,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
    }
    nan = float("nan")
    effects = outcome.effects or (Effect("", nan, nan, nan, "", "", 0),)
    weakest = weakest_effect(effects)
    return [
        shared
        | {
            "part": effect.part,
            "part_verdict": effect.verdict if outcome.effects else NOT_RUN,
            "effect": effect.size,
            "low": effect.low,
            "high": effect.high,
            "unit": effect.unit,
            "over": effect.over,
            "deciding": effect is weakest,
        }
        for effect in effects
    ]
