"""ICL+ beside ICL, where the true constraint is known. Ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.environments.gridworld import Gridworld
from icl_core.environments.world import World
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.fields import draw_lines
from icl_core.showing.loading import (
    column_title,
    footer_of_worlds,
    recovered_constraints,
    true_on_grid,
    world_as,
)
from icl_core.showing.maps import draw_small_map, outline
from icl_core.showing.style import (
    CONSTRAINT_MAP,
    PAGE,
    colour_bar,
    footer,
    left_out,
    panels,
    plus_minus,
    title,
)

ITEMS = [
    {
        "name": "icl-plus-gridworlds",
        "draw": "gridworlds_figure",
        "title": "ICL+ beside ICL, gridworlds",
        "caption": (
            "Both gridworlds: the true constraint, what ICL recovers and what ICL+ does, from the "
            "same demonstrations. Mean over seeds; below each title: CMSE, mean and standard "
            "deviation over seeds. The outline repeats the truly constrained cells; the star is "
            "the goal. What ICL+ changes was chosen on worlds of which nothing is shown."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint:method=icl", "constraint:method=icl-plus"],
        "experiments": ["gridworld-a", "gridworld-b"],
        "method": "icl-plus",
    },
    {
        "name": "icl-plus-positions",
        "draw": "positions_figure",
        "title": "ICL+ beside ICL, CartPole and robots",
        "caption": (
            "What ICL recovers (above) and what ICL+ does (below), over the position, from the "
            "same demonstrations; for CartPole with the actions left (blue) and right (orange, "
            "dashed). Thick: mean over seeds; thin: each of them. Dotted: the true "
            "constraint at the evaluation grid's nodes. Below each title: CMSE, mean and standard "
            "deviation over seeds. What ICL+ changes was chosen on worlds of which nothing is "
            "shown."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint:method=icl", "constraint:method=icl-plus"],
        "experiments": ["cartpole-mr", "cartpole-mid", "ant", "halfcheetah"],
        "method": "icl-plus",
    },
]

METHODS = ("icl", "icl-plus")
LINES = ("a = 0 (left)", "a = 1 (right)")


def gridworlds_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """A row for each gridworld: truth, ICL, ICL+."""
    rows = len(experiments)
    figure, axes = panels(1 + len(METHODS), height=1.7 * rows + 0.2, rows=rows)
    shown = []
    for row, name in zip(axes, experiments, strict=True):
        world = world_as(results, name, Gridworld)
        image = draw_small_map(row[0], world, true_on_grid(world), CONSTRAINT_MAP, 1.0)
        title(row[0], column_title(results, name), "true constraint")
        found = recovered_constraints(results, name)
        for ax, method in zip(row[1:], METHODS, strict=True):
            if method not in found:
                left_out(ax, "not run")
                continue
            draw_small_map(ax, world, found[method].mean(axis=0), CONSTRAINT_MAP, 1.0)
            outline(ax, world.constrained)
            _title(ax, results, world, method, found[method])
        colour_bar(figure, row[-1], image, "c(i, j)")
        shown.append((column_title(results, name), name, found))
    footer(figure, f"outline: true constraint, star: goal; {footer_of_worlds(results, shown)}")
    return figure


def positions_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """A column for each world, ICL above, ICL+ below."""
    figure = Figure(figsize=(PAGE, 3.7))
    axes = figure.subplots(len(METHODS), len(experiments), squeeze=False, sharey=True, sharex="col")
    shown = []
    for column, name in zip(axes.T, experiments, strict=True):
        world, found = results.worlds[name], recovered_constraints(results, name)
        nodes, truth = world.grid.axes[0].nodes, true_on_grid(world)
        for ax, method in zip(column, METHODS, strict=True):
            ax.plot(nodes, _lines(truth[None])[0], color="#8C8C8C", linewidth=0.7, linestyle=":")
            if method not in found:
                left_out(ax, "not run")
                continue
            draw_lines(ax, nodes, _lines(found[method]), LINES, each=True)
            _title(ax, results, world, method, found[method])
        head = {"xycoords": "axes fraction", "ha": "center", "fontsize": 7.5}
        column[0].annotate(column_title(results, name), (0.5, 1.34), **head)
        column[-1].set_xlabel(world.grid.axes[0].label)
        column[-1].set_xlim(nodes[0], nodes[-1])
        shown.append((column_title(results, name), name, found))
    axes[0, 0].set_ylim(-0.04, 1.06)
    for ax in axes[:, 0]:
        ax.set_ylabel("constraint value c")
    lines = {str(line.get_label()): line for ax in axes[:, 0] for line in ax.lines}
    named = {name: lines[name] for name in LINES if name in lines}
    if len(named) > 1:  # a single line needs no name
        handles = list(named.values())
        figure.legend(handles, [*named], loc="outside upper center", ncols=2, handlelength=2.2)
    footer(figure, f"dotted: true constraint; {footer_of_worlds(results, shown)}")
    return figure


def _lines(values: np.ndarray) -> np.ndarray:
    """Values (runs, *grid.shape) as (runs, positions, lines)."""
    return values.reshape(*values.shape[:2], -1)


def _title(ax: Axes, results: Results, world: World, method: str, runs: np.ndarray) -> None:
    error = plus_minus(*mean_and_std(constraint_error(world, runs)))
    title(ax, results.title(method), f"CMSE {error}")
