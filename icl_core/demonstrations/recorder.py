"""Demonstrations recorded from a Gymnasium environment while a policy acts in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from icl_core.demonstrations.episodes import Episode
from icl_core.demonstrations.spaces import check_spaces, opened
from icl_core.errors import InputError
from icl_core.randomness import generator

if TYPE_CHECKING:
    import gymnasium

LONGEST = 1_000_000  # steps; an episode that is longer will not end
LARGEST_SEED = 2**31 - 1  # that environments take

Policy = Callable[[np.ndarray], Any]


def record_episodes(
    env: Any, policy: Policy, episodes: int, seed: int
) -> tuple[list[Episode], dict[str, Any]]:
    """Whole episodes, each reset with a seed of its own, and what the environment says of itself.

    So the third episode is the same however long the first two were.
    """
    if episodes < 1:
        raise InputError(f"episodes: expected at least 1, found {episodes}; ask for some")
    with opened(env) as world:
        name = world.spec.id if world.spec is not None else None
        check_spaces(f"env {name or type(world).__name__}", *_spaces(world))
        made = []
        for number in range(episodes):
            own = int(generator(seed, "record", number).integers(LARGEST_SEED))
            made.append(_episode(world, policy, own))
        about = {key: _names(world, key) for key in ("observation_names", "action_names")}
        n_actions = int(getattr(world.action_space, "n", 0))
        return made, {**about, "env_id": name, "n_actions": n_actions}


def _episode(env: gymnasium.Env, policy: Policy, seed: int) -> Episode:
    from gymnasium.spaces import Discrete

    choices = isinstance(env.action_space, Discrete)
    env.action_space.seed(seed)  # for policies that draw from it
    seen, _ = env.reset(seed=seed)
    observations, actions, rewards = [np.array(seen)], [], []
    costs: list[Any] = []
    for _ in range(LONGEST):
        action = policy(seen)
        action = int(action) if choices else np.array(action)
        seen, reward, terminated, truncated, info = env.step(action)
        observations.append(np.array(seen))  # a copy: some environments write into the same array
        actions.append(action)
        rewards.append(float(reward))
        costs.append(info.get("cost"))
        if terminated or truncated:
            known = None not in costs
            ends = bool(terminated), bool(truncated)
            parts = np.array(observations), np.array(actions), np.array(rewards)
            return Episode(*parts, *ends, np.array(costs, np.float64) if known else None)
    raise InputError(
        f"env: expected episodes of at most {LONGEST} steps, found one that does not end; wrap the "
        "environment in gymnasium.wrappers.TimeLimit"
    )


def _spaces(env: gymnasium.Env) -> tuple[gymnasium.Space, gymnasium.Space]:
    return env.observation_space, env.action_space


def _names(env: gymnasium.Env, key: str) -> list[str]:
    return [str(name) for name in (env.metadata or {}).get(key) or ()]
