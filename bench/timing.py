"""How times are taken: CPU seconds of this process, contestants in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    reference: str
    ratio: str
    bar: str
    met: bool

    def cells(self) -> tuple[str, ...]:
        """The columns' texts."""
        return *self.texts(), "yes" if self.met else "NO"

    def texts(self) -> tuple[str, ...]:
        """All columns but the verdict."""
        return self.what, self.ours, self.reference, self.ratio, self.bar


def speed_row(what: str, seconds: float, base: float, bar: float | None = None) -> Row:
    """Steps per second beside those of a reference, given the seconds that a step takes of each."""
    ratio = base / seconds
    wanted = "" if bar is None else f"{bar:.2f}x"
    met = bar is None or ratio >= bar
    return Row(what, f"{1 / seconds:,.0f}", f"{1 / base:,.0f}", f"{ratio:.2f}x", wanted, met)


def in_turn(repeats: int, *jobs: Callable[[], float]) -> list[float]:
    """Median over repeats of CPU seconds per unit of work, for each job.

    A job returns how many units it did. The jobs take turns, so that whatever else
    the machine does disturbs all of them alike.
    """
    seconds = [[cpu_seconds(job) for job in jobs] for _ in range(repeats)]
    return [float(median) for median in np.median(seconds, axis=0)]


def cpu_seconds(job: Callable[[], float]) -> float:
    """CPU seconds of this process per unit of the work that the job says it did."""
    start = time.process_time()
    units = job()
    return (time.process_time() - start) / units


def table(rows: list[Row]) -> str:
    """The rows as aligned text."""
    cells = [("what", "ours", "reference", "ratio", "bar", "met"), *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
