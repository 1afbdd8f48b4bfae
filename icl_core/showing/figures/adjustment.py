"""Figure 1: where the first adjustment moves the constraint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.artifacts import read_tensors
from icl_core.demonstrations.accruals import normalised, visits
from icl_core.environments.gridworld import Gridworld
from icl_core.layout import seeds_of
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.measuring.loading import constraint_on_grid, failed_runs
from icl_core.measuring.results import Results
from icl_core.randomness import generator
from icl_core.showing.loading import (
    demonstrated,
    world_as,
)
from icl_core.showing.maps import draw_map, label, outline
from icl_core.showing.style import (
    CONSTRAINT_MAP,
    GREEN,
    VERMILION,
    colour_bar,
    footer,
    panels,
    title,
)

ITEMS = [
    {
        "number": 1,
        "name": "direction",
        "draw": "direction_figure",
        "title": "Expert, agents and the direction of an adjustment",
        "caption": (
            "Where the expert and the agent go on Gridworld (A), and which way the constraint "
            "moves: a real run in place of the paper's sketch. First: share of all visits that "
            "fell on each cell, in the demonstrations. Second: the same for the policy of the "
            "first iteration, before any adjustment (numbers: per cent, from 1 on). Third: the "
            "change of the constraint in the first adjustment, where the expert goes (green dots) "
            "and where the agent goes (red rings). The loss pulls it down where there are dots and "
            "up where there are rings; where both go, the two pull against each other, and a "
            "network moves neighbouring cells together. While the demonstrations cost more than "
            "beta, as they do under a constraint of one half everywhere, the pull down is the "
            "stronger one, and c may fall everywhere: less, if the sketch is right, where the "
            "agent goes. The small print has the mean change over the visits of either. Fourth: "
            "the constraint after the adjustment. The outline shows the truly constrained cells; "
            "the star is the goal."
        ),
        "category": "Results",
        "needs": [
            "demonstrations",
            "iteration_constraint:method=icl,iteration=00",
            "iteration_constraint:method=icl,iteration=01",
            "iteration_policy:method=icl,iteration=01",
        ],
        "experiments": ["gridworld-a"],
        "method": "icl",
    },
]

EPISODES = 200  # of the agent, for its accruals
SEEN = 0.005  # a share of visits that counts as going there


def direction_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Accruals of expert and agent, the change of c in the first adjustment, and c after it."""
    (experiment,) = experiments
    world = world_as(results, experiment, Gridworld)
    icl = {"experiment": experiment, "method": "icl"}
    fields, policy = results.find("iteration_policy", **icl, iteration="01")[0]
    seeds = seeds_of(fields["group"])
    first, second = (
        results.find("iteration_constraint", **icl, iteration=iteration)[0].path
        for iteration in ("00", "01")
    )
    run = int(np.argmin(failed_runs(second, len(seeds)) > 0))  # the first that has not failed
    seed = seeds[run]
    expert = normalised(world.grid, demonstrated(results, experiment).to([seed])[0])
    agent = normalised(world.grid, _agent_visits(world, policy, run, seed))
    before, after = (constraint_on_grid(path, world)[run] for path in (first, second))
    figure = draw_direction(world, expert, agent, before, after)
    key = f"{over_visits(expert, agent, after - before)}; outline: true constraint, star: goal"
    footer(figure, f"{key}; scale: {results.scale}, seed {seed}")
    return figure


def over_visits(expert: np.ndarray, agent: np.ndarray, change: np.ndarray) -> str:
    """How much c changes where the expert goes and where the agent goes, by shares of visits."""
    of_expert, of_agent = (f"{np.sum(share * change):+.2f}" for share in (expert, agent))
    text = f"mean change over the expert's visits {of_expert}, over the agent's {of_agent}"
    return text.replace("-", "\N{MINUS SIGN}")


def draw_direction(
    world: Gridworld, expert: np.ndarray, agent: np.ndarray, before: np.ndarray, after: np.ndarray
) -> Figure:
    """All arguments after the world are of the grid's shape: two shares of visits, two c."""
    figure, axes = panels(4, height=2.0)
    highest = 100 * max(expert.max(), agent.max())
    _draw_accruals(axes[0, 0], world, expert, "Greens", highest)
    title(axes[0, 0], "Expert", "share of visits [%]")
    _draw_accruals(axes[0, 1], world, agent, "Reds", highest)
    title(axes[0, 1], r"Agent $\pi_1$", "share of visits [%]")
    most = max(0.1, float(np.abs(after - before).max()))
    change = draw_map(axes[0, 2], world, after - before, "RdBu_r", most, -most)
    _mark(axes[0, 2], expert >= SEEN, agent >= SEEN)
    title(axes[0, 2], r"Change $c_1-c_0$", "dots: expert, rings: agent")
    image = draw_map(axes[0, 3], world, after, CONSTRAINT_MAP, 1.0)
    title(axes[0, 3], r"Constraint $c_1$", "after the adjustment")
    for ax in axes[0]:
        outline(ax, world.constrained)
    label(axes[0], world)
    colour_bar(figure, axes[0, 2], change, "change of c")
    colour_bar(figure, axes[0, 3], image, "c(i, j)")
    return figure


def _agent_visits(world: Gridworld, path: Path, run: int, seed: int) -> np.ndarray:
    policy = PolicyState.from_tensors(read_tensors(path)).final.pick([run])
    return visits(world, roll_out(world, policy, [generator(seed, "figure")], EPISODES)[0])


def _draw_accruals(
    ax: Axes, world: Gridworld, share: np.ndarray, colours: str, highest: float
) -> None:
    draw_map(ax, world, 100 * share, colours, highest)
    for (i, j), value in np.ndenumerate(100 * share):
        if value >= 1.0 and (i, j) != world.goal:
            dark = value > 0.6 * highest
            ax.text(
                j,
                i,
                f"{value:.0f}",
                ha="center",
                va="center",
                fontsize=4.5,
                color="white" if dark else "#404040",
            )


def _mark(ax: Axes, expert: np.ndarray, agent: np.ndarray) -> None:
    """A dot where the expert goes, a ring where the agent goes; both where they overlap."""
    rows, columns = np.nonzero(agent)
    ax.scatter(columns, rows, s=20, facecolors="none", edgecolors=VERMILION, linewidths=0.9)
    rows, columns = np.nonzero(expert)
    ax.scatter(columns, rows, s=5, color=GREEN, linewidths=0)
