"""What the jobs of a run took, from the benchmark records that Snakemake keeps."""

from __future__ import annotations

from pathlib import Path

from icl_core.measuring.times import cpu_seconds, records
from workflow.lib.forecast import kind_of

COLUMNS = ("job", "jobs", "cpu_seconds", "wall_seconds")
# Drawing and telling are done again at every publication: what they take is not the run's.
SHOWING = ("animation", "claims", "collect_metrics", "figure", "report_page", "table")


def by_kind(results: Path) -> list[tuple[str, int, float, float]]:
    """Rule and experiment, how many jobs of this kind there were, and their seconds together."""
    found: dict[str, list[tuple[float, float]]] = {}
    for path in sorted((results / "benchmarks").rglob("*.tsv")):
        kind = kind_of(path.as_posix())
        if kind.partition("/")[0] not in SHOWING:
            last = records(path)[-1]
            found.setdefault(kind, []).append((cpu_seconds(last), float(last["s"])))
    return [
        (kind, len(taken), *(round(sum(part), 1) for part in zip(*taken, strict=True)))
        for kind, taken in sorted(found.items())
    ]
