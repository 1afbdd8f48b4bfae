"""Figure 14: the two robots and the side of z = -1 that they must keep away from.

Rendered by MuJoCo where there is headless OpenGL, and otherwise drawn from the side,
from the same model: a machine without a graphics library gets its figure too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle

from icl_core.environments.robot import LIMIT, Robot, capsules, posed
from icl_core.errors import InputError
from icl_core.measuring.results import Results
from icl_core.showing.style import DARK, PAGE, VERMILION, footer, title

ITEMS = [
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

PIXELS = (1000, 540)
CONSTRAINED, HATCH = "#F2B59B", "////"
BODY, JOINT = "#B07D3C", "#8A5F28"
SETTLING = 40  # steps without torque after which both stand still


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


def rules(world: Robot) -> str:
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
