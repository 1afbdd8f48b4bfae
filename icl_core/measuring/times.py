"""How long a method's training took, from the benchmark records of its jobs."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from icl_core.layout import seeds_of
from icl_core.measuring.results import Results


class Time(NamedTuple):
    """Seconds of all of a method's jobs together, and the seeds that they trained."""

    cpu: float
    wall: float
    seeds: int

    @property
    def per_seed(self) -> tuple[float, float]:
        """CPU and wall seconds, over the seeds."""
        return self.cpu / self.seeds, self.wall / self.seeds


def training_time(results: Results, experiment: str, method: str) -> Time | None:
    """The time of all jobs of a method; None where it was not run."""
    found = [
        one
        for kind in ("job_time", "iteration_time")
        for one in results.find(kind, experiment=experiment, method=method)
    ]
    if not found:
        return None
    groups = {one.fields["group"] for one in found}
    all_of_them = [record for one in found for record in records(one.path)]
    cpu = sum(map(cpu_seconds, all_of_them))
    wall = sum(float(record["s"]) for record in all_of_them)
    return Time(cpu, wall, sum(len(seeds_of(group)) for group in groups))


def records(path: Path) -> list[dict[str, str]]:
    """The rows of a benchmark file, by column."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def cpu_seconds(record: Mapping[str, str]) -> float:
    """CPU time of a job; the wall time of one that ended before Snakemake first looked."""
    try:
        return float(record["cpu_time"]) or float(record["s"])
    except ValueError:
        return float(record["s"])
