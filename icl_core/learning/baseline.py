"""What GAIL-Constraint and ICRL share: how a run begins and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.costs import fresh_constraints
from icl_core.learning.logs import TRAINING_COLUMNS, TRAINING_SCHEMA, log_table
from icl_core.learning.networks import Adam, Networks
from icl_core.learning.rollouts import roll_out
from icl_core.learning.walking import WalkingPolicies
from icl_core.randomness import generators


@dataclass(frozen=True)
class Outcome:
    """What a stack of runs ends with, whatever the method."""

    constraint: Networks  # c = sigmoid(output)
    policy: Networks
    log: pa.Table  # training log, a row per seed and rollout
    rollouts: Trajectories  # (runs, episodes) of the policy, for the reported metrics


def finish(policies: WalkingPolicies, constraint: Networks, episodes: int) -> Outcome:
    """The end of training: the policies' reported rollouts, and everything else."""
    columns = dict(zip(TRAINING_COLUMNS, np.stack(policies.rows, axis=1), strict=True))
    log = log_table(TRAINING_SCHEMA, columns, policies.seeds)
    final, rngs = policies.agents.policy.copy(), generators(policies.seeds, "report")
    return Outcome(constraint, final, log, roll_out(policies.world, final, rngs, episodes))


def constraint_learner(
    world: World, seeds: Sequence[int], hidden: Sequence[int], rate: float
) -> tuple[Networks, Adam]:
    """A fresh constraint network for each run, as ICL's, and its optimiser."""
    networks = fresh_constraints(world, seeds, hidden)
    return networks, Adam(networks.parameters, rate)
