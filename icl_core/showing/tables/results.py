"""Tables 1 to 6: a metric by method and environment, the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from icl_core.environments.gridworld import Gridworld
from icl_core.learning.problem import BEST, LAST
from icl_core.measuring.metrics import CMSE, NAD
from icl_core.measuring.paper import PAPER
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell, Key, summary
from icl_core.showing.loading import column_title, in_order, metrics_of, world_as
from icl_core.showing.numbers import lowest
from icl_core.showing.save import Table
from icl_core.tables import FAILED_SEEDS, counted, failed_of, markdown_rows

ITEMS = [
    {
        "number": 1,
        "name": "cmse",
        "draw": "cmse_table",
        "title": "Constraint mean squared error",
        "caption": (
            "Constraint mean squared error (CMSE): the mean squared difference between the "
            "recovered and the true constraint function over the nodes of the evaluation grid "
            "(49 cells of the gridworlds; 49 positions times 2 actions of CartPole). Mean and "
            "standard deviation over seeds; lower is better. The paper's value stands beside "
            "ours; a method without a value of ours was not run. A constraint that is zero "
            "everywhere would score 0.082, 0.184, 0.531 and 0.296."
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
    {
        "number": 2,
        "name": "nad",
        "draw": "nad_table",
        "title": "Normalised accrual dissimilarity",
        "caption": (
            "Normalised accrual dissimilarity (NAD): the Wasserstein distance between the "
            "state-action visits of the demonstrations and of the learned policy's rollouts, in "
            "cells of the evaluation grid (0.1 m for CartPole, where the distances of the two "
            "actions are added). Mean and standard deviation over seeds; lower is better. The "
            "paper's value stands beside ours; a method without a value of ours was not run. "
            '"Undefined": a policy never took one of the actions inside the grid.'
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
    {
        "number": 3,
        "name": "cmse-slip",
        "draw": "slip_cmse_table",
        "title": "Constraint mean squared error where moves slip",
        "caption": (
            "Constraint mean squared error (CMSE) of ICL on Gridworld (A) where moves slip with "
            "probability p_slip, each world with experts of its own. Mean and standard "
            "deviation over seeds; lower is better. The paper's value stands beside ours; the "
            "first column repeats Table 1."
        ),
        "category": "Variations of ICL",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-a-slip-50",
        ],
        "method": "icl",
        "fewest": 2,
    },
    {
        "number": 4,
        "name": "nad-slip",
        "draw": "slip_nad_table",
        "title": "Normalised accrual dissimilarity where moves slip",
        "caption": (
            "Normalised accrual dissimilarity (NAD) of ICL on Gridworld (A) where moves slip "
            "with probability p_slip, each world with experts of its own. Mean and standard "
            "deviation over seeds; lower is better. The paper's value stands beside ours; the "
            "first column repeats Table 2."
        ),
        "category": "Variations of ICL",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-a-slip-50",
        ],
        "method": "icl",
        "fewest": 2,
    },
    {
        "number": 5,
        "name": "cmse-robots",
        "draw": "cmse_table",
        "title": "Constraint mean squared error, robots",
        "caption": (
            "Constraint mean squared error (CMSE) on the robots: the mean squared difference "
            "between the recovered and the true constraint function over 101 positions z from -5 "
            "m to 5 m. Mean and standard deviation over seeds; lower is better. The paper's "
            "value stands beside ours; a method without a value of ours was not run. A "
            "constraint that is zero everywhere would score 0.406."
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["ant", "halfcheetah"],
    },
    {
        "number": 6,
        "name": "nad-robots",
        "draw": "nad_table",
        "title": "Normalised accrual dissimilarity, robots",
        "caption": (
            "Normalised accrual dissimilarity (NAD) on the robots: the Wasserstein distance "
            "between the positions that the demonstrations and the learned policy's rollouts "
            "visit, in nodes of 0.1 m. Steps beyond 5 m on either side count for neither. Mean "
            "and standard deviation over seeds; lower is better. The paper's value stands beside "
            "ours; a method without a value of ours was not run."
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["ant", "halfcheetah"],
    },
]

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


def cmse_table(results: Results, experiments: Sequence[str]) -> Table:
    """Tables 1 and 5."""
    return _from_metrics(results, experiments, CMSE)


def nad_table(results: Results, experiments: Sequence[str]) -> Table:
    """Tables 2 and 6."""
    return _from_metrics(results, experiments, NAD)


def slip_cmse_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 3, and Gridworld (A) without slips beside it."""
    return _of_slips(results, experiments, CMSE)


def slip_nad_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 4, and Gridworld (A) without slips beside it."""
    return _of_slips(results, experiments, NAD)


def _from_metrics(results: Results, experiments: Sequence[str], metric: str) -> Table:
    columns = {name: column_title(results, name) for name in experiments}
    return build(results, metric, _cells(results, metric), columns)


def _of_slips(results: Results, experiments: Sequence[str], metric: str) -> Table:
    worlds = {name: world_as(results, name, Gridworld) for name in experiments}
    columns = {name: f"p_slip = {world.slip:g}" for name, world in worlds.items()}
    cells = {
        selection: {key: cell for key, cell in found.items() if key[1] == "icl"}
        for selection, found in _cells(results, metric).items()
    }
    place = ", Gridworld (A) where moves slip"
    return build(results, metric, cells, columns, ("icl",), place)


def _cells(results: Results, metric: str) -> Cells:
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
