"""How long a method's training took, from the benchmark records of its jobs."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from icl_core.showing.catalogue.item import TIMES_OF_METHODS
from icl_core.showing.sources import Sources


class Time(NamedTuple):
    """Seconds of all of a method's jobs together, and the seeds that they trained."""

    cpu: float
    wall: float
    seeds: int

    @property
    def per_seed(self) -> tuple[float, float]:
        return self.cpu / self.seeds, self.wall / self.seeds


def training_time(sources: Sources, experiment: str, method: str) -> Time | None:
    """None where the method was not run."""
    patterns = TIMES_OF_METHODS[method]
    found = [one for pattern in patterns for one in sources.find(pattern, experiment=experiment)]
    if not found:
        return None
    groups = {values["group"] for values, _ in found}
    all_of_them = [record for _, path in found for record in records(path)]
    cpu = sum(map(cpu_seconds, all_of_them))
    wall = sum(float(record["s"]) for record in all_of_them)
    return Time(cpu, wall, sum(map(_size, groups)))


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


def _size(group: str) -> int:
    """Seeds of a group "1-5"."""
    first, last = map(int, group.split("-"))
    return last - first + 1
