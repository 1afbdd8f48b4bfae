"""Figures 12 and 14: the synthetic environments and the robots, each with its true constraint.

Robots are rendered by MuJoCo where there is headless OpenGL, and otherwise drawn from the side,
from the same model: a machine without a graphics library gets its figure too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle

from icl_core.environments.cartpole import X_LIMIT, CartPole
from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.environments.robot import LIMIT, Robot
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.measuring.results import Results
from icl_core.showing.loading import true_constraint_of
from icl_core.showing.style import DARK, PAGE, VERMILION, footer, panels, title

ITEMS = [
    {
        "number": 12,
        "name": "environments",
        "draw": "synthetic_figure",
        "title": "The synthetic environments",
        "caption": (
            "The synthetic environments. Gridworlds: the agent starts in one of the light green "
            "cells, may move to any of the eight neighbours and must reach the goal G. CartPole: "
            "the three strips show where the cart may start and at which positions each action "
            "is constrained; in Move-Right (MR) it starts inside the constrained zone and must "
            "leave it. Hatched: true constraint value 1, elsewhere 0. The picture is the same at "
            "every scale."
        ),
        "category": "Environments",
        "needs": [],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
    {
        "number": 14,
        "name": "robots",
        "draw": "robots_figure",
        "title": "The robots",
        "caption": (
            "The robots at their start, and the half of the ground, z at most -1 m, where the "
            "true constraint value is 1. Both may run to either side: Ant is paid for its "
            "distance from the start, HalfCheetah for its speed. The picture is the same at "
            "every scale; without headless OpenGL it is a schematic side view, and says so."
        ),
        "category": "Environments",
        "needs": [],
        "experiments": ["ant", "halfcheetah"],
    },
]

START, GOAL, CONSTRAINED = "#B8E0B0", "#2E7D4F", "#F2B59B"
HATCH = "////"
PIXELS = (1000, 540)
BODY, JOINT = "#B07D3C", "#8A5F28"
SETTLING = 40  # steps without torque after which both stand still


def synthetic_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Start states, goal and true constraint of each environment."""
    figure, axes = panels(len(experiments), height=2.15)
    for ax, experiment in zip(axes[0], experiments, strict=True):
        world = results.worlds[experiment]
        title(ax, world.title, rules(world))
        if isinstance(world, Gridworld):
            _draw_gridworld(ax, world)
        elif isinstance(world, CartPole):
            _draw_cartpole(ax, world)
    constrained = Patch(facecolor=CONSTRAINED, edgecolor=VERMILION, hatch=HATCH, linewidth=0)
    handles = [Patch(facecolor=START), Patch(facecolor=GOAL), constrained]
    labels = ["start states", "goal", "true constraint c = 1"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=1.6)
    return figure


def _draw_gridworld(ax: Axes, world: Gridworld) -> None:
    for i, j in np.ndindex(SIZE, SIZE):
        corner, colour = (j - 0.5, i - 0.5), "white"
        if world.constrained[i, j]:
            _hatched(ax, corner, 1, 1)
            colour = "none"
        elif (i, j) == world.goal:
            colour = GOAL
        elif world.starts[i, j]:
            colour = START
        cell = Rectangle(corner, 1, 1, facecolor=colour, edgecolor="#BFBFBF", linewidth=0.5)
        ax.add_patch(cell)
    ax.text(
        world.goal[1], world.goal[0], "G", color="white", ha="center", va="center", weight="bold"
    )
    rows, columns = (axis.label for axis in world.grid.axes)
    ax.set(xlim=(-0.55, SIZE - 0.45), ylim=(SIZE - 0.45, -0.55), aspect="equal")
    ax.set(xticks=range(SIZE), yticks=range(SIZE), xlabel=columns, ylabel=rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _hatched(ax: Axes, corner: tuple[float, float], width: float, height: float) -> None:
    area = Rectangle(corner, width, height, hatch=HATCH, facecolor=CONSTRAINED)
    area.set(edgecolor=VERMILION, linewidth=0)
    ax.add_patch(area)


def _draw_cartpole(ax: Axes, world: CartPole) -> None:
    """A cart on its track; below, where it starts and where each action is constrained."""
    lanes = {"start": -0.62, "a = 0 (left)": -1.17, "a = 1 (right)": -1.72}  # lower edges
    height = 0.45
    lows = list(lanes.values())
    for left, right in start_ranges(world):
        _boxed(ax, (left, lows[0]), right - left, height, START)
        _draw_cart(ax, (left + right) / 2)
    for action, low in enumerate(lows[1:]):
        for left, right in constrained_ranges(world, action):
            _hatched(ax, (left, low), right - left, height)
    for low in lows:
        _boxed(ax, (-X_LIMIT, low), 2 * X_LIMIT, height)
    ax.plot([-X_LIMIT, X_LIMIT], [0, 0], color=DARK, linewidth=1)
    ax.set(xlim=(-X_LIMIT - 0.05, X_LIMIT + 0.05), ylim=(-1.78, 1.7))
    ax.set_yticks([low + height / 2 for low in lows], lanes)
    ax.set_xticks([-2, -1, 0, 1, 2])
    ax.set_xlabel(world.grid.axes[0].label)
    ax.tick_params(axis="y", length=0)
    ax.set_box_aspect(1)  # as high as the gridworlds beside it
    ax.spines[:].set_visible(False)


def _boxed(
    ax: Axes, corner: tuple[float, float], width: float, height: float, colour: str = ""
) -> None:
    """A box of one colour, or a dark frame."""
    face, edge = (colour, colour) if colour else ("none", DARK)
    ax.add_patch(Rectangle(corner, width, height, facecolor=face, edgecolor=edge, linewidth=0.5))


def _draw_cart(ax: Axes, x: float) -> None:
    ax.plot([x, x + 0.09], [0.5, 1.55], color="#B07D3C", linewidth=2.6, solid_capstyle="round")
    ax.add_patch(Rectangle((x - 0.42, 0.2), 0.84, 0.32, facecolor=DARK, linewidth=0, zorder=3))
    wheels = [x - 0.22, x + 0.22]
    ax.plot(wheels, [0.13, 0.13], marker="o", markersize=3.6, color=DARK, linestyle="none")
    ax.plot(x, 0.5, marker="o", markersize=2, color="#CFCFCF", zorder=4)


def constrained_ranges(world: CartPole, action: int) -> list[tuple[float, float]]:
    """Where on the track the action is constrained, from the true constraint itself."""
    x = np.linspace(-X_LIMIT, X_LIMIT, 4801)  # a millimetre apart
    inputs = np.stack([x, np.full_like(x, action)], axis=-1)
    held = true_constraint_of(world)(inputs) > 0.5
    edges = np.flatnonzero(np.diff(np.concatenate([[False], held, [False]]).astype(int)))
    return [(float(x[a]), float(x[b - 1])) for a, b in edges.reshape(-1, 2)]


def start_ranges(world: CartPole) -> list[tuple[float, float]]:
    """Where the cart may start: from many draws of the start state."""
    x = np.sort(world.initial_states(np.random.default_rng(0), 4000)[:, 0])
    breaks = np.flatnonzero(np.diff(x) > 0.5) + 1
    return [(float(part[0]), float(part[-1])) for part in np.split(x, breaks)]


def robots_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Each robot at its start, and where its constraint is violated."""
    figure = Figure(figsize=(PAGE, 2.35))
    axes = figure.subplots(1, len(experiments), squeeze=False)[0]
    worlds = {name: _robot(results, name) for name in experiments}
    states = {name: standing(world) for name, world in worlds.items()}
    note = ""
    for ax, (name, world) in zip(axes, worlds.items(), strict=True):
        title(ax, world.title, rules(world))
        try:
            draw_rendered(ax, world, states[name])
        except InputError as error:
            note = "schematic side view: no headless OpenGL (EGL or OSMesa) here"
            print(f"Figure 14 is drawn as a schematic: {error}", file=sys.stderr)
            draw_schematic(ax, world, states[name])
    figure.legend(
        [Patch(facecolor=CONSTRAINED, edgecolor=VERMILION, linewidth=0.5)],
        [rf"true constraint $c = 1$: $z \leq {LIMIT:g}$ m"],
        loc="outside lower center",
        handlelength=1.6,
    )
    footer(figure, note)
    return figure


def _robot(results: Results, experiment: str) -> Robot:
    world = results.worlds[experiment]
    if not isinstance(world, Robot):
        raise InputError(f"{experiment}: expected a robot to draw, found {type(world).__name__}")
    return world


def rules(world: World) -> str:
    """The numbers of the task, as a subtitle."""
    return rf"$\beta={world.threshold:g}$, $\gamma={world.discount:g}$, {world.horizon} steps"


def standing(world: Robot) -> np.ndarray:
    """The robot at z = 0, come to rest on its feet."""
    states = world.simulation.start[None]
    for _ in range(SETTLING):
        states, _, _ = world.step(states, np.zeros((1, world.action_size)))
    state = states[0]
    state[0] = 0.0
    return state


def draw_rendered(ax: Axes, world: Robot, state: np.ndarray) -> None:
    """MuJoCo's rendering, with the metres written beside the lines on the floor."""
    from icl_core.environments.pictures.robot import HALF_WIDTH, render

    rendering = render(world, state, PIXELS)
    ax.imshow(rendering.image, interpolation="antialiased")
    metres = np.arange(-3, 4)
    places = np.stack([metres, np.full(7, -HALF_WIDTH), np.zeros(7)], axis=1)
    width, height = PIXELS
    for metre, (column, row) in zip(metres, rendering.pixels(places), strict=True):
        if 25 < column < width - 25 and 25 < row < height - 45:
            text = rf"$z={metre}$" if metre in (LIMIT, 0) else rf"${metre}$"
            ax.annotate(
                text,
                (column, row),
                xytext=(3, -5),
                textcoords="offset points",
                color=VERMILION if metre <= LIMIT else DARK,
                fontsize=6,
            )
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def draw_schematic(ax: Axes, world: Robot, state: np.ndarray) -> None:
    """The robot from the side, from the model's own geometry; nothing but matplotlib."""
    from icl_core.environments.robot import capsules, posed

    model = world.simulation.model
    parts = capsules(model, posed(model, state))
    left, right, top = -2.4, 1.4, 1.25
    area = Rectangle((left, 0), LIMIT - left, top, facecolor=CONSTRAINED, edgecolor=VERMILION)
    area.set(linewidth=0, hatch=HATCH, alpha=0.6)
    ax.add_patch(area)
    ax.plot([LIMIT, LIMIT], [0, top], color=VERMILION, linewidth=1.5)
    ax.plot([left, right], [0, 0], color=DARK, linewidth=1)
    for ends, radius in sorted(parts, key=lambda part: -part[0][:, 1].mean()):  # far ones first
        _draw_part(ax, ends[:, [0, 2]], radius)
    ax.set(xlim=(left, right), ylim=(-0.05, top), aspect="equal", yticks=[])
    ax.set_xticks(range(-2, 2))
    ax.set_xlabel(world.grid.axes[0].label)
    ax.spines[:].set_visible(False)


def _draw_part(ax: Axes, ends: np.ndarray, radius: float) -> None:
    """A capsule from the side: a strip with a disc at either end."""
    along = ends[1] - ends[0]
    length = float(np.hypot(*along))
    if length > 0:
        across = radius * np.array([-along[1], along[0]]) / length
        corners = np.array([ends[0] + across, ends[1] + across, ends[1] - across, ends[0] - across])
        x, y = corners.T
        ax.fill(x, y, facecolor=BODY, edgecolor=JOINT, linewidth=0.4, zorder=3)
    for end in ends:
        disc = Circle((end[0], end[1]), radius, facecolor=BODY, edgecolor=JOINT, zorder=3)
        disc.set_linewidth(0.4)
        ax.add_patch(disc)
