"""Figure 5: CMSE and NAD by iteration, for ICL and for ICL without its two improvements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import LineStyleType

from icl_core.measuring.metrics import CMSE, FAILED, NAD
from icl_core.measuring.results import Results, Share
from icl_core.measuring.statistics import reported
from icl_core.showing.loading import metrics_of, true_on_grid
from icl_core.showing.style import BLUE, GREY, ORANGE, VERMILION, footer, panels, title

ITEMS = [
    {
        "number": 5,
        "name": "ablations",
        "draw": "ablations_figure",
        "title": "CMSE and NAD by iteration, without mixture and without reweighting",
        "caption": (
            "CMSE after each iteration of ICL (0: the initial constraint), and below it, beyond "
            "the paper, NAD of each iteration's policy: for ICL, for ICL with a mixture of "
            "policies but uniform weights, and for ICL with neither: the newest policy only and "
            "uniform weights. No run stops before its last iteration, so that the curves can be "
            "compared to their end. Thick: mean over seeds; thin: each of them. Dotted: the error "
            "of a constraint that is zero everywhere, in panels that reach so far."
        ),
        "category": "Variations of ICL",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a-all-iterations",
            "gridworld-a-no-reweighting",
            "gridworld-a-no-mixture",
            "gridworld-b-all-iterations",
            "gridworld-b-no-reweighting",
            "gridworld-b-no-mixture",
            "cartpole-mr-all-iterations",
            "cartpole-mr-no-reweighting",
            "cartpole-mr-no-mixture",
            "cartpole-mid-all-iterations",
            "cartpole-mid-no-reweighting",
            "cartpole-mid-no-mixture",
        ],
        "method": "icl",
    },
]


class Look(NamedTuple):
    """How a variant is called and drawn."""

    name: str
    colour: str
    line: LineStyleType
    marker: str


VARIANTS = {
    "all-iterations": Look("ICL", BLUE, "-", "o"),
    "no-reweighting": Look("mixture, no reweighting", ORANGE, (0, (4, 1.5)), "s"),
    "no-mixture": Look("no mixture, no reweighting", VERMILION, (0, (1.5, 1)), "^"),
}


def ablations_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """A column per environment, CMSE above and NAD below, and a line per variant."""
    metrics = metrics_of(results)
    failed = reported(metrics, FAILED)
    shown = _by_environment(results, experiments)
    figure, axes = panels(len(shown), rows=2, height=3.2, sharex="col")
    counts: dict[str, int] = {}
    lost: dict[str, Share] = {}
    for column, variants in zip(axes.T, shown.values(), strict=True):
        first = next(iter(variants.values()))
        world = results.worlds[first]
        title(column[0], world.title, rf"($\beta={results.beta(first):g}$)")
        for variant, look in VARIANTS.items():
            if variant in variants:
                name = variants[variant]
                for ax, metric in zip(column, (CMSE, NAD), strict=True):
                    found = by_iteration(metrics, name, metric)
                    _draw(ax, *found, look)
                    counts[look.name] = max(len(found[1]), counts.get(look.name, 0))
                gone = len(failed.get((name, "icl"), ()))
                lost[f"{look.name}, {world.title}"] = gone, len(found[1]) + gone
        _finish(column, float(true_on_grid(world).mean()))
    for ax, metric in zip(axes[:, 0], (CMSE, NAD), strict=True):
        ax.set_ylabel(metric.upper())
    figure.align_ylabels()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, handlelength=2.6)
    several = "thick: mean, thin: each seed; " if max(counts.values()) > 1 else ""
    footer(figure, several + results.footer(counts, lost))
    return figure


def _by_environment(results: Results, experiments: Sequence[str]) -> dict[str, dict[str, str]]:
    """The experiments by their environment and variant."""
    shown: dict[str, dict[str, str]] = {}
    for experiment in experiments:
        environment = results.worlds[experiment].name
        shown.setdefault(environment, {})[experiment.removeprefix(f"{environment}-")] = experiment
    return shown


def by_iteration(
    metrics: pa.Table, experiment: str, metric: str = CMSE
) -> tuple[np.ndarray, np.ndarray]:
    """The iterations, and a metric of ICL after each of them: (seeds, iterations)."""
    found: dict[int, dict[int, float]] = {}
    for row in metrics.to_pylist():
        wanted = (row["experiment"], row["method"], row["metric"]) == (experiment, "icl", metric)
        if wanted and not (row["reported"] or row["selection"]):
            found.setdefault(row["seed"], {})[row["iteration"]] = row["value"]
    iterations = sorted({i for by in found.values() for i in by})
    values = [[by.get(i, np.nan) for i in iterations] for _, by in sorted(found.items())]
    return np.array(iterations), np.array(values).reshape(len(found), len(iterations))


def _draw(ax: Axes, iterations: np.ndarray, values: np.ndarray, look: Look) -> None:
    if len(values) > 1:
        ax.plot(iterations, values.T, color=look.colour, linewidth=0.35, alpha=0.5)
    ax.plot(
        iterations,
        values.mean(axis=0),
        label=look.name,
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=2.2,
        linewidth=1.2,
        clip_on=False,
        zorder=3,
    )


def _finish(column: Sequence[Axes], of_zero: float) -> None:
    """The error of c = 0, for comparison: with truths of 0 and 1 it is the share of ones."""
    for ax in column:
        # of the curves; a line far above them would flatten them
        ax.set_ylim(0, 1.05 * max(ax.dataLim.y1, 1e-3))
        ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
        ax.set_axisbelow(True)
    column[0].axhline(
        of_zero, color=GREY, linewidth=0.7, linestyle=":", zorder=1, label="c = 0 everywhere"
    )
    column[-1].set_xlabel("ICL iteration")
    column[-1].xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
