"""The claims of the page: counts, verdicts, and every part with its interval drawn."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

from icl_core.artifacts import read_table
from icl_core.measuring.claims.evaluate import CLAIMS_SCHEMA, counts
from icl_core.measuring.claims.verdicts import VERDICTS

WIDTH, HEIGHT, PAD = 132, 16, 6  # of a drawn interval, in pixels


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
    check: str
    deciding: Part
    parts: tuple[Part, ...]


def read_verdicts(path: str | os.PathLike) -> tuple[dict[str, int], list[Verdict]]:
    """How many claims have each verdict, and the claims in the paper's order."""
    table = read_table(path, CLAIMS_SCHEMA)
    by_id: dict[str, list[dict]] = {}
    for row in table.to_pylist():
        by_id.setdefault(row["id"], []).append(row)
    found = counts(table)
    shown = {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
    return shown, [_verdict(rows) for rows in by_id.values()]


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
