"""Tables 1 to 6: a metric by method and environment, the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from icl_core.artifacts import read_table
from icl_core.measuring.metrics import CMSE, METRICS_SCHEMA, NAD
from icl_core.measuring.statistics import Cell, summary
from icl_core.showing.naming import ENVIRONMENTS, METHODS, in_order
from icl_core.showing.paper_values import PAPER
from icl_core.showing.save import Table, markdown_rows
from icl_core.showing.sources import Sources, seeds

TITLES = {
    CMSE: "Constraint mean squared error (CMSE)",
    NAD: "Normalised accrual dissimilarity (NAD)",
}
COLUMNS = ("method", "experiment", "metric", "mean", "std", "seeds", "paper_mean", "paper_std")

Cells = Mapping[tuple[str, str], Cell]


def cmse_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Tables 1 and 5."""
    return _from_metrics(sources, experiments, CMSE)


def nad_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Tables 2 and 6."""
    return _from_metrics(sources, experiments, NAD)


def slip_cmse_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 3, and Gridworld (A) without slips beside it."""
    return _of_slips(sources, experiments, CMSE)


def slip_nad_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 4, and Gridworld (A) without slips beside it."""
    return _of_slips(sources, experiments, NAD)


def _from_metrics(sources: Sources, experiments: Sequence[str], metric: str) -> Table:
    metrics = read_table(sources.metrics(), METRICS_SCHEMA)
    return build(metric, summary(metrics, metric), experiments, sources.scale)


def _of_slips(sources: Sources, experiments: Sequence[str], metric: str) -> Table:
    metrics = read_table(sources.metrics(), METRICS_SCHEMA)
    names = {e: f"p_slip = {sources.worlds[e].slip:g}" for e in experiments}
    cells = {key: cell for key, cell in summary(metrics, metric).items() if key[1] == "icl"}
    place = ", Gridworld (A) where moves slip"
    return build(metric, cells, experiments, sources.scale, names, ("icl",), place)


def build(
    metric: str,
    cells: Cells,
    experiments: Sequence[str],
    scale: str,
    names: Mapping[str, str] = ENVIRONMENTS,
    only: Sequence[str] = (),
    place: str = "",
) -> Table:
    """The table of `cells`, keyed (experiment, method), and of the paper's values.

    `names` are the columns' titles, `only` the methods that are shown (all, if none is named).
    """
    shown = [
        key
        for key in {**PAPER[metric], **cells}
        if key[0] in experiments and (not only or key[1] in only)
    ]
    methods = in_order({method for _, method in shown})
    rows = tuple(
        _row(metric, method, experiment, cells.get((experiment, method)))
        for method in methods
        for experiment in experiments
        if (experiment, method) in shown
    )
    columns = {e: names.get(e, e) for e in experiments}
    return Table(COLUMNS, rows, _markdown(metric, cells, methods, columns, scale, place))


def _row(metric: str, method: str, experiment: str, ours: Cell | None) -> tuple:
    """Empty fields where a method was not run, or the paper has no value."""
    found = (ours.mean, ours.std, len(ours.seeds)) if ours else ("", "", "")
    return (method, experiment, metric, *found, *PAPER[metric].get((experiment, method), ("", "")))


def _markdown(
    metric: str,
    cells: Cells,
    methods: Sequence[str],
    experiments: Mapping[str, str],
    scale: str,
    place: str,
) -> str:
    """`experiments` gives the columns and their titles."""
    header = ["Algorithm", "From", *experiments.values()]
    lines = [header, ["---", "---", *("---:" for _ in experiments)]]
    for method in methods:
        name = METHODS.get(method, method)
        paper = [_paper(metric, method, experiment) for experiment in experiments]
        ours = [_ours(metric, cells, method, experiment) for experiment in experiments]
        if any(paper):
            lines.append([name, "paper", *(cell or "-" for cell in paper)])
        if any(ours):
            lines.append([name, _origin(cells, method, experiments), *(c or "-" for c in ours)])
    table = markdown_rows(lines)
    run = [METHODS.get(m, m) for m in methods if any((e, m) in cells for e in experiments)]
    return (
        f"# {TITLES[metric]}{place}\n\n{table}\n\n{_notes(scale, run, len(run) < len(methods))}\n"
    )


def _notes(scale: str, run: Sequence[str], more: bool) -> str:
    told = ", ".join(run) or "none"
    others = f" Run here: {told}; other methods stand with the paper's value only."
    return (
        f"Scale of our run: {scale}. Mean ± standard deviation (ddof 0) over seeds; "
        "lower is better. "
        "The paper's values are over 5 seeds. **Bold**: our mean is at or below the paper's."
        + (others if more else "")
    )


def _origin(cells: Cells, method: str, experiments: Iterable[str]) -> str:
    counts = {len(cells[e, method].seeds) for e in experiments if (e, method) in cells}
    if len(counts) == 1:
        return f"ours, {seeds(counts.pop())}"
    return f"ours, {min(counts)} to {max(counts)} seeds"


def _paper(metric: str, method: str, experiment: str) -> str:
    value = PAPER[metric].get((experiment, method))
    return f"{value[0]:.2f} ± {value[1]:.2f}" if value else ""


def _ours(metric: str, cells: Cells, method: str, experiment: str) -> str:
    cell = cells.get((experiment, method))
    if cell is None:
        return ""
    if cell.mean != cell.mean:
        return "undefined"
    text = f"{cell.mean:.3f} ± {cell.std:.3f}"
    paper = PAPER[metric].get((experiment, method))
    return f"**{text}**" if paper and cell.mean <= paper[0] else text
