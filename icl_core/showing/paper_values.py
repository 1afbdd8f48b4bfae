"""What the paper reports, as (mean, standard deviation) over five seeds."""

from __future__ import annotations

_COLUMNS = ("gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid")

# Tables 1 and 2, a row per method.
_TABLES = {
    "cmse": {
        "gail-constraint": ((0.31, 0.01), (0.25, 0.01), (0.12, 0.03), (0.25, 0.02)),
        "icrl": ((0.11, 0.02), (0.21, 0.04), (0.21, 0.16), (0.27, 0.03)),
        "icl": ((0.08, 0.01), (0.04, 0.01), (0.02, 0.00), (0.08, 0.05)),
    },
    "nad": {
        "gail-constraint": ((1.76, 0.25), (1.29, 0.07), (1.80, 0.24), (7.23, 3.88)),
        "icrl": ((1.73, 0.47), (2.15, 0.92), (12.32, 0.48), (13.21, 1.81)),
        "icl": ((0.36, 0.10), (1.26, 0.62), (1.63, 0.89), (3.04, 1.93)),
    },
}

# metric -> (experiment, method) -> (mean, std)
PAPER: dict[str, dict[tuple[str, str], tuple[float, float]]] = {
    metric: {
        (experiment, method): value
        for method, row in rows.items()
        for experiment, value in zip(_COLUMNS, row, strict=True)
    }
    for metric, rows in _TABLES.items()
}
