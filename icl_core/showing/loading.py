"""The training log as plain arrays."""

from __future__ import annotations

import os

import numpy as np

from icl_core.artifacts import read_table
from icl_core.learning.logs import TRAINING_SCHEMA


def training_curve(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The columns of a training log."""
    table = read_table(path, TRAINING_SCHEMA)
    return {name: table[name].to_numpy() for name in table.column_names}
