"""Figure transfer: return and true cost of agents under constraints that were moved. Ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.measuring.claims.verdicts import FEWEST
from icl_core.measuring.results import Results
from icl_core.measuring.transfer import by_condition, student_interval, transfers_of
from icl_core.showing.style import BLUE, GREEN, GREY, PAGE, footer, threshold_line, title

ITEMS = [
    {
        "title": "Learned constraints, moved to other agents and dynamics",
        "caption": (
            "Return (above) and true discounted cost (below) of agents that saw no demonstration: "
            "trained without a cost (none), with the constraint that ICL has learned, and the true "
            "one. Below each environment's name stands what is changed in it; on Ant the agent is "
            "our constrained learner, elsewhere PPO of Stable-Baselines3. Points: seeds; lines: "
            "their mean; bars, where there are enough seeds: its 95 % interval by Student's t. "
            "Dashed: beta, the cost that is allowed."
        ),
        "category": "Transfer",
        "needs": ["transfer"],
        "experiments": ["gridworld-a", "cartpole-mr", "nav", "ant"],
        "method": "icl",
    },
]

LOOKS = {"none": ("none", GREY), "learned": ("learned", BLUE), "true": ("true", GREEN)}


def draw(results: Results, experiments: Sequence[str]) -> Figure:
    """A column of two panels for each experiment."""
    tables = transfers_of(results, experiments)
    figure = Figure(figsize=(PAGE * max(len(tables), 2) / 4, 3.0))
    axes = figure.subplots(2, len(tables), squeeze=False, sharex=True)
    for column, (experiment, table) in zip(axes.T, tables.items(), strict=True):
        change = table["change"][0].as_py() or "same dynamics"
        title(column[0], results.worlds[experiment].title, change)
        _panel(column[0], table, "return")
        _panel(column[1], table, "true_cost")
        threshold_line(column[1], results.beta(experiment), "outside")
        column[1].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("return")
    axes[1, 0].set_ylabel("true cost")
    seeds = {
        results.worlds[name].title: len(set(table["seed"].to_pylist()))
        for name, table in tables.items()
    }
    footer(figure, results.footer(seeds))
    return figure


def _panel(ax: Axes, table: pa.Table, measure: str) -> None:
    values = by_condition(table, measure)
    for place, (condition, seeds) in enumerate(values.items()):
        _, colour = LOOKS[condition]
        found = student_interval(seeds)
        # Of few seeds it would be wider than the panel.
        half = found.high - found.size if len(seeds) >= FEWEST else 0.0
        ax.errorbar(place, found.size, half, fmt="_", color=colour, markersize=11, capsize=2.5)
        beside = place + 0.22 + np.linspace(-0.05, 0.05, len(seeds))
        ax.plot(beside, seeds, "o", color=colour, markersize=2.2, alpha=0.6, linewidth=0)
    ax.set_xticks(range(len(values)), [LOOKS[condition][0] for condition in values])
    ax.set_xlim(-0.5, len(values) - 0.3)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)
