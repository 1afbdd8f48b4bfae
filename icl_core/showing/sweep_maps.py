"""Figures 6, 8 and 9: what ICL recovers on a gridworld when one setting is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.metrics import constraint_error
from icl_core.measuring.statistics import mean_and_std
from icl_core.showing.grid_maps import colour_bar, draw_map, label, outline
from icl_core.showing.loading import recovered_constraints
from icl_core.showing.sources import Sources
from icl_core.showing.style import CONSTRAINT_MAP, footer, panels, plus_minus, title


def slips_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """Figure 6: mean constraint over seeds for each probability of a slip."""
    worlds = [sources.worlds[name] for name in experiments]
    names = [rf"$p_{{slip}}={world.slip:g}$" for world in worlds]
    return _figure(sources, dict(zip(experiments, names, strict=True)), with_truth=False)


def thresholds_figure(sources: Sources, experiments: Sequence[str]) -> Figure:
    """Figures 8 and 9: the true constraint, then the mean over seeds for each threshold."""
    worlds = [sources.worlds[name] for name in experiments]
    names = [rf"ICL ($\beta={world.threshold:g}$)" for world in worlds]
    return _figure(sources, dict(zip(experiments, names, strict=True)), with_truth=True)


def _figure(sources: Sources, names: Mapping[str, str], with_truth: bool) -> Figure:
    """A panel for each experiment, with its name as title."""
    recovered = {name: recovered_constraints(sources, name)["icl"] for name in names}
    world: Gridworld = sources.worlds[next(iter(names))]
    figure, axes = panels(len(names) + with_truth, height=1.9)
    if with_truth:
        draw_map(axes[0, 0], world, world.true_on_grid.reshape(7, 7), CONSTRAINT_MAP, 1.0)
        title(axes[0, 0], "True constraint fn.", "0 or 1")
    for ax, (name, runs) in zip(axes[0, int(with_truth) :], recovered.items(), strict=True):
        image = draw_map(ax, world, runs.mean(axis=0), CONSTRAINT_MAP, 1.0)
        outline(ax, world.constrained)
        error = plus_minus(*mean_and_std(constraint_error(world, runs)))
        title(ax, names[name], f"CMSE {error}")
    label(axes[0], world)
    colour_bar(figure, axes[0, -1], image, "constraint value c(i, j)")
    told = sources.footer(_counts(recovered, names))
    footer(figure, f"outline: true constraint, star: goal; {told}")
    return figure


def _counts(recovered: Mapping[str, np.ndarray], names: Mapping[str, str]) -> dict[str, int]:
    return {names[name]: len(runs) for name, runs in recovered.items()}
