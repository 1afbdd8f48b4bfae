"""What Tables 1 to 6 share: a metric by method and selection, the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from icl_core.learning.problem import BEST, LAST
from icl_core.measuring.metrics import CMSE, NAD
from icl_core.measuring.paper import PAPER
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell, Key, summary
from icl_core.showing.loading import in_order, metrics_of
from icl_core.showing.numbers import lowest
from icl_core.showing.save import Table
from icl_core.tables import FAILED_SEEDS, counted, failed_of, markdown_rows

TITLES = {
    CMSE: "Constraint mean squared error (CMSE)",
    NAD: "Normalised accrual dissimilarity (NAD)",
}
COLUMNS = (
    *("method", "selection", "experiment", "metric", "mean", "std", "seeds"),
    *("paper_mean", "paper_std"),
    "failed",  # seeds without a value; empty where there is none
)

# The last policy is what the paper reports; the nearest to the expert, of equally many, is ours.
SELECTIONS = {LAST: "last policy", BEST: "best by NAD"}
Cells = Mapping[str, Mapping[Key, Cell]]  # by selection; then experiment and method


def cells_of(results: Results, metric: str) -> Cells:
    """Runs of which nothing is left stand among the last policies alone."""
    found = {one: summary(metrics_of(results), metric, one) for one in SELECTIONS}
    found[BEST] = {key: cell for key, cell in found[BEST].items() if cell.seeds}
    return found


def build(
    results: Results,
    metric: str,
    cells: Cells,
    columns: Mapping[str, str],
    only: Sequence[str] = (),
    place: str = "",
) -> Table:
    """The table of `cells` and of the paper's values.

    `columns` are the experiments with their titles, `only` the methods that are shown (all, if
    none is named), `place` what the title says of where.
    """
    known = {**PAPER[metric], **{key: None for own in cells.values() for key in own}}
    shown = [key for key in known if key[0] in columns and (not only or key[1] in only)]
    lines = _lines(cells, in_order(results, {method for _, method in shown}), columns)
    rows = tuple(
        _row(metric, line, experiment, cells.get(line[1], {}).get((experiment, line[0])))
        for line in lines
        for experiment in columns
        if (experiment, line[0]) in shown
    )
    run = [method for method in dict.fromkeys(line[0] for line in lines if line[1])]
    notes = _notes(results, run, len(run) < len({method for method, _ in lines}))
    if any(cell.failed for own in cells.values() for key, cell in own.items() if key in shown):
        notes += f" {FAILED_SEEDS}"
    table = _markdown(results, metric, cells, lines, columns)
    return Table(COLUMNS, rows, f"# {TITLES[metric]}{place}\n\n{table}\n\n{notes}\n")


def _lines(cells: Cells, methods: Sequence[str], columns: Iterable[str]) -> list[tuple[str, str]]:
    """A line for each method and selection; a method that was not run has one without."""
    lines = []
    for method in methods:
        own = [s for s, found in cells.items() if any((e, method) in found for e in columns)]
        lines += [(method, selection) for selection in own or [""]]
    return lines


def _row(metric: str, line: tuple[str, str], experiment: str, ours: Cell | None) -> tuple:
    """Empty fields where a method was not run, no seed has failed, or the paper has no value."""
    method, selection = line
    paper = ("", "") if selection == BEST else PAPER[metric].get((experiment, method), ("", ""))
    known = (method, selection if ours else "", experiment, metric)
    if ours is None:
        return (*known, "", "", "", *paper, "")
    values = (ours.mean, ours.std) if ours.seeds else ("", "")
    failed = len(ours.failed) or ""
    return (*known, *values, len(ours.seeds), *paper, failed)


def _markdown(
    results: Results,
    metric: str,
    cells: Cells,
    lines: Sequence[tuple[str, str]],
    columns: Mapping[str, str],
) -> str:
    best = {experiment: _best(cells, experiment) for experiment in columns}
    text = [["Algorithm", "From", *columns.values()], ["---", "---", *("---:" for _ in columns)]]
    for method, selection in lines:
        name = results.title(method)
        paper = [_paper(metric, method, experiment) for experiment in columns]
        own = cells.get(selection, {})
        ours = [_ours(own.get((e, method)), (method, selection) in best[e]) for e in columns]
        if any(paper) and selection != BEST:
            text.append([name, "paper", *(cell or "-" for cell in paper)])
        if any(ours):
            origin = f"{_origin(own, method, columns)}, {SELECTIONS[selection]}"
            text.append([name, origin, *(c or "-" for c in ours)])
    return markdown_rows(text)


def _notes(results: Results, run: Sequence[str], more: bool) -> str:
    names = ", ".join(results.title(method) for method in run) or "none"
    others = f" Run here: {names}; other methods stand with the paper's value only."
    return (
        f"Scale of our run: {results.scale}. Mean ± standard deviation (ddof 0) over seeds; "
        "lower is better. The last policy is what a method ends with, as in the paper; the best by "
        "NAD is the nearest to the demonstrations, of equally many candidates of each method. "
        "The paper's values are over 5 seeds. **Bold**: the lowest mean of ours in a column."
        + (others if more else "")
    )


def _origin(cells: Mapping[Key, Cell], method: str, experiments: Iterable[str]) -> str:
    counts = {_trained(cells[e, method]) for e in experiments if (e, method) in cells}
    if len(counts) == 1:
        return f"ours, {counted(counts.pop(), 'seed')}"
    return f"ours, {min(counts)} to {max(counts)} seeds"


def _paper(metric: str, method: str, experiment: str) -> str:
    value = PAPER[metric].get((experiment, method))
    return f"{value[0]:.2f} ± {value[1]:.2f}" if value else ""


def _best(cells: Cells, experiment: str) -> set[tuple[str, str]]:
    """Whose mean of ours is the lowest; one over what has not failed is no match for the rest."""
    return lowest(
        {
            (method, selection): cell.mean
            for selection, own in cells.items()
            for (at, method), cell in own.items()
            if at == experiment and cell.seeds and not cell.failed
        }
    )


def _ours(cell: Cell | None, best: bool) -> str:
    if cell is None:
        return ""
    if not cell.seeds:
        return "failed"
    lost = failed_of(len(cell.failed), _trained(cell))
    if cell.mean != cell.mean:
        return f"undefined{lost}"
    text = f"{cell.mean:.3f} ± {cell.std:.3f}{lost}"
    return f"**{text}**" if best else text


def _trained(cell: Cell) -> int:
    """Seeds, the failed ones among them."""
    return len(cell.seeds) + len(cell.failed)
