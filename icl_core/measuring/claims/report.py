"""The claims' verdicts for readers: Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from icl_core.measuring.claims.verdicts import VERDICTS
from icl_core.tables import markdown_rows


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
