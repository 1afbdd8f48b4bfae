"""Step 1 of an iteration: the best policy under the current constraint (Equation 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.learning.constrained_rl.procedure import (
    ConstrainedRLSettings,
    TrainedPolicies,
    blank_policies,
    train_policies,
)
from icl_core.learning.dissimilarity import dissimilarities
from icl_core.learning.engine.costs import no_constraint
from icl_core.learning.engine.divergence import AllFailedError
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import TRAINING_SCHEMA, Job, log_table
from icl_core.learning.methods.icl.state import ConstraintState, LoopSettings, PolicyState
from icl_core.learning.problem import Problem
from icl_core.randomness import generators


def train_policy(
    problem: Problem,
    state: ConstraintState,
    iteration: int,
    settings: ConstrainedRLSettings,
    loop: LoopSettings,
    job: Job,
) -> PolicyState:
    """Train pi_i for every run that has not stopped, and measure how close it came."""
    active = np.flatnonzero(state.stopped == 0).tolist()
    going = [problem.seeds[run] for run in active]
    if not going:
        return _blank(problem, settings)
    constraint = state.pick(active).function()
    if iteration == 1 and loop.unconstrained_first_policy:
        constraint = no_constraint
    rngs = generators(going, "constrained-rl", iteration)
    job = job.of(going, "learning.icl.constrained_rl")
    try:
        trained = train_policies(problem.world, constraint, problem.beta, rngs, settings, job)
    except AllFailedError as error:
        if (state.failed > 0)[state.stopped > 0].all():  # none has stopped because it was close
            raise
        blank = _blank(problem, settings)
        blank.failed[active] = error.failed
        return blank
    nad = np.full(len(going), np.inf)
    healthy = np.flatnonzero(trained.failed == 0).tolist()
    runs, final = [active[k] for k in healthy], trained.snapshots[-1].pick(healthy)
    rngs = generators([problem.seeds[run] for run in runs], "choice", iteration)
    episodes = roll_out(problem.world, final, rngs, loop.selection_episodes)
    nad[healthy] = dissimilarities(problem, runs, episodes)
    return _scattered(trained, active, nad, problem.seeds)


def _blank(problem: Problem, settings: ConstrainedRLSettings) -> PolicyState:
    """The policies of an iteration in which nobody was trained."""
    runs = len(problem.seeds)
    blank = blank_policies(problem.world, settings, runs)
    nad, failed = np.full(runs, np.inf), np.zeros(runs, np.int64)
    return PolicyState(blank, blank.copy(), nad, failed, TRAINING_SCHEMA.empty_table())


def _scattered(
    trained: TrainedPolicies, active: list[int], nad: np.ndarray, seeds: Sequence[int]
) -> PolicyState:
    """What the active runs have learned, in their places of the whole stack."""

    def scatter(part: np.ndarray, blank: float = 0) -> np.ndarray:
        whole = np.full((len(seeds), *part.shape[1:]), blank, part.dtype)
        whole[active] = part
        return whole

    log = log_table(TRAINING_SCHEMA, trained.log, [seeds[run] for run in active], trained.failed)
    ends = (trained.snapshots[k] for k in (0, -1))
    halfway, final = (part.like(scatter(part.parameters)) for part in ends)
    return PolicyState(halfway, final, scatter(nad, np.inf), scatter(trained.failed), log)
