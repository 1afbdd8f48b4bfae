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
from icl_core.measuring.claims.paper_support import NO_NUMBERS, paper_supports
from icl_core.measuring.claims.verdicts import (
    AS_STATED,
    DESCRIPTIVE,
    FEWEST,
    LICENSED,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    VERDICTS,
    Effect,
    combined_verdict,
    part_verdicts,
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
        ("paper_supports", pa.string()),  # whether the paper's own means and deviations do
        ("part", pa.string()),
        ("part_verdict", pa.string()),  # of the part, on simulated recordings too
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
    paper: str = ""  # whether the paper's own means and deviations support it


def evaluate(claims: Iterable[Claim], results: Results) -> list[Outcome]:
    """The outcome of each claim over these results."""
    checks = find_checks()
    return [_outcome(claim, checks[claim.check], results) for claim in claims]


def _outcome(claim: Claim, check: Check, results: Results) -> Outcome:
    left_out: Failures = {}
    function = check.load()
    paper = paper_supports(claim, function, results)
    while True:  # until all failed seeds that the check comes across are left out
        evidence = Evidence(results, claim.experiments, claim.id, left_out)
        try:
            effects = tuple(function(evidence, **claim.arguments))
            break
        except FailedSeedsError as failed:
            left_out = {**left_out, **failed.whose}
        except MissingError as missing:
            return Outcome(claim, NOT_RUN, f"{missing}.{_left_out(left_out)}", (), paper)
    verdict = combined_verdict(effects)
    licensed = claim.needs == RECORDINGS and _simulated(claim, results)
    reason = _reason(verdict, effects)
    if licensed:
        reason = f"On simulated recordings, which decide nothing, it would be: {verdict}."
    notes = "".join(f" {note}" for note in evidence.notes)
    reason = f"{reason}{_left_out(left_out)}{notes}".strip()
    return Outcome(claim, LICENSED if licensed else verdict, reason, effects, paper)


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
    if verdict == REPRODUCED:
        return ""
    if verdict == DESCRIPTIVE:
        held = sum(effect.verdict == AS_STATED for effect in effects)
        return f"As stated in {held} of {len(effects)} parts."
    if verdict == NOT_REPRODUCED:
        found = zip(effects, part_verdicts(effects), strict=True)
        failed = [effect.part for effect, own in found if own == NOT_REPRODUCED]
        fails = f"Fails in {len(failed)} of {len(effects)} parts"
        names = f": {'; '.join(failed)}." if len(failed) <= FEW else "."
        return f"{fails}{names}" if len(effects) > 1 else ""
    held = sum(effect.size > 0 for effect in effects)
    return f"{_open(effects)} The sign is the paper's in {held} of {len(effects)} parts."


def _open(effects: Sequence[Effect]) -> str:
    """Why nothing is decided."""
    fewest = min(effect.samples for effect in effects)
    if fewest < FEWEST:
        return f"Too few runs ({fewest}); at least {FEWEST} are needed."
    if any(effect.size != effect.size for effect in effects):
        return "A value is undefined in at least one run."
    if any(effect.verdict == NOT_REPRODUCED for effect in effects):
        return "A part fails, but among so many parts one would by chance (Holm)."
    return "The interval includes no effect."


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
        "paper_supports": outcome.paper,
    }
    nan = float("nan")
    effects = outcome.effects or (Effect("", nan, nan, nan, "", "", 0),)
    weakest = weakest_effect(effects)
    verdicts = part_verdicts(effects) if outcome.effects else [NOT_RUN]
    return [
        shared
        | {
            "part": effect.part,
            "part_verdict": verdict,
            "effect": effect.size,
            "low": effect.low,
            "high": effect.high,
            "unit": effect.unit,
            "over": effect.over,
            "deciding": effect is weakest,
        }
        for effect, verdict in zip(effects, verdicts, strict=True)
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
    verdict = f"**{row['verdict']}**.{reason}"
    if row["paper_supports"] != NO_NUMBERS:
        verdict += f" By the paper's own deviations: {row['paper_supports']}."
    cells = (row["statement"] + reading, row["source"], verdict, effect)
    return [cell.replace("|", "/") for cell in cells]


def _notes(scale: str) -> str:
    return (
        f"Scale of our run: {scale}. Effects are positive where the paper is right; intervals are "
        "Student's, 95 %, over runs, each of which has an expert of its own, but for recorded "
        "traffic: paired where both sides have the same experts, else Welch's; of deviations "
        "chi-squared, of gaps by drawing runs again. A claim is reproduced where the interval of "
        "each of its parts lies above zero, not reproduced where that of one lies below (Holm, "
        "for one of many would by chance), descriptive where there is one number and no chance, "
        f"inconclusive otherwise, and with fewer than {FEWEST} runs. By the paper's own "
        "deviations: whether its tables, with five runs and Welch's test, support what it says. "
        "Checks: docs/claims.yaml."
    )
