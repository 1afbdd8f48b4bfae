"""Maps of a gridworld's cells, as several figures draw them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.image import AxesImage

from icl_core.environments.gridworld import Gridworld
from icl_core.showing.style import DARK, VERMILION


def draw_map(
    ax: Axes,
    world: Gridworld,
    values: np.ndarray,
    colours: str,
    highest: float,
    lowest: float = 0.0,
) -> AxesImage:
    """Values, one for each cell, as colours, with a star on the goal; returns the image."""
    image = draw_cells(ax, values, colours, highest, lowest)
    _draw_goal(ax, world)
    return image


def _draw_goal(ax: Axes, world: Gridworld) -> None:
    """A star whose rim is seen on bright cells, and itself on dark ones."""
    row, column = world.goal
    (star,) = ax.plot(column, row, "*", markersize=6.5, color="white")
    star.set(markeredgecolor=DARK, markeredgewidth=0.5)


def draw_cells(
    ax: Axes, values: np.ndarray, colours: str, highest: float, lowest: float = 0.0
) -> AxesImage:
    """Values (rows, columns) as colours, rows downwards; returns the image."""
    image = ax.imshow(values, cmap=colours, vmin=lowest, vmax=highest, interpolation="nearest")
    rows, columns = values.shape
    ax.set_xticks(np.arange(columns))
    ax.set_yticks(np.arange(rows))
    ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=0.4)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    return image


def draw_small_map(
    ax: Axes, world: Gridworld, values: np.ndarray, colours: str, highest: float
) -> AxesImage:
    """The same as `draw_map` for a figure of many: no numbers, and few things to lay out."""
    image = ax.imshow(values, cmap=colours, vmin=0.0, vmax=highest, interpolation="nearest")
    rows, columns = values.shape
    lines = [[(j - 0.5, -0.5), (j - 0.5, rows - 0.5)] for j in range(1, columns)]
    lines += [[(-0.5, i - 0.5), (columns - 0.5, i - 0.5)] for i in range(1, rows)]
    ax.add_collection(LineCollection(lines, colors="white", linewidths=0.4), autolim=False)
    _draw_goal(ax, world)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return image


def label(axes: np.ndarray | list[Axes], world: Gridworld) -> None:
    """Name the axes of a row of maps, the rows at the first only."""
    rows, columns = (axis.label for axis in world.grid.axes)
    for ax in axes:
        ax.set_xlabel(columns)
        ax.tick_params(labelleft=ax is axes[0])
    axes[0].set_ylabel(rows)


def outline(ax: Axes, cells: np.ndarray) -> None:
    """The border of a set of cells: where the true constraint lies."""
    padded = np.pad(cells, 1)
    across = np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1])  # (row above which, column)
    down = np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1])  # (row, column left of which)
    lines = [[(j - 0.5, i - 0.5), (j + 0.5, i - 0.5)] for i, j in across]
    lines += [[(j - 0.5, i - 0.5), (j - 0.5, i + 0.5)] for i, j in down]
    border = LineCollection(lines, colors=VERMILION, linewidths=1.2, capstyle="round", zorder=3)
    ax.add_collection(border)
