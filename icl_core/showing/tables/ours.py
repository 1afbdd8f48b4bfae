"""Tables 1b, 2b and 2c: ours, beside the paper's Tables 1 and 2 and its Figure 2.

1b and 2b are interquartile means with bootstrap intervals, less moved by one failed seed; 2c is the
gap that each method's constraint asks for at three speeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from icl_core.environments.worlds.highd import HighD
from icl_core.measuring.metrics import CMSE, NAD
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import (
    BOUNDARY,
    boundary_gap,
    interquartile_mean,
    mean_and_std,
    reported,
    stratified_interval,
)
from icl_core.randomness import generator
from icl_core.showing.loading import (
    column_title,
    in_order,
    metrics_of,
    recovered_constraints,
    traffic_source,
    world_as,
)
from icl_core.showing.paper import GAPS
from icl_core.showing.save import Table
from icl_core.tables import counted, markdown_rows

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
        "draw": "nad_intervals",
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
    {
        "number": 2,
        "suffix": "c",
        "name": "headway",
        "draw": "headway_table",
        "title": "Gaps at which the recovered constraints end, HighD",
        "caption": (
            "HighD: the gap at which each method's constraint crosses 0.5 at three speeds, and "
            "the time gap that this is."
        ),
        "category": "Results",
        "needs": ["constraint"],
        "experiments": ["highd"],
    },
]

TITLES = {
    CMSE: "Constraint mean squared error (CMSE), interquartile means",
    NAD: "Normalised accrual dissimilarity (NAD), interquartile means",
}
INTERVAL_COLUMNS = ("method", "experiment", "metric", "iqm", "low", "high", "seeds")
ALL = "all"  # the column over all experiments

Values = Mapping[tuple[str, str], Mapping[int, float]]  # (experiment, method) -> seed -> value
SPEEDS = (20.0, 30.0, 40.0)  # m/s
GAP_COLUMNS = (
    "method",
    "speed",
    "gap",  # of the mean constraint over seeds
    "time_gap",
    "seed_mean",  # over the seeds' own gaps, of those that have one
    "seed_std",
    "seeds_with_gap",
    "seeds",
    "rule_gap",  # the simulated drivers'
    "difference",  # gap less rule_gap
    "paper_low",
    "paper_high",
)


class Interval(NamedTuple):
    """An interquartile mean and its interval."""

    iqm: float
    low: float
    high: float
    seeds: int


def cmse_intervals(results: Results, experiments: Sequence[str]) -> Table:
    """Table 1b."""
    return _from_metrics(results, experiments, CMSE)


def nad_intervals(results: Results, experiments: Sequence[str]) -> Table:
    """Table 2b."""
    return _from_metrics(results, experiments, NAD)


def _from_metrics(results: Results, experiments: Sequence[str], metric: str) -> Table:
    return build_intervals(results, metric, reported(metrics_of(results), metric), experiments)


def build_intervals(
    results: Results, metric: str, values: Values, experiments: Sequence[str]
) -> Table:
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
    table = _intervals_markdown(results, cells, methods, experiments)
    return Table(
        INTERVAL_COLUMNS,
        rows,
        f"# {TITLES[metric]}\n\n{table}\n\n{_intervals_notes(results, cells)}\n",
    )


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
    return (
        f"Scale of our run: {results.scale}, {runs}. Interquartile mean over seeds and its 95 % "
        "interval by a percentile bootstrap, stratified by environment in the last column; lower "
        "is better."
    )


def _interval_cell(cell: Interval | None) -> str:
    if cell is None:
        return "-"
    if cell.iqm != cell.iqm:
        return "undefined"
    return f"{cell.iqm:.3f} [{cell.low:.3f}, {cell.high:.3f}]"


def headway_table(results: Results, experiments: Sequence[str]) -> Table:
    """For each method and speed the gap at which the constraint crosses 0.5."""
    (experiment,) = experiments
    values = recovered_constraints(results, experiment)
    return build_gaps(results, world_as(results, experiment, HighD), values)


def build_gaps(results: Results, world: HighD, values: Mapping[str, np.ndarray]) -> Table:
    """The table of constraints on the grid, (runs, speeds, gaps) for each method."""
    rows = tuple(_row(world, method, runs, v) for method, runs in values.items() for v in SPEEDS)
    return Table(GAP_COLUMNS, rows, _gaps_markdown(results, world, values, rows))


def _row(world: HighD, method: str, runs: np.ndarray, speed: float) -> tuple:
    """Empty fields where there is no number."""
    gap = boundary_gap(world, runs.mean(axis=0), speed)
    each = np.array([boundary_gap(world, run, speed) for run in runs])
    found = each[~np.isnan(each)]
    mean, std = mean_and_std(found) if len(found) else (np.nan, np.nan)
    rule = float(world.headway.gap(speed)) if world.headway else np.nan
    numbers = (speed, gap, gap / speed, mean, std, len(found), len(runs), rule, gap - rule)
    row = (method, *numbers, *GAPS.get((method, speed), (np.nan, np.nan)))
    return tuple("" if value != value else value for value in row)


def _gaps_markdown(
    results: Results, world: HighD, values: Mapping[str, np.ndarray], rows: Sequence[tuple]
) -> str:
    lines = [["Method", "Gap", *(f"{speed:g} m/s" for speed in SPEEDS)]]
    lines.append(["---", "---", *("---:" for _ in SPEEDS)])
    for method, runs in values.items():
        mine = [dict(zip(GAP_COLUMNS, row, strict=True)) for row in rows if row[0] == method]
        name = results.title(method)
        lines.append([name, "paper, between centres", *map(_paper_gap, mine)])
        lines.append([name, f"ours, mean of {counted(len(runs), 'seed')}", *map(_our_gap, mine)])
        lines.append([name, "ours, by seed", *map(_by_seed, mine)])
        if world.headway:
            lines.append([name, "less the drivers' rule", *map(_difference, mine)])
    if world.headway:
        rule = [world.headway.gap(speed) for speed in SPEEDS]
        gaps = [f"{gap:.0f} m ({gap / v:.1f} s)" for gap, v in zip(rule, SPEEDS, strict=True)]
        lines.append(["Simulated drivers", "minimum + time gap · v", *gaps])
    table, notes = markdown_rows(lines), _gaps_notes(world, results.scale)
    return f"# Gap at which the constraint crosses {BOUNDARY:g}\n\n{table}\n\n{notes}\n"


def _gaps_notes(world: HighD, scale: str) -> str:
    measured = "centre to centre" if world.centre_gap else "bumper to bumper"
    text = (
        f"Scale of our run: {scale}, {traffic_source(world)}. Gaps are {measured}; in brackets the "
        "time gap, the gap divided by the speed. Smaller gaps than the number have c of at least "
        f"{BOUNDARY:g}. By seed: mean ± standard deviation (ddof 0) of the seeds that have such a "
        "boundary, and how many they are."
    )
    if world.headway:
        rule = world.headway
        text += (
            f" The simulated drivers keep, on average, {rule.minimum:.1f} m and {rule.time:.2f} s "
            "(IDM) as the least they want, bumper to bumper."
        )
    return text


def _our_gap(row: Mapping) -> str:
    if row["gap"] == "":
        return "none"
    return f"**{row['gap']:.0f} m** ({row['time_gap']:.1f} s)"


def _by_seed(row: Mapping) -> str:
    if not row["seeds_with_gap"]:
        return "none"
    mean, std, speed = row["seed_mean"], row["seed_std"], row["speed"]
    text = f"{mean:.0f} ± {std:.0f} m ({mean / speed:.1f} ± {std / speed:.1f} s)"
    return f"{text}, {row['seeds_with_gap']} of {row['seeds']}"


def _difference(row: Mapping) -> str:
    if row["difference"] == "":
        return "-"
    return f"{row['difference']:+.0f} m ({row['difference'] / row['speed']:+.1f} s)"


def _paper_gap(row: Mapping) -> str:
    if row["paper_low"] == "":
        return "-"
    return f"{row['paper_low']:.0f} to {row['paper_high']:.0f} m"
