"""What a method is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks

T = TypeVar("T")

# Which of a run's policies: its last, or of several along the way the nearest to the expert (NAD).
LAST, BEST = "last", "best"


@dataclass(frozen=True)
class Problem:
    """Learn a constraint from demonstrations: one independent run for each seed."""

    world: World  # methods never read its true constraint
    demonstrations: Trajectories  # (episodes,) of all runs, or (runs, episodes), each run's own
    seeds: Sequence[int]
    beta: float  # the threshold that constraints are to be kept to on average

    def __post_init__(self):
        if not self.shared and len(self.demonstrations) != len(self.seeds):
            raise ValueError("demonstrations are one set for all runs, or one for each of them")

    @property
    def shared(self) -> bool:
        """Whether all runs learn from the same demonstrations."""
        return self.demonstrations.lengths.ndim == 1

    def shown(self, run: int) -> Trajectories:
        """What a run learns from, (episodes,).

        Without the padding that longer episodes of other runs make: a sum's rounding depends on it.
        """
        return self.demonstrations if self.shared else self.demonstrations[run].trimmed()

    def of_each(self, measure: Callable[[Trajectories], T]) -> list[T]:
        """What a function says of every run's demonstrations; of a shared set it is asked once."""
        runs = range(len(self.seeds))
        if self.shared:
            return [measure(self.demonstrations)] * len(runs)
        return [measure(self.shown(run)) for run in runs]


class Pair(NamedTuple):
    """A constraint and the policy that was learned with it, of each run."""

    constraint: Networks
    policy: Networks
    place: np.ndarray  # (runs,) which of the candidates it is, from 1; 0 of a run that has failed


@dataclass(frozen=True)
class Outcome:
    """What a stack of runs ends with, whatever the method."""

    constraint: Networks  # c = sigmoid(output)
    policy: Networks
    log: pa.Table  # of training (`training.TRAINING_SCHEMA`)
    extras: Mapping[str, np.ndarray] = field(default_factory=dict)  # saved with the constraint
    # (runs,) the step after which a run has diverged, and so has no result; 0 or None: it has not.
    failed: np.ndarray | None = None
    selection: str = LAST  # which of a run's policies this is
    others: Mapping[str, Pair] = field(default_factory=dict)  # those of another selection
