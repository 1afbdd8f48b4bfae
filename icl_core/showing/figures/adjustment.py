"""Figures 1 and 7: where an adjustment moves the constraint, and one with a Lagrange multiplier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.artifacts import read_table, read_tensors
from icl_core.demonstrations.accruals import normalised, visits
from icl_core.environments.gridworld import Gridworld
from icl_core.layout import seeds_of
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.measuring.loading import constraint_on_grid, failed_runs
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.results import Results, Share
from icl_core.measuring.statistics import mean_and_std
from icl_core.randomness import generator
from icl_core.showing.loading import (
    demonstrated,
    failed_seeds,
    recovered_constraints,
    world_as,
)
from icl_core.showing.maps import draw_map, label, outline
from icl_core.showing.style import (
    BLUE,
    CONSTRAINT_MAP,
    GREEN,
    VERMILION,
    colour_bar,
    footer,
    panels,
    plus_minus,
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
            "first iteration, trained without a constraint (numbers: per cent, from 1 on). "
            "Third: the change of the constraint in the first adjustment. It falls where the "
            "expert goes (green dots) and rises where only the agent goes (red rings); where "
            "both go, the two pull against each other. Fourth: the constraint after the "
            "adjustment. The outline shows the truly constrained cells; the star is the goal."
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
    {
        "number": 7,
        "name": "lagrangian",
        "draw": "lagrangian_figure",
        "title": "Adjustment by a Lagrange multiplier",
        "caption": (
            "Constraint adjustment with a Lagrange multiplier in place of the penalty, Gridworld "
            "(A). In turns, the multiplier takes a step along J_E(c) - beta, held at zero or "
            "above, and the constraint a step on J_mix(c) - multiplier (J_E(c) - beta), with the "
            "data, the weights and the bound on far agents that ICL has. First: recovered "
            "constraint, mean over seeds. Second: the multiplier of one seed over all adjustment "
            "steps of all iterations; band: its least and greatest value within each of 400 "
            "spans, of every 25th step. Third and fourth: the share of demonstrations whose "
            "discounted constraint value is at most beta, for the Lagrangian and for ICL; faint: "
            "each seed, bold: their mean. Both run all iterations."
        ),
        "category": "Variations of ICL",
        "needs": ["constraint:method=icl", "adjustment:method=icl"],
        "experiments": ["gridworld-a-lagrangian", "gridworld-a-all-iterations"],
        "method": "icl",
        "fewest": 2,
    },
]

EPISODES = 200  # of the agent, for its accruals
SEEN = 0.005  # a share of visits that counts as going there
POINTS = 400  # of a curve: more than a printed panel can show


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
    key = "change: blue down, red up; outline: true constraint, star: goal"
    footer(figure, f"{key}; scale: {results.scale}, seed {seed}")
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


def lagrangian_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Mean constraint, multiplier of one seed, and satisfied demonstrations of both methods."""
    ours = experiments[0]
    figure, axes = panels(4, height=1.9, width_ratios=[1.0, 1.15, 1.15, 1.15])
    runs = recovered_constraints(results, ours)["icl"]
    _draw_constraint(figure, axes[0, 0], world_as(results, ours, Gridworld), runs)
    logs = {name: adjustment_log(results, name) for name in experiments}
    first = min(logs[ours])
    title(axes[0, 1], r"Multiplier $\lambda$", f"Lagrangian, seed {first}")
    _draw_range(axes[0, 1], logs[ours][first], "multiplier", VERMILION)
    axes[0, 1].set_ylabel(r"$\lambda$")
    names = ("Lagrangian", "ICL (penalty)")
    for ax, experiment, name, colour in zip(
        axes[0, 2:], experiments, names, (VERMILION, BLUE), strict=False
    ):
        title(ax, "Expert satisfaction", name)
        _draw_satisfaction(ax, list(logs[experiment].values()), colour)
    axes[0, 2].set_ylabel("demonstrations\nsatisfied [%]")
    shown = {n: len(logs[e]) for n, e in zip(names, logs, strict=False)}
    failed = {n: results.failed(e, "icl", shown[n]) for n, e in zip(names, logs, strict=False)}
    footer(figure, _footer(results, shown, failed))
    return figure


def adjustment_log(results: Results, experiment: str) -> dict[int, dict[str, np.ndarray]]:
    """The columns of the adjustment logs, by seed, all iterations one after the other: their steps
    are counted through.

    Seeds that have failed are left out.
    """
    parts: dict[int, list] = {}
    failed = failed_seeds(results, experiment, "icl")
    for _, path in results.find("adjustment", experiment=experiment, method="icl"):
        table = read_table(path, ADJUSTMENT_SCHEMA)
        seed = table["seed"].to_numpy()
        columns = {name: table[name].to_numpy() for name in table.column_names}
        for one in set(np.unique(seed).tolist()) - failed:
            rows = seed == one
            own, known = {n: c[rows] for n, c in columns.items()}, parts.setdefault(one, [])
            own["step"] = own["step"] + (known[-1]["step"][-1] if known else 0)
            known.append(own)
    return {
        seed: {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        for seed, found in sorted(parts.items())
    }


def thinned(
    steps: np.ndarray, values: np.ndarray, points: int = POINTS
) -> tuple[np.ndarray, np.ndarray]:
    """Steps at the middle of so many equal spans at most, and the values in each: (spans, n)."""
    width = max(1, -(-len(values) // points))
    whole = len(values) // width * width
    return steps[:whole].reshape(-1, width).mean(axis=1), values[:whole].reshape(-1, width)


def _draw_constraint(figure: Figure, ax: Axes, world: Gridworld, runs: np.ndarray) -> None:
    image = draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
    outline(ax, world.constrained)
    title(ax, "Recovered c", f"CMSE {plus_minus(*mean_and_std(constraint_error(world, runs)))}")
    label([ax], world)
    colour_bar(figure, ax, image, "")


def _draw_range(ax: Axes, log: Mapping[str, np.ndarray], column: str, colour: str) -> None:
    """Every span's mean, and its least and greatest value: what oscillates shows as a band."""
    steps, spans = thinned(log["step"], log[column])
    ax.fill_between(
        steps, spans.min(axis=1), spans.max(axis=1), color=colour, alpha=0.3, linewidth=0
    )
    ax.plot(steps, spans.mean(axis=1), color=colour, linewidth=0.6)
    ax.set_ylim(bottom=0)
    _finish(ax)


def _draw_satisfaction(ax: Axes, logs: Sequence[Mapping[str, np.ndarray]], colour: str) -> None:
    """Each seed faintly, and the mean over those that are still adjusting."""
    curves = [thinned(log["step"], 100 * log["expert_satisfaction"]) for log in logs]
    for steps, spans in curves:
        ax.plot(steps, spans.mean(axis=1), color=colour, linewidth=0.35, alpha=0.35)
    shortest = min(len(steps) for steps, _ in curves)
    mean = np.mean([spans.mean(axis=1)[:shortest] for _, spans in curves], axis=0)
    ax.plot(curves[0][0][:shortest], mean, color=colour, linewidth=1.1)
    ax.set_ylim(0, 103)
    _finish(ax)


def _finish(ax: Axes) -> None:
    ax.set_xlabel("adjustment step")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(_thousands)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)


def _thousands(value: float, _: object) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _footer(results: Results, shown: dict[str, int], failed: dict[str, Share]) -> str:
    text = results.footer(shown, failed)
    return f"band: least to greatest value; bold: mean over seeds, faint: each seed; {text}"
