"""Figure 12: the four synthetic environments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from icl_core.environments.cartpole import X_LIMIT, CartPole
from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.showing.sources import Sources
from icl_core.showing.style import DARK, VERMILION, panels, title

START, GOAL, CONSTRAINED = "#B8E0B0", "#2E7D4F", "#F2B59B"
HATCH = "////"


def environments_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """Start states, goal and true constraint of each environment."""
    figure, axes = panels(len(experiments), height=2.15)
    for ax, experiment in zip(axes[0], experiments, strict=True):
        world = sources.worlds[experiment]
        title(ax, world.title, _rules(world))
        if isinstance(world, Gridworld):
            _draw_gridworld(ax, world)
        else:
            _draw_cartpole(ax, world)
    constrained = {"facecolor": CONSTRAINED, "edgecolor": VERMILION, "hatch": HATCH, "linewidth": 0}
    handles = [Patch(facecolor=START), Patch(facecolor=GOAL), Patch(**constrained)]
    labels = ["start states", "goal", "true constraint c = 1"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=1.6)
    return figure


def _rules(world) -> str:
    return rf"$\beta={world.threshold:g}$, $\gamma={world.discount:g}$, {world.horizon} steps"


def _draw_gridworld(ax: Axes, world: Gridworld) -> None:
    for i, j in np.ndindex(SIZE, SIZE):
        style = {"facecolor": "white", "edgecolor": "#BFBFBF", "linewidth": 0.5}
        if world.constrained[i, j]:
            _hatched(ax, (j - 0.5, i - 0.5), 1, 1)
            style["facecolor"] = "none"
        elif (i, j) == world.goal:
            style["facecolor"] = GOAL
        elif world.starts[i, j]:
            style["facecolor"] = START
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **style))
    ax.text(
        world.goal[1], world.goal[0], "G", color="white", ha="center", va="center", weight="bold"
    )
    rows, columns = (axis.label for axis in world.grid.axes)
    ax.set(xlim=(-0.55, SIZE - 0.45), ylim=(SIZE - 0.45, -0.55), aspect="equal")
    ax.set(xticks=range(SIZE), yticks=range(SIZE), xlabel=columns, ylabel=rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _hatched(ax: Axes, corner: tuple[float, float], width: float, height: float) -> None:
    area = {"facecolor": CONSTRAINED, "edgecolor": VERMILION, "linewidth": 0}
    ax.add_patch(Rectangle(corner, width, height, hatch=HATCH, **area))


def _draw_cartpole(ax: Axes, world: CartPole) -> None:
    """A cart on its track; below, where it starts and where each action is constrained."""
    lanes = {"start": -0.62, "a = 0 (left)": -1.17, "a = 1 (right)": -1.72}  # lower edges
    height = 0.45
    lows = list(lanes.values())
    for left, right in start_ranges(world):
        green = {"facecolor": START, "edgecolor": START, "linewidth": 0.5}
        ax.add_patch(Rectangle((left, lows[0]), right - left, height, **green))
        _draw_cart(ax, (left + right) / 2)
    for action, low in enumerate(lows[1:]):
        for left, right in constrained_ranges(world, action):
            _hatched(ax, (left, low), right - left, height)
    for low in lows:
        frame = {"facecolor": "none", "edgecolor": DARK, "linewidth": 0.5}
        ax.add_patch(Rectangle((-X_LIMIT, low), 2 * X_LIMIT, height, **frame))
    ax.plot([-X_LIMIT, X_LIMIT], [0, 0], color=DARK, linewidth=1)
    ax.set(xlim=(-X_LIMIT - 0.05, X_LIMIT + 0.05), ylim=(-1.78, 1.7))
    ax.set_yticks([low + height / 2 for low in lows], lanes)
    ax.set_xticks([-2, -1, 0, 1, 2])
    ax.set_xlabel(world.grid.axes[0].label)
    ax.tick_params(axis="y", length=0)
    ax.set_box_aspect(1)  # as high as the gridworlds beside it
    ax.spines[:].set_visible(False)


def _draw_cart(ax: Axes, x: float) -> None:
    pole = {"color": "#B07D3C", "linewidth": 2.6, "solid_capstyle": "round"}
    ax.plot([x, x + 0.09], [0.5, 1.55], **pole)
    ax.add_patch(Rectangle((x - 0.42, 0.2), 0.84, 0.32, facecolor=DARK, linewidth=0, zorder=3))
    wheels = {"marker": "o", "markersize": 3.6, "color": DARK, "linestyle": "none"}
    ax.plot([x - 0.22, x + 0.22], [0.13, 0.13], **wheels)
    ax.plot(x, 0.5, marker="o", markersize=2, color="#CFCFCF", zorder=4)


def constrained_ranges(world: CartPole, action: int) -> list[tuple[float, float]]:
    """Where on the track the action is constrained, from the true constraint itself."""
    x = np.linspace(-X_LIMIT, X_LIMIT, 4801)  # a millimetre apart
    held = world.true_constraint(np.stack([x, np.full_like(x, action)], axis=-1)) > 0.5
    edges = np.flatnonzero(np.diff(np.concatenate([[False], held, [False]]).astype(int)))
    return [(float(x[a]), float(x[b - 1])) for a, b in edges.reshape(-1, 2)]


def start_ranges(world: CartPole) -> list[tuple[float, float]]:
    """Where the cart may start: from many draws of the start state."""
    x = np.sort(world.initial_states(np.random.default_rng(0), 4000)[:, 0])
    breaks = np.flatnonzero(np.diff(x) > 0.5) + 1
    return [(float(part[0]), float(part[-1])) for part in np.split(x, breaks)]
