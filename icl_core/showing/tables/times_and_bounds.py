"""Tables 12 to 14: how long training took, and what networks can hold; the paper's value beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow.compute as pc

from icl_core.artifacts import read_table
from icl_core.learning.true_fit import FIT_SCHEMA, failed_fits, final_errors
from icl_core.measuring.paper import LOWER_BOUNDS, MINUTES
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell, mean_and_std
from icl_core.measuring.times import Time, training_time
from icl_core.showing.save import Table
from icl_core.tables import counted, failed_of, markdown_rows

ITEMS = [
    {
        "number": 12,
        "name": "training-times",
        "draw": "training_times_table",
        "title": "Training times",
        "caption": (
            "Training times: CPU time of all jobs of a method on an environment, as the "
            "jobs recorded it, divided by the number of seeds that train "
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
    {
        "number": 13,
        "name": "architectures-width",
        "draw": "width_table",
        "title": "What networks of several widths can hold",
        "caption": (
            "Lower bounds of CMSE for constraint networks of several widths: the error of "
            "networks that were fitted to the true constraint itself, on all nodes of the "
            "evaluation grid, with Adam. Mean and standard deviation over seeds. The paper's "
            "value stands beside ours; it does not say how long it trained, so our error after "
            "the first thousand steps is given too."
        ),
        "category": "Settings and times",
        "needs": ["true_fit"],
        "experiments": [
            "gridworld-a",
            "gridworld-b",
            "cartpole-mr",
            "cartpole-mid",
            "ant",
            "halfcheetah",
        ],
    },
    {
        "number": 14,
        "name": "architectures-depth",
        "draw": "depth_table",
        "title": "What networks of several depths can hold",
        "caption": (
            "Lower bounds of CMSE for constraint networks of several depths: the error of "
            "networks that were fitted to the true constraint itself, on all nodes of the "
            "evaluation grid, with Adam. Mean and standard deviation over seeds. The paper's "
            "value stands beside ours; it does not say how long it trained, so our error after "
            "the first thousand steps is given too."
        ),
        "category": "Settings and times",
        "needs": ["true_fit"],
        "experiments": [
            "gridworld-a",
            "gridworld-b",
            "cartpole-mr",
            "cartpole-mid",
            "ant",
            "halfcheetah",
        ],
    },
]

TIME_COLUMNS = (
    *("experiment", "method", "seeds", "cpu_seconds_per_seed", "wall_seconds_per_seed"),
    *("paper_seconds", "paper_over_ours"),
)
BOUND_COLUMNS = (
    *("experiment", "architecture", "steps", "mean", "std", "seeds"),
    *("early_steps", "early_mean", "paper_mean", "paper_std", "failed"),
)
# The paper's names for the shapes.
WIDTHS = {"a1": "A1 (32, 32)", "b": "B (64, 64)", "c1": "C1 (128, 128)"}
DEPTHS = {"a2": "A2 (64)", "b": "B (64, 64)", "c2": "C2 (64, 64, 64)"}
EARLY = 1000  # steps after which the error is shown too: the paper's are about ours of then
Fits = Mapping[tuple[str, str], tuple[Cell, Cell, int, int]]  # final, early, their steps


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
    return Table(TIME_COLUMNS, rows, _times_markdown(results, times, names))


def _compared(key: tuple[str, str], time: Time) -> tuple:
    if key not in MINUTES:
        return "", ""
    return 60 * MINUTES[key], 60 * MINUTES[key] / time.per_seed[0]


def _times_markdown(
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
    return f"# Training times\n\n{table}\n\n{_times_notes(times.values(), results.scale)}\n"


def _times_notes(times: Iterable[Time], scale: str) -> str:
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


def width_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 13."""
    return _bounds_table(results, experiments, WIDTHS, "widths")


def depth_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 14."""
    return _bounds_table(results, experiments, DEPTHS, "depths")


def _bounds_table(
    results: Results, experiments: Sequence[str], shapes: Mapping[str, str], what: str
) -> Table:
    fits = {
        (name, shape): fit
        for name in experiments
        for shape in shapes
        if (fit := _fit(results, name, shape))
    }
    rows = tuple(
        (
            *(*key, steps, *cell[:2], len(cell.seeds), early_steps, early.mean),
            *(*_paper_bound(key), len(cell.failed) or ""),
        )
        for key, (cell, early, steps, early_steps) in fits.items()
    )
    names = {e: results.worlds[e].title for e in experiments}
    return Table(BOUND_COLUMNS, rows, _bounds_markdown(fits, names, shapes, what, results.scale))


def _fit(results: Results, name: str, shape: str) -> tuple[Cell, Cell, int, int] | None:
    """The errors at the end of the fit and early in it, over seeds; None where it was not made."""
    found = results.find("true_fit", experiment=name, architecture=shape)
    tables = [read_table(path, FIT_SCHEMA) for _, path in found]
    if not tables:
        return None
    steps = max(table["step"].to_numpy().max() for table in tables)
    early = min(s for s in tables[0]["step"].to_numpy() if s >= min(EARLY, steps))
    late_errors: dict[int, float] = {}
    early_errors: dict[int, float] = {}
    failed = [seed for table in tables for seed in failed_fits(table)]
    for table in tables:
        late_errors |= final_errors(table)
        early_errors |= final_errors(table.filter(pc.equal(table["step"], early)))
    kept = {seed: error for seed, error in early_errors.items() if seed in late_errors}
    return _cell(late_errors, failed), _cell(kept, failed), int(steps), int(early)


def _cell(errors: Mapping[int, float], failed: Iterable[int]) -> Cell:
    return Cell(*mean_and_std(list(errors.values())), tuple(errors), tuple(failed))


def _bound(cell: Cell) -> str:
    lost = failed_of(len(cell.failed), len(cell.seeds) + len(cell.failed))
    return f"{cell.mean:.4f} ± {cell.std:.4f}{lost}"


def _paper_bound(key: tuple[str, str]) -> tuple:
    return LOWER_BOUNDS.get(key, ("", ""))


def _bounds_markdown(
    fits: Fits, names: Mapping[str, str], shapes: Mapping[str, str], what: str, scale: str
) -> str:
    lines = [["Environment", "From", *shapes.values()], ["---", "---", *("---:" for _ in shapes)]]
    for name, title in names.items():
        known = [LOWER_BOUNDS.get((name, shape)) for shape in shapes]
        paper = [f"{v[0]:.2f} ± {v[1]:.2f}" if v else "-" for v in known]
        lines.append([title, "paper", *paper])
        ours = [fits.get((name, shape)) for shape in shapes]
        made = [fit for fit in ours if fit]
        if made:
            final, _, steps, early = made[0]
            count = counted(len(final.seeds) + len(final.failed), "seed")
            late = [_bound(fit[0]) if fit else "-" for fit in ours]
            lines.append([title, f"ours, {count}", *late])
            first = [_bound(fit[1]) if fit else "-" for fit in ours]
            if early < steps:
                lines.append([title, f"ours, after {early:,} of {steps:,} steps", *first])
    table = markdown_rows(lines)
    return (
        f"# Lower bounds of CMSE for networks of several {what}\n\n{table}\n\n"
        f"Scale of our run: {scale}. Mean ± standard deviation (ddof 0) over seeds of the error of "
        "networks that were fitted to the true constraint itself, on all nodes of the evaluation "
        "grid at once. The paper does not say how long it trained: errors early in our training "
        "stand below those at its end.\n"
    )
