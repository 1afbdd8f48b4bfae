"""Rolling out a stack of policies: all episodes of all runs move together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.networks import Networks, log_softmax, row_maximum


def roll_out(
    world: World, policies: Networks, rngs: Sequence[np.random.Generator], episodes: int
) -> Trajectories:
    """Sample complete episodes with the stochastic policies: a (runs, episodes) stack.

    Every draw that an episode may need is made beforehand from its run's own
    generator, so that the loop over time holds no loop over runs.
    """
    runs, horizon = policies.runs, world.horizon
    shape = (runs, episodes)
    states = np.stack([world.initial_states(rng, episodes) for rng in rngs])
    # (horizon, runs, episodes, 1 + noise): one uniform to choose the action, the rest for the world
    draws = np.stack(
        [rng.random((horizon, episodes, 1 + world.noise_size)) for rng in rngs], axis=1
    )

    seen = np.zeros((horizon, *shape, world.state_size), np.float32)
    chosen = np.zeros((horizon, *shape), np.int64)
    paid = np.zeros((horizon, *shape), np.float32)
    lengths = np.full(shape, horizon)
    alive = np.ones(shape, bool)
    for t in range(horizon):
        observations = states.astype(np.float32)
        actions = sample_actions(policies(observations), draws[t, ..., 0])
        noise = draws[t, ..., 1:].reshape(runs * episodes, world.noise_size)
        moved, rewards, ended = world.step(
            states.reshape(-1, world.state_size), actions.ravel(), noise
        )
        seen[t], chosen[t], paid[t] = observations, actions, rewards.reshape(shape)
        states = moved.reshape(states.shape)
        ended = ended.reshape(shape) & alive
        lengths[ended] = t + 1
        alive &= ~ended
        if not alive.any():
            break
    return _finished(seen, chosen, paid, lengths)


def roll_out_without_reset(
    world: World, policies: Networks, rngs: Sequence[np.random.Generator], episodes: int
) -> Trajectories:
    """One complete episode, then steps onwards from its end that pass for an episode each.

    A fault of the authors' ICRL, kept as a switch: their environment, once finished, ends
    every further step at once unless it is reset.
    """
    first = roll_out(world, policies, rngs, 1)
    shape = (policies.runs, episodes, *first.rewards.shape[2:])
    states = np.zeros((*shape, world.state_size), np.float32)
    actions, rewards = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    states[:, :1], actions[:, :1], rewards[:, :1] = first.states, first.actions, first.rewards
    lengths = np.ones(shape[:2], np.int64)
    lengths[:, 0] = first.lengths[:, 0]
    run, last = np.arange(policies.runs), lengths[:, 0] - 1
    now, action = states[run, 0, last], actions[run, 0, last]
    for k in range(1, episodes):
        draws = np.stack([rng.random(1 + world.noise_size) for rng in rngs])
        now = world.step(now, action, draws[:, 1:])[0].astype(np.float32)
        action = sample_actions(policies(now[:, None]), draws[:, :1])[:, 0]
        states[:, k, 0], actions[:, k, 0] = now, action
        rewards[:, k, 0] = world.step(now, action, draws[:, 1:])[1]
    return Trajectories(states, actions, rewards, lengths)


def _finished(seen, chosen, paid, lengths) -> Trajectories:
    """Put time behind the episodes and blank what lies beyond each episode's end.

    Always padded to the horizon: a sum's rounding depends on the number of terms,
    and a run's must not depend on how long its neighbours' episodes are.
    """
    taken = np.arange(len(seen)) < lengths[..., None]
    states = np.moveaxis(seen, 0, 2) * taken[..., None]
    actions = np.moveaxis(chosen, 0, 2) * taken
    rewards = np.moveaxis(paid, 0, 2) * taken
    return Trajectories(states, actions, rewards, lengths)


def sample_actions(logits: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw from the softmax of logits (..., n) by inverting its CDF at a uniform draw (...)."""
    weights = np.exp(logits - row_maximum(logits))
    cumulative = np.cumsum(weights, axis=-1, dtype=np.float64)
    threshold = uniform * cumulative[..., -1]
    return (cumulative[..., :-1] <= threshold[..., None]).sum(axis=-1)


def log_probabilities(logits: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """log pi(a|s) of the chosen actions: (..., n), (...) -> (...)."""
    return np.take_along_axis(log_softmax(logits), actions[..., None], axis=-1)[..., 0]


def rewards_to_go(rewards: np.ndarray, discount: float) -> np.ndarray:
    """G_t = sum over k >= t of gamma^(k-t) r_k along the last axis (padding pays nothing)."""
    result = np.array(rewards, dtype=np.float64)
    for t in range(rewards.shape[-1] - 2, -1, -1):
        result[..., t] += discount * result[..., t + 1]
    return result
