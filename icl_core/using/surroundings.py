"""The environment that a user names, as a world to learn in."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import icl_core.environments.gymnasium as own  # registers the worlds, "Nav-v0" among them
from icl_core.demonstrations.dataset import Demonstrations
from icl_core.demonstrations.trajectories import Trajectories, discounts
from icl_core.environments.forward import ForwardWorld, Limits
from icl_core.environments.inputs import (
    Bounds,
    Components,
    Function,
    Inputs,
    chosen_inputs,
    inputs_of,
    see,
)
from icl_core.environments.world import World
from icl_core.errors import InputError

Environment = str | Callable[[], gymnasium.Env] | VectorEnv | World
DISCOUNT = 0.99  # where nobody says another
FROM_DEMONSTRATIONS = "demonstrations"
SHARE = 0.1  # of an episode's steps, in which an expert may break a constraint that nobody knows
# What Gymnasium puts around every environment: it changes nothing that is seen or done.
PLAIN = (
    gymnasium.wrappers.OrderEnforcing,
    gymnasium.wrappers.PassiveEnvChecker,
    gymnasium.wrappers.TimeLimit,
)


@dataclass(frozen=True)
class Options:
    """What a user may say of the environment besides its name."""

    inputs: Sequence[int | str] | Function | None = None  # None: the world's, or all observations
    bounds: Bounds | None = None
    cost_limit: float | str = FROM_DEMONSTRATIONS
    discount: float | None = None
    horizon: int | None = None


@dataclass(frozen=True)
class Task:
    """A world, its demonstrations, and what constraints see there."""

    world: World
    trajectories: Trajectories
    inputs: Inputs


def task_of(env: Environment, demonstrations: Demonstrations, options: Options, rows: int) -> Task:
    """All that a learner needs; a vector environment that is made here has `rows` rows."""
    trajectories = demonstrations.trajectories()
    found = _inside(env)
    if isinstance(found, World):
        world = copy.copy(found)
        world.discount = options.discount or world.discount
        world.horizon = options.horizon or world.horizon
    else:
        world = _forward(found, trajectories, options, rows)
    _check(world, trajectories)
    chosen = options.inputs
    if chosen is None and world.forward:
        chosen = range(world.observation_size)
    if chosen is None:
        inputs = inputs_of(world)
    else:
        components = _components(world, demonstrations, trajectories)
        inputs = chosen_inputs(chosen, components, options.bounds)
        see(world, inputs)
    world.threshold = cost_limit(options.cost_limit, demonstrations, world.discount)
    return Task(world, trajectories, inputs)


def cost_limit(given: float | str, demonstrations: Demonstrations, discount: float) -> float:
    """beta: the number given, or a tenth of what it would cost to break the constraint all along.

    Costs that were recorded have no say: they are another constraint, or the truth.
    """
    if isinstance(given, int | float) and np.isfinite(given) and given > 0:
        return float(given)
    if given != FROM_DEMONSTRATIONS:
        raise InputError(
            f"cost_limit: expected a number above 0 or {FROM_DEMONSTRATIONS!r}, found {given!r}; "
            "docs/tutorial.md says how to choose it"
        )
    lengths = demonstrations.lengths
    worst = np.array([discounts(discount, int(n)).sum() for n in lengths])
    return float(SHARE * worst.mean())


def _inside(env: Environment) -> Any:
    """A world of this package, where that is what is given; a vector environment, or a factory."""
    if isinstance(env, World):
        return env
    if isinstance(env, VectorEnv):
        return env.world if isinstance(env, own.WorldVectorEnv) else env
    if isinstance(env, gymnasium.Env):
        raise InputError(
            f"env: expected an id, a function that makes an environment, a vector environment or a "
            f"world, found one environment, {env}; give a function: several are needed side by side"
        )
    if isinstance(env, str):
        make: Callable[[], gymnasium.Env] = _maker(env)
    elif callable(env):
        make = env
    else:
        raise InputError(
            "env: expected an id, a function that makes an environment, a vector environment or a "
            f"world, found {type(env).__name__}; give one of these"
        )
    one = make()
    while isinstance(one, PLAIN):
        one = one.env
    return one.world if isinstance(one, own.WorldEnv) else make


def _maker(name: str) -> Callable[[], gymnasium.Env]:
    def make() -> gymnasium.Env:
        try:
            return gymnasium.make(name)
        except gymnasium.error.Error as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"env {name!r}: expected an environment that Gymnasium knows, found none "
                f"({reason}); register it, or give a function that makes it"
            ) from error

    return make


def _forward(found: Any, seen: Trajectories, options: Options, rows: int) -> World:
    """Somebody else's environment: networks see what it observes as far from the demonstrations'
    mean, in their deviations.
    """
    if isinstance(found, VectorEnv):
        horizon, envs = _horizon(found, options), found
    else:
        horizon = _horizon(found(), options)
        makers = [lambda: gymnasium.wrappers.TimeLimit(found(), horizon)] * rows
        envs = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)
    states = seen.states[seen.mask]
    spread = states.std(axis=0)
    centre, spread = states.mean(axis=0), np.where(spread > 1e-6, spread, 1.0)
    return ForwardWorld(envs, Limits(horizon, options.discount or DISCOUNT, centre, spread))


def _horizon(env: gymnasium.Env | VectorEnv, options: Options) -> int:
    if options.horizon is not None:
        return options.horizon
    known = getattr(env.spec, "max_episode_steps", None)
    if known is None:
        raise InputError(
            f"horizon: expected the number of steps after which an episode ends, found none in "
            f"{env}; give horizon=... or register the environment with max_episode_steps"
        )
    return known


def _check(world: World, seen: Trajectories) -> None:
    """Whether demonstrations can be of this environment."""
    wanted = (world.observation_size, "one of n" if world.discrete else world.action_size)
    kind = "one of n" if seen.actions.ndim == 2 else seen.actions.shape[-1]
    found = (seen.states.shape[-1], kind)
    if found != wanted:
        raise InputError(
            f"demonstrations: expected observations of {wanted[0]} numbers and actions of "
            f"{wanted[1]}, found {found[0]} and {found[1]}; give demonstrations of this environment"
        )
    if world.discrete and not (0 <= seen.actions.min() <= seen.actions.max() < world.n_actions):
        raise InputError(
            f"demonstrations: expected actions from 0 to {world.n_actions - 1}, found "
            f"{seen.actions.min()} to {seen.actions.max()}; number them as the environment does"
        )
    if seen.lengths.max() > world.horizon:
        raise InputError(
            f"demonstrations: expected at most {world.horizon} steps, found {seen.lengths.max()}; "
            "give horizon=... or shorter episodes"
        )


def _components(world: World, demonstrations: Demonstrations, seen: Trajectories) -> Components:
    """What may be chosen, by name: those of the environment, of the demonstrations, or numbers."""
    told = getattr(getattr(world, "envs", None), "metadata", {})
    sides: list[str] = []
    for what, size in (("observation", world.observation_size), ("action", world.action_size)):
        key = f"{what}_names"
        plain = (
            ["action"] if what == "action" and size == 1 else [f"{what} {k}" for k in range(size)]
        )
        given = (getattr(world, key, ()), told.get(key, ()), getattr(demonstrations, key), plain)
        sides += next(tuple(names) for names in given if len(names) == size)
    actions = seen.actions[seen.mask].reshape(-1, world.action_size)
    low, high = _action_bounds(world)
    return Components(
        tuple(sides),
        np.concatenate([seen.states[seen.mask], actions], axis=-1).astype(np.float64),
        np.concatenate([world.observation_low, low]).astype(np.float64),
        np.concatenate([world.observation_high, high]).astype(np.float64),
        world.observation_size,
        world.n_actions,
    )


def _action_bounds(world: World) -> tuple[np.ndarray, np.ndarray]:
    if world.discrete:
        return np.zeros(1), np.full(1, world.n_actions - 1.0)
    return world.action_low, world.action_high
