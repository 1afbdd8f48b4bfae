"""Tables 1b and 2b: ours, beside the paper's Tables 1 and 2.

Interquartile means with bootstrap intervals, less moved by one bad seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from icl_core.measuring.metrics import CMSE, FAILED, NAD
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import (
    interquartile_mean,
    reported,
    stratified_interval,
)
from icl_core.randomness import generator
from icl_core.showing.loading import column_title, in_order, metrics_of
from icl_core.showing.save import Table
from icl_core.tables import FAILED_SEEDS, counted, failed_of, markdown_rows

ITEMS = [
    {
        "number": 1,
        "suffix": "b",
        "name": "cmse-intervals",
        "draw": "cmse_intervals",
        "title": "Constraint mean squared error, interquartile means",
        "caption": (
            "Constraint mean squared error (CMSE), as the interquartile mean over the seeds, "
            "with a 95 % percentile bootstrap interval in brackets. The mean of the middle half "
            "is less moved by one bad seed than the mean, and the interval says what another "
            "choice of seeds could have given; of five it holds the true value in some 90 % of "
            "cases, so that verdicts have intervals of their own. In the last column the seeds "
            "of all environments are taken together, and drawn again within their environment. "
            "Lower is better."
        ),
        "category": "Results",
        "needs": ["metrics"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
    {
        "number": 2,
        "suffix": "b",
        "name": "nad-intervals",
        "draw": "nad_intervals",
        "title": "Normalised accrual dissimilarity, interquartile means",
        "caption": (
            "Normalised accrual dissimilarity (NAD), as the interquartile mean over the seeds, "
            "with a 95 % percentile bootstrap interval in brackets. The mean of the middle half "
            "is less moved by one bad seed than the mean, and the interval says what another "
            "choice of seeds could have given; of five it holds the true value in some 90 % of "
            "cases, so that verdicts have intervals of their own. In the last column the seeds "
            "of all environments are taken together, and drawn again within their environment. "
            "Lower is better."
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
INTERVAL_COLUMNS = ("method", "experiment", "metric", "iqm", "low", "high", "seeds", "failed")
ALL = "all"  # the column over all experiments

Values = Mapping[tuple[str, str], Mapping[int, float]]  # (experiment, method) -> seed -> value


class Interval(NamedTuple):
    """An interquartile mean and its interval."""

    iqm: float
    low: float
    high: float
    seeds: int  # of an environment, the failed ones not among them
    failed: int = 0
    trained: int = 0  # seeds, of all environments, the failed ones among them

    def row(self) -> tuple:
        """As it stands in the file: nothing where there is none."""
        numbers = self[:3] if self.seeds else ("", "", "")
        return (*numbers, self.seeds, self.failed or "")


def cmse_intervals(results: Results, experiments: Sequence[str]) -> Table:
    """Table 1b."""
    return _from_metrics(results, experiments, CMSE)


def nad_intervals(results: Results, experiments: Sequence[str]) -> Table:
    """Table 2b."""
    return _from_metrics(results, experiments, NAD)


def _from_metrics(results: Results, experiments: Sequence[str], metric: str) -> Table:
    metrics = metrics_of(results)
    values, failed = reported(metrics, metric), reported(metrics, FAILED)
    return build_intervals(results, metric, values, experiments, failed)


def build_intervals(
    results: Results,
    metric: str,
    values: Values,
    experiments: Sequence[str],
    failed: Values | None = None,
) -> Table:
    """The table of `values`: a row per method, a column per experiment and one for all.

    `failed` are the seeds without a value.
    """
    lost = failed or {}
    methods = in_order(
        results, {method for experiment, method in {**values, **lost} if experiment in experiments}
    )
    columns = {name: [name] for name in experiments} | {ALL: list(experiments)}
    cells = {
        (column, method): cell
        for method in methods
        for column, wanted in columns.items()
        if (cell := _interval(values, lost, wanted, method))
    }
    rows = tuple(
        (method, column, metric, *cells[column, method].row())
        for method in methods
        for column in columns
        if (column, method) in cells
    )
    table = _intervals_markdown(results, cells, methods, experiments)
    return Table(
        INTERVAL_COLUMNS,
        rows,
        f"# {TITLES[metric]}\n\n{table}\n\n{_intervals_notes(results, cells)}\n",
    )


def _interval(
    values: Values, failed: Values, wanted: Sequence[str], method: str
) -> Interval | None:
    """Over the experiments that are wanted; None where one of them was not run."""
    keys = [(experiment, method) for experiment in wanted]
    if any(key not in values and key not in failed for key in keys):
        return None
    lost = sum(len(failed.get(key, ())) for key in keys)
    strata = [np.array(list(values.get(key, {}).values())) for key in keys]
    there = sum(map(len, strata))
    if not all(map(len, strata)):  # every seed of an experiment has failed
        return Interval(np.nan, np.nan, np.nan, 0, lost, there + lost)
    # The draws depend on nothing but the method: a new experiment changes no other cell.
    ends = stratified_interval(strata, generator(0, "bootstrap", method))
    iqm = float(interquartile_mean(np.concatenate(strata)))
    return Interval(iqm, *ends, there // len(strata), lost, there + lost)


def _intervals_markdown(
    results: Results,
    cells: Mapping[tuple[str, str], Interval],
    methods: Sequence[str],
    experiments: Sequence[str],
) -> str:
    names = [column_title(results, name) for name in experiments]
    lines = [["Algorithm", *names, "All"], ["---", *("---:" for _ in (*names, ALL))]]
    for method in methods:
        found = [_interval_cell(cells.get((column, method))) for column in (*experiments, ALL)]
        lines.append([results.title(method), *found])
    return markdown_rows(lines)


def _intervals_notes(results: Results, cells: Mapping[tuple[str, str], Interval]) -> str:
    counts = sorted({cell.seeds for cell in cells.values()})
    runs = " or ".join(counted(count, "seed") for count in counts) or "no seeds"
    failed = f" {FAILED_SEEDS}" if any(cell.failed for cell in cells.values()) else ""
    return (
        f"Scale of our run: {results.scale}, {runs}. Interquartile mean over seeds and its 95 % "
        "interval by a percentile bootstrap, stratified by environment in the last column; lower "
        f"is better.{failed}"
    )


def _interval_cell(cell: Interval | None) -> str:
    if cell is None:
        return "-"
    if not cell.seeds:
        return "failed"
    lost = failed_of(cell.failed, cell.trained)
    if cell.iqm != cell.iqm:
        return f"undefined{lost}"
    return f"{cell.iqm:.3f} [{cell.low:.3f}, {cell.high:.3f}]{lost}"
