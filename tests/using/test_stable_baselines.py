"""Gymnasium's vectors as Stable-Baselines3 sees them."""

import tempfile

import numpy as np
import pytest

from icl_core.environments.gymnasium import WorldEnv, WorldVectorEnv
from icl_core.using.stable_baselines import Limit, Multiplier, Vector, train_ppo
from icl_core.using.wrappers import PenaliseCost
from tests.worlds import small_world


def test_rows_are_episodes_that_begin_anew_at_once():
    """Each row replays single environments; an episode's last observation is told beside."""
    world, n = small_world("nav"), 4
    vector = Vector(WorldVectorEnv(world, n))
    vector.seed(3)
    seen = vector.reset()
    rng, singles, ends = np.random.default_rng(0), [WorldEnv(world) for _ in range(n)], 0
    for single, first in zip(singles, vector.env._states, strict=True):
        single.reset(options={"state": first})
    for _ in range(100):
        actions = rng.uniform(-0.5, 1, (n, 2)).astype(np.float32)
        seen, rewards, over, infos = vector.step(actions)
        for k, single in enumerate(singles):
            there, reward, ended, cut, _ = single.step(actions[k])
            assert rewards[k] == np.float32(reward) and over[k] == (ended or cut)
            if over[k]:
                ends += 1
                assert np.array_equal(infos[k]["terminal_observation"], there)
                assert infos[k]["TimeLimit.truncated"] == (cut and not ended)
                there, _ = single.reset(options={"state": vector.env._states[k]})
            assert np.array_equal(seen[k], there)
    assert ends >= 8


def test_episodes_cost_what_their_steps_do():
    """Against single environments, discounted by hand."""
    world, n = small_world("nav"), 3
    vector = Vector(WorldVectorEnv(world, n), world.discount)
    vector.reset()
    expected, running = [], [[] for _ in range(n)]
    for _ in range(60):
        before = world.observe(vector.env._states)
        inside = np.hypot(before[:, 0], before[:, 1] + 0.1) < 0.4
        _, _, over, _ = vector.step(np.tile(np.float32([0.8, 0.0]), (n, 1)))
        for k in range(n):
            running[k].append(0.99 ** len(running[k]) * inside[k])
            if over[k]:
                expected.append(sum(running[k]))
                running[k] = []
    assert vector.spent == pytest.approx(expected) and max(expected) > 5


def test_the_multiplier_follows_the_cost_and_is_never_negative():
    vector = Vector(PenaliseCost(WorldVectorEnv("nav", 2), 0.0))
    multiplier = Multiplier(vector, beta=2.0, rate=0.1)
    weights = []
    for spent in ([3.0, 3.0], [100.0], [], [1.0], [0.0], [0.0], [0.0]):
        vector.spent += spent
        multiplier._on_rollout_end()
        weights.append(round(vector.env.weight, 9))
        assert vector.spent == []
    assert weights == [0.05, 0.15, 0.15, 0.1, 0.0, 0.0, 0.0]


def test_ppo_learns_to_go_to_the_goal():
    world = small_world("nav")
    env = PenaliseCost(WorldVectorEnv(world, 32), 0.0)
    chooser = train_ppo(env, 10_000, world.discount, 1, Limit(world.threshold, 0.0))
    states = world.initial_states(np.random.default_rng(0), 30)
    arrived = np.zeros(30, bool)
    for _ in range(world.horizon):
        states, _, ended = world.step(states, chooser(world.observe(states)))
        arrived |= ended
    assert arrived.mean() > 0.8


def test_an_agent_leaves_nothing_in_the_folder_of_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    env = PenaliseCost(WorldVectorEnv(small_world("nav"), 4), 0.0)
    train_ppo(env, 64, 0.99, 1, Limit(1.0, 0.0))
    assert list(tmp_path.iterdir()) == []
