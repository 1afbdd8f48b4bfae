"""Figure 6b: the constraints of Algorithm 1 solved exactly, beside those of the networks. Ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.exact import METHODS, Place, places_of
from icl_core.showing.loading import footer_of_worlds, recovered_constraints, true_on_grid
from icl_core.showing.maps import draw_small_map, outline
from icl_core.showing.style import (
    CONSTRAINT_MAP,
    PAGE,
    colour_bar,
    footer,
    left_out,
    plus_minus,
)

ITEMS = [
    {
        "number": 6,
        "suffix": "b",
        "name": "exact",
        "title": "Algorithm 1 solved exactly, and by networks",
        "caption": (
            "Both gridworlds, and where moves slip: the true constraint; what Algorithm 1 ends "
            "with when it is solved exactly, one value for each cell, with the paper's objective "
            "(Equation 5) and with ours; and what the networks of ICL end with. All learn from "
            "the same demonstrations. Mean over seeds, which draw among equally good exact "
            "solutions; below each panel its CMSE, mean and standard deviation. The outline "
            "repeats the truly constrained cells; the star is the goal. At smaller scales than "
            "the paper's exact alternations are cut off, at quick after 10 adjustments, and the "
            "networks of Gridworld (B) with slips are trained for less."
        ),
        "category": "What can be known",
        "needs": [
            "constraint:method=icl",
            "constraint:method=exact-icl",
            "constraint:method=exact-icl-ours",
        ],
        "experiments": [
            "gridworld-a",
            "gridworld-a-exact",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-b",
            "gridworld-b-exact",
            "gridworld-b-slip-10",
            "gridworld-b-slip-30",
        ],
        "fewest": 2,
    },
]

TRUTH = "True constraint"
HEIGHT = 1.14  # inches of a row


def draw(results: Results, experiments: Sequence[str]) -> Figure:
    """A column for each world, a row for the truth and for each method."""
    places = places_of(results, experiments)
    figure = Figure(figsize=(PAGE, HEIGHT * (1 + len(METHODS)) + 0.2))
    axes = figure.subplots(1 + len(METHODS), len(places), squeeze=False)
    shown = []
    for column, place in zip(axes.T, places, strict=True):
        own = {one: recovered_constraints(results, one) for one in place.experiments}
        shown += [(place.title, one, runs) for one, runs in own.items()]
        found = {method: runs for by in own.values() for method, runs in by.items()}
        column[0].set_title(f"{place.world.title}\n$p_{{slip}}={place.world.slip:g}$")
        truth = true_on_grid(place.world)
        image = draw_small_map(column[0], place.world, truth, CONSTRAINT_MAP, 1.0)
        for ax, method in zip(column[1:], METHODS, strict=True):
            _panel(ax, place, found.get(method))
    for ax, text in zip(axes[:, 0], (TRUTH, *METHODS.values()), strict=True):
        ax.set_ylabel(text.replace(", ", ",\n").replace(" (", "\n("), fontsize=7)
    colour_bar(figure, axes[0, -1], image, "c(i, j)")
    footer(figure, f"outline: true constraint, star: goal; {footer_of_worlds(results, shown)}")
    return figure


def _panel(ax: Axes, place: Place, runs: np.ndarray | None) -> None:
    if runs is None:
        left_out(ax, "not run at\nthis scale")
        ax.set(xticks=[], yticks=[])
        return
    draw_small_map(ax, place.world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
    outline(ax, place.world.constrained)
    error = plus_minus(*mean_and_std(constraint_error(place.world, runs)))
    ax.set_xlabel(error, fontsize=6)
