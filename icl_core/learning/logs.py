"""Training logs: long tables with one row per seed and step of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

TRAINING_SCHEMA = pa.schema(
    [
        ("seed", pa.int32()),
        ("epoch", pa.int32()),
        ("return", pa.float64()),  # mean undiscounted reward of the epoch's episodes
        ("constraint_value", pa.float64()),  # J(c), mean discounted cost
        ("violations", pa.float64()),  # share of episodes with a cost of at least beta
        ("length", pa.float64()),
        ("entropy", pa.float64()),
    ]
)

TRAINING_COLUMNS = TRAINING_SCHEMA.names[2:]  # what a learner records, beside seed and epoch

ADJUSTMENT_SCHEMA = pa.schema(
    [
        ("seed", pa.int32()),
        ("step", pa.int32()),
        ("loss", pa.float64()),
        ("agent_value", pa.float64()),  # J_mix(c)
        ("expert_value", pa.float64()),  # J_E(c)
        ("expert_satisfaction", pa.float64()),  # share of demonstrations with a cost <= beta
        ("multiplier", pa.float64()),  # lambda, the weight of the demonstrations' term
        ("cmse", pa.float64()),  # for the reader only: learning never sees it
    ]
)


def log_table(
    schema: pa.Schema, columns: Mapping[str, np.ndarray], seeds: Sequence[int]
) -> pa.Table:
    """Columns (steps, runs) as rows, ordered by seed and step; steps count from 1."""
    steps, runs = next(iter(columns.values())).shape
    arrays = {
        schema.names[0]: np.repeat(np.asarray(seeds), steps),
        schema.names[1]: np.tile(np.arange(1, steps + 1), runs),
        **{name: values.T.ravel() for name, values in columns.items()},
    }
    return pa.table(
        {name: pa.array(arrays[name], schema.field(name).type) for name in schema.names}
    )
