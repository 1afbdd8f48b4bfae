"""Demonstrations of ExiD: recorded lane changes, replayed in the world."""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.worlds.exid import ExiD


def replay(world: ExiD, trajectories: int, rng: np.random.Generator) -> Trajectories:
    """So many lane changes drawn as the world draws its episodes, with repetition.

    Actions are the recorded lateral velocities; states and rewards are the world's own
    answer to them, so a stored demonstration can be repeated in it to the last bit.
    """
    n = trajectories
    states = world.initial_states(rng, n)
    recorded = [world.recorded_actions(int(change)) for change in states[:, 0]]
    lengths = np.array([min(len(actions), world.horizon) for actions in recorded])
    actions = np.zeros((n, lengths.max(), 1), np.float32)
    for k, length in enumerate(lengths):
        actions[k, :length] = recorded[k][:length]
    seen = np.zeros((n, lengths.max(), world.observation_size), np.float32)
    rewards = np.zeros((n, lengths.max()), np.float32)
    for t in range(lengths.max()):
        going = t < lengths
        seen[:, t] = world.observe(states) * going[:, None]
        states, paid, _ = world.step(states, actions[:, t])
        rewards[:, t] = paid * going
    return Trajectories(seen, actions, rewards, lengths)
