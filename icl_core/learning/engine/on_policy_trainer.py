"""On-policy training: policies, the environments that they step through, and their log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.forward_segments import ForwardEnvs
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.on_policy import OnPolicyAgents
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.segments import ParallelEnvs, Segment
from icl_core.learning.engine.training import TRAINING_COLUMNS, TRAINING_SCHEMA, log_table
from icl_core.learning.problem import Outcome
from icl_core.randomness import generators


class OnPolicyTrainer:
    """A stack of policies, the environments that they step through, and the log of their episodes.

    The generators of each rollout derive from its number, so a saved state needs none.
    `purpose` names the method: its draws are its own.
    """

    def __init__(
        self,
        world: World,
        beta: float,
        seeds: Sequence[int],
        settings: OnPolicySettings,
        critics: int,
        purpose: str,
    ):
        if settings.conflict():
            raise InputError(f"configuration: key on_policy.{settings.conflict()}")
        self.world, self.beta, self.seeds = world, beta, seeds
        self.settings, self.purpose = settings, purpose
        rngs = generators(seeds, purpose, "agents")
        self.agents = OnPolicyAgents.initialise(
            rngs, world.observation_size, actions_of(world), settings, critics
        )
        rngs = generators(seeds, purpose, "walkers")
        kind = ForwardEnvs if world.forward else ParallelEnvs
        self.environments = kind(world, rngs, settings.environments)
        self.rows: list[np.ndarray] = []  # of the training log, (columns, runs) each

    def roll(self) -> tuple[Segment, np.ndarray, list[np.random.Generator]]:
        """A rollout, its states as networks see them; its constraint inputs (runs, steps, inputs);
        and the generators that it used, which go on to serve what is learned from it.
        """
        rngs = generators(self.seeds, self.purpose, len(self.rows))
        steps = self.settings.steps // self.settings.environments
        segment = self.environments.roll(self.agents.policy, rngs, steps)
        inputs = self.world.constraint_inputs(segment.states, segment.actions)
        states, moved = (self.world.features(part) for part in (segment.states, segment.moved))
        segment = replace(segment, states=states, moved=moved)
        return segment, inputs.reshape(len(inputs), -1, inputs.shape[-1]), rngs

    def record(self, segment: Segment, costs: np.ndarray) -> dict[str, np.ndarray]:
        """A row of the log: column -> (runs,)."""
        row = self.environments.tally(segment, costs, self.beta)
        states = segment.states.reshape(len(costs), -1, segment.states.shape[-1])
        policy = self.agents.actions.distribution(self.agents.policy(states))
        row["entropy"] = policy.entropies().mean(axis=1)
        row["steps"] = np.full(len(costs), costs[0].size)
        self.rows.append(np.stack([row[name] for name in TRAINING_COLUMNS]))
        return row

    def made(self, steps: np.ndarray) -> None:
        """Count steps (runs,) beside the last rollout's, of episodes that were played besides."""
        self.rows[-1][TRAINING_COLUMNS.index("steps")] += steps

    def outcome(self, constraint: Networks, failed: np.ndarray) -> Outcome:
        """The end of training; `failed` (runs,) as the job has found it."""
        columns = dict(zip(TRAINING_COLUMNS, np.stack(self.rows, axis=1), strict=True))
        log = log_table(TRAINING_SCHEMA, columns, self.seeds, failed)
        return Outcome(constraint, self.agents.policy.copy(), log, failed=failed)

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        return self.agents.tensors() | self.environments.tensors() | {"log": np.stack(self.rows)}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.agents.restore(named)
        self.environments.restore(named)
        self.rows = list(named["log"])
