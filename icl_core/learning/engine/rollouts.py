"""Rolling out a stack of policies: all episodes of all runs move together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, zero_after_end
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.randomness import generator_state

if TYPE_CHECKING:  # it needs Gymnasium
    from icl_core.environments.forward import ForwardWorld

LARGEST_SEED = 2**31  # of an environment that goes forward only: what each of them takes


def roll_out(
    world: World,
    policies: Networks,
    rngs: Sequence[np.random.Generator],
    episodes: int,
    played: Sequence[int] | None = None,
) -> Trajectories:
    """Sample complete episodes with the stochastic policies: a (runs, episodes) stack.

    Every draw that an episode may need is made beforehand from its run's own
    generator, so that the loop over time holds no loop over runs. Where only the first `played`
    (runs,) episodes of each run are wanted, the others are drawn for but not simulated, and have
    no steps: those that are played do not depend on how many there are.
    """
    if world.forward:
        return _roll_forward(cast("ForwardWorld", world), policies, rngs, episodes, played)
    runs, horizon, actions = policies.runs, world.horizon, actions_of(world)
    shape = (runs, episodes)
    states = np.stack([world.initial_states(rng, episodes) for rng in rngs])
    choosing, noise = draw_uniform(world, rngs, horizon, episodes)
    seen = np.zeros((horizon, *shape, world.observation_size), np.float32)
    chosen = np.zeros((horizon, *shape, *actions.shape), actions.dtype)
    paid = np.zeros((horizon, *shape), np.float32)
    alive = _wanted(shape, played)
    moving = None if alive.all() else alive.copy()
    lengths = np.where(alive, horizon, 0)
    for t in range(horizon):
        seen[t] = world.observe(states)
        chosen[t] = choose(world, policies, seen[t], choosing[t])
        moved, rewards, ended = step_all(world, states, chosen[t], noise[t], moving)
        paid[t], states = rewards, moved
        ended &= alive
        lengths[ended] = t + 1
        alive &= ~ended
        if not alive.any():
            break
    return _finished(seen, chosen, paid, lengths)


def _wanted(shape: tuple[int, int], played: Sequence[int] | None) -> np.ndarray:
    """(runs, episodes) bool: which are to be played."""
    runs, episodes = shape
    count = np.full(runs, episodes) if played is None else np.asarray(played)
    return np.arange(episodes) < count[:, None]


def _roll_forward(
    world: ForwardWorld,
    policies: Networks,
    rngs: Sequence[np.random.Generator],
    episodes: int,
    played: Sequence[int] | None,
) -> Trajectories:
    """The same where a world goes forward only: as many episodes at a time as it has rows.

    Each episode begins from a seed of its own, so it matters to none which others are played, or in
    which row. Actions are chosen for all of them at each step, as above: to the last bit, a
    network's output depends on how many rows it is given.
    """
    shape, actions = (policies.runs, episodes), actions_of(world)
    seeds = np.array([episode_seeds(rng, episodes) for rng in rngs])
    choosing, _ = draw_uniform(world, rngs, world.horizon, episodes)
    seen = np.zeros((world.horizon, *shape, world.observation_size), np.float32)
    chosen = np.zeros((world.horizon, *shape, *actions.shape), actions.dtype)
    paid = np.zeros((world.horizon, *shape), np.float32)
    lengths = np.zeros(shape, np.int64)

    def act(t: int) -> np.ndarray:
        chosen[t] = choose(world, policies, seen[t], choosing[t])
        return chosen[t]

    wanted = np.argwhere(_wanted(shape, played))
    for some in np.split(wanted, range(world.rows, len(wanted), world.rows)):
        _play_rows(world, tuple(some.T), seeds, act, (seen, paid, lengths))
    return _finished(seen, chosen, paid, lengths)


def _play_rows(
    world: ForwardWorld,
    which: tuple[np.ndarray, ...],
    seeds: np.ndarray,
    act: Callable[[int], np.ndarray],
    out: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Play the episodes `which` (runs, episodes), one in each row, into the arrays of all.

    Rows that are left over begin and step like the others, and nobody looks at them.
    """
    seen, paid, lengths = out
    n = len(which[0])
    now = world.begin(np.resize(seeds[which], world.rows).tolist())
    alive = np.ones(n, bool)
    for t in range(world.horizon):
        seen[t][which] = now[:n]
        chosen = act(t)[which]
        moved = world.move(np.resize(chosen, (world.rows, *chosen.shape[1:])))
        paid[t][which] = moved.rewards[:n]
        lengths[which] += alive
        alive &= ~moved.ended[:n]
        now = moved.now
        if not alive.any():
            break


def episode_seeds(rng: np.random.Generator, count: int) -> list[int]:
    """Seeds of episodes, from where a generator stands: nothing is drawn from it."""
    words = generator_state([rng])[0].tolist()
    return np.random.default_rng(words).integers(LARGEST_SEED, size=count).tolist()


def draw_uniform(
    world: World, rngs: Sequence[np.random.Generator], steps: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """What `count` episodes per run may need in so many steps, from each run's own generator:
    draws for their actions and for the world, (steps, runs, count, ...) each.
    """
    of_actions = actions_of(world).draws
    sizes = (steps, count, of_actions + world.noise_size)
    draws = np.stack([rng.random(sizes) for rng in rngs], axis=1)
    return draws[..., :of_actions], draws[..., of_actions:]


def choose(
    world: World, policies: Networks, observations: np.ndarray, uniform: np.ndarray
) -> np.ndarray:
    """Actions of the policies for observations (runs, n, size) and draws (runs, n, ...)."""
    outputs = policies(world.features(observations))
    return actions_of(world).distribution(outputs).sample(uniform)


def step_all(
    world: World,
    states: np.ndarray,
    actions: np.ndarray,
    noise: np.ndarray,
    moving: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`world.step` for a stack: (runs, n, ...) in, (runs, n, ...) out.

    Only the episodes `moving` (runs, n) bool take the step, if not all: the others stay where they
    are and are paid nothing.
    """
    shape = states.shape[:2]
    if moving is not None:
        moved, rewards, ended = states.copy(), np.zeros(shape, np.float32), np.zeros(shape, bool)
        after = world.step(states[moving], actions[moving], noise[moving])
        moved[moving], rewards[moving], ended[moving] = after
        return moved, rewards, ended
    n = shape[0] * shape[1]
    flat = (part.reshape(n, *part.shape[2:]) for part in (states, actions, noise))
    moved, rewards, ended = world.step(*flat)
    return moved.reshape(states.shape), rewards.reshape(shape), ended.reshape(shape)


def roll_out_without_reset(
    world: World, policies: Networks, rngs: Sequence[np.random.Generator], episodes: int
) -> Trajectories:
    """One complete episode, then steps onwards from its end that pass for an episode each.

    A fault of the authors' ICRL, kept as a switch: their environment, once finished, ends
    every further step at once unless it is reset.
    """
    if world.state_size != world.observation_size:
        raise InputError(
            f"configuration: learning.icrl.never_reset cannot be true in {world.name}, where a "
            "state is more than what is observed; set it to false"
        )
    first = roll_out(world, policies, rngs, 1)
    shape, runs = (policies.runs, episodes, world.horizon), np.arange(policies.runs)
    parts = [np.zeros((*shape, *p.shape[3:]), p.dtype) for p in first.parts()[:3]]
    for part, given in zip(parts, first.parts(), strict=False):
        part[:, :1] = given
    states, actions, rewards = parts
    lengths = np.ones(shape[:2], np.int64)
    lengths[:, 0] = first.lengths[:, 0]
    last = lengths[:, 0] - 1
    now, action = states[runs, 0, last], actions[runs, 0, last]
    for k in range(1, episodes):
        choosing, noise = (draws[0] for draws in draw_uniform(world, rngs, 1, 1))
        now = world.step(now, action, noise[:, 0])[0].astype(np.float32)
        action = choose(world, policies, now[:, None], choosing)[:, 0]
        states[:, k, 0], actions[:, k, 0] = now, action
        rewards[:, k, 0] = world.step(now, action, noise[:, 0])[1]
    return Trajectories(states, actions, rewards, lengths)


def _finished(
    seen: np.ndarray, chosen: np.ndarray, paid: np.ndarray, lengths: np.ndarray
) -> Trajectories:
    """Put time behind the episodes and blank what lies beyond each episode's end.

    Always padded to the horizon: a sum's rounding depends on the number of terms,
    and a run's must not depend on how long its neighbours' episodes are.
    """
    taken = np.arange(len(seen)) < lengths[..., None]
    seen, chosen, paid = (zero_after_end(np.moveaxis(p, 0, 2), taken) for p in (seen, chosen, paid))
    return Trajectories(seen, chosen, paid, lengths)


def rewards_to_go(rewards: np.ndarray, discount: float) -> np.ndarray:
    """G_t = sum over k >= t of gamma^(k-t) r_k along the last axis (padding pays nothing)."""
    result = np.array(rewards, dtype=np.float64)
    for t in range(rewards.shape[-1] - 2, -1, -1):
        result[..., t] += discount * result[..., t + 1]
    return result
