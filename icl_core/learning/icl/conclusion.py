"""The end of ICL: the last policy, the iteration to keep, and its rollouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.constrained_rl import ConstrainedRLSettings
from icl_core.learning.icl.policies import improve_policy
from icl_core.learning.icl.states import ConstraintState, ICLSettings, PolicyState, closest
from icl_core.learning.networks import Networks
from icl_core.learning.resume import Store
from icl_core.learning.rollouts import roll_out
from icl_core.randomness import generators


@dataclass(frozen=True)
class Conclusion:
    """What a stack of runs ends with."""

    constraint: Networks  # c = sigmoid(output)
    policy: Networks
    kept: np.ndarray  # (runs,) iteration of the kept policy; n + 1 is the final run
    nad: np.ndarray  # (runs,) of the final run's policy
    log: pa.Table  # training log of the final run
    rollouts: Trajectories  # (runs, episodes) of the kept policy, for the reported metrics


def conclude(
    world: World,
    demonstrations: Trajectories,
    constraints: Sequence[ConstraintState],
    policies: Sequence[PolicyState],
    seeds: Sequence[int],
    settings: ConstrainedRLSettings,
    icl: ICLSettings,
    rollouts: int,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> Conclusion:
    """Train a last policy on the last constraint c_n, then keep the best pair (c_(i-1), pi_i).

    `constraints` are c_0 to c_n, `policies` pi_1 to pi_n. The rollouts that are
    reported are not those by which the pair was chosen.
    """
    given = (constraints[-1], len(constraints), seeds, settings, icl)
    last = improve_policy(world, demonstrations, *given, progress, store)
    candidates = [*policies, last]
    kept = choose(np.stack([policy.nad for policy in candidates]), icl)
    constraint = Networks.gather([state.networks for state in constraints], kept - 1)
    policy = Networks.gather([state.final for state in candidates], kept - 1)
    episodes = roll_out(world, policy, generators(seeds, "report"), rollouts)
    return Conclusion(constraint, policy, kept, last.nad, last.log, episodes)


def choose(nad: np.ndarray, icl: ICLSettings) -> np.ndarray:
    """The iteration to keep, (runs,) from 1, given NAD (iterations, runs)."""
    if icl.keep == "last":
        trained = ~np.isposinf(nad)  # a stopped run's blanks are inf; nan is a policy all the same
        return len(nad) - np.argmax(trained[::-1], axis=0)
    return closest(nad, icl)
