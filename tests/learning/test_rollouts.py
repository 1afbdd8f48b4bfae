"""Rollouts of a stack, against a plain loop over episodes; sampling and rewards-to-go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.environments import make_world
from icl_core.learning.networks import Networks
from icl_core.learning.rollouts import (
    rewards_to_go,
    roll_out,
)
from icl_core.randomness import generator, generators

WORLDS = [
    ("gridworld-a", {}),
    ("gridworld-b", {"slip": 0.3}),
    ("gridworld-b", {"slip": 0.3, "slip_over_all": True}),
    ("cartpole-mr", {}),
    ("cartpole-mid", {}),
]


def some_policies(world, seeds, scale=3.0):
    """Policies that are far from uniform, so that the choice of action matters."""
    policies = Networks.initialise(
        generators(seeds, "policy"), (world.state_size, 64, 64, world.n_actions)
    )
    policies.parameters *= scale
    return policies


def slow_episode(world, policy, state, draws):
    """One episode, one step at a time: lists of states, actions and rewards."""
    states, actions, rewards = [], [], []
    for draw in draws:
        logits = policy(state.astype(np.float32)[None, None])[0, 0].astype(np.float64)
        probabilities = np.exp(logits - logits.max())
        probabilities /= probabilities.sum()
        action, below = 0, probabilities[0]
        while below <= draw[0] and action < len(logits) - 1:
            action += 1
            below += probabilities[action]
        moved, reward, ended = world.step(state[None], np.array([action]), draw[None, 1:])
        states.append(state)
        actions.append(action)
        rewards.append(reward[0])
        state = moved[0]
        if ended[0]:
            break
    return states, actions, rewards


@pytest.mark.parametrize(("name", "options"), WORLDS)
def test_rollouts_are_those_of_a_plain_loop(name, options):
    world, seeds, episodes = make_world(name, **options), [3, 4], 6
    policies = some_policies(world, seeds)
    ours = roll_out(world, policies, generators(seeds, "rollout"), episodes)
    assert ours.rewards.shape == (2, episodes, world.horizon)
    for run, seed in enumerate(seeds):
        rng = generator(seed, "rollout")
        starts = world.initial_states(rng, episodes)
        draws = rng.random((world.horizon, episodes, 1 + world.noise_size))
        for k in range(episodes):
            states, actions, rewards = slow_episode(
                world, policies.pick([run]), starts[k], draws[:, k]
            )
            n = len(actions)
            assert ours.lengths[run, k] == n
            np.testing.assert_array_equal(ours.actions[run, k, :n], actions)
            np.testing.assert_array_equal(ours.rewards[run, k, :n], rewards)
            np.testing.assert_allclose(ours.states[run, k, :n], states, rtol=1e-6, atol=1e-7)
            for part in ours.parts()[:3]:
                assert not part[run, k, n:].any()


@pytest.mark.parametrize(("name", "options"), WORLDS)
def test_a_run_is_the_same_alone_and_in_a_stack(name, options):
    world, seeds = make_world(name, **options), [1, 2, 3, 4, 5]
    policies = some_policies(world, seeds, scale=1.0)
    together = roll_out(world, policies, generators(seeds, "rollout"), 20)
    for size in (1, 2, 3):
        part = roll_out(world, policies.pick(range(size)), generators(seeds[:size], "rollout"), 20)
        for whole, some in zip(together.parts(), part.parts(), strict=True):
            np.testing.assert_array_equal(whole[:size], some)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]),
)
def test_rewards_to_go_are_the_sums_of_their_definition(rewards, discount):
    expected = [
        sum(discount**k * r for k, r in enumerate(rewards[t:])) for t in range(len(rewards))
    ]
    ours = rewards_to_go(np.array([[rewards, rewards]]), discount)
    np.testing.assert_allclose(ours[0, 0], expected, atol=1e-9)
    np.testing.assert_array_equal(ours[0, 0], ours[0, 1])


def test_rewards_to_go_of_a_constant_reward_is_the_geometric_sum():
    steps, discount = 200, 0.99
    ours = rewards_to_go(np.ones((1, steps), np.float32), discount)[0]
    expected = (1 - discount ** (steps - np.arange(steps))) / (1 - discount)
    np.testing.assert_allclose(ours, expected)
