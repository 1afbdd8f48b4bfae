"""How long a method's training took, from the benchmark records of its jobs."""

from __future__ import annotations

import csv
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
    records = [record for _, path in found for record in _records(path)]
    cpu = sum(_number(record["cpu_time"]) or float(record["s"]) for record in records)
    wall = sum(float(record["s"]) for record in records)
    return Time(cpu, wall, sum(map(_size, groups)))


def _records(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _number(text: str) -> float | None:
    """Of a job that ended before it was first looked at Snakemake knows no CPU time."""
    try:
        return float(text)
    except ValueError:
        return None


def _size(group: str) -> int:
    """Seeds of a group "1-5"."""
    first, last = map(int, group.split("-"))
    return last - first + 1
