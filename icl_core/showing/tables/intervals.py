"""Tables 1b and 2b: interquartile means with bootstrap intervals, less moved by one failed seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from icl_core.measuring.metrics import CMSE, NAD
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import interquartile_mean, reported, stratified_interval
from icl_core.randomness import generator
from icl_core.showing.loading import metrics_of
from icl_core.showing.save import Table
from icl_core.showing.titles import column_title, in_order
from icl_core.tables import counted, markdown_rows

ITEMS = [
    {
        "number": 1,
        "suffix": "b",
        "name": "cmse-intervals",
        "draw": "cmse_table",
        "title": "Constraint mean squared error, interquartile means",
        "caption": (
            "Constraint mean squared error (CMSE), as the interquartile mean over the seeds, "
            "with a 95 % percentile bootstrap interval in brackets. The mean of the middle half "
            "is less moved by one failed seed than the mean, and the interval says what another "
            "choice of seeds could have given. In the last column the seeds of all environments "
            "are taken together, and drawn again within their environment. Lower is better."
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
    {
        "number": 2,
        "suffix": "b",
        "name": "nad-intervals",
        "draw": "nad_table",
        "title": "Normalised accrual dissimilarity, interquartile means",
        "caption": (
            "Normalised accrual dissimilarity (NAD), as the interquartile mean over the seeds, "
            "with a 95 % percentile bootstrap interval in brackets. The mean of the middle half "
            "is less moved by one failed seed than the mean, and the interval says what another "
            "choice of seeds could have given. In the last column the seeds of all environments "
            "are taken together, and drawn again within their environment. Lower is better."
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
]

TITLES = {
    CMSE: "Constraint mean squared error (CMSE), interquartile means",
    NAD: "Normalised accrual dissimilarity (NAD), interquartile means",
}
COLUMNS = ("method", "experiment", "metric", "iqm", "low", "high", "seeds")
ALL = "all"  # the column over all experiments

Values = Mapping[tuple[str, str], Mapping[int, float]]  # (experiment, method) -> seed -> value


class Interval(NamedTuple):
    """An interquartile mean and its interval."""

    iqm: float
    low: float
    high: float
    seeds: int


def cmse_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 1b."""
    return _from_metrics(results, experiments, CMSE)


def nad_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 2b."""
    return _from_metrics(results, experiments, NAD)


def _from_metrics(results: Results, experiments: Sequence[str], metric: str) -> Table:
    return build(results, metric, reported(metrics_of(results), metric), experiments)


def build(results: Results, metric: str, values: Values, experiments: Sequence[str]) -> Table:
    """The table of `values`: a row per method, a column per experiment and one for all."""
    methods = in_order(
        results, {method for experiment, method in values if experiment in experiments}
    )
    cells = {
        (column, method): cell
        for method in methods
        for column in (*experiments, ALL)
        if (cell := _interval(values, experiments, column, method))
    }
    rows = tuple(
        (method, column, metric, *cells[column, method])
        for method in methods
        for column in (*experiments, ALL)
        if (column, method) in cells
    )
    table = _markdown(results, cells, methods, experiments)
    return Table(COLUMNS, rows, f"# {TITLES[metric]}\n\n{table}\n\n{_notes(results, cells)}\n")


def _interval(
    values: Values, experiments: Sequence[str], column: str, method: str
) -> Interval | None:
    """None where the method was not run: in a column over all, where any experiment is missing."""
    wanted = list(experiments) if column == ALL else [column]
    if any((experiment, method) not in values for experiment in wanted):
        return None
    strata = [np.array(list(values[experiment, method].values())) for experiment in wanted]
    # The draws depend on nothing but the method: a new experiment changes no other cell.
    ends = stratified_interval(strata, generator(0, "bootstrap", method))
    iqm = float(interquartile_mean(np.concatenate(strata)))
    return Interval(iqm, *ends, sum(map(len, strata)) // len(strata))


def _markdown(
    results: Results,
    cells: Mapping[tuple[str, str], Interval],
    methods: Sequence[str],
    experiments: Sequence[str],
) -> str:
    names = [column_title(results, name) for name in experiments]
    lines = [["Algorithm", *names, "All"], ["---", *("---:" for _ in (*names, ALL))]]
    for method in methods:
        found = [_cell(cells.get((column, method))) for column in (*experiments, ALL)]
        lines.append([results.title(method), *found])
    return markdown_rows(lines)


def _notes(results: Results, cells: Mapping[tuple[str, str], Interval]) -> str:
    counts = sorted({cell.seeds for cell in cells.values()})
    runs = " or ".join(counted(count, "seed") for count in counts) or "no seeds"
    return (
        f"Scale of our run: {results.scale}, {runs}. Interquartile mean over seeds and its 95 % "
        "interval by a percentile bootstrap, stratified by environment in the last column; lower "
        "is better."
    )


def _cell(cell: Interval | None) -> str:
    if cell is None:
        return "-"
    if cell.iqm != cell.iqm:
        return "undefined"
    return f"{cell.iqm:.3f} [{cell.low:.3f}, {cell.high:.3f}]"
