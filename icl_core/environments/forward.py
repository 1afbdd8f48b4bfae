"""A Gymnasium vector environment as a world: it can begin episodes and step, and no more.

Worlds of this package move any state to the next. Other people's environments keep their state to
themselves: they go forward only. So whoever rolls out asks a world which kind it is (`forward`);
all else, networks, costs and distances, is the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from icl_core.environments.world import World
from icl_core.errors import InputError

FINAL = "final_obs"  # key of an info, where an ended row shows the next episode's start at once


class Moved(NamedTuple):
    """What came of a step of all rows, (n, ...) each."""

    led: np.ndarray  # (n, observation_size) float32, where the step led, also at an episode's end
    rewards: np.ndarray  # float32
    ended: np.ndarray  # bool: the episode is over
    cut: np.ndarray  # bool: ... by a limit of time alone
    rested: np.ndarray  # bool: no step was taken, the row only began its next episode
    now: np.ndarray  # like `led`: what the next action is for


@dataclass(frozen=True)
class Limits:
    """What an environment does not say of itself."""

    horizon: int  # steps after which an episode ends
    discount: float  # gamma
    centre: np.ndarray | float = 0.0  # of observations, (observation_size,)
    spread: np.ndarray | float = 1.0  # what networks see is (observation - centre) / spread


class ForwardWorld(World):
    """The rows of a vector environment, from which a stack of runs takes what it needs.

    An observation stands for the state, which nobody knows. Real-valued actions are clipped to the
    environment's bounds, as in every world. What constraints see must be said (`inputs.see`).
    `uses` counts how often all rows were begun anew: who comes back to them sees by it whether
    somebody else has used them in between.
    """

    name = "an environment of your own"
    title = "an environment of your own"
    forward = True
    true_constraint = None

    def __init__(self, envs: VectorEnv, limits: Limits):
        super().__init__()
        self.envs: Any = envs  # Gymnasium's own take more than their types say: a list of seeds
        self.limits, self.horizon, self.discount = limits, limits.horizon, limits.discount
        describe_spaces(self, envs.single_observation_space, envs.single_action_space)
        self.mode = AutoresetMode(envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        self.uses = 0
        self._waiting = np.zeros(envs.num_envs, bool)  # rows whose next step begins an episode
        self._one_seed = False  # for all rows together: the environment takes no list

    @property
    def rows(self) -> int:
        return self.envs.num_envs

    def features(self, observations: np.ndarray) -> np.ndarray:
        scaled = (observations - self.limits.centre) / self.limits.spread
        return scaled.astype(np.float32)

    def constraint_inputs(self, observations: np.ndarray, actions: np.ndarray) -> np.ndarray:
        raise InputError(f"{self.envs}: expected inputs of constraints, found none; choose some")

    def begin(self, seeds: Sequence[int]) -> np.ndarray:
        """Begin an episode in every row, each from a seed of its own: observations."""
        self.uses += 1
        self._waiting[:] = False
        if not self._one_seed:
            try:
                return self._seen(self.envs.reset(seed=list(seeds))[0])
            except (TypeError, ValueError, gymnasium.error.Error):
                self._one_seed = True
        return self._seen(self.envs.reset(seed=int(seeds[0]))[0])

    def move(self, actions: np.ndarray) -> Moved:
        """One step of all rows, whatever the environment does where an episode ends."""
        rested = self._waiting.copy()
        found, rewards, over, late, info = self.envs.step(self._their_actions(actions))
        led = self._seen(found)
        ended = (np.asarray(over, bool) | np.asarray(late, bool)) & ~rested
        cut = ended & ~np.asarray(over, bool)
        now = led
        if ended.any() and self.mode is AutoresetMode.SAME_STEP:
            led = led.copy()
            for row in np.flatnonzero(ended):
                led[row] = np.ravel(info[FINAL][row])
        if ended.any() and self.mode is AutoresetMode.DISABLED:
            begun = self._seen(self.envs.reset(options={"reset_mask": ended})[0])
            now = np.where(ended[:, None], begun, led)
        if self.mode is AutoresetMode.NEXT_STEP:
            self._waiting = ended
        rewards = np.where(rested, 0.0, rewards).astype(np.float32)
        return Moved(led, rewards, ended, cut, rested, now)

    def initial_states(self, rng: np.random.Generator, n: int) -> np.ndarray:
        raise self._forward_only()

    def step(self, states: np.ndarray, actions: np.ndarray, noise: np.ndarray | None = None):
        raise self._forward_only()

    def _forward_only(self) -> InputError:
        return InputError(
            f"{self.envs}: expected a world that can be put into any state, found an environment "
            "that goes forward only; leave out the setting that needs it (never_reset)"
        )

    def _seen(self, observations: Any) -> np.ndarray:
        return np.array(observations, np.float32).reshape(self.rows, -1)

    def _their_actions(self, actions: np.ndarray) -> np.ndarray:
        space = self.envs.single_action_space
        if isinstance(space, spaces.Discrete):
            return (actions + space.start).astype(space.dtype)
        clipped = np.clip(actions, self.action_low, self.action_high)
        return clipped.astype(space.dtype).reshape(self.rows, *space.shape)


def describe_spaces(world: World, seen: spaces.Space, done: spaces.Space) -> None:
    """Give a world the sizes and bounds of Gymnasium's spaces; InputError for other kinds."""
    if not isinstance(seen, spaces.Box) or len(seen.shape) != 1:
        raise _refused("observation", "a Box with one axis", seen)
    if isinstance(done, spaces.Discrete):
        world.n_actions = int(done.n)
    elif isinstance(done, spaces.Box) and len(done.shape) == 1:
        world.action_low = done.low.astype(np.float32)
        world.action_high = done.high.astype(np.float32)
    else:
        raise _refused("action", "a Discrete space or a Box with one axis", done)
    world.observation_low = seen.low.astype(np.float32)
    world.observation_high = seen.high.astype(np.float32)


def _refused(what: str, expected: str, found: spaces.Space) -> InputError:
    return InputError(
        f"the environment's {what} space: expected {expected}, found {found}; wrap the environment "
        "(gymnasium.wrappers.FlattenObservation, RescaleAction and others make one of it)"
    )
