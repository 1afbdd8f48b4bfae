"""Tables 12 to 14: how long training took, and what networks can hold; the paper's value beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from icl_core.artifacts import read_table
from icl_core.learning.true_fit import FIT_SCHEMA, failed_fits, final_errors
from icl_core.measuring.paper import LOWER_BOUNDS, MINUTES
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell, mean_and_std
from icl_core.measuring.times import Time, training_time
from icl_core.showing.numbers import duration
from icl_core.showing.save import Table
from icl_core.tables import counted, failed_of, markdown_rows

ITEMS = [
    {
        "number": 12,
        "name": "training-times",
        "draw": "training_times_table",
        "title": "Training times",
        "caption": (
            "Training times: CPU time of all jobs of a method on an environment, as the jobs "
            "recorded it, divided by the number of seeds that train together; the paper's hours, "
            "which were taken on other machines; and how many times as long the paper's took. "
            "Beside it stands the time of the variant of ICL that can never stop before its last "
            "iteration, where it was run: unless ICL's settings let it stop early (Tables 10 and "
            "11), it is the same work."
        ),
        "category": "Settings and times",
        "needs": ["job_time", "iteration_time"],
        "experiments": [
            "main",
            "gridworld-a-all-iterations",
            "gridworld-b-all-iterations",
            "cartpole-mr-all-iterations",
            "cartpole-mid-all-iterations",
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
    *("all_iterations_cpu_seconds_per_seed", "paper_over_all_iterations"),
)
WHOLE = "-all-iterations"  # how the experiment is called that never stops early
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
    compared = [
        Compared(name, method, time, _whole_time(results, name, method))
        for name in experiments
        if not name.endswith(WHOLE)
        for method in results.methods
        if (time := training_time(results, name, method))
    ]
    names = {name: results.worlds[name].title for name in experiments}
    rows = tuple(one.row for one in compared)
    return Table(TIME_COLUMNS, rows, _times_markdown(results, compared, names))


def _whole_time(results: Results, name: str, method: str) -> Time | None:
    """As if no run had stopped: a variant that goes on takes over what its original has trained,
    all but the policy that this has trained at its end.
    """
    begun = training_time(results, name, method, without="icl_select")
    gone_on = training_time(results, f"{name}{WHOLE}", method)
    if begun is None or gone_on is None:
        return None
    return Time(begun.cpu + gone_on.cpu, begun.wall + gone_on.wall, gone_on.seeds)


class Compared(NamedTuple):
    """What a method took on an environment."""

    experiment: str
    method: str
    time: Time
    whole: Time | None  # to the last iteration, where it was also run so

    @property
    def paper(self) -> float | None:
        """The paper's seconds."""
        minutes = MINUTES.get((self.experiment, self.method))
        return 60 * minutes if minutes else None

    @property
    def row(self) -> tuple:
        """As it stands in the file."""
        whole = self.whole.per_seed[0] if self.whole else ""
        key = (self.experiment, self.method, self.time.seeds, *self.time.per_seed)
        return (*key, self.paper or "", self.times(self.time) or "", whole, self.times() or "")

    def times(self, ours: Time | None = None) -> float | None:
        """How many times as long the paper took, as all our iterations did unless said."""
        of = ours or self.whole
        return self.paper / of.per_seed[0] if self.paper and of else None

    def cells(self) -> list[str]:
        """As readers see it."""
        ratios = [
            f"{ratio:,.0f}" if ratio else "-" for ratio in (self.times(self.time), self.times())
        ]
        return [
            duration(self.time.per_seed[0]),
            duration(self.whole.per_seed[0]) if self.whole else "-",
            duration(self.paper) if self.paper else "-",
            *ratios,
        ]


def _times_markdown(
    results: Results, compared: Sequence[Compared], names: Mapping[str, str]
) -> str:
    head = ["Environment", "Method", "Ours, CPU per seed", "All iterations", "Paper"]
    lines = [[*head, "Paper / ours", "Paper / all iterations"], ["---", "---", *["---:"] * 5]]
    for one in compared:
        lines.append([names[one.experiment], results.title(one.method), *one.cells()])
    times = (one.time for one in compared)
    table = markdown_rows(lines)
    return f"# Training times\n\n{table}\n\n{_times_notes(times, results.scale)}\n"


def _times_notes(times: Iterable[Time], scale: str) -> str:
    counts = sorted({time.seeds for time in times})
    runs = " or ".join(counted(count, "seed") for count in counts) or "no seeds"
    sketch = "" if scale == "paper" else " At this scale our runs are shorter than the paper's."
    return (
        f"Scale of our run: {scale}.{sketch} Ours: CPU time of all jobs of a method, as Snakemake "
        f"records it, divided by the seeds ({runs}) that train together in a job, on one core; "
        "a job that was killed and went on counts from where it went on. All iterations: the time "
        "of a variant of ICL that can never stop early. The paper's are hours on its own machines; "
        "it does not say when its runs stopped."
    )


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
