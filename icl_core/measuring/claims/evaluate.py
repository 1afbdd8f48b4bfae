"""Every claim's verdict: a table with a row for each part, and Markdown and CSV for readers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from icl_core.artifacts import SIMULATED
from icl_core.measuring.claims.claim import RECORDINGS, Check, Claim, find_checks
from icl_core.measuring.claims.evidence import (
    Evidence,
    FailedSeedsError,
    Failures,
    MissingError,
)
from icl_core.measuring.claims.verdicts import (
    FEWEST,
    INCONCLUSIVE,
    LICENSED,
    NOT_REPRODUCED,
    NOT_RUN,
    VERDICTS,
    Effect,
    combined_verdict,
    weakest_effect,
)
from icl_core.measuring.results import Results
from icl_core.tables import markdown_rows

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
    left_out: Failures = {}
    while True:  # until all failed seeds that the check comes across are left out
        evidence = Evidence(results, claim.experiments, claim.id, left_out)
        try:
            effects = tuple(check.load()(evidence, **claim.arguments))
            break
        except FailedSeedsError as failed:
            left_out = {**left_out, **failed.whose}
        except MissingError as missing:
            return Outcome(claim, NOT_RUN, f"{missing}.{_left_out(left_out)}", ())
    verdict = combined_verdict(effects)
    licensed = claim.needs == RECORDINGS and _simulated(claim, results)
    reason = _reason(verdict, effects)
    if licensed:
        reason = f"On simulated recordings, which decide nothing, it would be: {verdict}."
    reason = f"{reason}{_left_out(left_out)}".strip()
    return Outcome(claim, LICENSED if licensed else verdict, reason, effects)


def _left_out(failed: Failures) -> str:
    """ " Left out, because training failed: seed 2 of ICL on gridworld-a."; nothing for none."""
    if not failed:
        return ""
    each = (
        f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))} of {whose}"
        for whose, seeds in failed.items()
    )
    return f" Left out, because training failed: {'; '.join(each)}."


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


def counts(table: pa.Table) -> dict[str, int]:
    """How many claims have each verdict."""
    by_id = dict(zip(table["id"].to_pylist(), table["verdict"].to_pylist(), strict=True))
    found = Counter(by_id.values())
    return {verdict: found[verdict] for verdict in VERDICTS}


def as_csv(table: pa.Table) -> str:
    """Every part, at full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    for row in table.to_pylist():
        writer.writerow("" if value != value else value for value in row.values())
    return text.getvalue()


def as_markdown(table: pa.Table, scale: str) -> str:
    """A row for each claim, with the part that its verdict hangs on."""
    rows = [row for row in table.to_pylist() if row["deciding"]]
    parts = Counter(table["id"].to_pylist())
    lines = [["Statement", "Source", "Verdict", "Effect [95 % interval]"], ["---"] * 4]
    lines += [_line(row, parts[row["id"]]) for row in rows]
    rows_text = markdown_rows(lines)
    summary = ", ".join(f"{n} {verdict}" for verdict, n in counts(table).items() if n)
    return f"# The paper's claims\n\n{summary} of {len(rows)}.\n\n{rows_text}\n\n{_notes(scale)}\n"


def effect_text(row: Mapping) -> str:
    """ "0.031 [0.012, 0.050] CMSE"; nothing where nothing was measured."""
    if not row["unit"]:
        return ""
    if row["effect"] != row["effect"]:
        return f"undefined ({row['unit']})"
    numbers = f"{row['effect']:+.3g}"
    if row["low"] == row["low"] and row["low"] != row["high"]:
        numbers += f" [{row['low']:+.3g}, {row['high']:+.3g}]"
    return f"{numbers} {row['unit']}"


def _line(row: Mapping, parts: int) -> list[str]:
    where = f"{row['part']}: " if row["part"] else ""
    more = f" (weakest of {parts} parts)" if parts > 1 else ""
    effect = f"{where}{effect_text(row)}; {row['over']}{more}" if row["unit"] else "-"
    reason = f" {row['reason']}" if row["reason"] else ""
    reading = f" *{row['reading']}*" if row["reading"] else ""
    cells = (row["statement"] + reading, row["source"], f"**{row['verdict']}**.{reason}", effect)
    return [cell.replace("|", "/") for cell in cells]


def _notes(scale: str) -> str:
    return (
        f"Scale of our run: {scale}. Effects are positive where the paper is right. The interval "
        "is an expanded percentile bootstrap over seeds (Hesterberg, 2015), 95 %; paired where "
        "both sides have the same seeds and demonstrations. A claim is reproduced where the "
        "interval of each of its parts lies above zero, not reproduced where that of one lies "
        "below, inconclusive otherwise. Checks: docs/claims.yaml."
    )
