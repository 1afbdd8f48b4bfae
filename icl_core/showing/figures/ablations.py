"""Figure 5: CMSE by iteration, for ICL and for ICL without its two improvements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import LineStyleType

from icl_core.measuring.metrics import CMSE, FAILED
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import reported
from icl_core.showing.loading import metrics_of, true_on_grid
from icl_core.showing.style import BLUE, GREY, ORANGE, VERMILION, footer, panels, title

ITEMS = [
    {
        "number": 5,
        "name": "ablations",
        "draw": "ablations_figure",
        "title": "CMSE by iteration, without mixture and without reweighting",
        "caption": (
            "CMSE after each iteration of ICL (0: the initial constraint), for ICL, for ICL with "
            "a mixture of policies but uniform weights, and for ICL with neither: the newest "
            "policy only and uniform weights. All three run all iterations here, without the "
            "stopping rule of Tables 1 and 2, so that the curves can be compared to their end. "
            "Line: mean over seeds; band: smallest to largest. Dotted: the error of a constraint "
            "that is zero everywhere."
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
    """A panel per environment, a line per variant: mean over seeds, and their range."""
    metrics = metrics_of(results)
    failed = reported(metrics, FAILED)
    shown: dict[str, dict[str, str]] = {}  # experiments by environment and variant
    for experiment in experiments:
        environment = results.worlds[experiment].name
        shown.setdefault(environment, {})[experiment.removeprefix(f"{environment}-")] = experiment
    figure, axes = panels(len(shown), height=2.0)
    counts, lost = {}, {}
    for ax, variants in zip(axes[0], shown.values(), strict=True):
        first = next(iter(variants.values()))
        world = results.worlds[first]
        title(ax, world.title, rf"($\beta={results.beta(first):g}$)")
        for variant, look in VARIANTS.items():
            if variant in variants:
                errors = errors_by_iteration(metrics, variants[variant])
                counts[look.name], gone = (
                    len(errors),
                    len(failed.get((variants[variant], "icl"), ())),
                )
                lost[f"{look.name}, {world.title}"] = gone, len(errors) + gone
                _draw(ax, errors, look)
        _finish(ax, float(true_on_grid(world).mean()))
    axes[0, 0].set_ylabel("CMSE")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, handlelength=2.6)
    several = "line: mean, band: min to max over seeds; " if max(counts.values()) > 1 else ""
    footer(figure, several + results.footer(counts, lost))
    return figure


def errors_by_iteration(metrics: pa.Table, experiment: str) -> np.ndarray:
    """CMSE after each iteration from 0 on, (seeds, iterations + 1)."""
    found: dict[int, dict[int, float]] = {}
    for row in metrics.to_pylist():
        wanted = (row["experiment"], row["method"], row["metric"]) == (experiment, "icl", CMSE)
        if wanted and not row["reported"]:
            found.setdefault(row["seed"], {})[row["iteration"]] = row["value"]
    return np.array([[by[i] for i in sorted(by)] for _, by in sorted(found.items())])


def _draw(ax: Axes, errors: np.ndarray, look: Look) -> None:
    iterations = np.arange(errors.shape[1])
    if len(errors) > 1:
        low, high = errors.min(axis=0), errors.max(axis=0)
        ax.fill_between(iterations, low, high, color=look.colour, alpha=0.16, linewidth=0)
    ax.plot(
        iterations,
        errors.mean(axis=0),
        label=look.name,
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=2.2,
        linewidth=1.0,
        clip_on=False,
    )


def _finish(ax: Axes, of_zero: float) -> None:
    """The error of c = 0, for comparison: with truths of 0 and 1 it is the share of ones."""
    ax.set_ylim(0, 1.05 * ax.dataLim.y1)  # of the curves; a line far above them would flatten them
    ax.axhline(
        of_zero, color=GREY, linewidth=0.7, linestyle=":", zorder=1, label="c = 0 everywhere"
    )
    ax.set_xlabel("ICL iteration")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)
