"""Figures 3 and 4: the training of the experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icl_core.measuring.results import Results
from icl_core.showing.loading import training_curve
from icl_core.showing.style import (
    BLUE,
    GREEN,
    VERMILION,
    footer,
    left_out,
    panels,
    threshold_line,
    title,
)

ITEMS = [
    {
        "number": 3,
        "name": "expert-reward",
        "draw": "reward_figure",
        "title": "Expert's reward per PPO epoch",
        "caption": (
            "Training of the experts on the true constraint: mean undiscounted reward of the "
            "episodes of each PPO epoch, as a running mean over a fiftieth of the training; Table "
            "7 has the experts' epochs, Table 10 those of ICL's learners. The paper's feasibility "
            "projection alone does not keep beta: an episode also ends, for learning, at the step "
            "at which its discounted cost reaches beta; the curves show whole episodes. Thin: each "
            "expert (the paper has one); thick: the mean over experts. Environments whose "
            "demonstrations were given as a file have no curve."
        ),
        "category": "Experts",
        "needs": ["expert_training"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
    {
        "number": 4,
        "name": "expert-constraint",
        "draw": "constraint_figure",
        "title": "Expert's constraint value per PPO epoch",
        "caption": (
            "Training of the experts on the true constraint, as in Figure 3. Top: mean discounted "
            "constraint value J(c) of the episodes of each PPO epoch, and the threshold it must "
            "not exceed (dashed). Bottom: share of the episodes whose own constraint value "
            "reaches the threshold; truncation works on these, and so keeps J(c) below beta. All "
            "as running means over a fiftieth of the training; thin: each expert, thick: the mean "
            "over experts."
        ),
        "category": "Experts",
        "needs": ["expert_training"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
]

Log = Mapping[str, np.ndarray]  # the columns of the training logs, (experts, epochs) each
NO_CURVE = "demonstrations\nwere given:\nno training"


def reward_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figure 3: mean undiscounted reward of the episodes of each PPO epoch."""
    curves = _curves(results, experiments)
    figure, axes = panels(len(curves), height=1.65)
    for ax, (experiment, curve) in zip(axes[0], curves.items(), strict=True):
        _panel_title(ax, results, experiment)
        if curve is None:
            left_out(ax, NO_CURVE)
            continue
        _draw_curves(ax, curve["return"], BLUE)
        ax.set_ylim(0, max(1.0, curve["return"].max()) * 1.06)
        ax.set_xlabel("PPO epoch")
    axes[0, 0].set_ylabel("mean reward")
    footer(figure, _footer(results, curves))
    return figure


def constraint_figure(results: Results, experiments: Sequence[str]) -> Figure:
    """Figure 4: constraint value J(c) with the threshold, and episodes that violate it."""
    curves = _curves(results, experiments)
    figure, axes = panels(len(curves), rows=2, height=2.7, sharex="col")
    for column, (experiment, curve) in zip(axes.T, curves.items(), strict=True):
        _panel_title(column[0], results, experiment)
        if curve is None:
            for ax in column:
                left_out(ax, NO_CURVE)
            continue
        _draw_value(column[0], curve, results.beta(experiment))
        _draw_curves(column[1], 100 * curve["violations"], VERMILION)
        column[1].set_ylim(0, 104)
        column[1].set_xlabel("PPO epoch")
    axes[0, 0].set_ylabel("mean constraint\nvalue J(c)")
    axes[1, 0].set_ylabel("episodes with\n" + r"J(c) $\geq\beta$ [%]")
    figure.align_ylabels()
    footer(figure, _footer(results, curves))
    return figure


def running_mean(values: np.ndarray, width: int) -> np.ndarray:
    """Centred mean over `width` (odd) values, over what there is of them at the ends."""
    ones = np.ones(width)
    return np.convolve(values, ones, "same") / np.convolve(np.ones(len(values)), ones, "same")


def _draw_value(ax: Axes, curve: Log, beta: float) -> None:
    _draw_curves(ax, curve["constraint_value"], GREEN)
    threshold_line(ax, beta, "outside")
    ax.set_ylim(0, 1.12 * max(curve["constraint_value"].max(), beta))


def _draw_curves(ax: Axes, values: np.ndarray, colour: str) -> None:
    """Running means of values (experts, epochs): each row faintly, and the mean of all."""
    epochs = np.arange(1, 1 + values.shape[1])
    width = 2 * (len(epochs) // 100) + 1
    smooth = np.stack([running_mean(row, width) for row in values])
    if len(smooth) > 1:
        ax.plot(epochs, smooth.T, color=colour, linewidth=0.4, alpha=0.5)
    (line,) = ax.plot(epochs, smooth.mean(axis=0), color=colour)
    if len(epochs) < 15:
        line.set(marker="o", markersize=2.5, clip_on=False)
    ax.set_xlim(0, max(epochs[-1], 2))
    ax.locator_params(axis="x", integer=True, nbins=4)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)


def _curves(results: Results, experiments: Sequence[str]) -> dict[str, Log | None]:
    return {name: _expert_log(results, name) for name in experiments}


def _expert_log(results: Results, experiment: str) -> Log | None:
    """The columns of the experts' training logs, (experts, epochs) each; None where there is none.

    An expert that stands in several files, of several groups of seeds, counts once.
    """
    found = results.find("expert_training", experiment=experiment)
    rows: dict[int, dict[str, np.ndarray]] = {}
    for log in (training_curve(one.path) for one in found):
        for seed in np.unique(log["seed"]):
            own = log["seed"] == seed
            rows[int(seed)] = {name: column[own] for name, column in log.items()}
    if not rows:
        return None
    names = next(iter(rows.values()))
    return {name: np.stack([rows[seed][name] for seed in sorted(rows)]) for name in names}


def _panel_title(ax: Axes, results: Results, experiment: str) -> None:
    beta = results.beta(experiment)
    title(ax, results.worlds[experiment].title, rf"($\beta={beta:g}$)")


def _footer(results: Results, curves: dict[str, Log | None]) -> str:
    drawn = [curve for curve in curves.values() if curve is not None]
    counts = sorted({len(curve["seed"]) for curve in drawn})
    shown = f"{' or '.join(map(str, counts))} expert{'s' * (counts != [1])}"
    return f"scale: {results.scale}" + (f", {shown}" if drawn else "")
