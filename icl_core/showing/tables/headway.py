"""Table 2c: the gap that each method's constraint asks for at three speeds, beside Figure 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from icl_core.environments.worlds.highd import HighD
from icl_core.measuring.paper import GAPS
from icl_core.measuring.results import Results, Share
from icl_core.measuring.statistics import BOUNDARY, boundary_gap, mean_and_std
from icl_core.showing.loading import (
    recovered_constraints,
    traffic_source,
    world_as,
)
from icl_core.showing.save import Table
from icl_core.tables import counted, failed_of, markdown_rows

ITEMS = [
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


def headway_table(results: Results, experiments: Sequence[str]) -> Table:
    """For each method and speed the gap at which the constraint crosses 0.5."""
    (experiment,) = experiments
    values = recovered_constraints(results, experiment)
    failed = {m: results.failed(experiment, m, len(runs)) for m, runs in values.items()}
    return build_gaps(results, world_as(results, experiment, HighD), values, failed)


def build_gaps(
    results: Results,
    world: HighD,
    values: Mapping[str, np.ndarray],
    failed: Mapping[str, Share] | None = None,
) -> Table:
    """The table of constraints on the grid, (runs, speeds, gaps) for each method.

    `failed` says how many of all seeds are not among the runs.
    """
    rows = tuple(_row(world, method, runs, v) for method, runs in values.items() for v in SPEEDS)
    seeds = {
        method: counted(len(runs), "seed") + failed_of(*(failed or {}).get(method, (0, 0)))
        for method, runs in values.items()
    }
    return Table(GAP_COLUMNS, rows, _gaps_markdown(results, world, seeds, rows))


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
    results: Results, world: HighD, seeds: Mapping[str, str], rows: Sequence[tuple]
) -> str:
    """`seeds` says of each method how many there are."""
    lines = [["Method", "Gap", *(f"{speed:g} m/s" for speed in SPEEDS)]]
    lines.append(["---", "---", *("---:" for _ in SPEEDS)])
    for method, number in seeds.items():
        mine = [dict(zip(GAP_COLUMNS, row, strict=True)) for row in rows if row[0] == method]
        name = results.title(method)
        lines.append([name, "paper, between centres", *map(_paper_gap, mine)])
        lines.append([name, f"ours, mean of {number}", *map(_our_gap, mine)])
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
    return f"{row['gap']:.0f} m ({row['time_gap']:.1f} s)"


def _by_seed(row: Mapping) -> str:
    if not row["seeds_with_gap"]:
        return "none"
    mean, std, speed = row["seed_mean"], row["seed_std"], row["speed"]
    text = f"{mean:.0f} ± {std:.0f} m ({mean / speed:.1f} ± {std / speed:.1f} s)"
    return f"{text}, {row['seeds_with_gap']} of {row['seeds']}"


def _difference(row: Mapping) -> str:
    if row["difference"] == "":
        return "-"
    metres, seconds = row["difference"], row["difference"] / row["speed"]
    return f"{round(metres) + 0.0:+.0f} m ({round(seconds, 1) + 0.0:+.1f} s)"  # no -0


def _paper_gap(row: Mapping) -> str:
    if row["paper_low"] == "":
        return "-"
    return f"{row['paper_low']:.0f} to {row['paper_high']:.0f} m"
