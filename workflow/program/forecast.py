"""How much a run will take, before it starts, and how much is left, while it goes on.

What jobs took stands in expected.csv, by scale, rule and experiment: `python -m
workflow.program.forecast SCALE` keeps it again from a finished run. A machine of another speed
takes more or less, and the pace of the run itself corrects for that.
"""

from __future__ import annotations

import argparse
import csv
import heapq
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from icl_core.disk import atomic
from icl_core.job_times import read_time
from icl_core.tables import counted
from workflow.program.jobs import Job, Wanted, dry_run

EXPECTED = Path(__file__).with_name("expected.csv")
COLUMNS = ("scale", "job", "cpu_seconds", "bytes")
START = 0.15  # seconds from one job's end to the next one's start, in Snakemake


class Cost(NamedTuple):
    """What a job takes."""

    cpu: float  # seconds
    disk: float  # bytes


UNKNOWN = Cost(10.0, 1e5)  # of a job of which nothing is known
Costs = Mapping[str, Cost]  # by kind of job


def kind_of(time: str) -> str:
    """Rule and experiment of a job's record: groups of seeds and iterations are alike.

    >>> kind_of("results/paper/benchmarks/icl_adjust/gridworld-a/icl/seeds-1-5/iteration-03.tsv")
    'icl_adjust/gridworld-a/icl'
    """
    path = time.partition("benchmarks/")[2].removesuffix(".tsv")
    return re.sub(r"/(seeds-[\d_-]+|iteration-\d+)", "", path)


def cost_of(kind: str, costs: Costs) -> Cost:
    """What a kind of job costs: its own, that of what it varies, of its rule, or a guess."""
    alike = [known for known in costs if kind == known or _is_variant(kind, known)]
    if alike:
        return costs[max(alike, key=len)]
    same = [cost for known, cost in costs.items() if _rule(known) == _rule(kind)] or [UNKNOWN]
    return Cost(*(sum(values) / len(same) for values in zip(*same, strict=True)))


def expected_costs(jobs: Iterable[Job], costs: Costs) -> dict[str, Cost]:
    """What each job will take, by the place of its record."""
    kinds = {job.time: kind_of(job.time) for job in jobs}
    known = {kind: cost_of(kind, costs) for kind in set(kinds.values())}
    return {time: known[kind] for time, kind in kinds.items()}


def _rule(kind: str) -> str:
    return kind.partition("/")[0]


def _is_variant(kind: str, known: str) -> bool:
    """Whether a job is the same as another, but of a variant of its experiment."""
    ours, theirs = kind.split("/"), known.split("/")
    if len(ours) != len(theirs) or len(ours) < 2:
        return False
    return ours[1].startswith(f"{theirs[1]}-") and ours[0] == theirs[0] and ours[2:] == theirs[2:]


def read_costs(scale: str, path: Path = EXPECTED) -> dict[str, Cost]:
    """What jobs took at a scale."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["scale"] == scale]
    return {row["job"]: Cost(float(row["cpu_seconds"]), float(row["bytes"])) for row in rows}


def record(scale: str, jobs: Sequence[Job], path: Path = EXPECTED) -> int:
    """Put the mean cost of each kind of these finished jobs into the file; how many kinds."""
    taken: dict[str, list[Cost]] = {}
    for job in jobs:
        written = [Path(file) for file in (*job.outputs, job.log) if file != job.time]
        cost = Cost(read_time(Path(job.time)).cpu, sum(map(size_of, written)))
        taken.setdefault(kind_of(job.time), []).append(cost)
    with path.open(newline="") as file:
        kept = [row for row in csv.DictReader(file) if row["scale"] != scale]
    for kind, costs in taken.items():
        cpu, disk = (sum(values) / len(costs) for values in zip(*costs, strict=True))
        row = (scale, kind, f"{cpu:.1f}", f"{disk:.0f}")
        kept.append(dict(zip(COLUMNS, row, strict=True)))
    with atomic(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(kept, key=lambda row: (row["scale"], row["job"])))
    return len(taken)


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def wall_time(jobs: Sequence[Job], seconds: Mapping[str, float], cores: int) -> float:
    """How long the jobs that `seconds` names take on some cores, each after those that it needs.

    Jobs that are ready start in the order of the plan, as Snakemake's greedy scheduler does.
    """
    ours = [job for job in jobs if job.time in seconds]
    waiting = {job.time: sum(one in seconds for one in job.needs) for job in ours}
    after: dict[str, list[int]] = {}
    for place, job in enumerate(ours):
        for one in job.needs:
            after.setdefault(one, []).append(place)
    ready = [place for place, job in enumerate(ours) if not waiting[job.time]]
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < cores:
            first = heapq.heappop(ready)
            heapq.heappush(running, (now + seconds[ours[first].time], first))
        now, ended = heapq.heappop(running)
        for place in after.get(ours[ended].time, ()):
            waiting[ours[place].time] -= 1
            if not waiting[ours[place].time]:
                heapq.heappush(ready, place)
    return now


def planned_seconds(costs: Costs) -> dict[str, float]:
    """Seconds of each job on a core of its own, with what Snakemake needs to start it."""
    return {time: cost.cpu + START for time, cost in costs.items()}


def sentence(jobs: Sequence[Job], costs: Costs, cores: int) -> str:
    """What will be done, in one line."""
    if not jobs:
        return "nothing to be done"
    wall = wall_time(jobs, planned_seconds(costs), cores)
    cpu, disk = (sum(values) for values in zip(*costs.values(), strict=True))
    return (
        f"{counted(len(jobs), 'job')}, about {duration(cpu)} of CPU, "
        f"{duration(wall)} on {counted(cores, 'idle core')}, {megabytes(disk)} on disk"
    )


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(4800), duration(730), duration(95), duration(40)
    ('1 h 20 min', '12 min', '1 min 35 s', '40 s')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    if seconds < 300:
        whole = round(seconds)
        return f"{whole // 60} min {whole % 60} s"
    return f"{minutes} min"


def megabytes(size: float) -> str:
    """A size for people."""
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `icl forecast` and `icl run` are given."""
    Wanted.arguments(parser)
    parser.add_argument(
        "--cores", type=positive, default=os.cpu_count(), help="how many jobs at once"
    )


def positive(text: str) -> int:
    """A number of cores."""
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)


def main(given: argparse.Namespace) -> int:
    """Say it."""
    jobs = dry_run(Wanted.of(given))
    costs = expected_costs(jobs, read_costs(given.scale))
    print(sentence(jobs, costs, given.cores))
    counts: dict[str, list[Cost]] = {}
    for job in jobs:
        counts.setdefault(job.rule, []).append(costs[job.time])
    for rule, all_ in sorted(counts.items(), key=lambda item: -sum(c.cpu for c in item[1])):
        print(f"  {len(all_):4d} {rule:24s} {duration(sum(c.cpu for c in all_)):>12s}")
    return 0


if __name__ == "__main__":
    (_, SCALE) = sys.argv
    JOBS = dry_run(Wanted(SCALE), force=True)
    print(f"{record(SCALE, JOBS)} kinds of jobs in {EXPECTED}")
