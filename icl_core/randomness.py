"""Where every random draw comes from.

A generator is derived from a run's seed and from what it is for, never from
what ran before it: so a stage can be rerun alone, and a run gives the same
numbers whatever it is stacked with.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """The generator of one seed for one purpose, e.g. `generator(3, "adjust", iteration)`."""
    words = [p if isinstance(p, int) else zlib.crc32(p.encode()) for p in purpose]
    return np.random.default_rng([seed, *words])


def generators(seeds: Sequence[int], *purpose: str | int) -> list[np.random.Generator]:
    """One generator per run of a stack."""
    return [generator(seed, *purpose) for seed in seeds]
