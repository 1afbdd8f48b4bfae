"""How times are taken: CPU seconds of this process, contestants in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

HEAD = {  # of each column, and where its texts stand
    "what": str.ljust,
    "ours": str.rjust,
    "reference": str.ljust,
    "times as fast": str.rjust,
    "at least": str.rjust,
    "met": str.ljust,
}


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    reference: str
    ratio: float  # how many times as fast as the reference we are
    bar: float | None = None  # what the ratio should be at least

    def cells(self) -> tuple[str, ...]:
        """The columns' texts."""
        texts = self.what, self.ours, self.reference, f"{self.ratio:.2f}"
        if self.bar is None:
            return *texts, "", ""
        return *texts, f"{self.bar:g}", "yes" if self.ratio >= self.bar else "NO"


def time_row(what: str, seconds: float, base: float, whose: str, bar: float | None = None) -> Row:
    """Seconds beside those of a reference; `whose` they are."""
    return Row(what, duration(seconds), f"{duration(base)} {whose}", base / seconds, bar)


def speed_row(what: str, seconds: float, base: float, whose: str, bar: float | None = None) -> Row:
    """Steps per second beside those of a reference, given the seconds that a step takes of each."""
    ours, theirs = (f"{1 / each:,.0f} steps/s" for each in (seconds, base))
    return Row(what, ours, f"{theirs} {whose}", base / seconds, bar)


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    unit, size = ("s", 1.0) if seconds >= 1 else ("ms", 1e-3) if seconds >= 1e-3 else ("us", 1e-6)
    return f"{seconds / size:.3g} {unit}"


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
    cells = [tuple(HEAD), *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            put(*each) for put, *each in zip(HEAD.values(), line, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
