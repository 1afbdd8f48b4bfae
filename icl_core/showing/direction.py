"""Figure 1: where expert and agents go, and which way an adjustment moves the constraint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.artifacts import read_tensors
from icl_core.environments.gridworld import Gridworld
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.learning.engine.rollouts import roll_out
from icl_core.demonstrations.accruals import normalised, visits
from icl_core.measuring.loading import constraint_on_grid, expert_visits
from icl_core.randomness import generator
from icl_core.showing.catalogue.item import FIRST_CONSTRAINTS, FIRST_POLICY
from icl_core.showing.grid_maps import colour_bar, draw_map, label, outline
from icl_core.showing.sources import Sources
from icl_core.showing.style import CONSTRAINT_MAP, GREEN, VERMILION, footer, panels, title

EPISODES = 200  # of the agent, for its accruals
SEEN = 0.005  # a share of visits that counts as going there


def direction_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """Accruals of expert and agent, the change of c in the first adjustment, and c after it."""
    (experiment,) = experiments
    world = sources.worlds[experiment]
    demonstrations = sources.demonstrations(experiment, "trajectories.parquet")
    expert = normalised(world.grid, expert_visits(demonstrations, world))
    found, policy = sources.find(FIRST_POLICY, experiment=experiment)[0]
    seed = int(found["group"].split("-")[0])
    agent = normalised(world.grid, _agent_visits(world, policy, seed))
    before, after = (
        constraint_on_grid(sources.find(pattern, experiment=experiment)[0][1], world)[0]
        for pattern in FIRST_CONSTRAINTS
    )
    figure = draw_direction(world, expert, agent, before, after)
    told = "change: blue down, red up; outline: true constraint, star: goal"
    footer(figure, f"{told}; scale: {sources.scale}, seed {seed}")
    return figure


def draw_direction(
    world: Gridworld, expert: np.ndarray, agent: np.ndarray, before: np.ndarray, after: np.ndarray
) -> Figure:
    """All arguments after the world are of the grid's shape: two shares of visits, two c."""
    figure, axes = panels(4, height=2.2)
    highest = 100 * max(expert.max(), agent.max())
    _draw_accruals(axes[0, 0], world, expert, "Greens", highest)
    title(axes[0, 0], "Expert", "share of visits [%]")
    _draw_accruals(axes[0, 1], world, agent, "Reds", highest)
    title(axes[0, 1], r"Agent $\pi_1$", "share of visits [%]")
    draw_map(axes[0, 2], world, after - before, "RdBu_r", 1.0, -1.0)
    _mark(axes[0, 2], expert >= SEEN, agent >= SEEN)
    title(axes[0, 2], r"Change $c_1-c_0$", "dots: expert, rings: agent")
    image = draw_map(axes[0, 3], world, after, CONSTRAINT_MAP, 1.0)
    title(axes[0, 3], r"Constraint $c_1$", "after the adjustment")
    for ax in axes[0]:
        outline(ax, world.constrained)
    label(axes[0], world)
    colour_bar(figure, axes[0, 3], image, "constraint value c(i, j)")
    return figure


def _agent_visits(world: Gridworld, path, seed: int) -> np.ndarray:
    policy = PolicyState.from_tensors(read_tensors(path)).final.pick([0])
    return visits(world, roll_out(world, policy, [generator(seed, "figure")], EPISODES)[0])


def _draw_accruals(ax: Axes, world: Gridworld, share: np.ndarray, colours: str, highest: float):
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
