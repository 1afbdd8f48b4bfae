"""CMSE, and the long table that holds every metric of every run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from icl_core.environments.world import World

CMSE, NAD = "cmse", "nad"

METRICS_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("environment", pa.string()),
        ("method", pa.string()),
        ("seed", pa.int32()),
        ("iteration", pa.int32()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("reported", pa.bool_()),
    ]
)
SORTED_BY = ("experiment", "environment", "method", "metric", "seed", "iteration", "reported")


def constraint_error(world: World, values_on_grid: np.ndarray) -> np.ndarray | float:
    """CMSE: mean squared difference to the true constraint over the grid's nodes.

    `values_on_grid` has the grid's shape, or is flat as `grid.nodes` is; leading
    run axes are kept, so (runs, *grid.shape) gives (runs,). Values are neither
    thresholded nor rescaled (paper, App. C).
    """
    values = np.asarray(values_on_grid, dtype=np.float64)
    true = world.true_on_grid
    gridded = values.shape[-len(world.grid.shape) :] == world.grid.shape
    lead = values.shape[: -len(world.grid.shape)] if gridded else values.shape[:-1]
    return np.mean((values.reshape(*lead, true.size) - true) ** 2, axis=-1)


def metric_rows(
    experiment: str,
    environment: str,
    method: str,
    metric: str,
    seeds: Sequence[int],
    values: Sequence[float],
    iteration: int | Sequence[int],
    reported: bool | Sequence[bool],
) -> pa.Table:
    """One row per seed. `iteration` and `reported` may differ per seed.

    `reported` marks the value that the paper's tables would print.
    """
    n = len(seeds)
    columns = {
        "experiment": [experiment] * n,
        "environment": [environment] * n,
        "method": [method] * n,
        "seed": list(seeds),
        "iteration": np.broadcast_to(np.asarray(iteration), n),
        "metric": [metric] * n,
        "value": np.asarray(values, dtype=np.float64),
        "reported": np.broadcast_to(np.asarray(reported), n),
    }
    return pa.table(columns, schema=METRICS_SCHEMA)


def concatenate(tables: Iterable[pa.Table]) -> pa.Table:
    """All rows in one table, in an order that does not depend on the order of the inputs."""
    table = pa.concat_tables([METRICS_SCHEMA.empty_table(), *tables])
    return table.sort_by([(name, "ascending") for name in SORTED_BY]).combine_chunks()
