"""Transfer, as the proof: agents that never saw a demonstration, under a learned constraint.

A constraint that ICL has learned is given to another agent (PPO of Stable-Baselines3, in Gymnasium
environments), or to our own learner in a world with other dynamics. Three agents are trained alike:
without a cost, with the learned one, and, for comparison, with the true one. All are scored in that
world by their return and by the true cost.

PPO keeps to beta by a multiplier (`stable_baselines`), our learner as it does in ICL.
Stable-Baselines3 and PyTorch are imported where PPO is trained.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from icl_core.artifacts import read_tensors
from icl_core.demonstrations.trajectories import Trajectories, accumulate, zero_after_end
from icl_core.environments.inputs import inputs_of
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.layout import find, seeds_of
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings, train_policies
from icl_core.learning.engine.costs import ConstraintFunction, constraint_values, no_constraint
from icl_core.learning.engine.divergence import marks
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.measuring.transfer import (
    CONDITIONS,
    LEARNED,
    NONE,
    OURS,
    PPO,
    TRANSFER_SCHEMA,
    TRUE,
    TransfersSettings,
    words,
)
from icl_core.randomness import generator, generators
from icl_core.using.constraint import Constraint

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

ENVIRONMENTS = 32  # of PPO, side by side
Chooser = Callable[[np.ndarray], np.ndarray]  # observations (n, size) -> actions (n, ...)


@dataclass(frozen=True)
class Transfer:
    """A constraint, and the world that it is moved to."""

    experiment: str
    world: World  # with its changed dynamics
    constraint: Constraint
    seeds: Sequence[int]  # of the agents
    settings: TransfersSettings
    own: ConstrainedRLSettings = field(default_factory=ConstrainedRLSettings)

    @property
    def ours(self) -> bool:
        """Whether the agent is our own learner."""
        return self.experiment in self.settings.own_learner

    def cost(self, condition: str) -> ConstraintFunction:
        """c on what the constraint sees: (..., inputs) -> (...)."""
        true = self.world.true_constraint
        if true is None:
            raise InputError(
                f"{self.experiment}: expected a world whose true constraint is known, found "
                f"{self.world.name}; leave it out of transfers.experiments"
            )
        return {NONE: no_constraint, LEARNED: self._mean, TRUE: true}[condition]

    def _mean(self, inputs: np.ndarray) -> np.ndarray:
        return self.constraint.values_at(inputs).mean(axis=0)


def joined(
    paths: Sequence[str | os.PathLike], world: World, beta: float | None = None
) -> Constraint:
    """What all stacks of a run have learned, as one constraint: the mean over their seeds."""
    files = [(read_tensors(path), seeds_of(_group(path))) for path in paths]
    networks = [Networks.from_tensors(tensors) for tensors, _ in files]
    return Constraint(
        networks[0].like(np.concatenate([one.parameters for one in networks])),
        inputs_of(world),
        world.threshold if beta is None else beta,
        world.discount,
        tuple(seed for _, seeds in files for seed in seeds),
        failed=np.concatenate([marks(tensors, len(seeds)) for tensors, seeds in files]),
    )


def _group(path: str | os.PathLike) -> str:
    (found,) = find([os.fspath(path)], "constraint")
    return found.fields["group"]


def run_transfer(given: Transfer, job: Job) -> pa.Table:
    """Train and score agents under each condition, one for each seed (`TRANSFER_SCHEMA`)."""
    rows = []
    for condition in CONDITIONS:
        play = _ours if given.ours else _ppo
        for seed, episodes in zip(given.seeds, play(given, condition, job), strict=True):
            rows.append(_row(given, condition, seed, episodes))
    return pa.Table.from_pylist(rows, schema=TRANSFER_SCHEMA)


def _row(given: Transfer, condition: str, seed: int, episodes: Trajectories) -> dict:
    """Means over episodes, (episodes,)."""
    world = given.world
    costs = constraint_values(world, given.cost(TRUE), episodes[None])[0]
    return {
        "experiment": given.experiment,
        "agent": OURS if given.ours else PPO,
        "change": words(given.settings.experiments[given.experiment]),
        "condition": condition,
        "seed": seed,
        "episodes": len(episodes),
        "return": float(episodes.returns.mean(dtype=np.float64)),
        "true_cost": float(accumulate(costs, episodes.mask, world.discount).mean()),
        "length": float(episodes.lengths.mean()),
    }


def _ours(given: Transfer, condition: str, job: Job) -> list[Trajectories]:
    """Episodes of our constrained learner, a stack of seeds at once."""
    # The same draws under every condition: the agents start alike.
    rngs = generators(given.seeds, "transfer", "agents")
    own = replace(given.own, epochs=given.settings.epochs)
    job = job.part(condition).of(given.seeds, "transfers")
    cost, beta = given.cost(condition), given.constraint.beta
    policy = train_policies(given.world, cost, beta, rngs, own, job).snapshots[-1]
    measured = generators(given.seeds, "transfer", "episodes")
    episodes = roll_out(given.world, policy, measured, given.settings.episodes)
    return [episodes[run] for run in range(len(given.seeds))]


def _ppo(given: Transfer, condition: str, job: Job) -> list[Trajectories]:
    """Episodes of PPO, seed after seed."""
    from icl_core.using.stable_baselines import Limit, train_ppo

    world, settings, found = given.world, given.settings, []
    limit = Limit(given.constraint.beta, 0.0 if condition == NONE else settings.multiplier_rate)
    for seed in given.seeds:
        env, drawn = (
            environments(given, condition),
            int(generator(seed, "transfer", "agents").integers(2**31)),
        )
        chooser = train_ppo(env, settings.steps, world.discount, drawn, limit)
        rng = generator(seed, "transfer", "episodes")
        found.append(play(world, chooser, rng, settings.episodes))
        job.progress.say(f"{given.experiment} {condition} seed {seed}")
    return found


def environments(given: Transfer, condition: str) -> VectorEnv:
    """The worlds in which PPO learns, with the cost that it is told.

    The worlds' own cost is the true one.
    """
    from icl_core.environments.gymnasium import WorldVectorEnv
    from icl_core.using.wrappers import LearnedCost, PenaliseCost

    env: VectorEnv = WorldVectorEnv(given.world, ENVIRONMENTS)
    if condition == LEARNED:
        env = LearnedCost(env, given.constraint)
    return PenaliseCost(env, 0.0)


def play(world: World, choose: Chooser, rng: np.random.Generator, episodes: int) -> Trajectories:
    """Complete episodes of an agent in the world itself: no cost, and none ends them."""
    states = world.initial_states(rng, episodes)
    kind = np.int64 if world.discrete else np.float32
    seen = np.zeros((episodes, world.horizon, world.observation_size), np.float32)
    chosen = np.zeros((episodes, world.horizon, *world.action_shape), kind)
    paid = np.zeros((episodes, world.horizon), np.float32)
    lengths, going = np.full(episodes, world.horizon), np.ones(episodes, bool)
    for t in range(world.horizon):
        seen[:, t] = world.observe(states)
        chosen[:, t] = choose(seen[:, t])
        noise = rng.random((episodes, world.noise_size))
        states, paid[:, t], ended = world.step(states, chosen[:, t], noise)
        lengths[going & ended] = t + 1
        going &= ~ended
    taken = np.arange(world.horizon) < lengths[:, None]
    seen, chosen, paid = (zero_after_end(part, taken) for part in (seen, chosen, paid))
    return Trajectories(seen, chosen, paid, lengths)
