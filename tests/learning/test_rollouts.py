"""Rollouts of a stack, against a plain loop over episodes; sampling and rewards-to-go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from icl_core.errors import InputError
from icl_core.learning.engine.rollouts import rewards_to_go, roll_out, roll_out_without_reset
from icl_core.randomness import generator, generators
from tests.worlds import short_world, some_policies

WORLDS = [
    ("gridworld-a", {}),
    ("gridworld-b", {"slip": 0.3}),
    ("gridworld-b", {"slip": 0.3, "slip_over_all": True}),
    ("cartpole-mr", {}),
    ("cartpole-mid", {}),
    ("highd", {}),
    ("exid", {}),
    ("halfcheetah", {}),
]


def slow_choice(world, outputs, draws):
    """An action for the policy's outputs: by a search along the CDF, or by its inverse."""
    if not world.discrete:
        mean, log_deviation = np.split(outputs, 2)
        return (mean + np.exp(log_deviation) * ndtri(draws)).astype(np.float32)
    probabilities = np.exp(outputs - outputs.max())
    probabilities /= probabilities.sum()
    action, below = 0, probabilities[0]
    while below <= draws[0] and action < len(outputs) - 1:
        action += 1
        below += probabilities[action]
    return action


def slow_episode(world, policy, state, draws, taken):
    """One episode, one step at a time: lists of observations, actions and rewards.

    Real actions are chosen by the policy but taken as in `taken`: a robot's motion would make other
    motions of their last bits.
    """
    states, actions, rewards = [], [], []
    for t, draw in enumerate(draws):
        seen = world.observe(state[None])
        outputs = policy(world.features(seen)[None])[0, 0].astype(np.float64)
        action = slow_choice(world, outputs, draw[: world.action_size])
        noise = draw[None, world.action_size :]
        now = np.array([action]) if world.discrete else taken[None, t]
        moved, reward, ended = world.step(state[None], now, noise)
        states.append(seen[0])
        actions.append(action)
        rewards.append(reward[0])
        state = moved[0]
        if ended[0]:
            break
    return states, actions, rewards


@pytest.mark.parametrize(("name", "options"), WORLDS)
def test_rollouts_are_those_of_a_plain_loop(name, options):
    world, seeds = short_world(name, 200, **options), [3, 4]
    episodes = 6 if world.discrete else 2
    # Far from uniform, so that the choice of action matters.
    policies = some_policies(
        world, generators(seeds, "policy"), (64, 64), 3.0 if world.discrete else 1.0
    )
    ours = roll_out(world, policies, generators(seeds, "rollout"), episodes)
    assert ours.rewards.shape == (2, episodes, world.horizon)
    for run, seed in enumerate(seeds):
        rng = generator(seed, "rollout")
        starts = world.initial_states(rng, episodes)
        draws = rng.random((world.horizon, episodes, world.action_size + world.noise_size))
        for k in range(episodes):
            states, actions, rewards = slow_episode(
                world, policies.pick([run]), starts[k], draws[:, k], ours.actions[run, k]
            )
            n = len(actions)
            assert ours.lengths[run, k] == n
            np.testing.assert_array_equal(ours.states[run, k, :n], states)
            np.testing.assert_array_equal(ours.rewards[run, k, :n], rewards)
            np.testing.assert_allclose(ours.actions[run, k, :n], actions, rtol=1e-4, atol=1e-4)
            for part in ours.parts()[:3]:
                assert not part[run, k, n:].any()


@pytest.mark.parametrize(("name", "options"), WORLDS)
def test_a_run_is_the_same_alone_and_in_a_stack(name, options):
    world, seeds = short_world(name, 200, **options), [1, 2, 3, 4, 5]
    episodes = 20 if world.discrete else 3
    policies = some_policies(world, generators(seeds, "policy"), (64, 64))
    together = roll_out(world, policies, generators(seeds, "rollout"), episodes)
    for size in (1, 2, 3):
        rngs = generators(seeds[:size], "rollout")
        part = roll_out(world, policies.pick(range(size)), rngs, episodes)
        for whole, some in zip(together.parts(), part.parts(), strict=True):
            np.testing.assert_array_equal(whole[:size], some)


@pytest.mark.parametrize(("name", "options"), WORLDS)
def test_episodes_that_are_not_wanted_have_no_steps_and_change_nothing(name, options):
    world, seeds, played = short_world(name, **options), [1, 2, 3], [2, 0, 4]
    policies = some_policies(world, generators(seeds, "policy"), (64, 64))
    everyone = roll_out(world, policies, generators(seeds, "rollout"), 4)
    some = roll_out(world, policies, generators(seeds, "rollout"), 4, played)
    for run, n in enumerate(played):
        for whole, part in zip(everyone.parts(), some.parts(), strict=True):
            assert part.dtype == whole.dtype
            np.testing.assert_array_equal(part[run, :n], whole[run, :n])
            assert not part[run, n:].any()


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


@pytest.mark.parametrize("name", ["gridworld-a", "cartpole-mr"])
def test_without_a_reset_all_but_the_first_episode_are_one_step_onwards(name):
    world = short_world(name)
    policies = some_policies(world, generators([1, 2], "p"))
    played = roll_out_without_reset(world, policies, generators([1, 2], "r"), 5)
    first = roll_out(world, policies, generators([1, 2], "r"), 1)
    for ours, theirs in zip(played.parts(), first.parts(), strict=True):
        np.testing.assert_array_equal(ours[:, 0], theirs[:, 0])
    np.testing.assert_array_equal(played.lengths[:, 1:], 1)
    for run in range(2):
        last = played.lengths[run, 0] - 1
        before = [played.states[run, 0, last], *played.states[run, 1:-1, 0]]
        actions = [played.actions[run, 0, last], *played.actions[run, 1:-1, 0]]
        moved = world.step(np.array(before), np.array(actions))[0]
        np.testing.assert_allclose(played.states[run, 1:, 0], moved, atol=1e-6)


def test_without_a_reset_a_state_must_be_what_is_observed():
    world = short_world("highd")
    policies = some_policies(world, generators([1], "p"))
    with pytest.raises(InputError, match="never_reset cannot be true in highd"):
        roll_out_without_reset(world, policies, generators([1], "r"), 2)
