"""Tables 13 and 14: what networks of several shapes can hold, the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from icl_core.artifacts import read_table
from icl_core.learning.true_fit import FIT_SCHEMA, final_errors
from icl_core.measuring.statistics import Cell, mean_and_std
from icl_core.showing.catalogue.item import ARCHITECTURES
from icl_core.showing.paper_values import LOWER_BOUNDS
from icl_core.showing.save import Table, markdown_rows
from icl_core.showing.sources import Sources, seeds

COLUMNS = (
    *("experiment", "architecture", "steps", "mean", "std", "seeds"),
    *("early_steps", "early_mean", "paper_mean", "paper_std"),
)
# The paper's names for the shapes.
WIDTHS = {"a1": "A1 (32, 32)", "b": "B (64, 64)", "c1": "C1 (128, 128)"}
DEPTHS = {"a2": "A2 (64)", "b": "B (64, 64)", "c2": "C2 (64, 64, 64)"}
EARLY = 1000  # steps after which the error is told too: the paper's are about ours of then

Fits = Mapping[tuple[str, str], tuple[Cell, Cell, int, int]]  # final, early, their steps


def width_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 13."""
    return _table(sources, experiments, WIDTHS, "widths")


def depth_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 14."""
    return _table(sources, experiments, DEPTHS, "depths")


def _table(
    sources: Sources, experiments: Sequence[str], shapes: Mapping[str, str], what: str
) -> Table:
    fits = {
        (name, shape): fit
        for name in experiments
        for shape in shapes
        if (fit := _fit(sources, name, shape))
    }
    rows = tuple(
        (*key, steps, *cell[:2], len(cell.seeds), early_steps, early.mean, *_paper(key))
        for key, (cell, early, steps, early_steps) in fits.items()
    )
    names = {e: sources.worlds[e].title for e in experiments}
    return Table(COLUMNS, rows, _markdown(fits, names, shapes, what, sources.scale))


def _fit(sources: Sources, name: str, shape: str) -> tuple[Cell, Cell, int, int] | None:
    """The errors at the end of the fit and early in it, over seeds; None where it was not made."""
    found = sources.find(ARCHITECTURES, experiment=name, architecture=shape)
    tables = [read_table(path, FIT_SCHEMA) for _, path in found]
    if not tables:
        return None
    steps = max(table["step"].to_numpy().max() for table in tables)
    early = min(s for s in tables[0]["step"].to_numpy() if s >= min(EARLY, steps))
    late_errors, early_errors = {}, {}
    for table in tables:
        late_errors |= final_errors(table)
        early_errors |= final_errors(table.filter(_at(table, early)))
    return _cell(late_errors), _cell(early_errors), int(steps), int(early)


def _at(table, step: int):
    import pyarrow.compute as pc  # only where a table is cut

    return pc.equal(table["step"], step)


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
            count, steps, early = seeds(len(made[0][0].seeds)), made[0][2], made[0][3]
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
