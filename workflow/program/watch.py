"""What a run is doing: which jobs are done, which are at work, and how much is left.

Nothing is asked of Snakemake. A job at work has a log that is newer than the run, and says there
how far it is; a job that is done has recorded what it took.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from icl_core.job_times import Record, read_time
from workflow.program.forecast import Cost, duration, planned_seconds, wall_time
from workflow.program.jobs import Job

TRUST = 60.0  # seconds of a run that count as much as what was expected before it began
LEAST = 0.05  # a job's own progress says little before this share
GROWTH = 1.2  # the time left may grow by this without a reason


@dataclass
class State:
    """What was seen of a run at a moment."""

    done: dict[str, float] = field(default_factory=dict)  # seconds that each took
    running: dict[str, float] = field(default_factory=dict)  # seconds so far
    shares: dict[str, float] = field(default_factory=dict)  # of running jobs, by their own count


class Watch:
    """A run, looked at from outside."""

    def __init__(self, jobs: Sequence[Job], started: float):
        self.jobs, self.started = {job.time: job for job in jobs}, started
        self.records: dict[str, Record] = {}  # in the order in which they were seen
        self._began: dict[str, float] = {}

    def look(self) -> list[str]:
        """Look once more; which jobs have ended since the last look."""
        ended = []
        for name, job in self.jobs.items():
            if name in self.records:
                continue
            if self._newer(name):
                self.records[name] = read_time(Path(name))
                ended.append(name)
            elif name not in self._began and self._newer(job.log):
                self._began[name] = time.time()
        return ended

    def state(self, now: float) -> State:
        """What has been seen so far."""
        running = {name: now - at for name, at in self._began.items() if name not in self.records}
        shares = {name: share_done(Path(self.jobs[name].log)) for name in running}
        return State({n: one.wall for n, one in self.records.items()}, running, shares)

    def _newer(self, path: str) -> bool:
        try:
            return Path(path).stat().st_mtime >= self.started
        except FileNotFoundError:
            return False


def share_done(log: Path) -> float:
    """How far a job is, by the last count in its log ("3/8"); 0 where it does not count."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 2000))
            counts = re.findall(rb"  (\d+)/(\d+)\b", file.read())
    except FileNotFoundError:
        return 0.0
    done, total = map(int, counts[-1]) if counts else (0, 0)
    return min(done / total, 1.0) if total else 0.0


class Forecast:
    """The time left of a run, from what was expected and from its pace so far."""

    def __init__(self, jobs: Sequence[Job], costs: Mapping[str, Cost], cores: int):
        self.jobs, self.cores = jobs, cores
        self.expected = planned_seconds(costs)
        self.whole = wall_time(jobs, self.expected, cores)
        self._pace = 1.0
        self._last: tuple[float, float] | None = None  # when, and how much was left

    def left(self, state: State, elapsed: float) -> float:
        """Seconds until the end."""
        rest = {
            job.time: self._rest(job.time, state) for job in self.jobs if job.time not in state.done
        }
        to_do = wall_time(self.jobs, rest, self.cores)
        self._pace = (elapsed + TRUST) / (max(self.whole - to_do, 0.0) + TRUST)
        return self._pace * to_do

    def _rest(self, name: str, state: State) -> float:
        """What is left of a job, at the pace that was expected."""
        expected, so_far = self.expected[name], state.running.get(name, 0.0)
        share = state.shares.get(name, 0.0)
        if share >= LEAST:
            return expected * (1 - share)
        return max(expected - so_far / self._pace, 0.1 * expected)

    def share(self, state: State) -> float:
        """How much of all work is done, from 0 to 1."""
        rest = [self._rest(j.time, state) for j in self.jobs if j.time not in state.done]
        total = sum(self.expected.values())
        return max(0.0, 1 - sum(rest) / total) if total else 1.0

    def grown(self, left: float, elapsed: float, state: State) -> str:
        """Why there is more left than was said before; nothing where it has hardly grown."""
        before, self._last = self._last, (elapsed, left)
        if before is None:
            return ""
        said = max(before[1] - (elapsed - before[0]), 0.0)
        if left <= max(GROWTH * said, said + 20):
            return ""
        taken = {**state.done, **state.running}
        slowest = max(taken, key=lambda name: taken[name] - self.expected[name], default=None)
        if slowest is None or taken[slowest] <= self.expected[slowest]:
            return "nothing has ended for a while: the machine is busy"
        title = next(job.title for job in self.jobs if job.time == slowest)
        was = duration(self.expected[slowest])
        return f"{title} takes {duration(taken[slowest])}, {was} were expected"
