"""What a run that never stops takes over from one that may: the iterations that both go through.

Both start alike and draw the same random numbers. Up to the iteration in which a seed of the
original stops, its policies and constraints are those of the seed that goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from icl_core.learning.engine.networks import Networks
from icl_core.learning.methods.icl.state import ConstraintState, PolicyState


def with_policies_of(mine: PolicyState, original: PolicyState, runs: np.ndarray) -> PolicyState:
    """The policies of an iteration, those of some runs (runs,) bool from the original."""
    chosen = runs.astype(int)
    return PolicyState(
        Networks.gather([mine.halfway, original.halfway], chosen),
        Networks.gather([mine.final, original.final], chosen),
        np.where(runs, original.nad, mine.nad),
        np.where(runs, original.failed, mine.failed),
    )


def with_constraints_of(
    mine: ConstraintState, original: ConstraintState, runs: np.ndarray
) -> ConstraintState:
    """The constraints after an iteration, those of some runs (runs,) bool from the original."""

    def mixed(name: str) -> np.ndarray:
        ours, theirs = getattr(mine, name), getattr(original, name)
        return np.where(runs.reshape(-1, *[1] * (ours.ndim - 1)), theirs, ours)

    rest = ("first", "second", "steps", "weights", "stopped", "multipliers", "failed")
    networks = Networks.gather([mine.networks, original.networks], runs.astype(int))
    return ConstraintState(networks, *map(mixed, rest))


def merged_log(mine: pa.Table, original: pa.Table, seeds: Sequence[int]) -> pa.Table:
    """The log of all seeds in their order: of each, from where it has rows."""
    key = mine.column_names[0]
    parts = []
    for seed in seeds:
        own = mine.filter(pa.compute.equal(mine[key], seed))
        parts.append(own if len(own) else original.filter(pa.compute.equal(original[key], seed)))
    return pa.concat_tables(parts).combine_chunks()
