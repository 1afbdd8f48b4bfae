"""Environments that go on across rollouts, against the plain simulation of one of them."""

import itertools

import numpy as np
import pytest

from icl_core.environments import make_world
from icl_core.learning.engine.segments import ParallelEnvs
from icl_core.randomness import generators
from tests.worlds import DRIVING, SYNTHETIC, short_world, some_policies

ALL = (*SYNTHETIC, *DRIVING, "ant")


def policies_of(world, seeds=(1, 2)):
    return some_policies(world, generators(seeds, "p"))


def segments(name, rollouts=3, steps=90, count=4, seeds=(1, 2)):
    world = short_world(name)
    policies = policies_of(world, seeds)
    environments = ParallelEnvs(world, generators(seeds, "w"), count)
    return (
        world,
        environments,
        [environments.roll(policies, generators(seeds, "r", k), steps) for k in range(rollouts)],
    )


@pytest.mark.parametrize("name", SYNTHETIC)  # in which a step follows from what is observed
def test_episodes_follow_the_world_across_rollouts(name):
    world, _, parts = segments(name)
    states, actions, rewards, ended, ages = (
        np.concatenate([getattr(part, field) for part in parts], axis=1)
        for field in ("states", "actions", "rewards", "ended", "ages")
    )
    for run in range(2):
        for env in range(4):
            age, finished = 0, 0
            for t in range(states.shape[1] - 1):
                assert ages[run, t, env] == age
                state, action = states[run, t, env][None], actions[run, t, env][None]
                moved, paid, over = world.step(state.astype(np.float64), action)
                # What is observed is rounded, and so is a reward that depends on places.
                assert paid[0] == pytest.approx(rewards[run, t, env], abs=1e-6)
                age += 1
                if ended[run, t, env]:
                    assert over[0] or age == world.horizon
                    age, finished = 0, finished + 1
                else:
                    np.testing.assert_allclose(states[run, t + 1, env], moved[0], atol=1e-5)
            assert finished
    for before, after in itertools.pairwise(parts):
        going = ~before.ended[:, -1]
        np.testing.assert_array_equal(before.moved[:, -1][going], after.states[:, 0][going])


@pytest.mark.parametrize("name", ALL)
def test_steps_lead_to_the_next_state_unless_the_episode_is_over(name):
    world, _, parts = segments(name)
    for part in parts:
        going = ~part.ended[:, :-1]
        np.testing.assert_array_equal(part.moved[:, :-1][going], part.states[:, 1:][going])
        np.testing.assert_array_equal(part.cut & (part.ages < world.horizon - 1), False)
        assert not (part.cut & ~part.ended).any()


def test_a_new_episode_begins_at_a_start():
    world, _, parts = segments("gridworld-a")
    for part in parts:
        first = part.states[part.ages == 0].astype(int)
        assert world.starts[first[:, 0], first[:, 1]].all()


def test_the_tally_is_that_of_whole_episodes():
    """Costs of a number per step; episodes may begin in one rollout and end in another."""
    world, environments, parts = segments("cartpole-mr")
    environments.sums[:] = 0.0
    rng = np.random.default_rng(0)
    costs = [rng.uniform(0, 2, size=part.rewards.shape) for part in parts]
    rows = [
        environments.tally(part, cost, world.threshold)
        for part, cost in zip(parts, costs, strict=True)
    ]
    ended = np.concatenate([part.ended for part in parts], axis=1)
    costs = np.concatenate(costs, axis=1)
    steps = parts[0].rewards.shape[1]
    found = {k: [[] for _ in range(2)] for k in range(len(parts))}
    for run in range(2):
        for env in range(4):
            start = 0
            for t in np.flatnonzero(ended[run, :, env]):
                span = costs[run, start : t + 1, env]
                found[t // steps][run].append((len(span), span @ 0.99 ** np.arange(len(span))))
                start = t + 1
    for k, row in enumerate(rows):
        for run in range(2):
            length, cost = np.array(found[k][run]).T
            assert row["length"][run] == row["return"][run] == pytest.approx(length.mean())
            assert row["constraint_value"][run] == pytest.approx(cost.mean())
            assert row["violations"][run] == pytest.approx((cost >= world.threshold).mean())


def test_a_rollout_in_which_nothing_ended_tells_nothing():
    world = make_world("gridworld-a")
    environments = ParallelEnvs(world, generators([1], "w"), 3)
    segment = environments.roll(policies_of(world, [1]), generators([1], "r"), 1)
    row = environments.tally(segment, np.zeros(segment.rewards.shape), world.threshold)
    assert all(np.isnan(values).all() for values in row.values())


@pytest.mark.parametrize("name", ALL)
def test_a_run_steps_the_same_alone_and_in_a_stack(name):
    _, _, together = segments(name, seeds=(1, 2, 3))
    _, _, alone = segments(name, seeds=(2,))
    for ours, theirs in zip(together, alone, strict=True):
        for field in ("states", "actions", "rewards", "ended", "cut", "ages", "moved"):
            np.testing.assert_array_equal(getattr(ours, field)[1], getattr(theirs, field)[0])


def test_slip_draws_are_used():
    world = make_world("gridworld-a", slip=0.5)
    environments = ParallelEnvs(world, generators([1], "w"), 3)
    segment = environments.roll(policies_of(world, [1]), generators([1], "r"), 40)
    assert segment.states.shape == (1, 40, 3, 2)
