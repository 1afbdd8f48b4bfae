"""Two tables of metrics, cell by cell: the difference of the means, and its interval over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import stats

from icl_core import discovery
from icl_core.measuring.claims.intervals import LEVEL, Estimate
from icl_core.measuring.metrics import FAILED
from icl_core.measuring.statistics import reported
from icl_core.showing.item import read_items
from icl_core.showing.latex import Grid
from icl_core.tables import counted, markdown_rows

HEAD = ("Metric", "Experiment", "Method", "A", "B", "B - A [95 % interval]", "Over", "Beyond it")
RIGHT = (False, False, False, True, True, True, False, False)
FIRST = tuple(f"table-{number:02d}" for number in range(1, 7))  # the paper's, whose cells lead

Seeds = Mapping[int, float]  # values by seed


class Cell(NamedTuple):
    """A reported value on both sides, A and B."""

    metric: str
    experiment: str
    method: str
    a: Seeds  # empty where it was not run
    b: Seeds
    failed: tuple[int, int] = (0, 0)  # seeds of either that have no value

    @property
    def equal(self) -> bool:
        """Whether every seed has the same value; undefined ones are the same."""
        first, second = [*self.a.values()], [*self.b.values()]
        return (
            self.failed[0] == self.failed[1]
            and self.a.keys() == self.b.keys()
            and np.array_equal(first, second, equal_nan=True)
        )

    @property
    def difference(self) -> Estimate:
        """B's mean less A's."""
        return difference(self.a, self.b)

    @property
    def over(self) -> str:
        """What the interval is over, or why there is none."""
        lost = f"; failed: {self.failed[0]} and {self.failed[1]}" if any(self.failed) else ""
        if min(len(self.a), len(self.b)) < 2:
            return f"one seed{lost}"
        if self.a.keys() == self.b.keys():
            return f"{len(self.a)} seeds, paired{lost}"
        return f"{len(self.a)} and {len(self.b)} seeds, Welch{lost}"

    @property
    def beyond(self) -> str:
        """Where B lies, if the interval leaves out zero."""
        _, low, high = self.difference
        return "B lower" if high < 0 else "B higher" if low > 0 else ""

    @property
    def change(self) -> str:
        """The difference and its interval as a text."""
        size, low, high = self.difference
        if self.equal:
            return "equal"
        if math.isnan(size):
            return "undefined"
        text, first, last = (_short(value, "+#.3g") for value in (size, low, high))
        return text if math.isnan(low) else f"{text} [{first}, {last}]"


def difference(a: Seeds, b: Seeds) -> Estimate:
    """The mean of b less that of a, and Student's 95 % interval of it.

    Paired where both have the same seeds, else Welch's. The ends are nan where a side has one
    seed, or an undefined value; all is nan where a side has no seed.
    """
    if not a or not b:
        return Estimate(math.nan, math.nan, math.nan)
    if a.keys() == b.keys():
        groups = [np.array([b[seed] - a[seed] for seed in a])]
    else:
        groups = [np.array([*b.values()]), -np.array([*a.values()])]
    size = float(sum(group.mean() for group in groups))
    if min(map(len, groups)) < 2:
        return Estimate(size, math.nan, math.nan)
    half = _half_width(groups)
    return Estimate(size, size - half, size + half)


def _half_width(groups: Sequence[np.ndarray]) -> float:
    """Of the interval of a sum of means. Of one group, Welch's freedom is Student's."""
    squares = np.array([group.var(ddof=1) / len(group) for group in groups])
    if not squares.any():  # every seed of a group is the same
        return 0.0
    freedom = squares.sum() ** 2 / (squares**2 / [len(group) - 1 for group in groups]).sum()
    return float(stats.t.ppf((1 + LEVEL) / 2, freedom) * math.sqrt(squares.sum()))


def cells(a: pa.Table, b: pa.Table) -> list[Cell]:
    """Every reported value that one of two tables of metrics has, in the order of tables."""
    found = []
    lost = [reported(one, FAILED) for one in (a, b)]
    for metric in sorted({*a["metric"].to_pylist(), *b["metric"].to_pylist()} - {FAILED}):
        ours, theirs = reported(a, metric), reported(b, metric)
        for key in sorted(ours.keys() | theirs.keys(), key=lambda key: _place(*key)):
            failed = (len(lost[0].get(key, ())), len(lost[1].get(key, ())))
            found.append(Cell(metric, *key, ours.get(key, {}), theirs.get(key, {}), failed))
    return found


def same(a: pa.Table, b: pa.Table) -> bool:
    """Whether two tables of metrics are equal, in the values of earlier iterations too."""
    (first, rows), (second, others) = ((one["value"], one.drop_columns("value")) for one in (a, b))
    return rows.equals(others) and np.array_equal(first, second, equal_nan=True)


@cache
def _place(experiment: str, method: str) -> tuple:
    """Experiments as the paper's tables order them, then the others; methods likewise."""
    shown = [name for item in read_items() if item.id in FIRST for name in item.experiments]
    known = method in discovery.names(discovery.METHODS)
    module = discovery.module_name(discovery.METHODS, method) if known else ""
    place = discovery.literal(module, "PLACE", math.inf) if known else math.inf
    rank = shown.index(experiment) if experiment in shown else len(shown)
    return rank, experiment, place, method


def as_grid(found: Iterable[Cell], notes: str = "") -> Grid:
    """The cells that both sides have as a table; what lies beyond its interval is bold."""
    return Grid(HEAD, RIGHT, tuple(map(_row, found)), notes=notes)


def as_markdown(found: Sequence[Cell]) -> str:
    """The same as Markdown whose columns stand below each other, and what it comes to."""
    grid = as_grid(found)
    widths = [max(map(len, column)) for column in zip(grid.head, *grid.rows, strict=True)]
    sides = [">" if right else "<" for right in grid.right]
    rule = [f"{':' if right else '-':->{n}}" for n, right in zip(widths, grid.right, strict=True)]
    lines = [
        [f"{cell:{side}{n}}" for cell, side, n in zip(row, sides, widths, strict=True)]
        for row in (grid.head, *grid.rows)
    ]
    return f"{markdown_rows([lines[0], rule, *lines[1:]])}\n\n{summary(found)}"


def summary(found: Sequence[Cell]) -> str:
    """How many cells differ, and how many would by chance."""
    equal = sum(cell.equal for cell in found)
    beyond = sum(bool(cell.beyond) for cell in found)
    tested = sum(not math.isnan(cell.difference.low) for cell in found if not cell.equal)
    chance = f" (by chance alone: about {(1 - LEVEL) * tested:.1f})" if tested else ""
    return (
        f"Of {counted(len(found), 'cell')}, {equal} equal in every seed; beyond the "
        f"{LEVEL:.0%} interval: {beyond}{chance}. Lower is better.".replace("%", " %")
    )


def method_title(name: str) -> str:
    """How a method is written; one that is no longer there, by its name."""
    known = name in discovery.names(discovery.METHODS)
    return discovery.title(discovery.METHODS, name) if known else name


def _row(cell: Cell) -> tuple[str, ...]:
    method = method_title(cell.method)
    beyond = f"**{cell.beyond}**" if cell.beyond else ""
    means = (_mean(cell.a), _mean(cell.b))
    return (cell.metric.upper(), cell.experiment, method, *means, cell.change, cell.over, beyond)


def _mean(seeds: Seeds) -> str:
    mean = float(np.mean([*seeds.values()]))
    return "undefined" if math.isnan(mean) else _short(mean, "#.4g")


def _short(value: float, form: str) -> str:
    """A number with as many digits as all the others."""
    return f"{value:{form}}".rstrip(".")
