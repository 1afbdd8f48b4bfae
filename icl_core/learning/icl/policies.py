"""Step 1 of an iteration: the best policy under the current constraint (Equation 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.constrained_rl import (
    ConstrainedRLSettings,
    blank_policies,
    train_policies,
)
from icl_core.learning.icl.states import ConstraintState, ICLSettings, PolicyState
from icl_core.learning.logs import TRAINING_SCHEMA, log_table
from icl_core.learning.resume import Store
from icl_core.learning.rollouts import roll_out
from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.randomness import generators


def improve_policy(
    world: World,
    demonstrations: Trajectories,
    state: ConstraintState,
    iteration: int,
    seeds: Sequence[int],
    settings: ConstrainedRLSettings,
    icl: ICLSettings,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> PolicyState:
    """Train pi_i for every run that has not stopped, and measure how close it came."""
    active = np.flatnonzero(state.stopped == 0)
    going = [seeds[run] for run in active]
    if not going:
        return _spread(None, active, np.zeros(0), seeds, world, settings)
    constraint = state.pick(active).function()
    if iteration == 1 and icl.nominal_start:
        constraint = _nothing
    rngs = generators(going, "constrained-rl", iteration)
    trained = train_policies(world, constraint, rngs, settings, progress, store)
    rngs = generators(going, "choice", iteration)
    nad = dissimilarities(world, demonstrations, trained.snapshots[-1], rngs, icl.choice_rollouts)
    return _spread(trained, active, nad, seeds, world, settings)


def dissimilarities(world, demonstrations, policies, rngs, episodes) -> np.ndarray:
    """NAD of each run's policy to the demonstrations, (runs,)."""
    expert = visits(world, demonstrations)
    agents = visits(world, roll_out(world, policies, rngs, episodes))
    return np.array([accrual_dissimilarity(world.grid, expert, agent) for agent in agents])


def _nothing(inputs: np.ndarray) -> np.ndarray:
    """The empty constraint: before the first adjustment nothing is known to be constrained."""
    return np.zeros(inputs.shape[:-1], np.float32)


def _spread(trained, active, nad, seeds, world, settings) -> PolicyState:
    """Results of the active runs in their places of the whole stack."""
    distances = np.full(len(seeds), np.inf)
    distances[active] = nad
    if trained is None:
        blank = blank_policies(world, settings, len(seeds))
        return PolicyState(blank, blank.copy(), distances, TRAINING_SCHEMA.empty_table())
    halves = []
    for part in (trained.snapshots[0], trained.snapshots[-1]):
        parameters = np.zeros((len(seeds), part.parameters.shape[1]), np.float32)
        parameters[active] = part.parameters
        halves.append(part.like(parameters))
    log = log_table(TRAINING_SCHEMA, trained.log, [seeds[run] for run in active])
    return PolicyState(*halves, distances, log)
