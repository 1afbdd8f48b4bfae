"""Policies that learn from walks: a stack of them, the environments they walk in, their log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.actions import actions_of
from icl_core.learning.logs import TRAINING_COLUMNS
from icl_core.learning.on_policy import OnPolicyAgents, OnPolicySettings
from icl_core.learning.walkers import Walk, Walkers
from icl_core.randomness import generators


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
        self.agents = OnPolicyAgents.initialise(
            rngs, world.observation_size, actions_of(world), settings, critics
        )
        rngs = generators(seeds, purpose, "walkers")
        self.walkers = Walkers(world, rngs, settings.environments)
        self.rows: list[np.ndarray] = []  # of the training log, (columns, runs) each

    def walk(self) -> tuple[Walk, np.ndarray, list[np.random.Generator]]:
        """A rollout, its states as networks see them; its constraint inputs (runs, steps, inputs);
        and the generators it used, which go on to serve what is learned from it.
        """
        rngs = generators(self.seeds, self.purpose, len(self.rows))
        steps = self.settings.steps // self.settings.environments
        walk = self.walkers.walk(self.agents.policy, rngs, steps)
        inputs = self.world.constraint_inputs(walk.states, walk.actions)
        states, moved = (self.world.features(part) for part in (walk.states, walk.moved))
        walk = replace(walk, states=states, moved=moved)
        return walk, inputs.reshape(len(inputs), -1, inputs.shape[-1]), rngs

    def record(self, walk: Walk, costs: np.ndarray) -> dict[str, np.ndarray]:
        """A row of the log: column -> (runs,)."""
        row = self.walkers.tally(walk, costs)
        states = walk.states.reshape(len(costs), -1, walk.states.shape[-1])
        policy = self.agents.actions.distribution(self.agents.policy(states))
        row["entropy"] = policy.entropies().mean(axis=1)
        self.rows.append(np.stack([row[name] for name in TRAINING_COLUMNS]))
        return row

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        return self.agents.tensors() | self.walkers.tensors() | {"log": np.stack(self.rows)}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.agents.restore(named)
        self.walkers.restore(named)
        self.rows = list(named["log"])
