"""What the jobs of a run took, from the benchmark records that Snakemake keeps."""

from __future__ import annotations

from pathlib import Path

from icl_core.measuring.times import cpu_seconds
from workflow.lib.forecast import last_records

COLUMNS = ("job", "jobs", "cpu_seconds", "wall_seconds")
# Drawing and reporting are done again at every publication: what they take is not the run's.
SHOWING = ("animation", "claims", "collect_metrics", "figure", "report_page", "table")


def by_kind(results: Path) -> list[tuple[str, int, float, float]]:
    """Rule and experiment, how many jobs of this kind there were, and their seconds together."""
    return [
        (
            kind,
            len(taken),
            round(sum(map(cpu_seconds, taken)), 1),
            round(sum(float(record["s"]) for record in taken), 1),
        )
        for kind, taken in sorted(last_records(results / "benchmarks").items())
        if kind.partition("/")[0] not in SHOWING
    ]
