"""Figure 5: CMSE by iteration, for ICL and for ICL without its two improvements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icl_core.artifacts import read_table
from icl_core.measuring.metrics import CMSE, METRICS_SCHEMA
from icl_core.showing.sources import Sources
from icl_core.showing.style import BLUE, GREY, ORANGE, VERMILION, footer, panels, title

# By variant: how it is called, its colour, its line.
VARIANTS = {
    "all-iterations": ("ICL", BLUE, {"linestyle": "-", "marker": "o"}),
    "no-reweighting": (
        "mixture, no reweighting",
        ORANGE,
        {"linestyle": (0, (4, 1.5)), "marker": "s"},
    ),
    "no-mixture": (
        "no mixture, no reweighting",
        VERMILION,
        {"linestyle": (0, (1.5, 1)), "marker": "^"},
    ),
}


def ablations_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """A panel per environment, a line per variant: mean over seeds, and their range."""
    metrics = read_table(sources.metrics(), METRICS_SCHEMA)
    worlds = {sources.worlds[name].name: sources.worlds[name] for name in experiments}
    figure, axes = panels(len(worlds), height=2.0)
    counts = {}
    for ax, (environment, world) in zip(axes[0], worlds.items(), strict=True):
        title(ax, world.title, rf"($\beta={world.threshold:g}$)")
        for variant, (name, colour, line) in VARIANTS.items():
            if f"{environment}-{variant}" in experiments:
                errors = errors_by_iteration(metrics, f"{environment}-{variant}")
                counts[name] = len(errors)
                _draw(ax, errors, name, colour, line)
        _finish(ax, float(world.true_on_grid.mean()))
    axes[0, 0].set_ylabel("CMSE")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, handlelength=2.6)
    several = "line: mean, band: min to max over seeds; " if max(counts.values()) > 1 else ""
    footer(figure, several + sources.footer(counts))
    return figure


def errors_by_iteration(metrics: pa.Table, experiment: str) -> np.ndarray:
    """CMSE after each iteration from 0 on, (seeds, iterations + 1)."""
    found: dict[int, dict[int, float]] = {}
    for row in metrics.to_pylist():
        wanted = (row["experiment"], row["method"], row["metric"]) == (experiment, "icl", CMSE)
        if wanted and not row["reported"]:
            found.setdefault(row["seed"], {})[row["iteration"]] = row["value"]
    return np.array([[by[i] for i in sorted(by)] for _, by in sorted(found.items())])


def _draw(ax: Axes, errors: np.ndarray, name: str, colour: str, line: dict) -> None:
    iterations = np.arange(errors.shape[1])
    if len(errors) > 1:
        low, high = errors.min(axis=0), errors.max(axis=0)
        ax.fill_between(iterations, low, high, color=colour, alpha=0.16, linewidth=0)
    ax.plot(
        iterations,
        errors.mean(axis=0),
        label=name,
        color=colour,
        markersize=2.2,
        linewidth=1.0,
        clip_on=False,
        **line,
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
