"""Rolling out where a world goes forward only, against worlds and against plain loops."""

import itertools

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import icl_core.environments.gymnasium  # noqa: F401  (registers the worlds)
from icl_core.environments.forward import ForwardWorld, Limits
from icl_core.environments.gymnasium import WorldEnv
from icl_core.environments.inputs import inputs_of, see
from icl_core.environments.worlds.cartpole_mr import CartPoleMoveRight
from icl_core.errors import InputError
from icl_core.learning.engine.forward_segments import ForwardEnvs
from icl_core.learning.engine.rollouts import episode_seeds, roll_out
from icl_core.learning.engine.segments import ParallelEnvs
from tests.environments.test_forward import MODES, forward
from tests.worlds import some_policies


class SeededCartPole(CartPoleMoveRight):
    """Starts each episode as Gymnasium's reset does with that episode's seed."""

    name = "cartpole-mr"

    def initial_states(self, rng, n):
        seeds = episode_seeds(rng, n)
        starts = [
            super(SeededCartPole, self).initial_states(np.random.default_rng(s), 1) for s in seeds
        ]
        return np.concatenate(starts)


def cartpole(rows, mode=AutoresetMode.SAME_STEP):
    world = CartPoleMoveRight()
    world.horizon = 60
    envs = SyncVectorEnv([lambda: WorldEnv(world)] * rows, autoreset_mode=mode)
    forward = ForwardWorld(envs, Limits(60, world.discount))
    see(forward, inputs_of(world))
    return forward


def plain():
    world = SeededCartPole()
    world.horizon = 60
    return world


def rngs(count=2):
    return [np.random.default_rng(k) for k in range(count)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [3, 10, 32])
def test_whole_episodes_are_those_of_the_world_to_the_bit(mode, rows):
    policies = some_policies(plain(), rngs(), scale=3.0)
    ours, theirs = (
        roll_out(world, policies, rngs(), 5, played=[5, 3])
        for world in (plain(), cartpole(rows, mode))
    )
    for mine, other in zip(ours.parts(), theirs.parts(), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def test_a_run_does_not_depend_on_what_it_is_stacked_with():
    world = cartpole(8)
    policies = some_policies(world, rngs(3))
    together = roll_out(world, policies, rngs(3), 4)
    alone = roll_out(world, policies.pick([1]), [np.random.default_rng(1)], 4)
    for both, one in zip(together.parts(), alone.parts(), strict=True):
        np.testing.assert_array_equal(both[1], one[0])


def told(segment, run, row):
    """The steps of a row, one after the other."""
    return [
        (
            *segment.states[run, t, row],
            segment.rewards[run, t, row],
            segment.ended[run, t, row],
            segment.cut[run, t, row],
            segment.ages[run, t, row],
            *segment.moved[run, t, row],
        )
        for t in range(segment.rewards.shape[1])
    ]


def a_policy(world):
    return some_policies(world, rngs())


@pytest.mark.parametrize("mode", MODES)
def test_segments_are_whole_streams_of_real_steps(mode):
    """`Counting` says in each observation which step it is: nothing is skipped or made up."""
    world = forward(mode, rows=6)
    envs = ForwardEnvs(world, rngs(), 3)
    policies = a_policy(world)
    for number in range(4):
        segment = envs.roll(policies, rngs(), 7)
        for run, row in np.ndindex(2, 3):
            steps = told(segment, run, row)
            for episode, step, reward, ended, _, age, after, led in steps:
                assert (reward, led, after, age) == (step + 1, step + 1, episode, step)
                assert not ended or step >= 1
            for first, second in itertools.pairwise(steps):
                follows = second[1] == 0 if first[3] else second[:2] == (first[0], first[1] + 1)
                assert follows
        if number == 0:
            assert segment.ages[:, 0].tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("mode", MODES)
def test_the_log_counts_whole_episodes_alone(mode):
    world = forward(mode, rows=6)
    envs, policies = ForwardEnvs(world, rngs(), 3), a_policy(forward(mode))
    for _ in range(6):
        segment = envs.roll(policies, rngs(), 7)
        row = envs.tally(segment, np.ones(segment.rewards.shape), beta=1.0)
        # An episode of n steps is paid 1 + 2 + ... + n: its mean says whether any was cut short.
        counted = envs._whole(segment)
        lengths = segment.moved[..., 1][counted]
        expected = (lengths * (lengths + 1) / 2).reshape(-1)
        runs = np.nonzero(counted)[0]
        for run in range(2):
            assert row["return"][run] == pytest.approx(expected[runs == run].mean())
            assert row["length"][run] == pytest.approx(lengths[runs == run].mean())


def test_rows_that_somebody_else_used_begin_anew():
    world = forward(rows=6)
    envs, policies = ForwardEnvs(world, rngs(), 3), a_policy(forward())
    envs.roll(policies, rngs(), 3)
    roll_out(world, policies, rngs(), 2)
    segment = envs.roll(policies, rngs(), 3)
    assert (segment.ages[:, 0] == 0).all() and (segment.states[:, 0, :, 1] == 0).all()


def test_too_few_rows_are_refused():
    with pytest.raises(InputError, match=r"environments: expected at most 2, for 2 seeds share 4"):
        ForwardEnvs(forward(rows=4), rngs(), 3)


def test_the_same_columns_as_a_world_gives():
    """Lengths and costs of CartPole's episodes agree in distribution, by the same policy."""
    policies, means = some_policies(plain(), rngs()), []
    for world, kind in ((plain(), ParallelEnvs), (cartpole(40), ForwardEnvs)):
        envs = kind(world, rngs(), 20)
        segment = envs.roll(policies, rngs(), 200)
        means.append(envs.tally(segment, np.ones(segment.rewards.shape), 1e9)["length"])
    np.testing.assert_allclose(means[0], means[1], rtol=0.15)
