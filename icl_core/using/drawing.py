"""Pictures of a learned constraint: a curve over one of its inputs, or a map over two."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from icl_core.environments.world import Axis
from icl_core.errors import InputError
from icl_core.showing.fields import BOUNDARY, EXPERT, draw_boundary, draw_field, draw_lines
from icl_core.showing.maps import draw_cells
from icl_core.showing.save import save_figure
from icl_core.showing.style import (
    CONSTRAINT_MAP,
    GREY,
    colour_bar,
    footer,
    publication_style,
    title,
)
from icl_core.tables import counted

if TYPE_CHECKING:  # which imports this module to draw
    from icl_core.using.constraint import Constraint

SIZE = (3.5, 2.6)  # inches
POINTS = 121  # along an axis whose nodes are fewer
MOST_STEPS = 4000  # of the demonstrations that are drawn as points
MOST_CELLS = 25  # along an axis of whole numbers


class View(NamedTuple):
    """What is drawn of a constraint's inputs."""

    shown: tuple[int, ...]  # one input, or the two that are drawn across and up
    sliced: int | None  # the input that has a line for each of its nodes
    held: dict[int, float]  # where the others stand


def draw(
    constraint: Constraint,
    demonstrations: Any = None,
    path: str | os.PathLike | None = None,
    ax: Axes | None = None,
    inputs: Sequence[str] | None = None,
) -> Figure:
    """See `Constraint.plot`."""
    view, steps = view_of(constraint, inputs), _steps(constraint, demonstrations)
    if ax is not None:
        figure = _draw_on(ax, constraint, view, steps)
        if path is not None:
            save_figure(figure, path)
        return figure
    with publication_style():
        figure = Figure(figsize=SIZE)
        _draw_on(figure.subplots(), constraint, view, steps)
        footer(figure, _small_print(constraint, view))
        if path is not None:
            save_figure(figure, path)
    return figure


def view_of(constraint: Constraint, inputs: Sequence[str] | None) -> View:
    """What is drawn: the inputs of these names, or the first two but for a discrete action."""
    grid, names = constraint.inputs.grid, constraint.inputs.names
    if inputs is None:
        free = [k for k in range(len(names)) if k != grid.sliced_by or len(names) == 1][:2]
        # Rows are counted downwards, whichever input they are.
        shown = tuple(free[::-1] if names[free[0]].startswith("row") else free)
    else:
        chosen = [inputs] if isinstance(inputs, str) else list(inputs)
        if not 1 <= len(chosen) <= 2 or len({*chosen} & {*names}) != len(chosen):
            raise InputError(
                f"inputs: expected one or two different names among {', '.join(names)}, found "
                f"{', '.join(map(str, chosen)) or 'none'}; correct them"
            )
        shown = tuple(names.index(name) for name in chosen)
    sliced = grid.sliced_by if len(shown) == 1 and grid.sliced_by not in shown else None
    others = [k for k in range(len(names)) if k not in (*shown, sliced)]
    return View(shown, sliced, {k: _middle(grid.axes[k], k == grid.sliced_by) for k in others})


def _middle(axis: Axis, discrete: bool) -> float:
    """Of a range; between two of n actions there is none."""
    nodes = axis.nodes
    return float(nodes[len(nodes) // 2] if discrete else (nodes[0] + nodes[-1]) / 2)


def _steps(constraint: Constraint, demonstrations: Any) -> np.ndarray | None:
    """What the constraint sees of every demonstrated step, (steps, inputs)."""
    if demonstrations is None:
        return None
    found = demonstrations
    if callable(getattr(found, "trajectories", None)):
        found = found.trajectories()
    if not all(hasattr(found, name) for name in ("states", "actions", "mask")):
        raise InputError(
            "demonstrations: expected Trajectories, or what has a method trajectories(), found "
            f"{type(demonstrations).__name__}; read some with read_demonstrations"
        )
    return constraint.seen(found.states[found.mask], found.actions[found.mask])


def _draw_on(ax: Axes, constraint: Constraint, view: View, steps: np.ndarray | None) -> Figure:
    figure: Any = ax.figure
    if len(view.shown) == 1:
        _draw_curves(ax, constraint, view, steps)
    else:
        _draw_map(figure, ax, constraint, view, steps)
    place = constraint.about.get("artifact", {})
    of = " on ".join(str(place[key]) for key in ("method", "experiment") if key in place)
    axes = constraint.inputs.axes
    held = ", ".join(_named(axes[k], value) for k, value in view.held.items())
    said = f"held at: {held}" if held else rf"$\beta={constraint.beta:g}$"
    title(ax, f"Learned constraint{': ' * bool(of)}{of}", said)
    return figure


def _named(axis: Axis, value: float) -> str:
    """ "gap g = 100 m"."""
    return f"{axis.name} = {value * axis.scale:g}{' ' * bool(axis.unit)}{axis.unit}"


def _finer(axis: Axis) -> Axis:
    first, last = axis.nodes[[0, -1]]
    return replace(axis, nodes=np.linspace(first, last, max(POINTS, len(axis.nodes))))


def _values(constraint: Constraint, view: View, over: Sequence[Axis]) -> np.ndarray:
    """c of every seed over some axes, the rest held: (seeds, n, ...) in the order of `over`."""
    mesh = np.meshgrid(*(axis.nodes for axis in over), indexing="ij")
    inputs = np.empty((*mesh[0].shape, len(constraint.inputs.axes)), np.float32)
    for k, value in view.held.items():
        inputs[..., k] = value
    places = view.shown if view.sliced is None else (*view.shown, view.sliced)
    for k, values in zip(places, mesh, strict=True):
        inputs[..., k] = values
    return constraint.values_at(inputs)


def _draw_curves(ax: Axes, constraint: Constraint, view: View, steps: np.ndarray | None) -> None:
    (shown,) = view.shown
    axis, lines = _finer(constraint.inputs.axes[shown]), []
    if view.sliced is not None:
        lines = [constraint.inputs.axes[view.sliced]]
    runs = _values(constraint, view, [axis, *lines])
    runs = runs.reshape(len(runs), len(axis.nodes), -1)
    names = [_named(line, node) for line in lines for node in line.nodes] or ["c"]
    if steps is not None:
        _draw_visits(ax, axis, steps[:, shown])
    draw_lines(ax, axis.physical, runs, names)
    first, last = axis.physical[[0, -1]]
    ax.set(xlim=(first, last), ylim=(-0.03, 1.05), xlabel=axis.label, ylabel="constraint value c")
    if lines or steps is not None:
        _place_legend(ax, *ax.get_legend_handles_labels())


def _draw_visits(ax: Axes, axis: Axis, places: np.ndarray) -> None:
    """How often the demonstrations were where, as a silhouette of no unit under the curve."""
    low, high = axis.nodes[[0, -1]]
    counts, edges = np.histogram(places, bins=60, range=(low, high))
    heights = 0.3 * counts / max(counts.max(), 1)
    ax.stairs(
        heights, edges * axis.scale, fill=True, color=GREY, alpha=0.35, label="demonstrated steps"
    )


def _draw_map(
    figure: Figure, ax: Axes, constraint: Constraint, view: View, steps: np.ndarray | None
) -> None:
    across, up = (constraint.inputs.axes[k] for k in view.shown)
    cells = _whole(across) and _whole(up)
    over = (across, up) if cells else (_finer(across), _finer(up))
    mean = _values(constraint, view, over).mean(axis=0).T
    if cells:
        image = draw_cells(ax, mean, CONSTRAINT_MAP, 1.0)
        ax.set_xticks(np.arange(len(across.nodes)), [f"{node:g}" for node in across.physical])
        ax.set_yticks(np.arange(len(up.nodes)), [f"{node:g}" for node in up.physical])
        if not up.name.startswith("row"):
            ax.invert_yaxis()
    else:
        image = draw_field(ax, over, mean, CONSTRAINT_MAP, 1.0)
        draw_boundary(ax, over, mean)
    if steps is not None:
        (_dots if cells else _points)(ax, (across, up), steps[:, view.shown])
    ax.set(xlabel=across.label, ylabel=up.label)
    colour_bar(figure, ax, image, "constraint value c", width=0.05)
    crossed = not cells and bool(mean.min() < BOUNDARY <= mean.max())  # or no line is drawn
    _legend(ax, boundary=crossed, steps=steps is not None)


def _whole(axis: Axis) -> bool:
    """Whether an axis counts cells."""
    few = len(axis.nodes) <= MOST_CELLS and not axis.unit
    return few and np.array_equal(axis.nodes, axis.nodes[0] + np.arange(len(axis.nodes)))


def _dots(ax: Axes, over: tuple[Axis, Axis], steps: np.ndarray) -> None:
    """A dot in each visited cell, its area the share of the visits."""
    places = np.stack([axis.nearest(steps[:, k]) for k, axis in enumerate(over)], axis=1)
    cells, counts = np.unique(places[(places >= 0).all(axis=1)], axis=0, return_counts=True)
    area = 60 * counts / counts.max(initial=1)
    x, y = cells.T
    ax.scatter(x, y, s=area, color=EXPERT, edgecolors="white", linewidths=0.4, zorder=3)


def _points(ax: Axes, over: tuple[Axis, Axis], steps: np.ndarray) -> None:
    """The steps themselves, thinned where they are many."""
    some = steps[:: -(-len(steps) // MOST_STEPS) or 1] * [axis.scale for axis in over]
    ax.autoscale(False)
    ax.plot(*some.T, "o", color=EXPERT, markersize=1.4, markeredgewidth=0, alpha=0.6)


def _legend(ax: Axes, boundary: bool, steps: bool) -> None:
    """On grey where one of the lines is white."""
    handles, labels = [], []
    if boundary:
        handles.append(Line2D([], [], color="white", linewidth=1.2))
        labels.append(f"c = {BOUNDARY:g}")
    if steps:
        point = Line2D([], [], marker="o", linestyle="none", markersize=3, color=EXPERT)
        point.set_markeredgewidth(0)
        handles.append(point)
        labels.append("demonstrated steps")
    grey = {"frameon": True, "facecolor": "#7A8FA6", "edgecolor": "none", "labelcolor": "white"}
    if handles:
        _place_legend(ax, handles, labels, **grey if boundary else {})


def _place_legend(ax: Axes, handles: list, labels: list[str], **style: Any) -> None:
    """Above the picture where it is alone; among others, and in a layout of the user's, inside."""
    figure: Any = ax.figure
    if figure.axes == [ax] and figure.get_layout_engine() is not None:
        style |= {"loc": "outside upper center", "ncols": 4, "handlelength": 2.0}
        figure.legend(handles, labels, **style)
    else:
        ax.legend(handles, labels, loc="best", **style)


def _small_print(constraint: Constraint, view: View) -> str:
    several, lost = len(constraint.seeds) > 1, len(constraint.failed_seeds)
    seeds = counted(len(constraint.seeds), "seed")
    parts = [f"mean of {seeds}" if several else seeds]
    if several and len(view.shown) == 1:
        parts.append("band: smallest to largest")
    if lost:
        parts.append(f"{counted(lost, 'failed seed')} left out")
    return "; ".join(parts)
