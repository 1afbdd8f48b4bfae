"""How long a method's training took, from what its jobs recorded."""

from __future__ import annotations

from typing import NamedTuple

from icl_core.job_times import read_time
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


def training_time(results: Results, experiment: str, method: str, without: str = "") -> Time | None:
    """The time of all jobs of a method, `without` those of a rule; None where it was not run."""
    found = [
        one
        for kind in ("job_time", "iteration_time")
        for one in results.find(kind, experiment=experiment, method=method)
        if one.fields["rule"] != without
    ]
    if not found:
        return None
    groups = {one.fields["group"] for one in found}
    taken = [read_time(one.path) for one in found]
    seeds = sum(len(seeds_of(group)) for group in groups)
    return Time(sum(one.cpu for one in taken), sum(one.wall for one in taken), seeds)
