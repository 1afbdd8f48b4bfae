"""Figures 3 and 4: how the experts were trained on the true constraint."""

from __future__ import annotations

from collections.abc import Sequence

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
            "episodes of each PPO epoch (thin), and its running mean over a fiftieth of the "
            "training (thick). One seed. Environments whose demonstrations were given as a file "
            "have no curve."
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
            "Training of the experts on the true constraint. Top: mean discounted constraint "
            "value J(c) of the episodes of each PPO epoch, and the threshold it must not exceed "
            "(dashed). Bottom: share of the episodes whose own constraint value reaches the "
            "threshold. Thin: each epoch; thick: running mean over a fiftieth of the training. "
            "One seed."
        ),
        "category": "Experts",
        "needs": ["expert_training"],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"],
    },
]

Curve = dict[str, np.ndarray]
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
        _draw_curve(ax, curve["epoch"], curve["return"], BLUE)
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
        _draw_curve(column[1], curve["epoch"], 100 * curve["violations"], VERMILION)
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


def _draw_value(ax: Axes, curve: Curve, beta: float) -> None:
    _draw_curve(ax, curve["epoch"], curve["constraint_value"], GREEN)
    threshold_line(ax, beta)
    ax.set_ylim(0, 1.12 * max(curve["constraint_value"].max(), beta))


def _draw_curve(ax: Axes, epochs: np.ndarray, values: np.ndarray, colour: str) -> None:
    """Each epoch faintly, and a running mean over a fiftieth of the training."""
    width = 2 * (len(values) // 100) + 1
    if width > 1:
        ax.plot(epochs, values, color=colour, linewidth=0.4, alpha=0.4)
    (line,) = ax.plot(epochs, running_mean(values, width), color=colour)
    if len(values) < 15:
        line.set(marker="o", markersize=2.5, clip_on=False)
    ax.set_xlim(min(epochs[0], 0), max(epochs[-1], epochs[0] + 1))
    ax.locator_params(axis="x", integer=True, nbins=4)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)


def _curves(results: Results, experiments: Sequence[str]) -> dict[str, Curve | None]:
    paths = {name: results.one("expert_training", experiment=name) for name in experiments}
    return {name: training_curve(path) if path else None for name, path in paths.items()}


def _panel_title(ax: Axes, results: Results, experiment: str) -> None:
    beta = results.beta(experiment)
    title(ax, results.worlds[experiment].title, rf"($\beta={beta:g}$)")


def _footer(results: Results, curves: dict[str, Curve | None]) -> str:
    drawn = [curve for curve in curves.values() if curve is not None]
    return results.footer({"expert": len(np.unique(drawn[0]["seed"]))} if drawn else {})
