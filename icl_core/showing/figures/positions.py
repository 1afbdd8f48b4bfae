"""Figures 20 to 27: constraints and accruals over a position.

CartPole has a line for each action. What a robot must keep depends on its position alone:
one line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from icl_core.demonstrations.accruals import normalised
from icl_core.environments.world import EvaluationGrid, World
from icl_core.measuring.evaluation import dissimilarities
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.fields import BOUNDARY, draw_lines
from icl_core.showing.loading import (
    Accruals,
    accruals,
    demonstrators,
    footer_of,
    panel_titles,
    recovered_constraints,
    true_constraint_of,
)
from icl_core.showing.style import LINE_COLOURS, footer, panels, plus_minus, title

ITEMS = [
    {
        "number": 20,
        "name": "constraint-cartpole-mr",
        "draw": "constraint_figure",
        "title": "Constraint function, CartPole (MR)",
        "caption": (
            "CartPole (MR): the true constraint function and the recovered ones over the cart's "
            "position, for the action left (a = 0, blue) and right (a = 1, orange, dashed). "
            "Thick: mean over the method's seeds; thin: each of them. Dotted: where the true "
            "constraint begins. Numbers: where the mean crosses 0.5, next to there. Below each "
            "title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint"],
        "experiments": ["cartpole-mr"],
    },
    {
        "number": 21,
        "name": "accruals-cartpole-mr",
        "draw": "accruals_figure",
        "title": "Normalised accruals, CartPole (MR)",
        "caption": (
            "CartPole (MR): normalised accruals over the cart's position, of the demonstrations "
            "and of each method's final policy. The visits with each action (a = 0 left, blue; a "
            "= 1 right, orange, dashed) add up to 100 % by themselves, as NAD compares them. "
            "Line: mean over seeds; band: smallest to largest. Dotted: where the true constraint "
            "begins. Below each title: NAD to the demonstrations of the seed, mean and deviation "
            "over seeds, of all episodes that are shown; Table 2 has that of their first set."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["cartpole-mr"],
    },
    {
        "number": 22,
        "name": "constraint-cartpole-mid",
        "draw": "constraint_figure",
        "title": "Constraint function, CartPole (Mid)",
        "caption": (
            "CartPole (Mid): the true constraint function and the recovered ones over the cart's "
            "position, for the action left (a = 0, blue) and right (a = 1, orange, dashed). "
            "Thick: mean over the method's seeds; thin: each of them. Dotted: where the true "
            "constraint begins. Numbers: where the mean crosses 0.5, next to there. Below each "
            "title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint"],
        "experiments": ["cartpole-mid"],
    },
    {
        "number": 23,
        "name": "accruals-cartpole-mid",
        "draw": "accruals_figure",
        "title": "Normalised accruals, CartPole (Mid)",
        "caption": (
            "CartPole (Mid): normalised accruals over the cart's position, of the demonstrations "
            "and of each method's final policy. The visits with each action (a = 0 left, blue; a "
            "= 1 right, orange, dashed) add up to 100 % by themselves, as NAD compares them. "
            "Line: mean over seeds; band: smallest to largest. Dotted: where the true constraint "
            "begins. Below each title: NAD to the demonstrations of the seed, mean and deviation "
            "over seeds, of all episodes that are shown; Table 2 has that of their first set."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["cartpole-mid"],
    },
    {
        "number": 24,
        "name": "constraint-ant",
        "draw": "constraint_figure",
        "title": "Constraint function, Ant-Constrained",
        "caption": (
            "Ant-Constrained: the true constraint function and the recovered ones over the "
            "robot's position z. Thick: mean over the method's seeds; thin: each of them. Dotted: "
            "where the true constraint begins. Number: where the mean crosses 0.5, next to there. "
            "Below each title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint"],
        "experiments": ["ant"],
    },
    {
        "number": 25,
        "name": "accruals-ant",
        "draw": "accruals_figure",
        "title": "Normalised accruals, Ant-Constrained",
        "caption": (
            "Ant-Constrained: normalised accruals over the robot's position z, of the "
            "demonstrations and of each method's final policy. They add up to 100 % between -5 m "
            "and 5 m; what is visited beyond is left out, as NAD leaves it out. Line: mean over "
            "seeds; band: smallest to largest. Dotted: where the true constraint begins. Below "
            "each title: NAD to the demonstrations of the seed, mean and deviation over seeds, of "
            "all episodes that are shown; Table 6 has that of their first set."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["ant"],
    },
    {
        "number": 26,
        "name": "constraint-halfcheetah",
        "draw": "constraint_figure",
        "title": "Constraint function, HalfCheetah-Constrained",
        "caption": (
            "HalfCheetah-Constrained: the true constraint function and the recovered ones over "
            "the robot's position z. Thick: mean over the method's seeds; thin: each of them. "
            "Dotted: where the true constraint begins. Number: where the mean crosses 0.5, next "
            "to there. Below each title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint"],
        "experiments": ["halfcheetah"],
    },
    {
        "number": 27,
        "name": "accruals-halfcheetah",
        "draw": "accruals_figure",
        "title": "Normalised accruals, HalfCheetah-Constrained",
        "caption": (
            "HalfCheetah-Constrained: normalised accruals over the robot's position z, of the "
            "demonstrations and of each method's final policy. They add up to 100 % between -5 m "
            "and 5 m; what is visited beyond is left out, as NAD leaves it out. Line: mean over "
            "seeds; band: smallest to largest. Dotted: where the true constraint begins. Below "
            "each title: NAD to the demonstrations of the seed, mean and deviation over seeds, of "
            "all episodes that are shown; Table 6 has that of their first set."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["halfcheetah"],
    },
]

ACTIONS = ("a = 0 (left)", "a = 1 (right)")
NUMBERS = 1.1  # c at which the edges stand: above all curves


def constraint_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """The even ones: true constraint, then each method's mean and every seed."""
    (experiment,) = experiments
    values = recovered_constraints(results, experiment)
    titles = panel_titles(results, experiment, values)
    figure = draw_constraints(results.worlds[experiment], values, titles)
    footer(figure, _footer(results, experiment, values, "thin: each seed"))
    return figure


def accruals_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """The odd ones: the expert's accruals, then each method's mean and range over seeds."""
    (experiment,) = experiments
    found = accruals(results, experiment)
    titles = panel_titles(results, experiment, found.visited)
    figure = draw_accruals(results.worlds[experiment], found, titles)
    footer(figure, _footer(results, experiment, found.visited))
    return figure


def draw_constraints(
    world: World, values: Mapping[str, np.ndarray], titles: Mapping[str, str]
) -> Figure:
    """`values` holds (runs, *grid.shape) for each method, in the order of the panels,
    and `titles` how its panel is called."""
    figure, axes = panels(1 + len(values), height=1.95, sharey=True)
    nodes = world.grid.axes[0].nodes
    x, true = _true_constraint(world)
    draw_lines(axes[0, 0], x, true[None], ACTIONS)
    _write_edges(axes[0, 0], world, x, true)
    title(axes[0, 0], "True constraint fn.", "0 or 1")
    for ax, (method, runs) in zip(axes[0, 1:], values.items(), strict=True):
        lines = _lines(world.grid, runs)
        draw_lines(ax, nodes, lines, ACTIONS, each=True)
        _write_edges(ax, world, nodes, lines.mean(axis=0))
        error = plus_minus(*mean_and_std(constraint_error(world, runs)))
        title(ax, titles[method], f"CMSE {error}")
    axes[0, 0].set_ylim(-0.04, NUMBERS + 0.09 * (1 + true.shape[1]))
    axes[0, 0].set_yticks(np.linspace(0, 1, 6))
    _label(figure, axes[0], world, "constraint value c")
    return figure


def draw_accruals(world: World, found: Accruals, titles: Mapping[str, str]) -> Figure:
    """`titles` are those of the methods' panels."""
    figure, axes = panels(1 + len(found.visited), height=1.95, sharey=True)
    nodes = world.grid.axes[0].nodes
    draw_lines(axes[0, 0], nodes, _shares(world.grid, found.experts), ACTIONS, fill=True)
    title(axes[0, 0], "Expert accruals", demonstrators(len(found.experts)))
    for ax, (method, counts) in zip(axes[0, 1:], found.visited.items(), strict=True):
        draw_lines(ax, nodes, _shares(world.grid, counts), ACTIONS, fill=True)
        distances = dissimilarities(world, found.shown[method], counts)
        title(ax, titles[method], f"NAD {plus_minus(*mean_and_std(distances))}")
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
    return x, true_constraint_of(world)(inputs).reshape(len(x), -1)


def crossings(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where a curve passes through 0.5, by straight lines between its points."""
    above = values >= BOUNDARY
    (k,) = np.nonzero(above[1:] != above[:-1])
    share = (BOUNDARY - values[k]) / (values[k + 1] - values[k])
    return x[k] + share * (x[k + 1] - x[k])


def _write_edges(ax: Axes, world: World, x: np.ndarray, lines: np.ndarray) -> None:
    """Above the curves (positions, lines): where each passes 0.5, nearest to its true edge."""
    fine, true = _true_constraint(world)
    for k in range(lines.shape[1]):
        found = crossings(x, lines[:, k])
        for edge in crossings(fine, true[:, k]) if len(found) else ():
            place = found[np.argmin(np.abs(found - edge))]
            colour = LINE_COLOURS[k % len(LINE_COLOURS)]
            ax.plot(place, BOUNDARY, "o", color=colour, markersize=2, zorder=6)
            height = NUMBERS + 0.12 * k
            text = f"{place:.2f}".replace("-", "\N{MINUS SIGN}")
            number = ax.text(place, height, text, fontsize=5.5, ha="center", color=colour)
            number.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 0.6})  # on dotted lines


def _lines(grid: EvaluationGrid, values: np.ndarray) -> np.ndarray:
    """Values (runs, *grid.shape) as (runs, positions, lines): a grid of positions has one line."""
    return values.reshape(len(values), grid.shape[0], -1)


def _shares(grid: EvaluationGrid, counts: np.ndarray) -> np.ndarray:
    """Accruals in per cent, (runs, positions, lines)."""
    return 100 * _lines(grid, normalised(grid, counts))


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


def _footer(
    results: Results,
    experiment: str,
    runs: dict[str, np.ndarray],
    spread: str = "band: min to max over seeds",
) -> str:
    several = any(len(values) > 1 for values in runs.values())
    said = f"line: mean, {spread}; " if several else ""
    return f"{said}dotted: true edge; {footer_of(results, experiment, runs)}"
