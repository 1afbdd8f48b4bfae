"""Tables 1b and 2b: interquartile means with bootstrap intervals, less moved by one failed seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from icl_core.artifacts import read_table
from icl_core.measuring.metrics import CMSE, METRICS_SCHEMA, NAD
from icl_core.measuring.statistics import interquartile_mean, reported, stratified_interval
from icl_core.randomness import generator
from icl_core.showing.naming import ENVIRONMENTS, METHODS, in_order
from icl_core.showing.save import Table, markdown_rows
from icl_core.showing.sources import Sources, seeds

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


def cmse_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 1b."""
    return _from_metrics(sources, experiments, CMSE)


def nad_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 2b."""
    return _from_metrics(sources, experiments, NAD)


def _from_metrics(sources: Sources, experiments: Sequence[str], metric: str) -> Table:
    metrics = read_table(sources.metrics(), METRICS_SCHEMA)
    return build(metric, reported(metrics, metric), experiments, sources.scale)


def build(metric: str, values: Values, experiments: Sequence[str], scale: str) -> Table:
    """The table of `values`: a row per method, a column per experiment and one for all."""
    methods = in_order({method for experiment, method in values if experiment in experiments})
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
    return Table(COLUMNS, rows, _markdown(metric, cells, methods, experiments, scale))


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
    metric: str,
    cells: Mapping[tuple[str, str], Interval],
    methods: Sequence[str],
    experiments: Sequence[str],
    scale: str,
) -> str:
    names = [ENVIRONMENTS.get(name, name) for name in experiments]
    lines = [["Algorithm", *names, "All"], ["---", *("---:" for _ in (*names, ALL))]]
    for method in methods:
        told = [_cell(cells.get((column, method))) for column in (*experiments, ALL)]
        lines.append([METHODS.get(method, method), *told])
    table = markdown_rows(lines)
    counts = sorted({cell.seeds for cell in cells.values()})
    runs = " or ".join(seeds(count) for count in counts) or "no seeds"
    notes = (
        f"Scale of our run: {scale}, {runs}. Interquartile mean over seeds and its 95 % interval "
        "by a percentile bootstrap, stratified by environment in the last column; lower is better."
    )
    return f"# {TITLES[metric]}\n\n{table}\n\n{notes}\n"


def _cell(cell: Interval | None) -> str:
    if cell is None:
        return "-"
    if cell.iqm != cell.iqm:
        return "undefined"
    return f"{cell.iqm:.3f} [{cell.low:.3f}, {cell.high:.3f}]"
