"""How much memory and time a job asks a cluster for. On one machine nothing depends on it.

Twice the memory that was measured, and ten times the CPU time: a request that is too small ends a
job, one that is too large only waits a little longer. A job that runs again (`--retries`) asks for
more each time.
"""

from __future__ import annotations

from functools import cache, cached_property
from math import ceil
from typing import Any

from workflow.program.forecast import Costs, cost_of, read_costs

# Megabytes at most, of any job of a rule. Measured at the paper's sizes, five seeds: experts,
# density, adjustment, recordings, baselines. In a smoke run: policies, selection, metrics, figures.
# The others are guesses above the 212 of a smoke run: set them anew from `max_rss` in benchmarks/.
# One expert took 355; that of a stack of five is a guess.
MEASURED = {
    "simulate_recordings": 464,
    "read_recordings": 311,
    "make_scene": 319,
    "replay_recordings": 205,
    "import_demonstrations": 300,
    "expert": 700,
    "learn": 430,
    "true_fit": 430,
    "icl_density": 430,
    "icl_initial_constraint": 430,
    "icl_policy": 434,
    "icl_adjust": 406,
    "icl_select": 435,
    "metrics": 443,
    "determine": 300,
    "collect_metrics": 300,
    "transfer": 700,
    "claims": 300,
    "figure": 719,
    "table": 300,
    "animation": 430,
    "report_page": 300,
}
AROUND = 400  # megabytes of the two processes of Snakemake that stand around a job on a cluster
SHORTEST = 10  # minutes
NAMES = ("environment", "experiment", "method", "figure", "table")  # wildcards that tell jobs apart


class Requests:
    """What the jobs of a scale ask for: functions behind the rules' resources."""

    def __init__(self, scale: str):
        self.scale = scale
        self._minutes = cache(self._expected_minutes)

    def memory(self, wildcards: Any, rulename: str, attempt: int) -> int:
        """In megabytes."""
        return (2 * MEASURED[rulename] + AROUND) * attempt

    def runtime(self, wildcards: Any, rulename: str, attempt: int) -> int:
        """In minutes."""
        names = [wildcards.get(name) for name in NAMES]
        method = ["icl"] if rulename.startswith("icl_") else []  # no wildcard there
        return self._minutes("/".join([rulename, *filter(None, names), *method])) * attempt

    @cached_property
    def _costs(self) -> Costs:
        # Of a scale of the user's own nothing is known, and the paper's sizes are large.
        return read_costs(self.scale) or read_costs("paper")

    def _expected_minutes(self, kind: str) -> int:
        return max(SHORTEST, ceil(10 * cost_of(kind, self._costs).cpu / 60))
