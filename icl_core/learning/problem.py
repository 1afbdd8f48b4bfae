"""What a method is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks


@dataclass(frozen=True)
class Problem:
    """Learn a constraint from demonstrations: one independent run for each seed."""

    world: World  # methods never read its true constraint
    demonstrations: Trajectories  # (episodes,)
    seeds: Sequence[int]
    beta: float  # the threshold that constraints are to be kept to on average


@dataclass(frozen=True)
class Outcome:
    """What a stack of runs ends with, whatever the method."""

    constraint: Networks  # c = sigmoid(output)
    policy: Networks
    log: pa.Table  # of training (`training.TRAINING_SCHEMA`)
    extras: Mapping[str, np.ndarray] = field(default_factory=dict)  # saved with the constraint
    # (runs,) the step after which a run has diverged, and so has no result; 0 or None: it has not.
    failed: np.ndarray | None = None
