"""The table beside Figure 2: the gap that each method's constraint asks for at three speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from icl_core.environments.highd import HighD
from icl_core.measuring.headway import BOUNDARY, boundary_gap
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import recovered_constraints
from icl_core.showing.naming import METHODS
from icl_core.showing.recordings import traffic_source
from icl_core.showing.save import Table, markdown_rows
from icl_core.showing.sources import Sources, seeds

SPEEDS = (20.0, 30.0, 40.0)  # m/s
# What the paper's text reads off its Figure 2 [m]; between centres, not bumpers.
PAPER = {
    **{(method, 20.0): (60.0, 80.0) for method in METHODS},
    ("icl", 40.0): (125.0, 150.0),
    ("gail-constraint", 40.0): (160.0, 180.0),
    ("icrl", 40.0): (160.0, 180.0),
}
COLUMNS = (
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


def headway_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """For each method and speed the gap at which the constraint crosses 0.5."""
    (experiment,) = experiments
    values = recovered_constraints(sources, experiment)
    return build(sources.worlds[experiment], values, sources.scale)


def build(world: HighD, values: Mapping[str, np.ndarray], scale: str) -> Table:
    """The table of constraints on the grid, (runs, speeds, gaps) for each method."""
    rows = tuple(_row(world, method, runs, v) for method, runs in values.items() for v in SPEEDS)
    return Table(COLUMNS, rows, _markdown(world, values, rows, scale))


def _row(world: HighD, method: str, runs: np.ndarray, speed: float) -> tuple:
    """Empty fields where there is no number."""
    gap = boundary_gap(world, runs.mean(axis=0), speed)
    each = np.array([boundary_gap(world, run, speed) for run in runs])
    found = each[~np.isnan(each)]
    mean, std = mean_and_std(found) if len(found) else (np.nan, np.nan)
    rule = float(world.headway.gap(speed)) if world.headway else np.nan
    numbers = (speed, gap, gap / speed, mean, std, len(found), len(runs), rule, gap - rule)
    row = (method, *numbers, *PAPER.get((method, speed), (np.nan, np.nan)))
    return tuple("" if value != value else value for value in row)


def _markdown(
    world: HighD, values: Mapping[str, np.ndarray], rows: Sequence[tuple], scale: str
) -> str:
    lines = [["Method", "Gap", *(f"{speed:g} m/s" for speed in SPEEDS)]]
    lines.append(["---", "---", *("---:" for _ in SPEEDS)])
    for method, runs in values.items():
        mine = [dict(zip(COLUMNS, row, strict=True)) for row in rows if row[0] == method]
        name = METHODS.get(method, method)
        lines.append([name, "paper, between centres", *map(_paper, mine)])
        lines.append([name, f"ours, mean of {seeds(len(runs))}", *map(_ours, mine)])
        lines.append([name, "ours, by seed", *map(_by_seed, mine)])
        if world.headway:
            lines.append([name, "less the drivers' rule", *map(_difference, mine)])
    if world.headway:
        rule = [world.headway.gap(speed) for speed in SPEEDS]
        told = [f"{gap:.0f} m ({gap / v:.1f} s)" for gap, v in zip(rule, SPEEDS, strict=True)]
        lines.append(["Simulated drivers", "minimum + time gap · v", *told])
    table = markdown_rows(lines)
    return (
        f"# Gap at which the constraint crosses {BOUNDARY:g}\n\n{table}\n\n{_notes(world, scale)}\n"
    )


def _notes(world: HighD, scale: str) -> str:
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


def _ours(row: Mapping) -> str:
    if row["gap"] == "":
        return "none"
    return f"**{row['gap']:.0f} m** ({row['time_gap']:.1f} s)"


def _by_seed(row: Mapping) -> str:
    if not row["seeds_with_gap"]:
        return "none"
    mean, std, speed = row["seed_mean"], row["seed_std"], row["speed"]
    told = f"{mean:.0f} ± {std:.0f} m ({mean / speed:.1f} ± {std / speed:.1f} s)"
    return f"{told}, {row['seeds_with_gap']} of {row['seeds']}"


def _difference(row: Mapping) -> str:
    if row["difference"] == "":
        return "-"
    return f"{row['difference']:+.0f} m ({row['difference'] / row['speed']:+.1f} s)"


def _paper(row: Mapping) -> str:
    if row["paper_low"] == "":
        return "-"
    return f"{row['paper_low']:.0f} to {row['paper_high']:.0f} m"
