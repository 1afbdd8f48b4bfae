"""The worlds as Gymnasium environments, one episode at a time or a batch of them.

Importing this module registers every world that is found, without importing any of them. Then
`gymnasium.make("icl/GridworldA-v0", slip=0.1)` and `gymnasium.make_vec(...)` come
here; the world's own settings pass through as keyword arguments. An episode is
truncated at the world's horizon. `info["cost"]` is the true c(s_t, a_t) of the step just
taken, where it is known, under the name that safe-RL libraries look for; `info["constraint"]`
is the same number. Constraint learning must not look at them.

`reset(options={"state": ...})` starts from a given state instead of one drawn from
mu; the vector environment wants one state for each of its episodes. There
`reset(options={"reset_mask": rows})` starts those rows anew and leaves the others alone.
"""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from icl_core import discovery
from icl_core.environments import gymnasium_id, make_world
from icl_core.environments.world import World
from icl_core.errors import InputError

RENDER: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}
RENDER_BATCH: dict[str, Any] = {**RENDER, "autoreset_mode": AutoresetMode.NEXT_STEP}


def register() -> None:
    """Make every world known to `gymnasium.make`; calling it again changes nothing."""
    for name in discovery.names(discovery.WORLDS):
        module = discovery.module_name(discovery.WORLDS, name)
        identity = gymnasium_id(name)
        if identity not in gymnasium.registry:
            gymnasium.register(
                identity,
                entry_point=f"{__name__}:{WorldEnv.__name__}",
                vector_entry_point=f"{__name__}:{WorldVectorEnv.__name__}",
                max_episode_steps=discovery.literal(module, "horizon"),
                kwargs={"world": name},
            )


def observation_space(world: World) -> spaces.Box:
    """The world's bounds as a Box; what is unbounded gets float32's largest number.

    Gymnasium's `check_env` frowns on infinite bounds, and no observation is infinite.
    """
    largest = np.finfo(np.float32).max
    low = np.clip(world.observation_low, -largest, largest)
    high = np.clip(world.observation_high, -largest, largest)
    return spaces.Box(low, high, dtype=np.float32)


def action_space(world: World) -> spaces.Space:
    """One of n actions, or a real vector within the world's bounds."""
    if world.discrete:
        return spaces.Discrete(world.n_actions)
    largest = np.finfo(np.float32).max
    bounds = (np.clip(b, -largest, largest) for b in (world.action_low, world.action_high))
    return spaces.Box(*bounds, dtype=np.float32)


def checked_actions(world: World, actions: np.ndarray, n: int) -> np.ndarray:
    """n actions as the world wants them, or an InputError."""
    shape = (n, *world.action_shape)
    if world.discrete:
        wanted = f"{n} integer{'s' * (n > 1)} from 0 to {world.n_actions - 1}"
        right = actions.shape == shape and actions.dtype.kind in "iu"
        right = right and bool(np.all((actions >= 0) & (actions < world.n_actions)))
    else:
        wanted = f"{n} x {world.action_size} finite numbers"
        right = actions.shape == shape and actions.dtype.kind in "iuf"
        right = right and bool(np.all(np.isfinite(actions)))
    if not right:
        found = np.array2string(actions, threshold=8)
        raise InputError(f"actions must be {wanted} in {world.name}, found {found}")
    return actions.astype(np.int64 if world.discrete else np.float32)


def _true_values(world: World, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The true c of each step; nan where nobody knows it."""
    if world.true_constraint is None:
        return np.full(len(states), np.nan)
    return world.true_constraint(world.constraint_inputs(world.observe(states), actions))


def _picture(world: World, state: np.ndarray) -> np.ndarray:
    """The state drawn; what drawing needs is imported only now."""
    if not world.drawing:
        raise InputError(
            f"{world.name} has no picture; write a module with `picture(world, state)` and name it "
            "in the world's `drawing`"
        )
    return importlib.import_module(world.drawing).picture(world, state)


def _world(world: World | str, settings: dict[str, Any]) -> World:
    if isinstance(world, str):
        return make_world(world, **settings)
    if settings:
        given = ", ".join(sorted(settings))
        raise InputError(
            f"settings ({given}) belong to a world's name, not to a ready World object"
        )
    return world


def _names(world: World) -> dict[str, tuple[str, ...]]:
    """What the numbers of observations and actions are called, where the world says it."""
    names = {"observation_names": world.observation_names, "action_names": world.action_names}
    return {key: given for key, given in names.items() if given}


def _start(world: World, rng: np.random.Generator, n: int, options: dict | None) -> np.ndarray:
    """Start states (n, state_size): those in the options, or drawn from mu."""
    if not options or "state" not in options:
        return world.initial_states(rng, n)
    states = np.array(options["state"], dtype=np.float64)
    space = observation_space(world)
    right = states.shape == (n, world.state_size) and np.all(np.isfinite(states))
    if right:
        seen = world.observe(states)
        right = np.all((seen >= space.low) & (seen <= space.high))
    if not right:
        raise InputError(
            f"reset option 'state' of {world.name} must be {n} x {world.state_size} numbers whose "
            f"observation is in the observation space, found {np.array2string(states, threshold=8)}"
            "; correct it or leave it out"
        )
    return states


def _rows(options: dict | None, n: int) -> np.ndarray:
    """Which of n episodes a reset is of, (n,) bool: all, unless the options say which."""
    rows = np.asarray((options or {}).get("reset_mask", np.ones(n, bool)))
    if rows.shape != (n,) or rows.dtype != bool or not rows.any():
        raise InputError(
            f"reset option 'reset_mask' must be {n} truth values, at least one of them true, found "
            f"{np.array2string(rows, threshold=8)}; correct it or leave it out"
        )
    return rows


def _steps_allowed(world: World, max_episode_steps: int | None) -> int:
    """The horizon, or fewer where `gymnasium.make*` asks for fewer; -1 asks for nothing."""
    if max_episode_steps is None or max_episode_steps < 1:
        return world.horizon
    return min(max_episode_steps, world.horizon)


class WorldEnv(gymnasium.Env[np.ndarray, np.int64 | np.ndarray]):
    """One episode of a world at a time; see the module's docstring."""

    metadata = RENDER

    def __init__(self, world: World | str, render_mode: str | None = None, **settings):
        self.world = _world(world, settings)
        self.metadata = {**RENDER, **_names(self.world)}
        self.render_mode = render_mode
        self.observation_space = observation_space(self.world)
        self.action_space = action_space(self.world)
        self._state: np.ndarray | None = None  # (1, state_size), as precise as the world keeps it
        self._steps = 0
        self._done = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode: observation, and an empty info."""
        super().reset(seed=seed)
        if options and "state" in options:
            options = {"state": np.asarray(options["state"])[None]}
        self._state = _start(self.world, self.np_random, 1, options)
        self._steps, self._done = 0, False
        return self._seen(self._state), {}

    def step(self, action):
        """Move: observation, reward, terminated, truncated, info with the true constraint."""
        if self._state is None or self._done:
            raise ResetNeeded("the episode is over or never began: call reset() before step()")
        actions = checked_actions(self.world, np.asarray(action)[None], 1)
        constraint = _true_values(self.world, self._state, actions)
        noise = self.np_random.random((1, self.world.noise_size))
        self._state, reward, terminated = self.world.step(self._state, actions, noise)
        self._steps += 1
        ended, cut = bool(terminated[0]), self._steps >= self.world.horizon
        self._done = ended or cut
        value = float(constraint[0])
        info = {} if np.isnan(value) else {"constraint": value, "cost": value}
        return self._seen(self._state), float(reward[0]), ended, cut, info

    def render(self) -> np.ndarray | None:
        """The current state as a picture, (height, width, 3) uint8, in mode "rgb_array"."""
        if self.render_mode is None:
            return None
        if self._state is None:
            raise ResetNeeded("there is no state to draw yet: call reset() before render()")
        return _picture(self.world, self._state[0])

    def _seen(self, state: np.ndarray) -> np.ndarray:
        return self.world.observe(state)[0].copy()  # callers keep what they were given


class WorldVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """A batch of episodes of a world, stepped together in NumPy.

    Autoreset is Gymnasium's NEXT_STEP: the step after an episode's last one ignores
    the action, returns the first observation of the next episode and pays nothing;
    such a row has no cost (`info["_cost"]` and `info["_constraint"]` are False there).
    """

    metadata = RENDER_BATCH
    resets_rows = True  # for wrappers: `reset_mask` is known

    def __init__(
        self,
        world: World | str,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **settings,
    ):
        self.world = _world(world, settings)
        self.metadata = {**RENDER_BATCH, **_names(self.world)}
        self.num_envs = num_envs
        self.max_episode_steps = _steps_allowed(self.world, max_episode_steps)
        self.render_mode = render_mode
        self.single_observation_space = observation_space(self.world)
        self.single_action_space = action_space(self.world)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._states: np.ndarray | None = None
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._done = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start all episodes anew, or some: observations of all, and an empty info."""
        super().reset(seed=seed)
        rows = _rows(options, self.num_envs)
        if self._states is None or rows.all():
            rows = np.ones(self.num_envs, bool)
            self._states = _start(self.world, self.np_random, self.num_envs, options)
        else:
            self._states = self._states.copy()
            self._states[rows] = _start(self.world, self.np_random, int(rows.sum()), options)
        self._steps[rows] = 0
        self._done[rows] = False
        return self.world.observe(self._states).copy(), {}

    def step(self, actions):
        """Move every episode that goes on; begin the next one where one had ended."""
        if self._states is None:
            raise ResetNeeded("the episodes never began: call reset() before step()")
        actions = checked_actions(self.world, np.asarray(actions), self.num_envs)
        going = ~self._done
        rewards, constraint = np.zeros(self.num_envs), np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, dtype=bool)
        next_states = self._states.copy()
        if going.any():
            states, chosen = self._states[going], actions[going]
            constraint[going] = _true_values(self.world, states, chosen)
            # No draws for rows that start anew: one row then draws just as WorldEnv does.
            noise = self.np_random.random((len(states), self.world.noise_size))
            next_states[going], rewards[going], terminated[going] = self.world.step(
                states, chosen, noise
            )
        if self._done.any():
            next_states[self._done] = self.world.initial_states(self.np_random, self._done.sum())
        self._steps = np.where(going, self._steps + 1, 0)
        truncated = self._steps >= self.max_episode_steps
        self._states, self._done = next_states, terminated | truncated
        known = self.world.true_constraint is not None
        values = {"constraint": constraint, "_constraint": going}
        values |= {"cost": constraint.copy(), "_cost": going.copy()}
        info = values if known else {}
        return self.world.observe(next_states).copy(), rewards, terminated, truncated, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of each episode, in mode "rgb_array"."""
        if self.render_mode is None:
            return None
        if self._states is None:
            raise ResetNeeded("there are no states to draw yet: call reset() before render()")
        return tuple(_picture(self.world, state) for state in self._states)


register()
