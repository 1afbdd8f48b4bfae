"""Figures 16b and 18b: the constraints that explain the demonstrations of a gridworld. Ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from icl_core.demonstrations.files import read_sets
from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.budget import Bounds
from icl_core.measuring.determined import is_left_out, known_bounds
from icl_core.measuring.identified import Identified
from icl_core.measuring.results import Results
from icl_core.showing.loading import world_as
from icl_core.showing.maps import draw_small_map, outline
from icl_core.showing.style import (
    CONSTRAINT_MAP,
    colour_bar,
    footer,
    left_out,
    panels,
    title,
)

ITEMS = [
    {
        "number": 16,
        "suffix": "b",
        "name": "identified-gridworld-a",
        "title": "What the demonstrations determine, Gridworld (A)",
        "caption": (
            "Gridworld (A), and where moves slip: the least and the greatest c of each cell over "
            "all constraints that explain the first expert's demonstrations: they spend at most "
            "beta, and nobody who keeps it earns more. A cell is determined where both lie on "
            "one side of 0.5. Where the reward is silent, nobody could earn more even without a "
            "constraint: only the cells that the demonstrations visit say anything. Where moves "
            "slip it may not have been asked, which takes minutes: the bounds hold, but could be "
            "narrower. The outline shows the truly constrained cells; the star is the goal."
        ),
        "category": "What can be known",
        "needs": ["demonstrations"],
        "experiments": ["gridworld-a", "gridworld-a-slip-10", "gridworld-a-slip-30"],
    },
    {
        "number": 18,
        "suffix": "b",
        "name": "identified-gridworld-b",
        "title": "What the demonstrations determine, Gridworld (B)",
        "caption": (
            "What Figure 16b shows, for Gridworld (B): the least and the greatest c of each cell "
            "over all constraints that explain the first expert's demonstrations, without slips "
            "and where moves slip. A cell is determined where both lie on one side of 0.5; what "
            "the reward says, or was not asked, is explained there. The outline shows the truly "
            "constrained cells; the star is the goal."
        ),
        "category": "What can be known",
        "needs": ["demonstrations"],
        "experiments": ["gridworld-b", "gridworld-b-slip-10", "gridworld-b-slip-30"],
    },
]


def draw(results: Results, experiments: Sequence[str]) -> Figure:
    """A column for each slip: least above, greatest below."""
    figure, axes = panels(len(experiments), height=3.6, rows=2)
    for column, experiment in zip(axes.T, experiments, strict=True):
        world = world_as(results, experiment, Gridworld)
        path = results.one("demonstrations", experiment=experiment)
        assert path is not None
        shown = next(iter(read_sets(path, world).values()))
        found = Identified(world, shown, results.beta(experiment))
        _column(column, world, found, known_bounds(found))
    for ax, text in zip(axes[:, 0], ("least c", "greatest c"), strict=True):
        ax.set_ylabel(text)
    colours = ScalarMappable(Normalize(0.0, 1.0), CONSTRAINT_MAP)
    colour_bar(figure, axes[1, -1], colours, "constraint value c(i, j)")
    footer(figure, f"outline: true constraint, star: goal; {results.footer({})}")
    return figure


def _column(column: np.ndarray, world: Gridworld, found: Identified, bounds: Bounds | None) -> None:
    title(column[0], rf"$p_{{slip}}={world.slip:g}$", _said(found, bounds))
    for ax, values in zip(column, _ends(bounds), strict=True):
        if values is None:
            left_out(ax, "no constraint\nexplains them")
            ax.set(xticks=[], yticks=[])
            continue
        _map(ax, world, values)


def _ends(bounds: Bounds | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    return (None, None) if bounds is None else (bounds.least, bounds.greatest)


def _map(ax: Axes, world: Gridworld, values: np.ndarray) -> None:
    draw_small_map(ax, world, values.reshape(world.grid.shape), CONSTRAINT_MAP, 1.0)
    outline(ax, world.constrained)


def _said(found: Identified, bounds: Bounds | None) -> str:
    """What the panel's subtitle says of the reward and the cells."""
    if bounds is None:
        return "the reward contradicts every constraint"
    told, cells = int(bounds.told.sum()), len(bounds.told)
    asked = "silent" if found.silent else "not asked" if is_left_out(found) else "asked"
    return f"{told} of {cells} cells determined; reward {asked}"
