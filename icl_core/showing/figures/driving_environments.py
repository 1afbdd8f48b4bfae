"""Figures 13 and 15: a frame of HighD, and a recorded lane change of ExiD on its map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from icl_core.environments.traffic import Road
from icl_core.environments.worlds.exid import TIME_STEP, ExiD
from icl_core.environments.worlds.highd import EGO, GAP, TIME, HighD, V, X
from icl_core.measuring.results import Results
from icl_core.showing.loading import traffic_source, world_as
from icl_core.showing.style import BLUE, DARK, GREEN, PAGE, VERMILION, footer, title

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
            "HighD: the ego (blue) among replayed traffic, its lane and the gap to the vehicle "
            "in front."
        ),
        "category": "Environments",
        "needs": [],
        "experiments": ["highd"],
    },
    {
        "number": 15,
        "name": "environment-exid",
        "draw": "exid_figure",
        "title": "The environment ExiD",
        "caption": (
            "ExiD: a recorded lane change on its map, with start and target lane, and the "
            "distance to the target line that the environment makes of it."
        ),
        "category": "Environments",
        "needs": [],
        "experiments": ["exid"],
    },
]

ROAD, REGION = "#BDBDBD", "#F2F2F2"
SURROUNDINGS = 150.0  # metres of the lower panel
SHOWN_GAP = 40.0  # metres: the frame whose gap is nearest to this is shown
FAINT = "#B5B5B5"
START_LANE, TARGET_LANE, OTHER_LANE = "#CFE0F1", "#CDE8C6", "#EDEDED"
CAR = (4.6, 1.9)  # metres: usual length and width
MARGIN = np.array([12.0, 8.0])  # metres of map around the recorded way, along and across
OTHERS = 40  # lane changes drawn faintly behind the one that is shown


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
    """Two panels of one state: all that is in view, stretched across, and a part to scale."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    figure = Figure(figsize=(PAGE, 2.1))
    whole, near = figure.subplots(2, 1, height_ratios=[1.0, 1.1])
    road = world.road_of(state)
    for ax in (whole, near):
        _draw_road(ax, world, road)
        _draw_vehicles(ax, world, state)
        ax.set(ylim=(-0.6, road.width + 0.6), yticks=[], xlabel="")
        ax.spines[:].set_visible(False)
    left = float(np.clip(state[X] - 0.3 * SURROUNDINGS, 0, max(road.length - SURROUNDINGS, 0)))
    whole.set_xlim(0, road.length)
    right = min(left + SURROUNDINGS, road.length)
    frame = Rectangle((left, -0.5), right - left, road.width + 1, facecolor="none", zorder=4)
    frame.set(edgecolor=DARK, linewidth=0.7, linestyle=":")
    whole.add_patch(frame)
    near.set(xlim=(left, right), aspect="equal", xlabel="position x [m]")
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


def exid_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """The map with start and target lanelet, and the distance d to the target over time."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    world = world_as(results, experiments[0], ExiD)
    figure = Figure(figsize=(PAGE, 3.5))
    on_map, simplified = figure.subplots(2, 1, height_ratios=(1.0, 1.4))
    _draw_map(on_map, world)
    _draw_world(simplified, world)
    handles = [
        Patch(facecolor=START_LANE),
        Patch(facecolor=TARGET_LANE),
        Line2D([], [], color=GREEN, linestyle=(0, (4, 2))),
        Line2D([], [], color=VERMILION, marker="s", markersize=3.5, markerfacecolor=BLUE),
        Line2D([], [], color=FAINT, linewidth=0.5),
    ]
    labels = ("start lane", "target lane", "its centre line, d = 0", "recorded vehicle", "others")
    figure.legend(handles, labels, loc="outside lower left", ncols=5, handlelength=2.0)
    footer(figure, f"{results.footer({})}; {traffic_source(world)}")
    return figure


def _draw_map(ax: Axes, world: ExiD) -> None:
    """From above, turned so that the vehicle starts out to the right."""
    from matplotlib.patches import Polygon

    view = world.scene.view
    positions = np.array(view["positions"])
    turn = _towards_right(positions)
    way = positions @ turn
    for number, outline in view["lanelets"].items():
        colours = {str(view["start"]): START_LANE, str(view["target"]): TARGET_LANE}
        lane = Polygon(np.array(outline) @ turn, facecolor=colours.get(number, OTHER_LANE))
        lane.set(edgecolor="white", linewidth=0.6, zorder=1 + (number in colours))
        ax.add_patch(lane)
    line = np.array(view["target_line"]) @ turn
    ax.plot(*line.T, color=GREEN, linewidth=0.9, linestyle=(0, (4, 2)), zorder=3)
    ax.plot(*way.T, color=VERMILION, zorder=4)
    for k in _moments(len(way)):
        _draw_car(ax, way, k)
    low, high = way.min(axis=0) - MARGIN, way.max(axis=0) + MARGIN
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    _draw_scale(ax, low, high)
    title(ax, "Recorded lane change", f"recording {view['recording']}, vehicle {view['track']}")


def _moments(frames: int) -> np.ndarray:
    """The frames at which the vehicle is drawn, in both panels."""
    return np.linspace(0, frames - 1, 5).astype(int)


def _towards_right(positions: np.ndarray) -> np.ndarray:
    """(2, 2) to multiply points with, so that the whole way leads to the right."""
    x, y = positions[-1] - positions[0]
    length = np.hypot(x, y)
    return np.array([[x, -y], [y, x]]) / length


def _draw_car(ax: Axes, way: np.ndarray, k: int) -> None:
    """A box along the way at its k-th point."""
    from matplotlib.patches import Polygon

    x, y = way[min(k + 1, len(way) - 1)] - way[max(k - 1, 0)]
    along = np.array([x, y]) / np.hypot(x, y)
    across = np.array([-along[1], along[0]])
    corners = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
    box = [way[k] + a * CAR[0] / 2 * along + b * CAR[1] / 2 * across for a, b in corners]
    ax.add_patch(Polygon(box, facecolor=BLUE, edgecolor="white", linewidth=0.4, zorder=5))


def _draw_scale(ax: Axes, low: np.ndarray, high: np.ndarray) -> None:
    """A bar of 20 m in the corner."""
    x, y = low[0] + 4, low[1] + 2
    ax.plot([x, x + 20], [y, y], color=DARK, linewidth=1.2, solid_capstyle="butt", zorder=6)
    ax.text(x + 10, y + 0.6, "20 m", ha="center", va="bottom", fontsize=6)


def _draw_world(ax: Axes, world: ExiD) -> None:
    """d over time; right of the target line is below it, as seen when driving to the right."""
    view, scene = world.scene.view, world.scene
    change = int(view["change"])
    distance = _replayed(world, change)
    rows = slice(scene.offsets[change], scene.offsets[change + 1])
    start = scene.frames["distance"][rows]
    time = TIME_STEP * np.arange(len(distance))
    half = np.abs(start) / 2
    ax.fill_between(time, start - half, start + half, color=START_LANE, linewidth=0)
    ax.fill_between(time, -half, half, color=TARGET_LANE, linewidth=0)
    for other in np.linspace(0, len(world.start_states) - 1, OTHERS).astype(int):
        behind = _replayed(world, int(world.start_states[other, 0]))
        shown = TIME_STEP * np.arange(len(behind))
        ax.plot(shown, behind, color=FAINT, linewidth=0.5)
    ax.axhline(0, color=GREEN, linewidth=0.9, linestyle=(0, (4, 2)))
    ax.plot(time, distance, color=VERMILION, linewidth=1.4)
    limit = 1.6 * np.abs(start).max()
    cars = _moments(len(time))
    cars = cars[np.abs(distance[cars]) < limit]  # by the authors' distance some are far off
    (squares,) = ax.plot(time[cars], distance[cars], color=BLUE, clip_on=False, zorder=5)
    squares.set(linestyle="none", marker="s", markersize=6, markeredgecolor="white")
    _draw_symbols(ax, time, distance, cars[min(1, len(cars) - 1)])
    ax.set(xlim=(0, time[-1]), ylim=(limit, -limit))
    ax.set(xlabel="time [s]", ylabel=world.grid.axes[0].label)
    rules = r"state $d$, action $a$ with $\Delta d=a/25$ a step, reward $1-|d|/10$"
    title(ax, "The environment made of it", rules)


def _draw_symbols(ax: Axes, time: np.ndarray, distance: np.ndarray, k: int) -> None:
    """What the agent sees and what it does, at the k-th frame."""
    here = (time[k], distance[k])
    arrow = {"color": DARK, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (time[k], 0), here, arrowprops={"arrowstyle": "<->", **arrow}, zorder=6)
    ax.annotate("$d$", (time[k], distance[k] / 2), (4, 0), textcoords="offset points", va="center")
    aside = (time[k] + 0.035 * time[-1], distance[k])
    tip = (aside[0], distance[k] - np.copysign(1.1, distance[k]))
    ax.annotate("", tip, aside, arrowprops={**arrow, "arrowstyle": "-|>", "color": BLUE}, zorder=6)
    middle = (tip[0], (tip[1] + aside[1]) / 2)
    ax.annotate("$a$", middle, (4, 0), textcoords="offset points", va="center", color=BLUE)


def _replayed(world: ExiD, change: int) -> np.ndarray:
    """d in every frame of a recorded lane change."""
    lateral = world.recorded_lateral(change)
    return world.signed_distance(world.scene.offsets[change] + np.arange(len(lateral)), lateral)
