"""Figure 15: a recorded lane change of ExiD on its map, and the environment made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from icl_core.environments.worlds.exid import TIME_STEP, ExiD
from icl_core.measuring.results import Results
from icl_core.showing.loading import traffic_source, world_as
from icl_core.showing.style import BLUE, DARK, GREEN, GREY, PAGE, VERMILION, footer, title

ITEMS = [
    {
        "number": 15,
        "name": "environment-exid",
        "draw": "exid_figure",
        "title": "The environment ExiD",
        "caption": (
            "ExiD. First: a recorded lane change on its map. Second: the lane in which it starts "
            "and its target, whose centre line the distance d is measured from. Third: where the "
            "agent starts; the ticks are the starts of all lane changes. Fourth: the recorded "
            "course of this one and of others; an action a moves the agent along d. The axis d is "
            "that of Figures 11 and 29."
        ),
        "category": "Environments",
        "needs": [],
        "experiments": ["exid"],
    },
]

FAINT = "#B5B5B5"
START_LANE, TARGET_LANE, OTHER_LANE = "#CFE0F1", "#CDE8C6", "#E3E3E3"
CAR = (4.6, 1.9)  # metres: usual length and width
MARGIN = np.array([12.0, 8.0])  # metres of map around the recorded way, along and across
OTHERS = 40  # lane changes drawn faintly behind the one that is shown


def exid_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """The paper's four panels: two maps, and the distance d to the target, at first and later."""
    world = world_as(results, experiments[0], ExiD)
    figure = Figure(figsize=(PAGE, 4.3))
    grid = figure.add_gridspec(3, 2, height_ratios=(1, 1, 2.3), width_ratios=(1, 2))
    recorded, lanes = (figure.add_subplot(grid[row, :]) for row in (0, 1))
    first = figure.add_subplot(grid[2, 0])
    later = figure.add_subplot(grid[2, 1], sharey=first)
    view = world.scene.view
    _draw_map(recorded, world, {})
    title(
        recorded, "Recorded lane change", f"recording {view['recording']}, vehicle {view['track']}"
    )
    _draw_map(lanes, world, {str(view["start"]): START_LANE, str(view["target"]): TARGET_LANE})
    title(lanes, "Its lanes")
    change = _change(world)
    _draw_start(first, world, change)
    _draw_course(later, world, change)
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


def _draw_map(ax: Axes, world: ExiD, colours: Mapping[str, str]) -> None:
    """From above, turned so that the vehicle starts out to the right; lanes with these colours."""
    view = world.scene.view
    positions = np.array(view["positions"])
    turn = _towards_right(positions)
    way = positions @ turn
    for number, outline in view["lanelets"].items():
        lane = Polygon(np.array(outline) @ turn, facecolor=colours.get(number, OTHER_LANE))
        lane.set(edgecolor="white", linewidth=0.6, zorder=1 + (number in colours))
        ax.add_patch(lane)
    if colours:
        line = np.array(view["target_line"]) @ turn
        ax.plot(*line.T, color=GREEN, linewidth=0.9, linestyle=(0, (4, 2)), zorder=3)
    ax.plot(*way.T, color=VERMILION, zorder=4, linewidth=0.8 if colours else 1.2)
    for k in () if colours else _moments(len(way)):
        _draw_car(ax, way, k)
    low, high = way.min(axis=0) - MARGIN, way.max(axis=0) + MARGIN
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    _draw_scale(ax, low, high)


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


class _Change(NamedTuple):
    """The lane change that is shown, frame by frame: seconds, and metres to the target's line."""

    time: np.ndarray
    distance: np.ndarray  # of the vehicle
    start: np.ndarray  # of the centre of the lane in which it starts
    limit: float  # of the axis d, either way


def _change(world: ExiD) -> _Change:
    scene = world.scene
    change = int(scene.view["change"])
    distance = _replayed(world, change)
    start = scene.frames["distance"][scene.offsets[change] : scene.offsets[change + 1]]
    time = TIME_STEP * np.arange(len(distance))
    return _Change(time, distance, start, 1.6 * float(np.abs(start).max()))


def _draw_lanes(ax: Axes, time: np.ndarray, start: np.ndarray) -> None:
    half = np.abs(start) / 2
    ax.fill_between(time, start - half, start + half, color=START_LANE, linewidth=0)
    ax.fill_between(time, -half, half, color=TARGET_LANE, linewidth=0)
    ax.axhline(0, color=GREEN, linewidth=0.9, linestyle=(0, (4, 2)))


def _draw_start(ax: Axes, world: ExiD, change: _Change) -> None:
    """The first frame: this change's start and those of all others, as ticks."""
    here = change.distance[0]
    _draw_lanes(ax, np.array([-1.0, 1.0]), change.start[[0, 0]])
    starts = [_replayed(world, int(number))[0] for number in world.start_states[:, 0]]
    ax.plot(np.full(len(starts), -0.97), starts, "_", color=GREY, markersize=6, alpha=0.5)
    ax.plot(0, here, "s", color=BLUE, markersize=7, markeredgecolor="white", zorder=5)
    arrow = {"arrowstyle": "<->", "color": DARK, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 4}
    ax.annotate("", (0, 0), (0, here), arrowprops=arrow, zorder=6)
    ax.annotate("$d$", (0, here / 2), (4, 0), textcoords="offset points", va="center")
    small: dict[str, Any] = {"transform": ax.transAxes, "fontsize": 6, "color": GREY, "ha": "right"}
    ax.text(0.97, 0.97, "right of the line", va="top", **small)
    ax.text(0.97, 0.03, "left of the line", va="bottom", **small)
    ax.set(xlim=(-1, 1), xticks=[], ylim=(-change.limit, change.limit))
    ax.set_ylabel(world.grid.axes[0].label)
    title(ax, "The agent starts", "ticks: all starts")


def _draw_course(ax: Axes, world: ExiD, change: _Change) -> None:
    """d over time, with what the agent does at one moment."""
    time, distance = change.time, change.distance
    _draw_lanes(ax, time, change.start)
    for other in np.linspace(0, len(world.start_states) - 1, OTHERS).astype(int):
        behind = _replayed(world, int(world.start_states[other, 0]))
        ax.plot(TIME_STEP * np.arange(len(behind)), behind, color=FAINT, linewidth=0.5)
    ax.plot(time, distance, color=VERMILION, linewidth=1.4)
    cars = _moments(len(time))
    cars = cars[np.abs(distance[cars]) < change.limit]  # by the authors' distance some are far off
    (squares,) = ax.plot(time[cars], distance[cars], color=BLUE, clip_on=False, zorder=5)
    squares.set(linestyle="none", marker="s", markersize=6, markeredgecolor="white")
    _draw_action(ax, time, distance, cars[min(1, len(cars) - 1)])
    ax.set(xlim=(0, time[-1]), xlabel="time [s]")
    ax.tick_params(labelleft=False)
    rules = r"action $a$ with $\Delta d=a/25$ a step, reward $1-|d|/10$"
    title(ax, "It moves by its action", rules)


def _draw_action(ax: Axes, time: np.ndarray, distance: np.ndarray, k: int) -> None:
    """What the agent does at the k-th frame."""
    aside = (time[k] + 0.035 * time[-1], distance[k])
    tip = (aside[0], distance[k] - np.copysign(1.1, distance[k]))
    arrow = {"arrowstyle": "-|>", "color": BLUE, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tip, aside, arrowprops=arrow, zorder=6)
    middle = (tip[0], (tip[1] + aside[1]) / 2)
    small: dict[str, Any] = {"textcoords": "offset points", "va": "center", "color": BLUE}
    ax.annotate("$a$", middle, (-4, 0), ha="right", **small)  # the course leads past the right


def _replayed(world: ExiD, change: int) -> np.ndarray:
    """d in every frame of a recorded lane change."""
    lateral = world.recorded_lateral(change)
    return world.signed_distance(world.scene.offsets[change] + np.arange(len(lateral)), lateral)
