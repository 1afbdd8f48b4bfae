"""Figures 16 to 19: constraints and accruals on the cells of a gridworld."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from icl_core.environments.gridworld import Gridworld
from icl_core.demonstrations.accruals import normalised
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.runs import dissimilarities
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import accruals, recovered_constraints
from icl_core.showing.naming import METHODS, method_title
from icl_core.showing.sources import Sources
from icl_core.showing.style import (
    ACCRUAL_MAP,
    CONSTRAINT_MAP,
    DARK,
    VERMILION,
    footer,
    panels,
    plus_minus,
    title,
)


def constraint_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """Figures 16 and 18: true constraint, then each method's mean over seeds."""
    (experiment,) = experiments
    values = recovered_constraints(sources, experiment)
    figure = draw_constraints(sources.worlds[experiment], values)
    footer(figure, _footer(sources, values))
    return figure


def accruals_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """Figures 17 and 19: the expert's accruals, then each method's mean over seeds."""
    (experiment,) = experiments
    expert, visited = accruals(sources, experiment)
    figure = draw_accruals(sources.worlds[experiment], expert, visited)
    footer(figure, _footer(sources, visited))
    return figure


def draw_constraints(world: Gridworld, values: dict[str, np.ndarray]) -> Figure:
    """`values` holds (runs, 7, 7) for each method, in the order of the panels."""
    figure, axes = panels(1 + len(values), height=1.9)
    true = world.true_on_grid.reshape(world.grid.shape)
    image = draw_map(axes[0, 0], world, true, CONSTRAINT_MAP, 1.0)
    title(axes[0, 0], "True constraint fn.", "0 or 1")
    for ax, (method, runs) in zip(axes[0, 1:], values.items(), strict=True):
        draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
        outline(ax, world.constrained)
        error = plus_minus(*mean_and_std(constraint_error(world, runs)))
        title(ax, method_title(method, world.threshold), f"CMSE {error}")
    label(axes[0], world)
    colour_bar(figure, axes[0, -1], image, "constraint value c(i, j)")
    return figure


def draw_accruals(world: Gridworld, expert: np.ndarray, visited: dict[str, np.ndarray]) -> Figure:
    """`expert` holds the counts of visits (7, 7), `visited` (runs, 7, 7) for each method."""
    shares = {m: 100 * normalised(world.grid, runs).mean(axis=0) for m, runs in visited.items()}
    expert_share = 100 * normalised(world.grid, expert)
    highest = max(share.max() for share in (expert_share, *shares.values()))
    figure, axes = panels(1 + len(visited), height=1.9)
    image = draw_map(axes[0, 0], world, expert_share, ACCRUAL_MAP, highest)
    title(axes[0, 0], "Expert accruals", "demonstrations")
    for ax, (method, counts) in zip(axes[0, 1:], visited.items(), strict=True):
        draw_map(ax, world, shares[method], ACCRUAL_MAP, highest)
        distances = dissimilarities(world, expert, counts)
        title(
            ax,
            method_title(method, world.threshold),
            f"NAD {plus_minus(*mean_and_std(distances))}",
        )
    for ax in axes[0]:
        outline(ax, world.constrained)
    label(axes[0], world)
    colour_bar(figure, axes[0, -1], image, "share of visits [%]")
    return figure


def colour_bar(figure: Figure, last: Axes, image, label: str) -> None:
    """One bar for all panels, beside the last of them and as high as it."""
    bar = figure.colorbar(image, cax=last.inset_axes([1.06, 0, 0.06, 1]), label=label)
    bar.outline.set_visible(False)


def _footer(sources: Sources, runs: dict[str, np.ndarray]) -> str:
    text = sources.footer({METHODS.get(method, method): len(v) for method, v in runs.items()})
    return f"outline: true constraint, star: goal; {text}"


def draw_map(
    ax: Axes,
    world: Gridworld,
    values: np.ndarray,
    colours: str,
    highest: float,
    lowest: float = 0.0,
):
    """Values (7, 7) as coloured cells, with a star on the goal; returns the image."""
    image = ax.imshow(values, cmap=colours, vmin=lowest, vmax=highest, interpolation="nearest")
    size = values.shape[0]
    ax.set_xticks(np.arange(size))
    ax.set_yticks(np.arange(size))
    ax.set_xticks(np.arange(size + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(size + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=0.4)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    ax.plot(
        world.goal[1],
        world.goal[0],
        marker="*",
        markersize=5,
        color="white",
        markeredgecolor=DARK,
        markeredgewidth=0.5,
    )
    return image


def label(axes: np.ndarray, world: Gridworld) -> None:
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
