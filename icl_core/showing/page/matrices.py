"""Tables as the paper's matrices: environments side by side, ours above the paper's in a cell.

Tables that are none of these stand as their Markdown files have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from icl_core.showing.latex import read_markdown
from icl_core.showing.numbers import duration, lowest
from icl_core.showing.page.tables import COMPARED, Row, failed_seeds, is_of_settings, short
from icl_core.tables import counted, failed_of

NOT_KEYS = ("metric", "failed", *COMPARED)
# How lines are called: of the last policy by nothing more.
PLAIN, ENDS = ("", "last"), {"best": "best by NAD"}
SECONDS = "cpu_seconds_per_seed"


@dataclass(frozen=True)
class Place:
    """A cell: what ours is, what stands below it, and whether ours is the best of its column."""

    ours: str = "\N{EN DASH}"
    below: str = ""
    best: bool = False


@dataclass(frozen=True)
class Matrix:
    """The head and the lines."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Place, ...]], ...]  # a name, its seeds, and the cells

    @property
    def has_best(self) -> bool:
        """Whether a cell is the best of its column."""
        return any(place.best for *_, places in self.rows for place in places)


def matrix_of(
    rows: Sequence[Row], columns: Sequence[str], titles: Mapping[str, str]
) -> Matrix | None:
    """The rows of a table as a matrix; None where it is not one of the paper's results."""
    if "experiment" not in columns or not rows:
        return None
    if "method" in columns and set(COMPARED) <= set(columns):
        return _compared(rows, columns, titles)
    return _times(rows, titles) if SECONDS in columns else None


def _compared(rows: Sequence[Row], columns: Sequence[str], titles: Mapping[str, str]) -> Matrix:
    """A line for each method and end of its runs, a column for each environment."""
    keys = [
        name
        for name in columns
        if name not in NOT_KEYS and name != "experiment" and _is_text(name, rows)
    ]
    by_place = _by_place(rows, keys)
    lines = tuple(dict.fromkeys(line for line, _ in by_place))
    experiments = tuple(dict.fromkeys(row["experiment"] for row in rows))
    best = {(line, at) for at in experiments for line in _best(by_place, at)}
    return Matrix(
        tuple(titles.get(name, name) for name in experiments),
        tuple(
            (
                ", ".join(
                    titles.get(part) or ENDS.get(part, part) for part in line if part not in PLAIN
                ),
                _seeds([by_place[line, at] for at in experiments if (line, at) in by_place]),
                tuple(_place(by_place.get((line, at)), (line, at) in best) for at in experiments),
            )
            for line in lines
        ),
    )


def _by_place(rows: Sequence[Row], keys: Sequence[str]) -> dict[tuple[tuple[str, ...], str], Row]:
    """The rows by line and environment.

    What was not run says nothing but whose it is: it stands in the first line of that.
    """
    named = [(tuple(row[key] for key in keys), row) for row in rows]
    first: dict[str, tuple[str, ...]] = {}
    for line, _ in sorted(named, key=lambda one: not all(one[0])):
        first.setdefault(line[0], line)
    return {(line if all(line) else first[line[0]], row["experiment"]): row for line, row in named}


def _seeds(rows: Sequence[Row]) -> str:
    """How many seeds were trained: "5 seeds", or "5 to 10 seeds" where they differ."""
    counts = sorted({trained for _, trained in map(failed_seeds, rows) if trained})
    if len(counts) < 2:
        return counted(counts[0], "seed") if counts else ""
    return f"{counts[0]} to {counts[-1]} seeds"


def _best(by_place: Mapping[tuple, Row], experiment: str) -> set[tuple]:
    """The lines whose mean is the lowest; a mean over what has not failed is none of them."""
    return lowest(
        {
            line: float(row["mean"])
            for (line, at), row in by_place.items()
            if at == experiment and row["mean"] and not failed_seeds(row)[0]
        }
    )


def _place(row: Row | None, best: bool) -> Place:
    if row is None:
        return Place()
    failed, trained = failed_seeds(row)
    paper = row["paper_mean"]
    below = f"paper {float(paper):.2f} ± {float(row['paper_std']):.2f}" if paper else ""
    if not row["mean"]:
        return Place("failed" if failed else "not run", below)
    mean, std = float(row["mean"]), float(row["std"] or "nan")
    if mean != mean:
        return Place(f"undefined{failed_of(failed, trained)}", below)
    return Place(f"{short(mean)} ± {short(std)}{failed_of(failed, trained)}", below, best)


def _times(rows: Sequence[Row], titles: Mapping[str, str]) -> Matrix:
    """A line for each environment, a column for each method."""
    by_place = {(row["experiment"], row["method"]): row for row in rows}
    methods = tuple(dict.fromkeys(row["method"] for row in rows))
    lines = dict.fromkeys(row["experiment"] for row in rows)
    return Matrix(
        tuple(titles.get(method, method) for method in methods),
        tuple(
            (titles.get(at, at), "", tuple(_time(by_place.get((at, m))) for m in methods))
            for at in lines
        ),
    )


def _time(row: Row | None) -> Place:
    if row is None:
        return Place()
    whole, paper = row.get("all_iterations_cpu_seconds_per_seed"), row["paper_seconds"]
    parts = [f"all iterations {duration(float(whole))}"] if whole else []
    parts += [f"paper {duration(float(paper))}"] if paper else []
    return Place(duration(float(row[SECONDS])), ", ".join(parts))


def _is_text(name: str, rows: Sequence[Row]) -> bool:
    """Whether a column holds words."""
    return any(row[name] and not _is_number(row[name]) for row in rows)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Written:
    """The head, the columns that are set to the right, and the lines."""

    head: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]

    def repeats(self, line: int) -> bool:
        """Whether a line begins as the one above it."""
        return line > 0 and self.rows[line][0] == self.rows[line - 1][0]


def written(markdown: Path, columns: Sequence[str]) -> Written | None:
    """The table of a Markdown file, beside which stands a CSV file with these columns.

    None where there is none, and of settings, of which the page says more.
    """
    if is_of_settings(columns) or not markdown.is_file():
        return None
    text = markdown.read_text(encoding="utf-8")
    if not any(line.startswith("|") for line in text.splitlines()):
        return None
    found = read_markdown(text.replace("**", ""))  # bold is the lowest mean: matrices have it
    return Written(found.head, found.right, found.rows)
