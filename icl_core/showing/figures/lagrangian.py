"""Figure 7: constraint adjustment with a Lagrange multiplier in place of the penalty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.artifacts import read_table
from icl_core.environments.gridworld import Gridworld
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import recovered_constraints, world_as
from icl_core.showing.maps import draw_map, label, outline
from icl_core.showing.style import (
    BLUE,
    CONSTRAINT_MAP,
    VERMILION,
    colour_bar,
    footer,
    panels,
    plus_minus,
    title,
)

ITEMS = [
    {
        "number": 7,
        "name": "lagrangian",
        "draw": "lagrangian_figure",
        "title": "Adjustment by a Lagrange multiplier",
        "caption": (
            "Constraint adjustment with a Lagrange multiplier in place of the penalty, Gridworld "
            "(A). In turns, the multiplier takes a step along J_E(c) - beta, held at zero or "
            "above, and the constraint a step on J_mix(c) - multiplier (J_E(c) - beta), with the "
            "data, the weights and the bound on far agents that ICL has. First: recovered "
            "constraint, mean over seeds. Second: the multiplier of one seed over all adjustment "
            "steps of all iterations; band: its least and greatest value within each of 400 "
            "spans. Third and fourth: the share of demonstrations whose discounted constraint "
            "value is at most beta, for the Lagrangian and for ICL; faint: each seed, bold: "
            "their mean. Both run all iterations."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl", "adjustment:method=icl"],
        "experiments": ["gridworld-a-lagrangian", "gridworld-a-all-iterations"],
        "method": "icl",
        "fewest": 2,
    },
]

POINTS = 400  # of a curve: more than a printed panel can show


def lagrangian_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Mean constraint, multiplier of one seed, and satisfied demonstrations of both methods."""
    ours = experiments[0]
    figure, axes = panels(4, height=1.9, width_ratios=[1.0, 1.15, 1.15, 1.15])
    runs = recovered_constraints(results, ours)["icl"]
    _draw_constraint(figure, axes[0, 0], world_as(results, ours, Gridworld), runs)
    logs = {name: adjustment_log(results, name) for name in experiments}
    first = min(logs[ours])
    title(axes[0, 1], r"Multiplier $\lambda$", f"Lagrangian, seed {first}")
    _draw_range(axes[0, 1], logs[ours][first]["multiplier"], VERMILION)
    axes[0, 1].set_ylabel(r"$\lambda$")
    names = ("Lagrangian", "ICL (penalty)")
    for ax, experiment, name, colour in zip(
        axes[0, 2:], experiments, names, (VERMILION, BLUE), strict=False
    ):
        title(ax, "Expert satisfaction", name)
        satisfied = [log["expert_satisfaction"] for log in logs[experiment].values()]
        _draw_satisfaction(ax, satisfied, colour)
    axes[0, 2].set_ylabel("demonstrations\nsatisfied [%]")
    footer(figure, _footer(results, {n: len(logs[e]) for n, e in zip(names, logs, strict=False)}))
    return figure


def adjustment_log(results: Results, experiment: str) -> dict[int, dict[str, np.ndarray]]:
    """The columns of the adjustment logs, by seed, all iterations one after the other."""
    parts: dict[int, list] = {}
    for _, path in results.find("adjustment", experiment=experiment, method="icl"):
        table = read_table(path, ADJUSTMENT_SCHEMA)
        seed = table["seed"].to_numpy()
        columns = {name: table[name].to_numpy() for name in table.column_names}
        for one in np.unique(seed):
            rows = seed == one
            parts.setdefault(int(one), []).append({n: c[rows] for n, c in columns.items()})
    return {
        seed: {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        for seed, found in sorted(parts.items())
    }


def thinned(values: np.ndarray, points: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Steps at the middle of so many equal spans at most, and the values in each: (spans, n)."""
    width = max(1, -(-len(values) // points))
    whole = len(values) // width * width
    return np.arange(whole).reshape(-1, width).mean(axis=1) + 1, values[:whole].reshape(-1, width)


def _draw_constraint(figure: Figure, ax: Axes, world: Gridworld, runs: np.ndarray) -> None:
    image = draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
    outline(ax, world.constrained)
    title(ax, "Recovered c", f"CMSE {plus_minus(*mean_and_std(constraint_error(world, runs)))}")
    label([ax], world)
    colour_bar(figure, ax, image, "")


def _draw_range(ax: Axes, values: np.ndarray, colour: str) -> None:
    """Every span's mean, and its least and greatest value: what oscillates shows as a band."""
    steps, spans = thinned(values)
    ax.fill_between(
        steps, spans.min(axis=1), spans.max(axis=1), color=colour, alpha=0.3, linewidth=0
    )
    ax.plot(steps, spans.mean(axis=1), color=colour, linewidth=0.6)
    ax.set_ylim(bottom=0)
    _finish(ax)


def _draw_satisfaction(ax: Axes, runs: Sequence[np.ndarray], colour: str) -> None:
    """Each seed faintly, and the mean over those that are still adjusting."""
    curves = [thinned(100 * values) for values in runs]
    for steps, spans in curves:
        ax.plot(steps, spans.mean(axis=1), color=colour, linewidth=0.35, alpha=0.35)
    shortest = min(len(steps) for steps, _ in curves)
    mean = np.mean([spans.mean(axis=1)[:shortest] for _, spans in curves], axis=0)
    ax.plot(curves[0][0][:shortest], mean, color=colour, linewidth=1.1)
    ax.set_ylim(0, 103)
    _finish(ax)


def _finish(ax: Axes) -> None:
    ax.set_xlabel("adjustment step")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(_thousands)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)


def _thousands(value: float, _: object) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _footer(results: Results, counts: dict[str, int]) -> str:
    text = results.footer(counts)
    return f"band: least to greatest value; bold: mean over seeds, faint: each seed; {text}"
