"""What figures draw, as plain arrays."""

from __future__ import annotations

import os

import numpy as np

from icl_core.artifacts import read_table
from icl_core.learning.engine.training import TRAINING_SCHEMA
from icl_core.measuring.loading import constraints_on_grid, expert_visits, rollout_visits
from icl_core.showing.sources import Sources


def training_curve(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The columns of a training log."""
    table = read_table(path, TRAINING_SCHEMA)
    return {name: table[name].to_numpy() for name in table.column_names}


def recovered_constraints(sources: Sources, experiment: str) -> dict[str, np.ndarray]:
    """Each method's constraint on the grid, (runs, *grid.shape)."""
    world = sources.worlds[experiment]
    found = sources.final(experiment, "constraint.safetensors")
    return {method: constraints_on_grid(paths, world) for method, paths in found.items()}


def accruals(sources: Sources, experiment: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Visits of the demonstrations, (*grid.shape), and of each method, (runs, *grid.shape)."""
    world = sources.worlds[experiment]
    expert = expert_visits(sources.demonstrations(experiment, "trajectories.parquet"), world)
    found = sources.final(experiment, "rollouts.parquet")
    return expert, {method: rollout_visits(paths, world) for method, paths in found.items()}
