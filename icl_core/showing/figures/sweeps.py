"""Figures 6, 8 and 9: what ICL recovers on a gridworld when one setting is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.loading import recovered_constraints, true_on_grid, world_as
from icl_core.showing.maps import draw_map, label, outline
from icl_core.showing.style import CONSTRAINT_MAP, colour_bar, footer, panels, plus_minus, title
from icl_core.showing.titles import panel_titles

ITEMS = [
    {
        "number": 6,
        "name": "slip",
        "draw": "slips_figure",
        "title": "Recovered constraints where moves slip",
        "caption": (
            "Gridworld (A) where moves slip: with probability p_slip another move happens than "
            "the intended one, each of the other seven with equal probability. The recovered "
            "constraint function, mean over seeds; each world has an expert of its own. The "
            "outline shows the truly constrained cells; the star is the goal. Below each title: "
            "CMSE, mean and standard deviation over seeds."
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
            "given other thresholds beta, mean over seeds. The demonstrations are the same for "
            "all, of an expert that was trained with beta = 0.99. The outline repeats the truly "
            "constrained cells; the star is the goal. Below each title: CMSE, mean and standard "
            "deviation over seeds."
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
            "given other thresholds beta, mean over seeds. The demonstrations are the same for "
            "all, of an expert that was trained with beta = 0.99. The outline repeats the truly "
            "constrained cells; the star is the goal. Below each title: CMSE, mean and standard "
            "deviation over seeds."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl"],
        "experiments": ["gridworld-b", "gridworld-b-beta-299", "gridworld-b-beta-599"],
        "method": "icl",
        "fewest": 2,
    },
]


def slips_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figure 6: mean constraint over seeds for each probability of a slip."""
    worlds = {name: world_as(results, name, Gridworld) for name in experiments}
    names = {name: rf"$p_{{slip}}={world.slip:g}$" for name, world in worlds.items()}
    return _figure(results, names, with_truth=False)


def thresholds_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figures 8 and 9: the true constraint, then the mean over seeds for each threshold."""
    names = {name: panel_titles(results, name, ["icl"])["icl"] for name in experiments}
    return _figure(results, names, with_truth=True)


def _figure(results: Results, names: Mapping[str, str], with_truth: bool) -> Figure:
    """A panel for each experiment, with its name as title."""
    recovered = {name: recovered_constraints(results, name)["icl"] for name in names}
    world = world_as(results, next(iter(names)), Gridworld)
    figure, axes = panels(len(names) + with_truth, height=1.9)
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
    seeds = results.footer({names[name]: len(runs) for name, runs in recovered.items()})
    footer(figure, f"outline: true constraint, star: goal; {seeds}")
    return figure
