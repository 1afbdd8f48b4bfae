"""Step 1 of an iteration: the best policy under the current constraint (Equation 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.learning.constrained_rl.procedure import (
    ConstrainedRLSettings,
    TrainedPolicies,
    blank_policies,
    train_policies,
)
from icl_core.learning.engine.costs import no_constraint
from icl_core.learning.engine.networks import Networks
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
    runs = len(problem.seeds)
    if not going:
        blank = blank_policies(problem.world, settings, runs)
        log = TRAINING_SCHEMA.empty_table()
        return PolicyState(blank, blank.copy(), np.full(runs, np.inf), log)
    constraint = state.pick(active).function()
    if iteration == 1 and loop.unconstrained_first_policy:
        constraint = no_constraint
    rngs = generators(going, "constrained-rl", iteration)
    trained = train_policies(problem.world, constraint, problem.beta, rngs, settings, job)
    rngs = generators(going, "choice", iteration)
    nad = np.full(runs, np.inf)
    nad[active] = dissimilarities(problem, trained.snapshots[-1], rngs, loop.selection_episodes)
    return _scattered(trained, active, nad, problem.seeds)


def dissimilarities(
    problem: Problem, policies: Networks, rngs: Sequence[np.random.Generator], episodes: int
) -> np.ndarray:
    """NAD of each run's policy to the demonstrations, (runs,)."""
    world = problem.world
    expert = visits(world, problem.demonstrations)
    agents = visits(world, roll_out(world, policies, rngs, episodes))
    return np.array([accrual_dissimilarity(world.grid, expert, agent) for agent in agents])


def _scattered(
    trained: TrainedPolicies, active: list[int], nad: np.ndarray, seeds: Sequence[int]
) -> PolicyState:
    """Policies of the active runs in their places of the whole stack."""

    def scatter_into_stack(part: Networks) -> Networks:
        parameters = np.zeros((len(seeds), part.parameters.shape[1]), np.float32)
        parameters[active] = part.parameters
        return part.like(parameters)

    log = log_table(TRAINING_SCHEMA, trained.log, [seeds[run] for run in active])
    halfway, final = (scatter_into_stack(trained.snapshots[k]) for k in (0, -1))
    return PolicyState(halfway, final, nad, log)
