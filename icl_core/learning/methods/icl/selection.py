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
from icl_core.learning.problem import BEST, LAST, Outcome, Pair, Problem


def select_final(
    problem: Problem,
    constraints: Sequence[ConstraintState],
    policies: Sequence[PolicyState],
    settings: ConstrainedRLSettings,
    loop: LoopSettings,
    job: Job,
) -> Outcome:
    """Train a last policy on the last constraint c_n, then keep the last pair (c_(i-1), pi_i), or
    the one nearest to the demonstrations.

    `constraints` are c_0 to c_n, `policies` pi_1 to pi_n.
    """
    n = len(constraints)
    last = train_policy(problem, constraints[-1], n, settings, loop, job)
    job.tell(n, nad=last.nad)
    return ended(constraints, [*policies, last], loop)


def ended(
    constraints: Sequence[ConstraintState],
    policies: Sequence[PolicyState],
    loop: LoopSettings,
    best: np.ndarray | None = None,
) -> Outcome:
    """What is kept of c_0 to c_n and pi_1 to pi_(n + 1), and beside it the other selection.

    `kept` says which pair it is: from 1, n + 1 is the last policy's. A run that has failed in some
    iteration keeps none: 0. `best` says which is the best by another measure than NAD.
    """
    last, n = policies[-1], len(constraints)
    assert last.log is not None
    failed = constraints[-1].fail(last.failed > 0, n).failed
    nad = np.stack([policy.nad for policy in policies])
    places = {LAST: last_trained(nad), BEST: closest(nad, loop) if best is None else best}
    pairs = {name: _pair(constraints, policies, one, failed) for name, one in places.items()}
    own = LAST if loop.keep == "last" and best is None else BEST
    kept = pairs.pop(own)
    extras = {"kept": kept.place}
    return Outcome(kept.constraint, kept.policy, last.log, extras, failed, own, pairs)


def _pair(
    constraints: Sequence[ConstraintState],
    policies: Sequence[PolicyState],
    place: np.ndarray,
    failed: np.ndarray,
) -> Pair:
    """The pair of each run's place, (runs,) from 1; zeros of a run that has failed."""
    constraint = Networks.gather([state.networks for state in constraints], place - 1)
    policy = Networks.gather([state.final for state in policies], place - 1)
    for networks in (constraint, policy):
        networks.parameters[failed > 0] = 0.0
    return Pair(constraint, policy, np.where(failed > 0, 0, place))


def last_trained(nad: np.ndarray) -> np.ndarray:
    """The last iteration with a policy, (runs,) from 1, given NAD (iterations, runs)."""
    trained = ~np.isposinf(nad)  # a stopped run's blanks are inf; nan is a policy all the same
    return len(nad) - np.argmax(trained[::-1], axis=0)


def choose(nad: np.ndarray, loop: LoopSettings) -> np.ndarray:
    """The iteration to keep, (runs,) from 1, given NAD (iterations, runs)."""
    return last_trained(nad) if loop.keep == "last" else closest(nad, loop)
