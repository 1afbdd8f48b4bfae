"""What GAIL-Constraint and ICRL share: policies that learn from walks, and how a run ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.logs import TRAINING_COLUMNS, TRAINING_SCHEMA, log_table
from icl_core.learning.networks import Adam, Networks
from icl_core.learning.on_policy import OnPolicyAgents, OnPolicySettings
from icl_core.learning.ppo import mean_entropy
from icl_core.learning.rollouts import roll_out
from icl_core.learning.walkers import Walk, Walkers
from icl_core.randomness import generators


@dataclass(frozen=True)
class Outcome:
    """What a stack of runs ends with, whatever the method."""

    constraint: Networks  # c = sigmoid(output)
    policy: Networks
    log: pa.Table  # training log, a row per seed and rollout
    rollouts: Trajectories  # (runs, episodes) of the policy, for the reported metrics


class WalkingPolicies:
    """A stack of policies, the environments they walk in, and the log of their episodes.

    The generators of each rollout derive from its number, so a saved state needs none.
    """

    def __init__(
        self,
        world: World,
        seeds: Sequence[int],
        settings: OnPolicySettings,
        critics: int,
        purpose: str,
    ):
        if settings.steps % settings.environments:
            raise InputError(
                f"configuration: learning.on_policy.steps is {settings.steps}, expected a multiple "
                f"of learning.on_policy.environments, which is {settings.environments}"
            )
        self.world, self.seeds, self.settings, self.purpose = world, seeds, settings, purpose
        rngs = generators(seeds, purpose, "agents")
        sizes = (world.state_size, world.n_actions)
        self.agents = OnPolicyAgents.initialise(rngs, *sizes, settings, critics)
        rngs = generators(seeds, purpose, "walkers")
        self.walkers = Walkers(world, rngs, settings.environments)
        self.rows: list[np.ndarray] = []  # of the training log, (columns, runs) each

    def walk(self) -> tuple[Walk, np.ndarray, list[np.random.Generator]]:
        """A rollout, its constraint inputs (runs, steps, inputs), and the generators it used.

        The generators go on to serve what is learned from this rollout.
        """
        rngs = generators(self.seeds, self.purpose, len(self.rows))
        steps = self.settings.steps // self.settings.environments
        walk = self.walkers.walk(self.agents.policy, rngs, steps)
        inputs = self.world.constraint_inputs(walk.states, walk.actions)
        return walk, inputs.reshape(len(inputs), -1, inputs.shape[-1]), rngs

    def record(self, walk: Walk, costs: np.ndarray) -> dict[str, np.ndarray]:
        """A row of the log: column -> (runs,)."""
        row = self.walkers.tally(walk, costs)
        states = walk.states.reshape(len(costs), -1, self.world.state_size)
        everywhere = np.ones(states.shape[:2], bool)
        row["entropy"] = mean_entropy(self.agents.policy(states), everywhere)
        self.rows.append(np.stack([row[name] for name in TRAINING_COLUMNS]))
        return row

    def finish(self, constraint: Networks, episodes: int) -> Outcome:
        """The end of training: the policies' reported rollouts, and everything else."""
        columns = dict(zip(TRAINING_COLUMNS, np.stack(self.rows, axis=1), strict=True))
        log = log_table(TRAINING_SCHEMA, columns, self.seeds)
        policy = self.agents.policy.copy()
        rollouts = roll_out(self.world, policy, generators(self.seeds, "report"), episodes)
        return Outcome(constraint, policy, log, rollouts)

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        return self.agents.tensors() | self.walkers.tensors() | {"log": np.stack(self.rows)}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.agents.restore(named)
        self.walkers.restore(named)
        self.rows = list(named["log"])


def constraint_learner(
    world: World, seeds: Sequence[int], hidden: Sequence[int], rate: float
) -> tuple[Networks, Adam]:
    """A fresh constraint network for each run, as ICL's, and its optimiser."""
    rngs = generators(seeds, "constraint")
    networks = Networks.initialise(rngs, (world.input_size, *hidden, 1))
    return networks, Adam(networks.parameters, rate)
