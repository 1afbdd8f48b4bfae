"""Run the pipeline: one line per finished job, and how much is left.

Snakemake runs in a process of its own. All that it and its jobs say goes to a file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from icl_core.runs import PROGRAM, mark_of
from icl_core.tables import counted
from workflow.lib.places import check_places
from workflow.program import forecast
from workflow.program.forecast import duration, expected_costs, read_costs, sentence
from workflow.program.jobs import LIST, Job, Wanted, read_jobs
from workflow.program.watch import Forecast, State, Watch

arguments = forecast.arguments
MOST = 3  # numbers on a job's line
LOOK = 1.0  # seconds between two looks
SAY = 60.0  # seconds between two status lines, where they cannot overwrite each other
PATIENCE = 20.0  # seconds that jobs have to end after an interruption
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """The user, or the machine, wants the run to stop."""


def main(given: argparse.Namespace) -> int:
    """Run, and watch."""
    check_places(given.scale)
    folder = Path("results", given.scale, "logs")
    folder.mkdir(parents=True, exist_ok=True)
    plan, log = folder / "jobs.json", folder / "run.log"
    plan.unlink(missing_ok=True)
    display = Display(given.scale, given.cores)
    command = [sys.executable, "-m", "snakemake"]
    command += Wanted.of(given).for_snakemake(given.cores)
    with (
        log.open("w") as said,
        _stops_are_heard(),
        # A group of its own: a Ctrl-C reaches us alone, and we end the others in order.
        subprocess.Popen(
            command,
            stdout=said,
            stderr=said,
            env={**os.environ, LIST: str(plan), PROGRAM: mark_of(os.getpid())},
            start_new_session=True,
        ) as process,
    ):
        try:
            _follow(process, plan, display)
        except Interrupted:
            _end(process)
            display.say("interrupted: the same command goes on from here")
            return 130
    display.end(process.returncode, log)
    return process.returncode


def _follow(process: subprocess.Popen, plan: Path, display: Display) -> None:
    """Look until the run has ended, and once after."""
    planned = over = False
    while not over:
        over = process.poll() is not None
        if not planned and plan.is_file():
            planned = True
            display.begin(read_jobs(plan))
        display.look()
        if not over:
            time.sleep(LOOK)


@contextmanager
def _stops_are_heard() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise Interrupted

    before = {one: signal.signal(one, stop) for one in STOPS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(process: subprocess.Popen) -> None:
    """End Snakemake and its jobs: first asked, then forced; nobody is left behind."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave jobs behind
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for one in family:
        _send(one, signal.SIGINT)
    _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    for one in alive:
        _send(one, signal.SIGKILL)
    process.wait()


def _send(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


class Display:
    """What a run shows: lines of finished jobs, and a status line."""

    def __init__(self, scale: str, cores: int):
        self.scale, self.cores, self.started = scale, cores, time.time()
        self.terminal = sys.stdout.isatty()
        self._said = self.started
        self.begin([])

    def begin(self, jobs: Sequence[Job]) -> None:
        """The plan is known."""
        costs = expected_costs(jobs, read_costs(self.scale))
        if jobs:
            self.say(sentence(jobs, costs, self.cores))
        self.watch = Watch(jobs, self.started)
        self.forecast = Forecast(jobs, costs, self.cores)

    def look(self) -> None:
        """Say what is new."""
        for name in self.watch.look():
            self.say(self._finished(name))
        due = self.terminal or time.time() - self._said >= SAY
        if due and self.watch.jobs:
            self._status(time.time())

    def _finished(self, name: str) -> str:
        record, total = self.watch.records[name], len(self.watch.jobs)
        place = list(self.watch.records).index(name) + 1
        title = self.watch.jobs[name].title
        count = f"[{place:{len(str(total))}d}/{total}]"
        numbers = ", ".join(record.numbers.split(", ")[:MOST])
        return f"{count} {title:46s} {record.wall:7.1f} s  {numbers}"

    def _status(self, now: float) -> None:
        self._said = now
        state, elapsed = self.watch.state(now), now - self.started
        left = self.forecast.left(state, elapsed)
        why = self.forecast.grown(left, elapsed, state)
        text = f"{self.forecast.share(state):4.0%} done, about {duration(left)} left"
        if why:
            self.say(f"{text}: {why}")
        elif self.terminal:
            self._overwrite(f"{text}; at work: {self._at_work(state)}")
        else:
            self.say(text)

    def _at_work(self, state: State) -> str:
        shown = [
            self.watch.jobs[name].title + (f" {share:.0%}" if share else "")
            for name, share in state.shares.items()
        ]
        return "; ".join(shown) or "Snakemake"

    def say(self, line: str) -> None:
        """A line that stays."""
        print(("\r\x1b[K" if self.terminal else "") + line.rstrip(), flush=True)

    def _overwrite(self, line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        print("\r\x1b[K" + line[:width], end="", flush=True)

    def end(self, code: int, log: Path) -> None:
        """The last words on a run that ended by itself."""
        took, records = duration(time.time() - self.started), self.watch.records.values()
        if code:
            for line in self._failures(log.read_text(encoding="utf-8").splitlines()):
                self.say(line)
            self.say(f"failed after {took}; all that was said: {log}")
        elif records:
            cpu = duration(sum(record.cpu for record in records))
            self.say(f"done: {counted(len(records), 'job')} in {took}, {cpu} of CPU")
        else:
            self.say("nothing to be done: everything is up to date")

    def _failures(self, said: list[str]) -> list[str]:
        """What went wrong: in each job that began and did not end, or else before any job."""
        found = []
        for name in self.watch.state(time.time()).running:
            job = self.watch.jobs[name]
            lines = Path(job.log).read_text(encoding="utf-8").splitlines() or ["no word"]
            found.append(f"{job.title}: {lines[-1]} (log: {job.log})")
        return found or [line for line in said if line.startswith("error: ")] or said[-5:]
