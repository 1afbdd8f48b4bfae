"""Demonstrations of HighD: the recorded drivers, each on its own track."""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.worlds.highd import ACC, MOST_ACCELERATION, HighD


def replay(world: HighD, trajectories: int, rng: np.random.Generator) -> Trajectories:
    """One episode for each ego candidate, with what the world would have shown and paid.

    All of them, whatever the number of `trajectories` asked for: nothing is drawn here.

    The ego is put on its track in every frame, lane changes included, until the world says
    that the episode is over. The action is the recorded acceleration along the road in the
    policy's unit; drivers brake harder than the world allows, so it may lie beyond -1.
    """
    episodes = [_episode(world, ego) for ego in range(world.n_egos)]
    lengths = np.array([len(rewards) for *_, rewards in episodes], dtype=np.int64)
    shape = (len(episodes), lengths.max())
    padded = (
        np.zeros((*shape, world.observation_size), dtype=np.float32),
        np.zeros((*shape, world.action_size), dtype=np.float32),
        np.zeros(shape, dtype=np.float32),
    )
    for ego, episode in enumerate(episodes):
        for whole, part in zip(padded, episode, strict=True):
            whole[ego, : lengths[ego]] = part
    return Trajectories(*padded, lengths)


def _episode(world: HighD, ego: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations (steps, 14), actions (steps, 1) and rewards (steps,) of one recorded ego."""
    states = world.recorded_episode(ego)
    # A step leads from one frame to the next: it is paid for, and ends, with the latter.
    rewards, ended = world.outcome(states[1:])
    steps = int(ended.argmax()) + 1 if ended.any() else len(rewards)
    actions = states[:steps, [ACC]] / MOST_ACCELERATION
    return world.observe(states[:steps]), actions, rewards[:steps]
