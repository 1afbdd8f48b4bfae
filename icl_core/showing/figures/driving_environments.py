"""Figure 13: a frame of HighD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from icl_core.environments.traffic import Road
from icl_core.environments.worlds.highd import EGO, GAP, TIME, HighD, V, X
from icl_core.measuring.results import Results
from icl_core.showing.loading import traffic_source, world_as
from icl_core.showing.style import BLUE, DARK, PAGE, VERMILION, footer

if TYPE_CHECKING:  # the animation asks for `chosen_state` and draws without matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ITEMS = [
    {
        "number": 13,
        "name": "environment-highd",
        "draw": "highd_figure",
        "title": "The environment HighD",
        "caption": (
            "HighD: the ego (blue) among replayed traffic, with the regions in which it starts and "
            "which it must reach. Above the whole road, below the part around the ego, with the "
            "gap to the vehicle in front, from bumper to bumper unless Table 2c says otherwise. "
            "Both to scale: vehicles are as large as the road is."
        ),
        "category": "Environments",
        "needs": [],
        "experiments": ["highd"],
    },
]

ROAD, REGION = "#BDBDBD", "#F2F2F2"
SURROUNDINGS = 150.0  # metres of the lower panel
SHOWN_GAP = 40.0  # metres: the frame whose gap is nearest to this is shown


def highd_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Start and goal regions, the ego among the recorded traffic, its speed and gap."""
    (experiment,) = experiments
    world = world_as(results, experiment, HighD)
    figure = draw_frame(world, chosen_state(world))
    footer(figure, f"one frame of {traffic_source(world)}; {results.footer({})}")
    return figure


def chosen_state(world: HighD) -> np.ndarray:
    """A recorded ego half-way along the road, with a vehicle ahead at a gap that shows well."""
    middle = world.tracks.rows[world.tracks.egos] // 2
    rows = world.tracks.first_row[world.tracks.egos] + middle
    states = world.as_recorded(np.arange(world.n_egos), middle, rows)
    gaps = np.where(states[:, GAP] < 0, np.inf, states[:, GAP])
    return states[np.argmin(np.abs(gaps - SHOWN_GAP))]


def draw_frame(world: HighD, state: np.ndarray) -> Figure:
    """Two panels of one state, both to scale: all that is in view, and the ego's part of it."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    figure = Figure(figsize=(PAGE, 1.75))
    whole, near = figure.subplots(2, 1, height_ratios=[1.0, 2.2])
    road = world.road_of(state)
    for ax in (whole, near):
        _draw_road(ax, world, road)
        _draw_vehicles(ax, world, state)
        ax.set(ylim=(-0.6, road.width + 0.6), yticks=[], xlabel="", aspect="equal")
        ax.spines[:].set_visible(False)
    left = float(np.clip(state[X] - 0.3 * SURROUNDINGS, 0, max(road.length - SURROUNDINGS, 0)))
    whole.set_xlim(0, road.length)
    right = min(left + SURROUNDINGS, road.length)
    frame = Rectangle((left, -0.5), right - left, road.width + 1, facecolor="none", zorder=4)
    frame.set(edgecolor=DARK, linewidth=0.7, linestyle=":")
    whole.add_patch(frame)
    near.set(xlim=(left, right), xlabel="position x [m]")
    seconds = state[TIME] * world.time_step
    text = f"{world.title}: ego {int(state[EGO]) + 1} of {world.n_egos}, {seconds:.1f} s in"
    whole.set_title(text, loc="left", pad=11)
    _label_frame(whole, near, world, state, road)
    handles = [Patch(facecolor=BLUE), Patch(facecolor=VERMILION), Patch(facecolor=REGION)]
    for handle in handles:
        handle.set(edgecolor=DARK, linewidth=0.4)
    labels = ["ego", "replayed traffic", "start and goal"]
    figure.legend(handles, labels, loc="outside upper right", ncols=3, handlelength=1.4)
    return figure


def _draw_road(ax: Axes, world: HighD, road: Road) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((0, 0), road.length, road.width, facecolor=ROAD, linewidth=0))
    entry, goal = (share * road.length for share in (world.scene.entry, world.scene.goal))
    for left, length in ((0, entry), (road.length - goal, goal)):
        ax.add_patch(Rectangle((left, 0), length, road.width, facecolor=REGION, linewidth=0))
    for k, y in enumerate(road.markings):
        inner = 0 < k < len(road.markings) - 1
        (line,) = ax.plot([0, road.length], [y, y], linewidth=0.8, color=DARK)
        if inner:
            line.set(color="white", linestyle=(0, (8, 8)))


def _draw_vehicles(ax: Axes, world: HighD, state: np.ndarray) -> None:
    from matplotlib.patches import Rectangle

    ego, others = world.boxes(state)
    for (x, y, length, width), colour in ((ego, BLUE), *((box, VERMILION) for box in others)):
        box = Rectangle((x - length / 2, y - width / 2), length, width, facecolor=colour, zorder=3)
        box.set(edgecolor=DARK, linewidth=0.4, clip_on=True)
        ax.add_patch(box)


def _label_frame(whole: Axes, near: Axes, world: HighD, state: np.ndarray, road: Road) -> None:
    """Words in the regions; below, the gap as an arrow and the ego's speed."""
    for x, word in ((world.scene.entry / 2, "start"), (1 - world.scene.goal / 2, "goal")):
        whole.annotate(
            word,
            (x * road.length, road.width),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=6,
        )
    ego, _ = world.boxes(state)
    if state[GAP] > 0:
        front = state[X] if world.centre_gap else state[X] + ego[2] / 2
        arrow = {"arrowstyle": "<->", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
        near.annotate("", (front, ego[1]), (front + state[GAP], ego[1]), arrowprops=arrow)
        near.text(
            front + state[GAP] / 2,
            ego[1],
            f"gap g = {state[GAP]:.0f} m",
            ha="center",
            va="center",
            fontsize=6.5,
            bbox={"facecolor": ROAD, "linewidth": 0, "pad": 1},
        )
    near.text(
        ego[0] - ego[2] / 2 - 1,
        ego[1],
        f"v = {state[V]:.0f} m/s",
        ha="right",
        va="center",
        fontsize=6.5,
        color=BLUE,
        weight="bold",
    )
