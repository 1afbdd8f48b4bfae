"""Tables 1c and 1d: what the demonstrations determine, and whether what was learned explains them.

Ours. docs/theory.md says what the sets are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from icl_core.environments.world import World
from icl_core.measuring.budget import HALF
from icl_core.measuring.determined import (
    DETERMINED,
    DETERMINED_FORBIDDEN,
    EDGE_ABOVE,
    EDGE_BELOW,
    EXCESS_COST,
    INSIDE,
    LEAST_CMSE,
    MOST_CMSE,
    NOBODY,
    REWARD_LEFT_OUT,
    REWARD_SILENT,
    TRUTH_INSIDE,
    UNEXPLAINED,
)
from icl_core.measuring.edges import edge_axis
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import reported
from icl_core.showing.loading import column_title, in_order, metrics_of
from icl_core.showing.save import Table
from icl_core.tables import markdown_rows

ITEMS = [
    {
        "number": 1,
        "suffix": "c",
        "name": "determined",
        "draw": "determined_table",
        "title": "What the demonstrations determine",
        "caption": (
            "What can be known of the constraint from the demonstrations, whatever method learns "
            "from them. Gridworlds: of how many cells all constraints that explain the "
            "demonstrations say the same (forbidden or not), and the smallest and the largest "
            "CMSE that one of them has. CartPole and the robots: the edges of a forbidden side "
            "that the demonstrations can pay for with beta."
        ),
        "category": "What can be known",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-b",
            "gridworld-b-slip-10",
            "gridworld-b-slip-30",
            "cartpole-mr",
            "cartpole-mid",
            "ant",
            "halfcheetah",
        ],
    },
    {
        "number": 1,
        "suffix": "d",
        "name": "explains",
        "draw": "explains_table",
        "title": "Whether what was learned explains the demonstrations",
        "caption": (
            "How many seeds of each method have a constraint that explains the demonstrations: "
            "these spend at most beta under it and, on gridworlds, nobody who keeps it earns "
            "more. In brackets: the mean cost by which the demonstrations miss beta."
        ),
        "category": "What can be known",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-b",
            "cartpole-mr",
            "cartpole-mid",
            "ant",
            "halfcheetah",
        ],
    },
]

OF_CELLS = (DETERMINED, DETERMINED_FORBIDDEN, LEAST_CMSE, MOST_CMSE, TRUTH_INSIDE)
OF_REWARD = (REWARD_SILENT, REWARD_LEFT_OUT, UNEXPLAINED)
COLUMNS = ("experiment", *OF_CELLS, *OF_REWARD, EDGE_BELOW, EDGE_ABOVE)
INSIDE_COLUMNS = ("method", "experiment", "seeds", INSIDE, EXCESS_COST)


def determined_table(results: Results, experiments: Sequence[str]) -> Table:
    """A row for each set of demonstrations."""
    metrics = metrics_of(results)
    known = {name: reported(metrics, name) for name in COLUMNS[1:]}
    values = {
        experiment: {
            name: np.array(list(found[experiment, NOBODY].values()))
            for name, found in known.items()
            if (experiment, NOBODY) in found
        }
        for experiment in experiments
    }
    rows = tuple(
        (experiment, *(float(own[name].mean()) if name in own else "" for name in COLUMNS[1:]))
        for experiment, own in values.items()
    )
    head = ["Environment", "Determined", "CMSE, least to most", "The true constraint"]
    lines = [head, ["---", "---", "---:", "---"]]
    for experiment, own in values.items():
        world = results.worlds[experiment]
        lines.append(
            [_title(world), *(_edge_cells(world, own) if EDGE_BELOW in own else _cells(own))]
        )
    text = f"# {ITEMS[0]['title']}\n\n{markdown_rows(lines)}\n\n{_notes(results, values)}\n"
    return Table(COLUMNS, rows, text)


def _title(world: World) -> str:
    slip = getattr(world, "slip", 0.0)
    return f"{world.title}, slip {slip:g}" if slip else world.title


def _cells(own: Mapping[str, np.ndarray]) -> list[str]:
    """Of a gridworld: means over the experts whose demonstrations some constraint explains."""
    if not own:
        return ["-", "-", "-"]
    experts = len(own[UNEXPLAINED])
    if own[UNEXPLAINED].all():
        return ["no constraint explains them", "-", f"explains 0 of {experts}"]
    told, forbidden = (f"{100 * own[n].mean():.0f} %" for n in (DETERMINED, DETERMINED_FORBIDDEN))
    by = " (of the budget alone)" if own[REWARD_LEFT_OUT].any() else ""
    text = f"{told} of all cells, {forbidden} of the forbidden ones{by}"
    ends = f"{own[LEAST_CMSE].mean():.3f} to {own[MOST_CMSE].mean():.3f}"
    return [text, ends, f"explains {int(own[TRUTH_INSIDE].sum())} of {experts}"]


def _edge_cells(world: World, own: Mapping[str, np.ndarray]) -> list[str]:
    """Of a world of one position."""
    axis = world.grid.axes[edge_axis(world)]
    low, high = axis.physical[[0, -1]]
    below, above = float(own[EDGE_BELOW].mean()), float(own[EDGE_ABOVE].mean())
    unit = f" {axis.unit}" if axis.unit else ""
    sides = [
        f"{axis.name} < e for {'every e' if below >= high else f'e up to {below:.2f}{unit}'}",
        f"{axis.name} > e for {'every e' if above <= low else f'e from {above:.2f}{unit}'}",
    ]
    return [f"can be forbidden: {'; '.join(sides)}", "-", _true_edges(world)]


def _true_edges(world: World) -> str:
    """Where the true constraint forbids, whatever the action, in words."""
    which, truth = edge_axis(world), world.true_on_grid
    if truth is None:
        return "-"
    places = world.grid.axes[which].physical
    values = np.moveaxis(truth.reshape(world.grid.shape), which, 0).reshape(len(places), -1)
    forbidden = np.concatenate([[False], values.min(axis=1) > HALF, [False]])
    ends = np.flatnonzero(forbidden[1:] != forbidden[:-1]).reshape(-1, 2)
    sides = [f"{places[first]:.1f} to {places[end - 1]:.1f}" for first, end in ends]
    return f"it forbids {' and '.join(sides)}" if sides else "-"


def _notes(results: Results, values: Mapping[str, Mapping[str, np.ndarray]]) -> str:
    text = (
        f"Scale of our run: {results.scale}. Means over experts. Determined: all "
        "constraints that explain the demonstrations lie on one side of 0.5."
    )
    if any(own[REWARD_LEFT_OUT].any() for own in values.values() if REWARD_LEFT_OUT in own):
        text += (
            " Of the budget alone: the reward would say more, but where moves slip asking it takes "
            "minutes, and it was not asked; the bounds hold all the same."
        )
    return text


def explains_table(results: Results, experiments: Sequence[str]) -> Table:
    """A row for each method, a column for each experiment."""
    metrics = metrics_of(results)
    inside, excess = reported(metrics, INSIDE), reported(metrics, EXCESS_COST)
    shown = [key for key in inside if key[0] in experiments]
    methods = in_order(results, {method for _, method in shown})
    rows, lines = [], [["Algorithm", *(column_title(results, name) for name in experiments)]]
    lines.append(["---", *("---:" for _ in experiments)])
    for method in methods:
        line = [results.title(method)]
        for experiment in experiments:
            seeds = list(inside.get((experiment, method), {}).values())
            if not seeds:
                line.append("-")
                continue
            missed = float(np.mean(list(excess[experiment, method].values())))
            line.append(f"{sum(seeds):.0f} of {len(seeds)} ({missed:.2f})")
            rows.append((method, experiment, len(seeds), float(np.mean(seeds)), missed))
        lines.append(line)
    notes = (
        f"Scale of our run: {results.scale}. Seeds whose constraint explains the demonstrations, "
        "of all that have one; in brackets the mean over seeds of max(0, J_E(c) - beta)."
    )
    text = f"# {ITEMS[1]['title']}\n\n{markdown_rows(lines)}\n\n{notes}\n"
    return Table(INSIDE_COLUMNS, tuple(rows), text)
