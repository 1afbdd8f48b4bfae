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


def generator_state(rngs: Sequence[np.random.Generator]) -> np.ndarray:
    """Where generators stand, (runs, 6) uint64, for a saved state."""
    rows = []
    for rng in rngs:
        state = rng.bit_generator.state
        numbers = (state["state"]["state"], state["state"]["inc"])
        words = [part for number in numbers for part in divmod(number, 2**64)]
        rows.append([*words, state["has_uint32"], state["uinteger"]])
    return np.array(rows, np.uint64)


def restore_generators(rngs: Sequence[np.random.Generator], saved: np.ndarray) -> None:
    """Bring generators back to where `generator_state` found them."""
    for rng, row in zip(rngs, saved, strict=True):
        words = [int(word) for word in row]
        state = {"state": words[0] * 2**64 + words[1], "inc": words[2] * 2**64 + words[3]}
        rng.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": state,
            "has_uint32": words[4],
            "uinteger": words[5],
        }
