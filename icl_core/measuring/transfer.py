"""What a learned constraint is worth to others than its learner: settings, table and intervals.

The agents are trained in `icl_core.using.transfer`; here stands what is measured of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icl_core.artifacts import read_table
from icl_core.measuring.claims.intervals import LEVEL, Estimate
from icl_core.measuring.results import Results
from icl_core.settings import COUNT, NAME, WEIGHT, setting

# What the agents are told of the constraint, in the order of tables.
NONE, LEARNED, TRUE = CONDITIONS = ("none", "learned", "true")
PPO, OURS = "PPO of Stable-Baselines3", "our constrained learner"

# A row for each condition and seed: means over the evaluation episodes.
TRANSFER_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("agent", pa.string()),
        ("change", pa.string()),  # of the dynamics, in words; empty: none
        ("condition", pa.string()),
        ("seed", pa.int32()),
        ("episodes", pa.int32()),
        ("return", pa.float64()),  # undiscounted
        ("true_cost", pa.float64()),  # discounted, of the true constraint
        ("length", pa.float64()),
    ]
)
MEASURES = ("return", "true_cost", "length")


@dataclass(frozen=True)
class TransfersSettings:
    """Which constraints are moved where, and how large the agents' training is."""

    experiments: dict[str, dict[str, float]] = setting(
        {},
        "experiments whose constraint by ICL is moved, each with the settings of its world that "
        "become others",
        at_least=-1_000_000,
        at_most=1_000_000,
        **NAME,
    )
    own_learner: tuple[str, ...] = setting(
        (),
        "those of them whose agent is our constrained learner, as learning.icl.constrained_rl; the "
        "others have PPO of Stable-Baselines3",
        each_once=True,
    )
    epochs: int = setting(50, "epochs of our learner", at_least=2, at_most=100_000)
    steps: int = setting(
        200_000, "steps of PPO, in all its environments", at_least=64, at_most=1_000_000_000
    )
    multiplier_rate: float = setting(
        0.05, "step size of the cost's weight in PPO's reward, from rollout to rollout", **WEIGHT
    )
    episodes: int = setting(100, "episodes in which each agent is measured", **COUNT)


def words(change: Mapping[str, float]) -> str:
    """Changed settings of a world for people.

    >>> words({"pole_length": 2.0})
    'pole length 2'
    """
    return ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in change.items())


def transfers_of(results: Results, experiments: Iterable[str]) -> dict[str, pa.Table]:
    """How agents did elsewhere with what was learned, for each experiment that was moved."""
    paths = {name: results.one("transfer", experiment=name) for name in experiments}
    return {name: read_table(path, TRANSFER_SCHEMA) for name, path in paths.items() if path}


def by_condition(table: pa.Table, measure: str) -> dict[str, np.ndarray]:
    """Values over seeds by condition, in the order of tables."""
    rows = table.to_pylist()
    found = {c: [row[measure] for row in rows if row["condition"] == c] for c in CONDITIONS}
    return {condition: np.array(values) for condition, values in found.items() if values}


def student_interval(values: npt.ArrayLike) -> Estimate:
    """Mean over seeds and its 95 % interval by Student's t; of one seed there is none (nan)."""
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=np.float64)
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Estimate(mean, float("nan"), float("nan"))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, mean - half, mean + half)
