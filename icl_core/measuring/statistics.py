"""Statistics over seeds of the values that the tables print."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pyarrow as pa


class Cell(NamedTuple):
    """One cell of a results table."""

    mean: float
    std: float
    seeds: tuple[int, ...]


def mean_and_std(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation over seeds, ddof 0 (the paper does not say; numpy's default).

    A nan among the values (an undefined NAD) makes both nan: dropping the seed would
    report a run that failed as if it had not happened.
    """
    values = np.asarray(values, dtype=np.float64)
    return float(values.mean()), float(values.std())


def summary(metrics: pa.Table, metric: str) -> dict[tuple[str, str], Cell]:
    """The reported values of a metric by (experiment, method)."""
    found = defaultdict(dict)
    for row in metrics.to_pylist():
        if row["metric"] == metric and row["reported"]:
            group = found[row["experiment"], row["method"]]
            if row["seed"] in group:
                raise ValueError(
                    f"metric {metric} of {row['experiment']}, {row['method']}, seed {row['seed']} "
                    "is reported twice"
                )
            group[row["seed"]] = row["value"]
    return {
        key: Cell(*mean_and_std([group[seed] for seed in sorted(group)]), tuple(sorted(group)))
        for key, group in sorted(found.items())
    }
