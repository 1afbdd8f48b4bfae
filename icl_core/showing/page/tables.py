"""Tables of the page, from CSV files: the paper's value, ours and the difference."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from icl_core.tables import failed_of

Row = Mapping[str, str]

# Columns that make one cell, and what of the paper they are compared with.
COMPARED = ("mean", "std", "paper_mean", "paper_std")
NOT_THE_PAPERS = "not in the paper:"  # the settings below
_FAILED = "failed"  # column: seeds without a value
_KEYS = ("setting", "key", "experiment", "ours", "paper", "same")  # of a table of settings
_HEADINGS = {
    "experiment": "Environment",
    "method": "Method",
    "iqm": "Interquartile mean",
    "failed": "Failed seeds",
    "low": "95 %, from",
    "high": "to",
    "cpu_seconds_per_seed": "Ours, CPU per seed [s]",
    "wall_seconds_per_seed": "Ours, wall per seed [s]",
    "paper_seconds": "Paper [s]",
    "paper_over_ours": "Paper / ours",
    "all_iterations_cpu_seconds_per_seed": "All iterations, CPU per seed [s]",
    "paper_over_all_iterations": "Paper / all iterations",
    "speed": "Speed [m/s]",
    "gap": "Gap [m]",
    "time_gap": "Time gap [s]",
    "rule_gap": "Simulated drivers' gap [m]",
    "paper_low": "Paper, from [m]",
    "paper_high": "to [m]",
}


@dataclass(frozen=True)
class Number:
    """Something of the CSV file: its own text, and how it is shown."""

    value: str
    shown: str


@dataclass(frozen=True)
class Cell:
    """What stands in one place: numbers with words between them."""

    parts: tuple[Number | str, ...] = ()
    # "number", "better", "worse", "other" (than the paper's), "again" (as in the row above),
    # "above" (the rows that follow)
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """A table to lay out."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: str = ""
    numeric: frozenset[int] = field(default_factory=frozenset)  # columns set to the right


def read_grid(path: str | os.PathLike, titles: Mapping[str, str]) -> Grid:
    """The table of a CSV file, with the notes of the Markdown file beside it.

    `titles` says how methods and environments are written.
    """
    path = Path(path)
    rows, columns = read_rows(path)
    notes = _notes(path.with_suffix(".md"))
    if is_of_settings(columns):
        return _settings(rows, notes, titles)
    return _comparison(rows, columns, notes, titles)


def is_of_settings(columns: Sequence[str]) -> bool:
    """Whether a CSV file with these columns is a table of settings."""
    return tuple(columns) == _KEYS


def read_rows(path: Path) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """The rows of a CSV file, and its columns."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        return list(reader), tuple(reader.fieldnames or ())


def _comparison(
    rows: Sequence[Row], columns: Sequence[str], notes: str, titles: Mapping[str, str]
) -> Grid:
    """A line for each row; mean and deviation together, and beside the paper's."""
    joined = COMPARED if set(COMPARED) <= set(columns) else ()
    told = (*joined, _FAILED) if joined else ()
    keys = [name for name in columns if name not in told and _says_something(name, rows)]
    # What was measured stands after what it was measured of.
    before = [name for name in keys if not _numeric(name, rows)]
    after = [name for name in keys if name not in before]
    head = [_heading(name) for name in before]
    head += ["Ours", "Paper", "Difference"] if joined else []
    head += [_heading(name) for name in after]
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        line = [Cell((titles.get(row[name]) or row[name] or "–",)) for name in before]
        if lines and line[0].parts == lines[-1][0].parts:
            line[0] = Cell(line[0].parts, "again")
        if joined:
            line += _beside(row)
        line += [Cell((_number(row[name]),), "number") for name in after]
        lines.append(tuple(line))
    numeric = frozenset(range(len(before), len(head)))
    return Grid(tuple(head), tuple(lines), notes, numeric)


def _beside(row: Row) -> list[Cell]:
    """Three cells: ours, the paper's, and the difference of the means."""
    mean, std, paper, paper_std = (row[name] for name in COMPARED)
    failed, trained = failed_seeds(row)
    there = (_number(mean), " ± ", _number(std), *([failed_of(failed, trained)] if failed else []))
    ours = Cell(there if mean else ("failed" if failed else "not run",), "number")
    theirs = Cell((_printed(paper), " ± ", _printed(paper_std)) if paper else ("–",), "number")
    if not mean or not paper:
        return [ours, theirs, Cell(("–",), "number")]
    difference = float(mean) - float(paper)
    if difference != difference:
        return [ours, theirs, Cell(("undefined",), "number")]
    # Every metric with a paper value here is an error or a distance: lower is better. A mean
    # over what has not failed is neither.
    kind = "number" if failed else "better" if difference <= 0 else "worse"
    return [ours, theirs, Cell((short(difference, "+"),), kind)]


def failed_seeds(row: Row) -> tuple[int, int]:
    """How many seeds of a row have failed, and how many there are in all."""
    failed = int(row.get(_FAILED) or 0)
    return failed, failed + int(float(row["seeds"] or 0))


def _settings(rows: Sequence[Row], notes: str, titles: Mapping[str, str]) -> Grid:
    """A line for each setting, a column for each experiment; the paper's value where it differs."""
    experiments = list(dict.fromkeys(row["experiment"] for row in rows))
    by_key: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_key.setdefault(row["setting"], {})[row["experiment"]] = row
    listed = [
        setting for setting, found in by_key.items() if any(r["paper"] for r in found.values())
    ]
    more = [setting for setting in by_key if setting not in listed]
    lines = []
    for setting in (*listed, *more):
        found = by_key[setting]
        if more and setting == more[0]:
            lines.append((Cell((NOT_THE_PAPERS,), "above"), *(Cell() for _ in experiments)))
        cells = [Cell((setting,))]
        for name in experiments:
            cells.append(_setting(found[name]) if name in found else Cell(("–",), "number"))
        lines.append(tuple(cells))
    head = ("Setting", *(titles.get(name, name) for name in experiments))
    return Grid(head, tuple(lines), notes, frozenset(range(1, len(head))))


def _setting(row: Row) -> Cell:
    ours = Number(row["ours"], row["ours"] or "–")
    if row["same"] in ("yes", "") or not row["paper"]:
        return Cell((ours,), "number")
    return Cell((ours, " (paper: ", Number(row["paper"], row["paper"]), ")"), "other")


def _notes(path: Path) -> str:
    """The paragraph below a Markdown table."""
    if not path.is_file():
        return ""
    paragraphs = path.read_text(encoding="utf-8").strip().split("\n\n")
    last = " ".join(paragraphs[-1].split())
    # The page says itself what is bold.
    last = re.sub(r"\*\*Bold\*\*:[^.]*\.\s*", "", last)
    return "" if last.startswith(("|", "#")) else last.replace("**", "")


def _says_something(name: str, rows: Sequence[Row]) -> bool:
    """Whether a column says anything that the title does not."""
    return name != "metric" and any(row[name] for row in rows)


def _numeric(name: str, rows: Sequence[Row]) -> bool:
    return name != "setting" and all(_is_number(row[name]) for row in rows if row[name])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _printed(text: str) -> Number:
    """As the paper prints it."""
    return Number(text, f"{float(text):.2f}")


def short(value: float, sign: str = "") -> str:
    """A number in few digits."""
    if abs(value) >= 1000:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.3f}" if abs(value) < 10 else f"{value:{sign}.2f}"


def _number(text: str) -> Number | str:
    if not text:
        return "–"
    if not _is_number(text):
        return text
    if text.isdigit():
        return Number(text, f"{int(text):,}")
    value = float(text)
    return Number(text, short(value))


def _heading(name: str) -> str:
    return _HEADINGS.get(name) or name.replace("_", " ").capitalize()
