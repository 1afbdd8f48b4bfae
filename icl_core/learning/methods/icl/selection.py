"""The end of ICL: the last policy, and the iteration to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.state import (
    ConstraintState,
    LoopSettings,
    PolicyState,
    closest,
)
from icl_core.learning.problem import Outcome, Problem


def select_final(
    problem: Problem,
    constraints: Sequence[ConstraintState],
    policies: Sequence[PolicyState],
    settings: ConstrainedRLSettings,
    loop: LoopSettings,
    job: Job,
) -> Outcome:
    """Train a last policy on the last constraint c_n, then keep the best pair (c_(i-1), pi_i).

    `constraints` are c_0 to c_n, `policies` pi_1 to pi_n. `kept` says which pair it is: from 1,
    n + 1 is the last policy's. A run that has failed in some iteration keeps none: 0.
    """
    n = len(constraints)
    last = train_policy(problem, constraints[-1], n, settings, loop, job)
    assert last.log is not None
    job.tell(n, nad=last.nad)
    candidates = [*policies, last]
    kept = choose(np.stack([policy.nad for policy in candidates]), loop)
    constraint = Networks.gather([state.networks for state in constraints], kept - 1)
    policy = Networks.gather([state.final for state in candidates], kept - 1)
    failed = constraints[-1].fail(last.failed > 0, n).failed
    for networks in (constraint, policy):
        networks.parameters[failed > 0] = 0.0
    kept[failed > 0] = 0
    return Outcome(constraint, policy, last.log, {"kept": kept}, failed)


def choose(nad: np.ndarray, loop: LoopSettings) -> np.ndarray:
    """The iteration to keep, (runs,) from 1, given NAD (iterations, runs)."""
    if loop.keep == "last":
        trained = ~np.isposinf(nad)  # a stopped run's blanks are inf; nan is a policy all the same
        return len(nad) - np.argmax(trained[::-1], axis=0)
    return closest(nad, loop)
