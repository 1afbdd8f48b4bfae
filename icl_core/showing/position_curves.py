"""Figures 20 to 27: constraints and accruals over a position.

CartPole has a line for each action. What a robot must keep depends on its position alone:
one line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from icl_core.environments.world import EvaluationGrid, World
from icl_core.demonstrations.accruals import normalised
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.runs import dissimilarities
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import accruals, recovered_constraints
from icl_core.showing.naming import METHODS, method_title
from icl_core.showing.sources import Sources
from icl_core.showing.style import ACTION_COLOURS, footer, panels, plus_minus, title

ACTIONS = ("a = 0 (left)", "a = 1 (right)")
DASHES = ("-", (0, (3, 1.2)))  # the second dashed: equal lines stay both visible


def constraint_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """The even ones: true constraint, then each method's mean and range over seeds."""
    (experiment,) = experiments
    values = recovered_constraints(sources, experiment)
    figure = draw_constraints(sources.worlds[experiment], values)
    footer(figure, _footer(sources, values))
    return figure


def accruals_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """The odd ones: the expert's accruals, then each method's mean and range over seeds."""
    (experiment,) = experiments
    expert, visited = accruals(sources, experiment)
    figure = draw_accruals(sources.worlds[experiment], expert, visited)
    footer(figure, _footer(sources, visited))
    return figure


def draw_constraints(world: World, values: dict[str, np.ndarray]) -> Figure:
    """`values` holds (runs, *grid.shape) for each method, in the order of the panels."""
    figure, axes = panels(1 + len(values), height=1.95, sharey=True)
    nodes = world.grid.axes[0].nodes
    x, true = _true_constraint(world)
    _draw_lines(axes[0, 0], x, true[None])
    title(axes[0, 0], "True constraint fn.", "0 or 1")
    for ax, (method, runs) in zip(axes[0, 1:], values.items(), strict=True):
        _draw_lines(ax, nodes, _lines(world.grid, runs))
        error = plus_minus(*mean_and_std(constraint_error(world, runs)))
        title(ax, method_title(method, world.threshold), f"CMSE {error}")
    axes[0, 0].set_ylim(-0.04, 1.06)
    _label(figure, axes[0], world, "constraint value c")
    return figure


def draw_accruals(world: World, expert: np.ndarray, visited: dict[str, np.ndarray]) -> Figure:
    """`expert` holds the counts of visits (*grid.shape), `visited` one more axis of runs."""
    figure, axes = panels(1 + len(visited), height=1.95, sharey=True)
    nodes = world.grid.axes[0].nodes
    _draw_lines(axes[0, 0], nodes, _shares(world.grid, expert[None]), fill=True)
    title(axes[0, 0], "Expert accruals", "demonstrations")
    for ax, (method, counts) in zip(axes[0, 1:], visited.items(), strict=True):
        _draw_lines(ax, nodes, _shares(world.grid, counts), fill=True)
        distances = dissimilarities(world, expert, counts)
        title(
            ax,
            method_title(method, world.threshold),
            f"NAD {plus_minus(*mean_and_std(distances))}",
        )
    axes[0, 0].set_ylim(bottom=0)
    _label(figure, axes[0], world, "share of visits [%]")
    return figure


def _true_constraint(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Positions a millimetre apart and the true c there, (positions, lines).

    Between the nodes too, so that the step stands where the constraint really ends.
    """
    position, *others = world.grid.axes
    low, high = position.nodes[[0, -1]]
    x = np.linspace(low, high, round((high - low) * 1000) + 1)
    inputs = np.stack(np.meshgrid(x, *(axis.nodes for axis in others), indexing="ij"), axis=-1)
    return x, world.true_constraint(inputs).reshape(len(x), -1)


def _lines(grid: EvaluationGrid, values: np.ndarray) -> np.ndarray:
    """Values (runs, *grid.shape) as (runs, positions, lines): a grid of positions has one line."""
    return values.reshape(len(values), grid.shape[0], -1)


def _shares(grid: EvaluationGrid, counts: np.ndarray) -> np.ndarray:
    """Accruals in per cent, (runs, positions, lines)."""
    return 100 * _lines(grid, normalised(grid, counts))


def _draw_lines(ax: Axes, x: np.ndarray, runs: np.ndarray, fill: bool = False) -> None:
    """For each line the mean over runs (runs, positions, lines), and the range from min to max."""
    for action, colour in enumerate(ACTION_COLOURS[: runs.shape[2]]):
        values = runs[:, :, action]
        if np.isnan(values).any(axis=1).all():  # an action that no run ever took has no accrual
            continue
        mean = np.nanmean(values, axis=0)
        lines = {"color": colour, "linestyle": DASHES[action], "zorder": 3 + action}
        ax.plot(x, mean, label=ACTIONS[action], **lines)
        if len(values) > 1:
            low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
            ax.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
        elif fill:
            ax.fill_between(x, 0, mean, color=colour, alpha=0.12, linewidth=0)


def _label(figure: Figure, axes: np.ndarray, world: World, quantity: str) -> None:
    axis = world.grid.axes[0]
    x, true = _true_constraint(world)
    edges = x[np.flatnonzero(np.diff(true, axis=0).any(axis=1))]
    for ax in axes:
        for edge in edges:
            ax.axvline(edge, color="#A6A6A6", linewidth=0.6, linestyle=":", zorder=1)
        ax.set_xlabel(axis.label)
        ax.set_xlim(axis.nodes[0], axis.nodes[-1])
        ax.xaxis.set_major_locator(MultipleLocator(1 if np.ptp(axis.nodes) < 5 else 2))
    axes[0].set_ylabel(quantity)
    if true.shape[1] > 1:  # a single line needs no name
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, handlelength=2.2)


def _footer(sources: Sources, runs: dict[str, np.ndarray]) -> str:
    text = sources.footer({METHODS.get(method, method): len(v) for method, v in runs.items()})
    several = any(len(values) > 1 for values in runs.values())
    band = "line: mean, band: min to max over seeds; " if several else ""
    return f"{band}dotted: true edge; {text}"
