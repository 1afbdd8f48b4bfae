"""Tables 13 and 14: what networks of several shapes can hold, the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow.compute as pc

from icl_core.artifacts import read_table
from icl_core.learning.true_fit import FIT_SCHEMA, final_errors
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell, mean_and_std
from icl_core.showing.paper import LOWER_BOUNDS
from icl_core.showing.save import Table
from icl_core.tables import counted, markdown_rows

ITEMS = [
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

COLUMNS = (
    *("experiment", "architecture", "steps", "mean", "std", "seeds"),
    *("early_steps", "early_mean", "paper_mean", "paper_std"),
)
# The paper's names for the shapes.
WIDTHS = {"a1": "A1 (32, 32)", "b": "B (64, 64)", "c1": "C1 (128, 128)"}
DEPTHS = {"a2": "A2 (64)", "b": "B (64, 64)", "c2": "C2 (64, 64, 64)"}
EARLY = 1000  # steps after which the error is shown too: the paper's are about ours of then

Fits = Mapping[tuple[str, str], tuple[Cell, Cell, int, int]]  # final, early, their steps


def width_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 13."""
    return _table(results, experiments, WIDTHS, "widths")


def depth_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 14."""
    return _table(results, experiments, DEPTHS, "depths")


def _table(
    results: Results, experiments: Sequence[str], shapes: Mapping[str, str], what: str
) -> Table:
    fits = {
        (name, shape): fit
        for name in experiments
        for shape in shapes
        if (fit := _fit(results, name, shape))
    }
    rows = tuple(
        (*key, steps, *cell[:2], len(cell.seeds), early_steps, early.mean, *_paper(key))
        for key, (cell, early, steps, early_steps) in fits.items()
    )
    names = {e: results.worlds[e].title for e in experiments}
    return Table(COLUMNS, rows, _markdown(fits, names, shapes, what, results.scale))


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
    for table in tables:
        late_errors |= final_errors(table)
        early_errors |= final_errors(table.filter(pc.equal(table["step"], early)))
    return _cell(late_errors), _cell(early_errors), int(steps), int(early)


def _cell(errors: Mapping[int, float]) -> Cell:
    return Cell(*mean_and_std(list(errors.values())), tuple(errors))


def _paper(key: tuple[str, str]) -> tuple:
    return LOWER_BOUNDS.get(key, ("", ""))


def _markdown(
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
            count = counted(len(final.seeds), "seed")
            late = [f"{fit[0].mean:.4f} ± {fit[0].std:.4f}" if fit else "-" for fit in ours]
            lines.append([title, f"ours, {count}", *late])
            first = [f"{fit[1].mean:.4f} ± {fit[1].std:.4f}" if fit else "-" for fit in ours]
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
