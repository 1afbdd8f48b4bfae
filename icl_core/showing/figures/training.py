"""Figure 10: the training of ICRL and ICL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from icl_core.environments.world import World
from icl_core.measuring.results import Results
from icl_core.showing.loading import failed_seeds, panel_titles, training_curve
from icl_core.showing.style import (
    BLUE,
    GREEN,
    GREY,
    footer,
    left_out,
    panels,
    threshold_line,
    title,
)

ITEMS = [
    {
        "number": 10,
        "name": "training-halfcheetah",
        "draw": "training_figure",
        "title": "Reward and cost in training, HalfCheetah-Constrained",
        "caption": (
            "HalfCheetah-Constrained: training of ICRL and of ICL over all steps taken in the "
            "environment, which are fewer than the paper's 2M and not equally many for both. "
            "Reward: undiscounted, of the episodes that ended in a rollout. Cost: their "
            "discounted value J(c) under the constraint that the method itself had learned by "
            "then, so that the costs of the two are not of one c; the paper shows the average "
            "cost of a step instead, which our logs do not hold. ICL begins each iteration "
            "(dotted) with a new policy and ends with one more training on the last constraint; "
            "the dashed line is its threshold beta. Where seeds have stopped early, numbers above "
            "the rewards say how many are left. Thick: mean over seeds; thin: each of them."
        ),
        "category": "Results",
        "needs": [
            "training:method=icrl",
            "iteration_training:method=icl",
            "training:method=icl",
            "constraint:method=icrl",
            "constraint:method=icl",
        ],
        "experiments": ["halfcheetah"],
        "shows_settings": True,
    },
]

Log = Mapping[str, np.ndarray]  # the columns of a training log, of all seeds
# By method: the kinds of its logs, in the order in which they were written.
LOGS = {"icrl": ("training",), "icl": ("iteration_training", "training")}
# By column of the log: what it is called, its colour.
QUANTITIES = {"return": ("episodic reward", BLUE), "constraint_value": ("cost J(c)", GREEN)}


def training_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Reward and cost of either method over the steps that it has taken."""
    (experiment,) = experiments
    learning = results.settings[experiment]["learning"]
    rollouts = steps_of_rollout(learning, results.worlds[experiment])
    logs = {method: parts_of_training(results, experiment, method) for method in LOGS}
    titles = panel_titles(results, experiment, logs)
    figure = draw_training(results.beta(experiment), logs, rollouts, titles)
    runs = {
        results.title(method): len(np.unique(np.concatenate([part["seed"] for part in parts])))
        for method, parts in logs.items()
        if parts
    }
    lines = "thick: mean, thin: each seed; dotted: a new iteration of ICL"
    counts = {method: runs.get(results.title(method), 0) for method in logs}
    failed = {results.title(m): results.failed(experiment, m, n) for m, n in counts.items()}
    footer(figure, f"{lines}; {results.footer(runs, failed)}")
    return figure


def steps_of_rollout(learning: Mapping, world: World) -> dict[str, int]:
    """How many steps stand behind a row of the log of each method that was run."""
    steps = {}
    if "icrl" in learning:
        steps["icrl"] = learning["icrl"]["on_policy"]["steps"]
    if "icl" in learning:
        constrained_rl = learning["icl"]["constrained_rl"]
        if constrained_rl["procedure"] == "lagrangian":
            steps["icl"] = constrained_rl["lagrangian"]["on_policy"]["steps"]
        else:  # nothing but the horizon ends a robot's episode
            steps["icl"] = constrained_rl["penalty"]["episodes"] * world.horizon
    return steps


def parts_of_training(results: Results, experiment: str, method: str) -> list[Log]:
    """The parts into which a method's training falls: of ICL one for each iteration and a last one.

    A seed that had stopped is not in the later ones; a part without any seed is left out, and so
    is a seed that has failed.
    """
    parts: dict[tuple, list[Log]] = {}
    failed = list(failed_seeds(results, experiment, method))
    for place, kind in enumerate(LOGS[method]):
        for fields, path in results.find(kind, experiment=experiment, method=method):
            key = (place, int(fields.get("iteration", 0)))
            log = training_curve(path)
            kept = ~np.isin(log["seed"], failed)
            parts.setdefault(key, []).append({name: part[kept] for name, part in log.items()})
    joined = [
        {name: np.concatenate([log[name] for log in parts[key]]) for name in parts[key][0]}
        for key in sorted(parts)
    ]
    return [part for part in joined if len(part["seed"])]


def over_seeds(log: Log, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Epochs, and the mean over the seeds in each.

    An epoch in which no episode ended has no value (nan) and is left out.
    """
    known = ~np.isnan(log[column])
    epochs, values = log["epoch"][known], log[column][known]
    distinct = np.unique(epochs)
    return distinct, np.array([values[epochs == epoch].mean() for epoch in distinct])


def of_each_seed(log: Log, column: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The epochs and values of every seed, where there are several."""
    seeds = np.unique(log["seed"])
    known = ~np.isnan(log[column])
    rows = [known & (log["seed"] == seed) for seed in seeds]
    return [(log["epoch"][own], log[column][own]) for own in rows] if len(seeds) > 1 else []


def draw_training(
    beta: float,
    logs: Mapping[str, Sequence[Log]],
    rollouts: Mapping[str, int],
    titles: Mapping[str, str],
) -> Figure:
    """`logs` holds the parts of each method's training, `rollouts` the steps behind a row."""
    figure, axes = panels(2 * len(logs), height=1.9)
    pairs = axes.reshape(len(logs), 2)
    for same in pairs.T:  # one scale for the rewards, and one for the costs
        for ax in same[1:]:
            ax.sharey(same[0])
    for pair, (method, parts) in zip(pairs, logs.items(), strict=True):
        for ax, (column, (name, colour)) in zip(pair, QUANTITIES.items(), strict=True):
            title(ax, titles[method], name)
            if not any(_draw_parts(ax, parts, column, rollouts.get(method, 1), colour)):
                left_out(ax, "no episode ended" if parts else "not run")
        if method == "icl" and parts:  # ICRL knows no threshold
            threshold_line(pair[1], beta, "outside")
            _count_seeds(pair[0], parts, rollouts.get(method, 1))
    low, top = pairs[0, 0].get_ylim()
    pairs[0, 0].set_ylim(low, top + 0.08 * (top - low))  # the seeds' numbers stand above
    _, top = pairs[0, 1].get_ylim()
    pairs[0, 1].set_ylim(-0.03 * top, top)  # a cost of 0 can be seen too
    return figure


def _count_seeds(ax: Axes, parts: Sequence[Log], rollout: int) -> None:
    """How many seeds are in each part, above it, where they are not always as many."""
    if len({len(np.unique(part["seed"])) for part in parts}) == 1:
        return
    before = 0
    for part in parts:
        after = before + int(part["epoch"].max())
        ax.text(
            rollout * (before + after) / 2,
            0.99,
            f"{len(np.unique(part['seed']))}",
            transform=ax.get_xaxis_transform(),
            fontsize=5,
            color=GREY,
            ha="center",
            va="top",
        )
        before = after


def _draw_parts(
    ax: Axes, parts: Sequence[Log], column: str, rollout: int, colour: str
) -> list[bool]:
    """The parts one after the other, each a line of its own: it begins with a new policy.

    Says of each whether there was something to draw.
    """
    before, drawn = 0, []
    for part in parts:
        epochs, mean = over_seeds(part, column)
        steps = rollout * (before + epochs)
        for own in of_each_seed(part, column):
            ax.plot(rollout * (before + own[0]), own[1], color=colour, linewidth=0.3, alpha=0.45)
        (line,) = ax.plot(steps, mean, color=colour, linewidth=1.0, zorder=3)
        if len(steps) < 3:
            line.set(marker="o", markersize=2)
        if before:
            ax.axvline(before * rollout, color="#A6A6A6", linewidth=0.6, linestyle=":", zorder=1)
        before += int(part["epoch"].max())
        drawn.append(len(steps) > 0)
    if any(drawn):
        ax.set_xlim(0, before * rollout)
        ax.set_xlabel("training steps")
        ax.xaxis.set_major_locator(MaxNLocator(nbins=4))
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
        ax.set_axisbelow(True)
    return drawn
