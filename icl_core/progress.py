"""One line now and then that says how far a long job is."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

INTERVAL = 5.0  # seconds between two lines


class Progress:
    """Progress of a stage, on stderr and in its log file.

    >>> progress = Progress.silent()
    >>> progress.update(1, J=0.4)
    """

    def __init__(self, log_path: str | os.PathLike | None, title: str, total: int):
        self.title = title
        self.total = total
        self.numbers: dict[str, float] = {}  # what was said last
        self._log_path = Path(log_path) if log_path else None
        self._started = time.monotonic()
        self._last = float("-inf")

    @classmethod
    def silent(cls) -> Progress:
        """A progress that says nothing, for tests and notebooks."""
        return _Silent(None, "", 0)

    def update(self, epoch: int, **numbers: float) -> None:
        """Say that `epoch` epochs are done; at most every 5 s, and always at the end."""
        self.numbers = numbers
        now = time.monotonic()
        if now - self._last < INTERVAL and epoch < self.total:
            return
        self._last = now
        self.say(self._line(epoch, now - self._started, numbers))

    def __call__(self, epoch: int, **numbers: float) -> None:
        """The same as `update`: a progress can be handed on as a plain function."""
        self.update(epoch, **numbers)

    def end(self) -> None:
        """Nothing more is to come."""

    def say(self, line: str) -> None:
        """One line to stderr and to the log."""
        print(line, file=sys.stderr, flush=True)
        if self._log_path:
            with suppress(OSError):  # a line of a log is not worth a job: the disk may be full
                self._log_path.parent.mkdir(parents=True, exist_ok=True)
                with self._log_path.open("a") as log:
                    log.write(line + "\n")

    def _line(self, epoch: int, elapsed: float, numbers: dict[str, float]) -> str:
        shown = "".join(f"  {name} {float(number):.3g}" for name, number in numbers.items())
        left = elapsed / epoch * (self.total - epoch) if epoch else float("nan")
        times = f"{_clock(elapsed)} so far, {_clock(left)} left"
        return f"{self.title}  {epoch}/{self.total}{shown}  {times}"


class Bar(Progress):
    """One line on stderr that changes in place, for people who wait."""

    WIDTH, PAUSE = 24, 0.2  # letters of the bar; seconds between two changes

    def __init__(self, title: str):
        super().__init__(None, title, 0)
        self.iteration = 0  # that has ended

    def update(self, epoch: int, **numbers: float) -> None:
        """Draw it anew."""
        now = time.monotonic()
        if now - self._last < self.PAUSE and epoch < self.total:
            return
        self._last = now
        done = round(self.WIDTH * epoch / self.total) if self.total else 0
        bar = "#" * done + "." * (self.WIDTH - done)
        shown = "".join(f"  {name} {float(number):.3g}" for name, number in numbers.items())
        text = f"{self.title}  iteration {self.iteration + 1}  [{bar}] {epoch}/{self.total}{shown}"
        text += f"  {_clock(now - self._started)}"
        print(f"\r{text[:118]:<118}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the last line where it is."""
        print(file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        """One line above the bar."""
        print(f"\r{line:<118}", file=sys.stderr, flush=True)


class _Silent(Progress):
    def update(self, epoch: int, **numbers: float) -> None:
        pass

    def say(self, line: str) -> None:
        pass


def _clock(seconds: float) -> str:
    if seconds != seconds:  # before the first epoch nothing can be said
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
