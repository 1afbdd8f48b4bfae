"""Figure 7: adjustment by a Lagrange multiplier in place of the penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icl_core.artifacts import read_table
from icl_core.environments.gridworld import Gridworld
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import failed_seeds, recovered_constraints, world_as
from icl_core.showing.maps import draw_map, label, outline
from icl_core.showing.style import (
    BLUE,
    CONSTRAINT_MAP,
    GREEN,
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
            "data and the weights that ICL has. First: recovered constraint, mean over seeds. "
            "Second: the multiplier at every 25th of all adjustment steps of all iterations, the "
            "finest that logs keep; bold: one seed, with a band from its least to its greatest "
            "value where a log is longer than the 400 points that are drawn; faint: the others. "
            "Third and fourth: the share of demonstrations whose discounted constraint value is at "
            "most beta, for the Lagrangian and for the penalty; faint: each seed, bold: their "
            "mean. ICL's penalty is on each demonstration, and so on this share itself; where it "
            "was run (at the paper's scale), a penalty on their mean, as the Lagrangian's term is, "
            "stands beside it in green. All run all iterations."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl", "adjustment:method=icl"],
        "experiments": [
            "gridworld-a-lagrangian",
            "gridworld-a-all-iterations",
            "gridworld-a-mean-hinge",
        ],
        "method": "icl",
        "fewest": 2,
    },
]

POINTS = 400  # of a curve: more than a printed panel can show
SPIKE = 8  # times the usual value: from here on a logarithmic scale shows more
LAGRANGIAN = "lagrangian"  # how its experiment ends
LOOKS = {  # the penalties, by how their experiments end
    "all-iterations": ("ICL (penalty)", BLUE),
    "mean-hinge": ("penalty on the mean", GREEN),
}

Logs = Mapping[int, Mapping[str, np.ndarray]]  # columns by seed


def lagrangian_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Mean constraint, multiplier, and satisfied demonstrations of Lagrangian and penalties."""
    ours = next(name for name in experiments if name.endswith(LAGRANGIAN))
    figure, axes = panels(4, height=1.9, width_ratios=[1.0, 1.15, 1.15, 1.15])
    runs = recovered_constraints(results, ours)["icl"]
    _draw_constraint(figure, axes[0, 0], world_as(results, ours, Gridworld), runs)
    logs = {name: adjustment_log(results, name) for name in experiments}
    first = min(logs[ours])
    title(axes[0, 1], r"Multiplier $\lambda$", f"Lagrangian, bold: seed {first}")
    _draw_multipliers(axes[0, 1], logs[ours], first)
    left, right = axes[0, 2:]
    right.sharey(left)
    right.sharex(left)
    title(left, "Expert satisfaction", "Lagrangian")
    title(right, "Expert satisfaction", "penalty")
    _draw_satisfaction(left, logs[ours], "Lagrangian", VERMILION)
    counts, names = {"Lagrangian": len(logs[ours])}, {"Lagrangian": ours}
    for ending, (name, colour) in LOOKS.items():
        for one in (one for one in experiments if one.endswith(ending) and logs[one]):
            _draw_satisfaction(right, logs[one], name, colour)
            counts[name], names[name] = len(logs[one]), one
    if len(counts) > 2:
        right.legend(loc="lower right", handlelength=1.2)
    left.set_ylabel("demonstrations\nsatisfied [%]")
    failed = {name: results.failed(one, "icl", counts[name]) for name, one in names.items()}
    longest = max(len(log["step"]) for log in logs[ours].values())
    band = "band: least to greatest value; " if longest > POINTS else ""
    text = f"{band}satisfaction: bold mean, faint each seed; {results.footer(counts, failed)}"
    footer(figure, text)
    return figure


def adjustment_log(results: Results, experiment: str) -> dict[int, dict[str, np.ndarray]]:
    """The columns of the adjustment logs, by seed, all iterations one after the other: their steps
    are counted through.

    Seeds that have failed are left out.
    """
    parts: dict[int, list] = {}
    failed = failed_seeds(results, experiment, "icl")
    for _, path in results.find("adjustment", experiment=experiment, method="icl"):
        table = read_table(path, ADJUSTMENT_SCHEMA)
        seed = table["seed"].to_numpy()
        columns = {name: table[name].to_numpy() for name in table.column_names}
        for one in set(np.unique(seed).tolist()) - failed:
            rows = seed == one
            own, known = {n: c[rows] for n, c in columns.items()}, parts.setdefault(one, [])
            own["step"] = own["step"] + (known[-1]["step"][-1] if known else 0)
            known.append(own)
    return {
        seed: {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        for seed, found in sorted(parts.items())
    }


def thinned(
    steps: np.ndarray, values: np.ndarray, points: int = POINTS
) -> tuple[np.ndarray, np.ndarray]:
    """Steps at the middle of so many equal spans at most, and the values in each: (spans, n)."""
    width = max(1, -(-len(values) // points))
    whole = len(values) // width * width
    return steps[:whole].reshape(-1, width).mean(axis=1), values[:whole].reshape(-1, width)


def _draw_constraint(figure: Figure, ax: Axes, world: Gridworld, runs: np.ndarray) -> None:
    image = draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
    outline(ax, world.constrained)
    title(ax, "Recovered c", f"CMSE {plus_minus(*mean_and_std(constraint_error(world, runs)))}")
    label([ax], world)
    colour_bar(figure, ax, image, "")


def _draw_multipliers(ax: Axes, logs: Logs, first: int) -> None:
    """Every seed's spans faintly; of the first also how far it swings within each."""
    for seed, log in logs.items():
        steps, spans = thinned(log["step"], log["multiplier"])
        if seed != first:
            ax.plot(steps, spans.mean(axis=1), color=VERMILION, linewidth=0.35, alpha=0.35)
            continue
        low, high = spans.min(axis=1), spans.max(axis=1)
        ax.fill_between(steps, low, high, color=VERMILION, alpha=0.3, linewidth=0)
        ax.plot(steps, spans.mean(axis=1), color=VERMILION, linewidth=0.8, zorder=3)
    usual = float(np.median(np.concatenate([log["multiplier"] for log in logs.values()])))
    if ax.dataLim.y1 > SPIKE * max(usual, 1e-3):
        ax.set_yscale("symlog", linthresh=max(0.1, usual))
    ax.set_ylim(bottom=0)
    ax.set_ylabel(r"$\lambda$")
    _finish(ax)


def _draw_satisfaction(ax: Axes, logs: Logs, name: str, colour: str) -> None:
    """Each seed faintly, and the mean over those that are still adjusting."""
    curves = [thinned(log["step"], 100 * log["expert_satisfaction"]) for log in logs.values()]
    for steps, spans in curves:
        ax.plot(steps, spans.mean(axis=1), color=colour, linewidth=0.35, alpha=0.35)
    shortest = min(len(steps) for steps, _ in curves)
    mean = np.mean([spans.mean(axis=1)[:shortest] for _, spans in curves], axis=0)
    ax.plot(curves[0][0][:shortest], mean, color=colour, linewidth=1.1, label=name)
    ax.set_ylim(0, 103)
    _finish(ax)


def _finish(ax: Axes) -> None:
    ax.set_xlabel("adjustment step")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4))
    ax.xaxis.set_major_formatter(_thousands)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)


def _thousands(value: float, _: object) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
