"""Figures 2, 11, 28 and 29: constraints and accruals of driving, over a speed and a distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from icl_core.demonstrations.accruals import normalised
from icl_core.environments.world import Axis, World
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.fields import (
    BOUNDARY,
    EXPERT,
    OUTLINE,
    SEED_WIDTH,
    draw_boundaries,
    draw_field,
)
from icl_core.showing.loading import (
    Accruals,
    accruals,
    demonstrated,
    demonstrators,
    footer_of,
    panel_titles,
    recovered_constraints,
    traffic_source,
)
from icl_core.showing.style import (
    ACCRUAL_MAP,
    CONSTRAINT_MAP,
    DARK,
    PAGE,
    colour_bar,
    footer,
    panels,
    title,
)

ITEMS = [
    {
        "number": 2,
        "name": "constraint-highd",
        "draw": "constraint_figure",
        "title": "Constraint function, HighD",
        "caption": (
            "Recovered constraint over speed and gap: 1 is forbidden. Colours: mean over seeds, so "
            "that a plateau is the share of the seeds that forbid; white lines: where each seed's "
            "own constraint crosses 0.5. Red: what the recorded drivers do. Gaps are measured from "
            "bumper to bumper; the outer scale has them between centres, as the paper has, with a "
            "vehicle of mean length. Where the traffic is simulated the dashed line is the rule "
            "that its drivers keep."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint", "demonstrations"],
        "experiments": ["highd"],
    },
    {
        "number": 11,
        "name": "constraint-exid",
        "draw": "constraint_figure",
        "title": "Constraint function, ExiD",
        "caption": (
            "Recovered constraint over lateral velocity and distance to the target lane: 1 is "
            "forbidden. Colours: mean over seeds; white lines: where each seed's own constraint "
            "crosses 0.5. Red: what the recorded drivers do."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint", "demonstrations"],
        "experiments": ["exid"],
    },
    {
        "number": 28,
        "name": "accruals-highd",
        "draw": "accruals_figure",
        "title": "Accruals, HighD",
        "caption": (
            "HighD: which speeds and gaps the demonstrations and the learned policies visit, gaps "
            "from bumper to bumper. A cell counts as visited or not, however often; of policies "
            "the share of the seeds that visit it is shown. Below each title: how many of a "
            "policy's steps are in cells that the demonstrations visit."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["highd"],
    },
    {
        "number": 29,
        "name": "accruals-exid",
        "draw": "accruals_figure",
        "title": "Accruals, ExiD",
        "caption": (
            "ExiD: which lateral velocities and distances the demonstrations and the learned "
            "policies visit, as the share of all visits, mean over seeds, on a square-root scale. "
            "Below each title: how many of a policy's steps are in cells that the demonstrations "
            "visit."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["exid"],
    },
]

HEIGHT = 2.35
FAINT = 0.5  # the power of shares of visits that colours show: many cells have few
RULE = (0, (3, 1.5))  # the dashes of the simulated drivers' rule


class View(NamedTuple):
    """How the paper draws an environment's two inputs."""

    across: int = 0  # axis of the grid that is drawn from left to right
    up: int = 1
    binary: bool = False  # accruals say whether a cell was visited, not how often


VIEWS = {"highd": View(0, 1, binary=True), "exid": View(1, 0)}


def constraint_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figures 2 and 11: each method's mean, every seed's line, and where the expert went."""
    (experiment,) = experiments
    world = results.worlds[experiment]
    values = recovered_constraints(results, experiment)
    expert = demonstrated(results, experiment).experts.sum(axis=0)
    titles = panel_titles(results, experiment, values)
    figure = draw_constraints(world, values, titles, expert)
    footer(figure, _footer(results, experiment, values))
    return figure


def accruals_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figures 28 and 29: the expert's accruals, then each method's mean over seeds."""
    (experiment,) = experiments
    found = accruals(results, experiment)
    titles = panel_titles(results, experiment, found.visited)
    figure = draw_accruals(results.worlds[experiment], found, titles)
    footer(figure, _footer(results, experiment, found.visited))
    return figure


def draw_constraints(
    world: World,
    values: Mapping[str, np.ndarray],
    titles: Mapping[str, str],
    expert: np.ndarray | None = None,
) -> Figure:
    """`values` holds (runs, *grid.shape) for each method; `expert` counts of visits, or None."""
    view = VIEWS.get(world.name, View())
    figure, axes = panels(max(len(values), 1), height=HEIGHT, sharey=True)
    figure.set_figwidth(PAGE)  # the legend needs it, however few the panels
    image = None
    for ax, (method, runs) in zip(axes[0], values.items(), strict=False):
        mean = runs.mean(axis=0)
        turned = mean.transpose(view.up, view.across)
        image = draw_field(ax, _over(world, view), turned, CONSTRAINT_MAP, 1.0)
        each = runs.transpose(0, 1 + view.up, 1 + view.across)
        draw_boundaries(ax, _over(world, view), each)
        if expert is not None:
            _draw_points(ax, world, view, expert)
        _draw_rule(ax, world, view)
        title(ax, titles[method], _violations(runs, expert))
    _label(axes[0], world, view)
    _between_centres(axes[0, 0], world)
    if image is not None:
        symbols = ", ".join(world.grid.axes[k].name.split()[-1] for k in (view.across, view.up))
        colour_bar(figure, axes[0, -1], image, f"constraint value c({symbols})", width=0.05)
        _legend(figure, world, expert is not None)
    return figure


def draw_accruals(world: World, found: Accruals, titles: Mapping[str, str]) -> Figure:
    """`titles` are those of the methods' panels."""
    view = VIEWS.get(world.name, View())
    shown = {"expert": _share(world, view, found.experts)}
    shown |= {method: _share(world, view, runs) for method, runs in found.visited.items()}
    highest = 1.0 if view.binary else max(np.nanmax(share) for share in shown.values())
    figure, axes = panels(len(shown), height=HEIGHT, sharey=True)
    for ax, (method, share) in zip(axes[0], shown.items(), strict=True):
        turned = share.transpose(view.up, view.across)
        power = 1.0 if view.binary else FAINT
        image = draw_field(ax, _over(world, view), turned, ACCRUAL_MAP, highest, power)
        if method == "expert":
            title(ax, "Expert accruals", demonstrators(len(found.experts)))
        else:
            inside = _percent(found.visited[method], found.shown[method] > 0)
            title(ax, titles[method], f"{inside} in expert's cells")
    _label(axes[0], world, view)
    label = "share of seeds that visit" if view.binary else "share of visits [%]"
    colour_bar(figure, axes[0, -1], image, label, width=0.05)
    return figure


def _share(world: World, view: View, runs: np.ndarray) -> np.ndarray:
    """Mean over runs of the accruals: visited or not, or percent of all visits."""
    if view.binary:
        return (runs > 0).mean(axis=0)
    return 100 * normalised(world.grid, runs).mean(axis=0)


def _violations(runs: np.ndarray, expert: np.ndarray | None) -> str:
    """How much of what the expert did the constraint forbids, over the runs."""
    if expert is None:
        return " "
    counts = np.broadcast_to(expert, runs.shape)
    return f"forbids {_percent(counts, runs >= BOUNDARY)} of expert's steps"


def _percent(counts: np.ndarray, chosen: np.ndarray) -> str:
    """Percent of each run's visits that are in the chosen cells: mean and deviation over runs."""
    total = counts.reshape(len(counts), -1).sum(axis=1)
    inside = (counts * chosen).reshape(len(counts), -1).sum(axis=1)
    if np.any(total == 0):
        return "undefined %"
    mean, std = mean_and_std(100 * inside / total)
    return f"{mean:.1f} ± {std:.1f} %" if len(counts) > 1 else f"{mean:.1f} %"


def _over(world: World, view: View) -> tuple[Axis, Axis]:
    return world.grid.axes[view.across], world.grid.axes[view.up]


def _coordinates(world: World, view: View) -> tuple[np.ndarray, np.ndarray]:
    across, up = _over(world, view)
    return across.physical, up.physical


def _draw_points(ax: Axes, world: World, view: View, visits: np.ndarray) -> None:
    x, y = _coordinates(world, view)
    up, across = np.nonzero(visits.transpose(view.up, view.across))
    ax.plot(x[across], y[up], "s", color=EXPERT, markersize=1.1, markeredgewidth=0)


def _draw_rule(ax: Axes, world: World, view: View) -> None:
    """The simulated drivers' own rule, where there is one."""
    rule = getattr(world, "headway", None)
    if rule is not None:
        speed, gaps = _coordinates(world, view)
        ax.plot(
            speed,
            rule.gap(speed),
            color="white",
            linestyle=RULE,
            linewidth=1.0,
            path_effects=OUTLINE,
        )
        ax.set(xlim=(speed[0], speed[-1]), ylim=(gaps[0], gaps[-1]))


def _label(axes: np.ndarray, world: World, view: View) -> None:
    for ax in axes:
        ax.set_xlabel(world.grid.axes[view.across].label)
    axes[0].set_ylabel(world.grid.axes[view.up].label)


def _between_centres(ax: Axes, world: World) -> None:
    """A second scale beside gaps from bumper to bumper: half of either vehicle more."""
    tracks = getattr(world, "tracks", None)
    if tracks is None or getattr(world, "centre_gap", True):
        return
    length = 2 * float(np.mean(tracks.half_length))
    shift = (lambda gap: gap + length, lambda gap: gap - length)
    ax.secondary_yaxis(-0.27, functions=shift).set_ylabel("gap between centres [m]")


def _legend(figure: Figure, world: World, with_expert: bool) -> None:
    """Above the panels; what is white in them has a dark rim here."""
    rim = [withStroke(linewidth=2.2, foreground=DARK)]
    handles = [Line2D([], [], color="white", linewidth=2 * SEED_WIDTH, path_effects=rim)]
    labels = [f"c = {BOUNDARY:g} of a seed"]
    if with_expert:
        point = Line2D([], [], marker="s", linestyle="none", markersize=2.5, color=EXPERT)
        point.set_markeredgewidth(0)
        handles.append(point)
        labels.append("cells that the expert visits")
    rule = getattr(world, "headway", None)
    if rule is not None:
        line = Line2D([], [], color="white", linestyle=RULE, linewidth=1.2, path_effects=rim)
        handles.append(line)
        labels.append(f"simulated drivers: {rule.minimum:.1f} m + {rule.time:.2f} s · v")
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles), handlelength=2.6)


def _footer(results: Results, experiment: str, runs: dict[str, np.ndarray]) -> str:
    source = traffic_source(results.worlds[experiment])
    return f"{source}; colours: mean over seeds; {footer_of(results, experiment, runs)}"
