"""Runs that diverge: one whose weights grow beyond all bounds has failed, the others go on.

Steps that are far too large need not end in nan. Weights of 1e13 are finite and mean nothing; and
Adam's second moments may become infinite before the weights do, from where on nothing moves. All
of it counts: such a policy is dead, and would be measured as if it were none.

What has failed is an array (runs,): the step after which a run was found so, 0 where it is healthy.
It stands in files under `FAILED`, and only where some run has failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from icl_core.errors import InputError
from icl_core.learning.engine.optimisers import Adam

FAILED = "failed"
LONGEST = 1e6  # norm of the weights of a run: ten thousand times what training has ever come to


class Part(NamedTuple):
    """Weights that one optimiser moves."""

    setting: str  # to look at where they diverge: the step size
    parameters: np.ndarray  # (runs, n)
    optimiser: Adam

    def diverged(self) -> np.ndarray:
        """Which runs have, (runs,) bool: a sum is finite where all of its terms are."""
        squares = np.vecdot(self.parameters, self.parameters)
        moments = self.optimiser.second.sum(axis=1)
        return ~((squares <= LONGEST**2) & (moments < np.inf))


class AllFailedError(InputError):
    """Every run of a training has diverged; `failed` (runs,) says when."""

    def __init__(self, message: str, failed: np.ndarray):
        super().__init__(message)
        self.failed = failed


def hold(parts: Sequence[Part], runs: np.ndarray) -> None:
    """Let the runs (runs,) bool have weights of zero, which no later step moves.

    They stay in the stack, whose other runs so keep their places, and compute with finite numbers.
    """
    for part in parts:
        part.parameters[runs] = 0.0
        part.optimiser.hold(runs)


def lost(failed: np.ndarray | None, runs: int) -> np.ndarray:
    """Which of so many runs have failed, (runs,) bool."""
    return np.zeros(runs, bool) if failed is None else failed > 0


def marked(tensors: Mapping[str, np.ndarray], failed: np.ndarray | None) -> dict[str, np.ndarray]:
    """The tensors of a file, with what has failed among them if something has."""
    own = dict(tensors)
    return own if failed is None or not failed.any() else own | {FAILED: failed}


def marks(tensors: Mapping[str, np.ndarray], runs: int) -> np.ndarray:
    """What has failed by the tensors of a file, (runs,)."""
    return tensors.get(FAILED, np.zeros(runs, np.int64))


def warning(seed: str, when: str, settings: Sequence[str]) -> str:
    """What a job says of a seed that has failed, while others go on."""
    return (
        f"warning: seed {seed} has failed: its weights have diverged {when}; it stops and has no "
        f"results, the other seeds go on; look at {' and '.join(settings)}"
    )


def all_failed(failed: Iterable[tuple[str, str]], settings: Sequence[str]) -> str:
    """What a job ends with where no seed is left; `failed` are the seeds, each with its when."""
    each = ", ".join(f"seed {seed} {when}" for seed, when in failed)
    return (
        f"configuration: key {' and '.join(settings)}: expected weights that stay bounded, found "
        f"ones that diverge, {each}; no seed is left: give a smaller value"
    )
