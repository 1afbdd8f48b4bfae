"""How much a run will take, before it starts, and how much is left, while it goes on.

python -m workflow.lib.forecast run SCALE CORES        run `all`, and say how much is left
python -m workflow.lib.forecast record SCALE FOLDER... keep the CPU times of finished benchmarks

What jobs took stands in expected_cpu.csv, by rule and experiment, from the benchmark records of
an earlier run: a machine of another speed takes more or less, and the pace of the run itself
corrects for that.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from icl_core.measuring.times import cpu_seconds, records
from icl_core.tables import counted

EXPECTED = Path(__file__).with_name("expected_cpu.csv")
UNKNOWN = 10.0  # seconds of a job of which nothing is known
MINUTE = 60.0

Times = Mapping[str, float]  # seconds of CPU by kind of job


def kind_of(benchmark: str) -> str:
    """Rule and experiment of a benchmark file: groups of seeds and iterations are alike.

    >>> kind_of("results/paper/benchmarks/icl_adjust/gridworld-a/icl/seeds-1-5/iteration-03.tsv")
    'icl_adjust/gridworld-a/icl'
    """
    path = benchmark.partition("benchmarks/")[2].removesuffix(".tsv")
    return re.sub(r"/(seeds-[\d_-]+|iteration-\d+)", "", path)


def planned(dry_run: str) -> list[str]:
    """The benchmark files of the jobs that a dry run lists."""
    return re.findall(r"^    benchmark: (\S+)$", dry_run, re.MULTILINE)


def expected(jobs: Iterable[str], times: Times) -> dict[str, float]:
    """Seconds of each job: of its kind, of what it is a variant of, of its rule, or a guess."""
    by_rule: dict[str, list[float]] = {}
    for kind, seconds in times.items():
        by_rule.setdefault(_rule(kind), []).append(seconds)

    def seconds_of(kind: str) -> float:
        varied = [known for known in times if kind == known or _is_variant(kind, known)]
        if varied:
            return times[max(varied, key=len)]
        same = by_rule.get(_rule(kind), [UNKNOWN])
        return sum(same) / len(same)

    return {job: seconds_of(kind_of(job)) for job in jobs}


def _rule(kind: str) -> str:
    return kind.partition("/")[0]


def _is_variant(kind: str, known: str) -> bool:
    """Whether a job is the same as another, but of a variant of its experiment."""
    ours, theirs = kind.split("/"), known.split("/")
    if len(ours) != len(theirs) or len(ours) < 2:
        return False
    return ours[1].startswith(f"{theirs[1]}-") and ours[0] == theirs[0] and ours[2:] == theirs[2:]


def read_times(scale: str, path: Path = EXPECTED) -> dict[str, float]:
    """What jobs took at a scale."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["job"]: float(row["cpu_seconds"]) for row in rows if row["scale"] == scale}


def record(scale: str, folders: Sequence[str], path: Path = EXPECTED) -> int:
    """Put the mean CPU time of each kind of job into the file; how many kinds there are.

    Of the same kind in several folders, the last one counts.
    """
    with path.open(newline="") as file:
        kept = {(row["scale"], row["job"]): row["cpu_seconds"] for row in csv.DictReader(file)}
    for folder in folders:
        for job, all_ in last_records(Path(folder)).items():
            mean = sum(map(cpu_seconds, all_)) / len(all_)
            kept[scale, job] = f"{mean:.1f}"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("scale", "job", "cpu_seconds"))
        writer.writerows((*key, seconds) for key, seconds in sorted(kept.items()))
    return len(kept)


def last_records(folder: Path) -> dict[str, list[dict[str, str]]]:
    """What each job under a folder of benchmarks took when it last ran, by kind."""
    found: dict[str, list[dict[str, str]]] = {}
    for file in sorted(folder.rglob("*.tsv")):
        kind = kind_of(f"benchmarks/{file.relative_to(folder).as_posix()}")
        found.setdefault(kind, []).append(records(file)[-1])
    return found


class Forecast:
    """What is planned, and what of it is done."""

    def __init__(self, jobs: Times, cores: int, started: float):
        self.jobs, self.cores, self.started = jobs, cores, started

    def before(self) -> str:
        """What will be done."""
        total = sum(self.jobs.values())
        return (
            f"{len(self.jobs)} jobs, about {duration(total)} of CPU time: "
            f"{duration(total / self.cores)} on {counted(self.cores, 'idle core')}"
        )

    def now(self, time_: float) -> str:
        """What is done, and what is left at the pace so far."""
        done = [job for job in self.jobs if _newer(job, self.started)]
        left = sum(seconds for job, seconds in self.jobs.items() if job not in set(done))
        taken = sum(self.jobs[job] for job in done)
        elapsed = time_ - self.started
        wall = elapsed * left / taken if taken > 0 else left / self.cores
        return (
            f"{len(done)} of {len(self.jobs)} jobs done, about {duration(left)} of CPU time left; "
            f"at this pace {duration(wall)}"
        )


def _newer(path: str, moment: float) -> bool:
    try:
        return Path(path).stat().st_mtime >= moment - 1
    except FileNotFoundError:
        return False


def duration(seconds: float) -> str:
    """ "1 h 20 min", "12 min" or "40 s"."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 90 else f"{seconds:.0f} s"


def run(scale: str, cores: int) -> int:
    """Run the workflow; its exit code."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
    command += ["--config", f"scale={scale}", "--", "all"]
    plan = subprocess.run([*command[:3], "--dry-run", *command[3:]], capture_output=True, text=True)
    if plan.returncode:
        print(plan.stdout + plan.stderr, file=sys.stderr)
        return plan.returncode
    jobs = expected(planned(plan.stdout + plan.stderr), read_times(scale))
    forecast = Forecast(jobs, cores, time.time())
    _say(forecast.before() if jobs else "nothing to be done")
    over = threading.Event()
    reporter = threading.Thread(target=_report, args=(forecast, over), daemon=True)
    reporter.start()
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                continue  # Snakemake has heard it as well, and ends its jobs
    over.set()
    return process.returncode


def _report(forecast: Forecast, over: threading.Event) -> None:
    while not over.wait(MINUTE):
        if forecast.jobs:
            _say(forecast.now(time.time()))


def _say(line: str) -> None:
    print(f"forecast: {line}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """The two commands."""
    match list(arguments):
        case ["run", scale, cores] if cores.isdigit() and int(cores):
            return run(scale, int(cores))
        case ["record", scale, *folders] if folders:
            print(f"{record(scale, folders)} kinds of jobs in {EXPECTED}")
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
