"""A learned policy, called as one of Stable-Baselines3 is."""

from __future__ import annotations

from typing import Any

import numpy as np

from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.randomness import generator


class Policy:
    """The policy of one seed."""

    def __init__(self, network: Networks, world: World, seed: int):
        self.seed = seed  # of the run that has learned it
        self._network, self._world = network, world
        self._rng = generator(seed, "predict")
        # Where Gymnasium's numbers of actions begin; those of worlds begin at 0.
        space = getattr(getattr(world, "envs", None), "single_action_space", None)
        self._first = int(getattr(space, "start", 0))

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[np.ndarray, None]:
        """Actions for an observation or a batch of them; no state.

        They are drawn from the policy, or with `deterministic` the most probable. The arguments in
        between are those of Stable-Baselines3, for policies with a memory: this one has none.
        """
        seen = np.asarray(observation, np.float32)
        size = self._world.observation_size
        if seen.shape[-1:] != (size,) or seen.ndim > 2:
            raise InputError(
                f"observation: expected {size} numbers, or rows of them, found shape {seen.shape}; "
                "give what the environment observes"
            )
        rows = np.atleast_2d(seen)[None]
        chosen = self._most_probable(rows) if deterministic else self._drawn(rows)
        if self._world.discrete:
            chosen = chosen + self._first
        else:
            chosen = np.clip(chosen, self._world.action_low, self._world.action_high)
        return (chosen[0] if seen.ndim == 2 else chosen[0, 0]), None

    def _drawn(self, rows: np.ndarray) -> np.ndarray:
        kind = actions_of(self._world)
        return self._distribution(rows).sample(self._rng.random((*rows.shape[:2], kind.draws)))

    def _most_probable(self, rows: np.ndarray) -> np.ndarray:
        return self._distribution(rows).mode()

    def _distribution(self, rows: np.ndarray):
        outputs = self._network(self._world.features(rows))
        return actions_of(self._world).distribution(outputs)
