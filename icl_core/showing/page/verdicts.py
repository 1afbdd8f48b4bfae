"""The claims of the page: counts by topic, verdicts, and every part with its interval drawn."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from icl_core.artifacts import read_record, read_table
from icl_core.measuring.claims.evaluate import CLAIMS_SCHEMA, counts
from icl_core.measuring.claims.paper_support import NO_NUMBERS
from icl_core.measuring.claims.verdicts import VERDICTS

WIDTH, HEIGHT, PAD = 132, 16, 6  # of a drawn interval, in pixels
# What the paper's claims are about, by where it makes them; the first that fits counts.
TOPICS = {
    "Synthetic environments": ("Section 5.1",),
    "Parts and variations of ICL": (
        *("Section 4", "Section 5.2", "Appendix B.1", "Appendix B.2", "Appendix B.3"),
        *("Appendix B.4", "Appendix B.5"),
    ),
    "Robots": ("Appendix B.6",),
    "Driving": ("Appendix B.7", "Appendix B.8"),
    "Networks, times and settings": ("Section 5", "Appendix C", "Appendix D"),
}
OTHERS = "Other claims"


@dataclass(frozen=True)
class Part:
    """One measured effect."""

    name: str
    verdict: str
    numbers: str
    unit: str
    over: str
    size: float
    bar: dict[str, float] | None  # positions of an interval in its little picture


@dataclass(frozen=True)
class Verdict:
    """A claim as the page shows it."""

    id: str
    statement: str
    reading: str
    source: tuple[str, ...]
    verdict: str
    reason: str
    paper: str  # whether the paper's own deviations support it
    check: str
    deciding: Part
    parts: tuple[Part, ...]


def read_verdicts(path: str | os.PathLike) -> tuple[dict[str, int], list[Verdict]]:
    """How many claims have each verdict, and the claims in the paper's order."""
    read_record(path)
    table = read_table(path, CLAIMS_SCHEMA)
    by_id: dict[str, list[dict]] = {}
    for row in table.to_pylist():
        by_id.setdefault(row["id"], []).append(row)
    found = counts(table)
    shown = {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
    return shown, [_verdict(rows) for rows in by_id.values()]


def by_topic(claims: Iterable[Verdict]) -> dict[str, dict[str, int]]:
    """How many claims of each topic have each verdict, in the order in which readers want both."""
    found: dict[str, Counter] = {topic: Counter() for topic in (*TOPICS, OTHERS)}
    for claim in claims:
        found[_topic(claim.source)][claim.verdict] += 1
    return {
        topic: {verdict: given[verdict] for verdict in VERDICTS if given[verdict]}
        for topic, given in found.items()
        if given
    }


def _topic(source: Sequence[str]) -> str:
    """What a claim is about, by where the paper makes it."""
    for topic, places in TOPICS.items():
        if any(label.startswith(places) for label in source):
            return topic
    return OTHERS


def _verdict(rows: Sequence[dict]) -> Verdict:
    first = rows[0]
    parts = tuple(_part(row) for row in rows)
    deciding = next(p for p, row in zip(parts, rows, strict=True) if row["deciding"])
    return Verdict(
        first["id"],
        first["statement"],
        first["reading"],
        tuple(first["source"].split(", ")),
        first["verdict"],
        first["reason"],
        "" if first["paper_supports"] == NO_NUMBERS else first["paper_supports"],
        first["check"],
        deciding,
        parts if first["unit"] else (),
    )


def _part(row: dict) -> Part:
    size, low, high = row["effect"], row["low"], row["high"]
    if not row["unit"]:
        numbers = ""
    elif not math.isfinite(size):
        numbers = "undefined"
    else:
        numbers = _signed(size)
        if math.isfinite(low) and low != high:
            numbers += f" [{_signed(low)}, {_signed(high)}]"
    bar = _bar(size, low, high)
    return Part(row["part"], row["part_verdict"], numbers, row["unit"], row["over"], size, bar)


def _signed(value: float) -> str:
    return f"{value:+.3g}" if abs(value) > 1e-9 else "0"


def _bar(size: float, low: float, high: float) -> dict[str, float] | None:
    """Zero in the middle, the longer arm of the interval up to the edge."""
    if not all(map(math.isfinite, (size, low, high))):
        return None
    most = max(abs(size), abs(low), abs(high)) or 1.0

    def place(value: float) -> float:
        return round(WIDTH / 2 + value / most * (WIDTH / 2 - PAD), 1)

    return {"size": place(size), "low": place(low), "high": place(high)}
