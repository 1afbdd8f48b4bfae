"""CartPole against Gymnasium's."""

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from icl_core.environments import make_world
from icl_core.environments.cartpole import ANGLE_LIMIT, X_LIMIT
from icl_core.environments.gymnasium import WorldEnv


@pytest.fixture(scope="module")
def reference():
    return gymnasium.make("CartPole-v1").unwrapped


def step_reference(env: CartPoleEnv, state, action):
    env.state, env.steps_beyond_terminated = state, None
    _, reward, terminated, _, _ = env.step(int(action))
    return env.state, reward, terminated


def test_cartpole_moves_like_gymnasiums(reference):
    rng = np.random.default_rng(9)
    n = 5000
    states = rng.uniform(-1, 1, size=(n, 4)) * (1.1 * X_LIMIT, 4, 1.2 * ANGLE_LIMIT, 4)
    actions = rng.integers(2, size=n)
    moved, rewards, terminated = make_world("cartpole-mr").step(states, actions)
    expected = [step_reference(reference, *pair) for pair in zip(states, actions, strict=True)]
    assert np.array_equal(moved, [e[0] for e in expected])
    assert np.array_equal(rewards, [e[1] for e in expected])
    assert np.array_equal(terminated, [e[2] for e in expected])
    assert 0.2 < terminated.mean() < 0.8  # both sides of the limits were tried


@pytest.mark.parametrize("name", ["cartpole-mr", "cartpole-mid"])
def test_whole_cartpole_episodes_are_gymnasiums(name, reference):
    """Through the Gymnasium adapter, with an agent that balances for a while."""
    env = gymnasium.wrappers.TimeLimit(WorldEnv(name), make_world(name).horizon)
    rng = np.random.default_rng(10)
    lengths = []
    for episode in range(10):
        env.reset(seed=episode)
        reference.reset()
        reference.state = env.unwrapped._state[0].copy()
        done, length = False, 0
        while not done:
            _, _, angle, spin = reference.state
            action = int(angle + 0.3 * spin > 0) if rng.random() < 0.9 else int(rng.integers(2))
            observation, reward, terminated, truncated, _ = env.step(action)
            expected = reference.step(action)
            assert np.array_equal(observation, expected[0])
            assert (reward, terminated) == expected[1:3]
            length += 1
            done = terminated or truncated
        lengths.append(length)
    assert max(lengths) > 100


def test_cartpole_starts():
    rng = np.random.default_rng(11)
    right = make_world("cartpole-mr").initial_states(rng, 20_000)
    assert np.all(np.abs(right) <= 0.05) and np.all(np.abs(right.mean(axis=0)) < 0.002)
    middle = make_world("cartpole-mid").initial_states(rng, 20_000)
    x = middle[:, 0]
    assert np.all((np.abs(x) >= 1.15) & (np.abs(x) <= 2.4)) and np.all(
        np.abs(middle[:, 1:]) <= 0.05
    )
    assert np.mean(x > 0) == pytest.approx(0.5, abs=0.02)
    assert np.abs(x).mean() == pytest.approx((1.15 + 2.4) / 2, abs=0.02)


def test_cartpole_constraints():
    right, middle = make_world("cartpole-mr"), make_world("cartpole-mid")
    inputs = np.array([[x, a] for x in (-2, -0.5, 0.1, 0.3, 0.9, 1.1, 2) for a in (0, 1)])
    assert right.true_constraint(inputs).tolist() == [1] * 6 + [0] * 8
    assert middle.true_constraint(inputs).tolist() == [1, 0] + [0, 0] * 4 + [0, 1] * 2


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_another_pole_moves_like_gymnasiums_with_that_length(length):
    """Theirs has half the pole's length as `length`, and keeps its mass."""
    theirs = gymnasium.make("CartPole-v1").unwrapped
    theirs.length = length / 2
    theirs.polemass_length = theirs.masspole * theirs.length
    rng = np.random.default_rng(11)
    states = rng.uniform(-1, 1, size=(500, 4)) * (X_LIMIT, 4, ANGLE_LIMIT, 4)
    actions = rng.integers(2, size=500)
    moved, _, _ = make_world("cartpole-mr", pole_length=length).step(states, actions)
    expected = [step_reference(theirs, *pair)[0] for pair in zip(states, actions, strict=True)]
    assert np.array_equal(moved, expected)
