"""Curves over one physical axis and fields over two, as several figures draw them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.image import AxesImage
from matplotlib.patheffects import withStroke

from icl_core.environments.world import Axis
from icl_core.showing.style import DARK, LINE_COLOURS

BOUNDARY = 0.5  # of the constraint function, drawn as a line
EXPERT = "#E31A1C"  # the paper's red points
SEED_WIDTH = 0.6  # of a seed's line on a map
RIM = [withStroke(linewidth=SEED_WIDTH + 0.6, foreground=DARK)]
OUTLINE = [withStroke(linewidth=1.8, foreground=DARK)]  # white lines cross bright cells too
DASHES = ("-", (0, (3, 1.2)))  # every second dashed: equal lines stay both visible


def draw_lines(
    ax: Axes,
    x: np.ndarray,
    runs: np.ndarray,
    names: Sequence[str],
    fill: bool = False,
    each: bool = False,
) -> None:
    """For each line the mean over runs (runs, positions, lines), and the range from min to max.

    With `each` every run is a thin line of its own in place of the range.
    """
    for k, name in enumerate(names[: runs.shape[2]]):
        values, colour = runs[:, :, k], LINE_COLOURS[k % len(LINE_COLOURS)]
        if np.isnan(values).any(axis=1).all():  # an action that no run ever took has no accrual
            continue
        mean = np.nanmean(values, axis=0)
        ax.plot(x, mean, label=name, color=colour, linestyle=DASHES[k % 2], zorder=3 + k)
        if len(values) > 1 and each:
            ax.plot(x, values.T, color=colour, linewidth=0.4, alpha=0.6, zorder=2)
        elif len(values) > 1:
            low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
            ax.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
        elif fill:
            ax.fill_between(x, 0, mean, color=colour, alpha=0.12, linewidth=0)


def draw_field(
    ax: Axes,
    over: tuple[Axis, Axis],
    values: np.ndarray,
    colours: str,
    highest: float,
    power: float = 1.0,
) -> AxesImage:
    """Values (up, across) as colours, `over` what is drawn across and up; returns the image.

    With a `power` below 1 small values are told from zero beside large ones.
    """
    x, y = (_edges(axis.physical) for axis in over)
    return ax.imshow(
        values,
        extent=(*x, *y),
        cmap=colours,
        norm=PowerNorm(power, 0.0, highest),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )


def draw_boundary(ax: Axes, over: tuple[Axis, Axis], values: np.ndarray) -> None:
    """The line at which values (up, across) pass from allowed to forbidden."""
    if values.min() < BOUNDARY <= values.max():
        x, y = (axis.physical for axis in over)
        ax.contour(x, y, values, levels=[BOUNDARY], colors="white", linewidths=1.0).set(
            path_effects=OUTLINE
        )


def draw_boundaries(ax: Axes, over: tuple[Axis, Axis], runs: np.ndarray) -> None:
    """Of each run (runs, up, across) the line between what it allows and what it forbids."""
    x, y = (axis.physical for axis in over)
    for values in runs:
        if values.min() < BOUNDARY <= values.max():
            ax.contour(x, y, values, levels=[BOUNDARY], colors="white", linewidths=SEED_WIDTH).set(
                path_effects=RIM
            )


def _edges(nodes: np.ndarray) -> tuple[float, float]:
    """Half a cell before the first node and behind the last."""
    half = (nodes[1] - nodes[0]) / 2
    return nodes[0] - half, nodes[-1] + half
