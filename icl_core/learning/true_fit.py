"""What a network can hold at best: the true constraint, learned from itself (Tables 13 and 14).

No method is given the true constraint. Fitting a network straight to it bounds
from below the error (CMSE) that any method could reach with that network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.optimisers import Adam
from icl_core.progress import Progress
from icl_core.randomness import generators
from icl_core.settings import LAYERS, NAME, RATE, setting

FIT_SCHEMA = pa.schema([("seed", pa.int32()), ("step", pa.int32()), ("cmse", pa.float64())])
RECORDS = 100  # rows of a seed's log, the last one after the last step


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the network", **LAYERS)
    learning_rate: float = setting(5e-4, "step size", **RATE)
    steps: int = setting(
        20_000, "steps of Adam, each on all nodes of the grid", at_least=1, at_most=10_000_000
    )


@dataclass(frozen=True)
class TrueFitsSettings:
    """Which networks are fitted to which true constraints, one job for each pair."""

    environments: tuple[str, ...] = setting((), "worlds with a true constraint", each_once=True)
    architectures: dict[str, tuple[int, ...]] = setting(
        {}, "layers by the architecture's name", **LAYERS, **NAME
    )
    learning_rate: float = setting(5e-4, "step size", **RATE)
    steps: int = setting(
        20_000, "steps of Adam, each on all nodes of the grid", at_least=1, at_most=10_000_000
    )


def fit_true_constraint(
    world: World,
    seeds: Sequence[int],
    settings: FitSettings,
    progress: Progress | None = None,
) -> tuple[Networks, pa.Table]:
    """Fit a stack of networks to the true constraint on the grid's nodes; and their errors.

    The loss is the CMSE itself, c = sigmoid(output), and the networks start as the
    methods' do.
    """
    nodes, true = world.grid.nodes.astype(np.float32), world.true_on_grid
    assert true is not None
    sizes = (world.input_size, *settings.hidden, 1)
    networks = Networks.initialise(generators(seeds, "supervised"), sizes)
    optimiser = Adam(networks.parameters, settings.learning_rate)
    inputs = np.broadcast_to(nodes, (len(seeds), *nodes.shape))
    records = []
    for step in range(settings.steps + 1):
        logits, trace = networks.trace(inputs)
        c = sigmoid(logits[..., 0].astype(np.float64))
        if _recorded(step, settings.steps):
            records.append((step, np.mean((c - true) ** 2, axis=1)))
            if progress is not None and step:
                progress(step, cmse=records[-1][1].mean())
        if step < settings.steps:
            slope = (2.0 / len(true)) * (c - true) * c * (1.0 - c)
            gradient = networks.gradient(trace, slope[..., None].astype(np.float32))
            optimiser.step(networks.parameters, gradient)
    return networks, _table(records, seeds)


def _recorded(step: int, steps: int) -> bool:
    return step * RECORDS // steps != (step - 1) * RECORDS // steps or step == steps


def _table(records: list[tuple[int, np.ndarray]], seeds: Sequence[int]) -> pa.Table:
    """Rows by seed and step."""
    steps = np.array([step for step, _ in records])
    errors = np.stack([error for _, error in records], axis=1)  # (runs, records)
    columns = [np.repeat(np.asarray(seeds), len(steps)), np.tile(steps, len(seeds)), errors.ravel()]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, FIT_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=FIT_SCHEMA)


def final_errors(table: pa.Table) -> dict[int, float]:
    """CMSE after the last step, by seed."""
    rows = table.sort_by([("seed", "ascending"), ("step", "ascending")]).to_pylist()
    return {row["seed"]: row["cmse"] for row in rows}  # later rows win
