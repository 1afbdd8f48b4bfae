"""The metrics of a run: of every iteration, and of what the run ended with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from icl_core.environments.world import World
from icl_core.demonstrations.accruals import accrual_dissimilarity
from icl_core.measuring.metrics import CMSE, NAD, concatenate, constraint_error, metric_rows


def dissimilarities(world: World, expert: np.ndarray, agents: np.ndarray) -> np.ndarray:
    """NAD of each run's visits (runs, *grid.shape) to the expert's."""
    return np.array([accrual_dissimilarity(world.grid, expert, agent) for agent in agents])


def run_metrics(
    experiment: str,
    world: World,
    method: str,
    seeds: Sequence[int],
    expert: np.ndarray,
    final_constraint: np.ndarray,
    final_visits: np.ndarray,
    constraints: Mapping[int, np.ndarray],
    nads: Mapping[int, np.ndarray],
) -> pa.Table:
    """One row per seed, metric and iteration.

    `expert` are the demonstrations' visits, `final_constraint` and `final_visits`
    what the tables report: (runs, *grid.shape). `constraints` and `nads` hold, by
    iteration, the recovered constraints (runs, *grid.shape) and the NAD of their
    policies (runs,). The reported values stand one past the last iteration: they
    come from the final policy, which is trained after it. There is no CMSE where
    nobody knows the true constraint.
    """

    def rows(metric, values, iteration, reported):
        names = (experiment, world.name, method, metric)
        return metric_rows(*names, seeds, values, iteration, reported)

    last = max([*constraints, *nads], default=-1) + 1
    parts = [rows(NAD, dissimilarities(world, expert, final_visits), last, True)]
    if world.true_constraint is not None:
        parts.append(rows(CMSE, constraint_error(world, final_constraint), last, True))
        for iteration, values in constraints.items():
            parts.append(rows(CMSE, constraint_error(world, values), iteration, False))
    for iteration, values in nads.items():
        parts.append(rows(NAD, values, iteration, False))
    return concatenate(parts)
