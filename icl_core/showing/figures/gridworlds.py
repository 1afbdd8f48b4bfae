"""Figures 6, 8, 9 and 16 to 19: constraints and accruals on the cells of a gridworld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from icl_core.demonstrations.accruals import normalised
from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.evaluation import dissimilarities
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import (
    Accruals,
    accruals,
    demonstrators,
    footer_of,
    panel_titles,
    recovered_constraints,
    true_on_grid,
    world_as,
)
from icl_core.showing.maps import draw_map, label, outline
from icl_core.showing.style import (
    ACCRUAL_MAP,
    CONSTRAINT_MAP,
    colour_bar,
    footer,
    panels,
    plus_minus,
    title,
)

ITEMS = [
    {
        "number": 6,
        "name": "slip",
        "draw": "slips_figure",
        "title": "Recovered constraints where moves slip",
        "caption": (
            "Gridworld (A) where moves slip: with probability p_slip another move happens than "
            "the intended one, each of the other seven with equal probability. The recovered "
            "constraint function, mean over seeds, each of which learns from an expert of its own "
            "that was trained in the same world. The outline shows the truly constrained cells; "
            "the star is the goal. Below each title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-a-slip-50",
        ],
        "method": "icl",
        "fewest": 2,
    },
    {
        "number": 8,
        "name": "thresholds-gridworld-a",
        "draw": "thresholds_figure",
        "title": "Thresholds, Gridworld (A)",
        "caption": (
            "Gridworld (A): the true constraint function and those that ICL recovers when it is "
            "given other thresholds beta, mean over seeds. All thresholds learn from the same "
            "experts, one for each seed, trained with beta = 0.99. Runs neither stop early nor "
            "bound what agents may cost, unless Table 10 says so; at scale quick the higher "
            "thresholds have a single iteration. The outline repeats the truly constrained cells; "
            "the star is the goal. Below each title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl"],
        "experiments": ["gridworld-a", "gridworld-a-beta-299", "gridworld-a-beta-599"],
        "method": "icl",
        "fewest": 2,
    },
    {
        "number": 9,
        "name": "thresholds-gridworld-b",
        "draw": "thresholds_figure",
        "title": "Thresholds, Gridworld (B)",
        "caption": (
            "Gridworld (B): the true constraint function and those that ICL recovers when it is "
            "given other thresholds beta, mean over seeds. All thresholds learn from the same "
            "experts, one for each seed, trained with beta = 0.99. Runs neither stop early nor "
            "bound what agents may cost, unless Table 10 says so; at scale quick the higher "
            "thresholds have a single iteration. The outline repeats the truly constrained cells; "
            "the star is the goal. Below each title: CMSE, mean and standard deviation over seeds."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl"],
        "experiments": ["gridworld-b", "gridworld-b-beta-299", "gridworld-b-beta-599"],
        "method": "icl",
        "fewest": 2,
    },
    {
        "number": 16,
        "name": "constraint-gridworld-a",
        "draw": "constraint_figure",
        "title": "Constraint function, Gridworld (A)",
        "caption": (
            "Gridworld (A): the true constraint function and the recovered ones, each the mean "
            "over the method's training seeds, on one colour scale. The outline repeats the "
            "truly constrained cells; the star is the goal. Below each title: CMSE, mean and "
            "standard deviation over seeds."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint"],
        "experiments": ["gridworld-a"],
    },
    {
        "number": 17,
        "name": "accruals-gridworld-a",
        "draw": "accruals_figure",
        "title": "Normalised accruals, Gridworld (A)",
        "caption": (
            "Gridworld (A): normalised accruals, the share of all visits that fell on each cell, "
            "of the demonstrations and of each method's final policy (means over seeds), on one "
            "colour scale. The outline shows the truly constrained cells; the star is the goal. "
            "Below each title: NAD to the demonstrations of the seed, mean and deviation, of all "
            "episodes that are shown; Table 2 has that of their first set."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["gridworld-a"],
    },
    {
        "number": 18,
        "name": "constraint-gridworld-b",
        "draw": "constraint_figure",
        "title": "Constraint function, Gridworld (B)",
        "caption": (
            "Gridworld (B): the true constraint function and the recovered ones, each the mean "
            "over the method's training seeds, on one colour scale. The outline repeats the "
            "truly constrained cells; the star is the goal. Below each title: CMSE, mean and "
            "standard deviation over seeds."
        ),
        "category": "Recovered constraints",
        "needs": ["constraint"],
        "experiments": ["gridworld-b"],
    },
    {
        "number": 19,
        "name": "accruals-gridworld-b",
        "draw": "accruals_figure",
        "title": "Normalised accruals, Gridworld (B)",
        "caption": (
            "Gridworld (B): normalised accruals, the share of all visits that fell on each cell, "
            "of the demonstrations and of each method's final policy (means over seeds), on one "
            "colour scale. The outline shows the truly constrained cells; the star is the goal. "
            "Below each title: NAD to the demonstrations of the seed, mean and deviation, of all "
            "episodes that are shown; Table 2 has that of their first set."
        ),
        "category": "Accruals",
        "needs": ["demonstrations", "evaluation"],
        "experiments": ["gridworld-b"],
    },
]


def slips_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figure 6: mean constraint over seeds for each probability of a slip."""
    worlds = {name: world_as(results, name, Gridworld) for name in experiments}
    names = {name: rf"$p_{{slip}}={world.slip:g}$" for name, world in worlds.items()}
    return _draw_sweep(results, names, with_truth=False)


def thresholds_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figures 8 and 9: the true constraint, then the mean over seeds for each threshold."""
    names = {name: panel_titles(results, name, ["icl"])["icl"] for name in experiments}
    return _draw_sweep(results, names, with_truth=True)


def _draw_sweep(results: Results, names: Mapping[str, str], with_truth: bool) -> Figure:
    """A panel for each experiment, with its name as title."""
    found = {name: recovered_constraints(results, name).get("icl") for name in names}
    recovered = {name: runs for name, runs in found.items() if runs is not None}
    world = world_as(results, next(iter(names)), Gridworld)
    figure, axes = panels(len(recovered) + with_truth, height=1.9)
    if with_truth:
        draw_map(axes[0, 0], world, true_on_grid(world), CONSTRAINT_MAP, 1.0)
        title(axes[0, 0], "True constraint fn.", "0 or 1")
    for ax, (name, runs) in zip(axes[0, int(with_truth) :], recovered.items(), strict=True):
        image = draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
        outline(ax, world.constrained)
        error = plus_minus(*mean_and_std(constraint_error(world, runs)))
        title(ax, names[name], f"CMSE {error}")
    label(axes[0], world)
    colour_bar(figure, axes[0, -1], image, "constraint value c(i, j)")
    seeds = results.footer(
        {names[name]: len(runs) for name, runs in recovered.items()},
        {names[n]: results.failed(n, "icl", len(recovered.get(n, ()))) for n in names},
    )
    footer(figure, f"outline: true constraint, star: goal; {seeds}")
    return figure


def constraint_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figures 16 and 18: true constraint, then each method's mean over seeds."""
    (experiment,) = experiments
    values = recovered_constraints(results, experiment)
    titles = panel_titles(results, experiment, values)
    figure = draw_constraints(world_as(results, experiment, Gridworld), values, titles)
    footer(figure, _footer(results, experiment, values))
    return figure


def accruals_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figures 17 and 19: the expert's accruals, then each method's mean over seeds."""
    (experiment,) = experiments
    found = accruals(results, experiment)
    titles = panel_titles(results, experiment, found.visited)
    figure = draw_accruals(world_as(results, experiment, Gridworld), found, titles)
    footer(figure, _footer(results, experiment, found.visited))
    return figure


def draw_constraints(
    world: Gridworld, values: Mapping[str, np.ndarray], titles: Mapping[str, str]
) -> Figure:
    """`values` holds (runs, 7, 7) for each method, in the order of the panels,
    and `titles` how its panel is called."""
    figure, axes = panels(1 + len(values), height=1.9)
    image = draw_map(axes[0, 0], world, true_on_grid(world), CONSTRAINT_MAP, 1.0)
    title(axes[0, 0], "True constraint fn.", "0 or 1")
    for ax, (method, runs) in zip(axes[0, 1:], values.items(), strict=True):
        draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
        outline(ax, world.constrained)
        error = plus_minus(*mean_and_std(constraint_error(world, runs)))
        title(ax, titles[method], f"CMSE {error}")
    label(axes[0], world)
    colour_bar(figure, axes[0, -1], image, "constraint value c(i, j)")
    return figure


def draw_accruals(world: Gridworld, found: Accruals, titles: Mapping[str, str]) -> Figure:
    """`titles` are those of the methods' panels."""
    visited = found.visited
    shares = {m: 100 * normalised(world.grid, runs).mean(axis=0) for m, runs in visited.items()}
    expert_share = 100 * normalised(world.grid, found.experts).mean(axis=0)
    highest = max(share.max() for share in (expert_share, *shares.values()))
    figure, axes = panels(1 + len(visited), height=1.9)
    image = draw_map(axes[0, 0], world, expert_share, ACCRUAL_MAP, highest)
    title(axes[0, 0], "Expert accruals", demonstrators(len(found.experts)))
    for ax, (method, counts) in zip(axes[0, 1:], visited.items(), strict=True):
        draw_map(ax, world, shares[method], ACCRUAL_MAP, highest)
        distances = dissimilarities(world, found.shown[method], counts)
        title(ax, titles[method], f"NAD {plus_minus(*mean_and_std(distances))}")
    for ax in axes[0]:
        outline(ax, world.constrained)
    label(axes[0], world)
    colour_bar(figure, axes[0, -1], image, "share of visits [%]")
    return figure


def _footer(results: Results, experiment: str, runs: dict[str, np.ndarray]) -> str:
    return f"outline: true constraint, star: goal; {footer_of(results, experiment, runs)}"
