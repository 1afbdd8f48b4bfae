"""Table 12: how long training took, from the benchmark records of the jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from icl_core.measuring.results import Results
from icl_core.measuring.times import Time, training_time
from icl_core.showing.paper import MINUTES
from icl_core.showing.save import Table
from icl_core.tables import counted, markdown_rows

ITEMS = [
    {
        "number": 12,
        "name": "training-times",
        "draw": "training_times_table",
        "title": "Training times",
        "caption": (
            "Training times: CPU time of all jobs of a method on an environment, from the "
            "benchmark records that Snakemake keeps, divided by the number of seeds that train "
            "together; the paper's times, which were taken on other machines; and how many times "
            "as long the paper's took."
        ),
        "category": "Settings and times",
        "needs": ["job_time", "iteration_time"],
        "experiments": [
            "gridworld-a",
            "gridworld-b",
            "cartpole-mr",
            "cartpole-mid",
            "highd",
            "ant",
            "halfcheetah",
            "exid",
        ],
    },
]

COLUMNS = (
    *("experiment", "method", "seeds", "cpu_seconds_per_seed", "wall_seconds_per_seed"),
    *("paper_seconds", "paper_over_ours"),
)


def training_times_table(results: Results, experiments: Sequence[str]) -> Table:
    """A row per environment and method, the paper's time beside ours."""
    times = {
        (name, method): found
        for name in experiments
        for method in results.methods
        if (found := training_time(results, name, method))
    }
    rows = tuple(
        (*key, time.seeds, *time.per_seed, *_compared(key, time)) for key, time in times.items()
    )
    names = {name: results.worlds[name].title for name in experiments}
    return Table(COLUMNS, rows, _markdown(results, times, names))


def _compared(key: tuple[str, str], time: Time) -> tuple:
    if key not in MINUTES:
        return "", ""
    return 60 * MINUTES[key], 60 * MINUTES[key] / time.per_seed[0]


def _markdown(
    results: Results, times: Mapping[tuple[str, str], Time], names: Mapping[str, str]
) -> str:
    head = ["Environment", "Method", "Ours, CPU per seed", "Paper", "Paper / ours"]
    lines = [head, ["---", "---", "---:", "---:", "---:"]]
    for (name, method), time in times.items():
        minutes = MINUTES.get((name, method))
        ratio = 60 * minutes / time.per_seed[0] if minutes else None
        lines.append(
            [
                names[name],
                results.title(method),
                duration(time.per_seed[0]),
                duration(60 * minutes) if minutes else "-",
                f"{ratio:,.0f}" if ratio else "-",
            ]
        )
    table = markdown_rows(lines)
    return f"# Training times\n\n{table}\n\n{_notes(times.values(), results.scale)}\n"


def _notes(times: Iterable[Time], scale: str) -> str:
    counts = sorted({time.seeds for time in times})
    runs = " or ".join(counted(count, "seed") for count in counts) or "no seeds"
    sketch = "" if scale == "paper" else " At this scale our runs are shorter than the paper's."
    return (
        f"Scale of our run: {scale}.{sketch} Ours: CPU time of all jobs of a method, as Snakemake "
        f"records it, divided by the seeds ({runs}) that train together in a job, on one core; "
        "a job that was killed and went on counts from where it went on. ICL stops when its "
        "policies have come close to the demonstrations. The paper's are times on its own machines."
    )


def duration(seconds: float) -> str:
    """ "7 h 15 min", "3.2 min" or "4.5 s"."""
    if seconds >= 3600:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"
