"""Demonstrations without what no constraint sees: whoever learns from them reads the same."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.demonstrations.accruals import visits
from icl_core.demonstrations.blanked import only_inputs
from icl_core.demonstrations.files import read_shown, write_demonstrations
from icl_core.learning.engine.costs import constraint_values, visited_inputs
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.learning.experts import ExpertSettings, train_experts
from icl_core.randomness import generators
from tests.learning.test_experts import TINY
from tests.worlds import short_world, some_policies

NAMES = ["gridworld-a", "cartpole-mr", "nav", "ant", "halfcheetah", "highd"]


def learned(inputs):
    """Any constraint that looks at all of its inputs."""
    return np.cos(inputs).prod(axis=-1)


def some_episodes(world):
    """Two experts, three episodes each."""
    rngs = generators([1, 2], "episodes")
    return roll_out(world, some_policies(world, generators([1, 2], "p")), rngs, 3)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_visits_costs_rewards_and_lengths_are_unchanged(name):
    world = short_world(name, horizon=10)
    whole = some_episodes(world)
    left = only_inputs(world, whole)
    np.testing.assert_array_equal(visited_inputs(world, left), visited_inputs(world, whole))
    np.testing.assert_array_equal(visits(world, left), visits(world, whole))
    for function in (world.true_constraint or learned, learned):
        costs = [constraint_values(world, function, one) for one in (left, whole)]
        np.testing.assert_array_equal(*costs)
    np.testing.assert_array_equal(left.rewards, whole.rewards)
    np.testing.assert_array_equal(left.lengths, whole.lengths)


@pytest.mark.parametrize("name", ["ant", "halfcheetah"])
def test_of_a_robot_the_position_is_left(name):
    world = short_world(name, horizon=10)
    whole = some_episodes(world)
    left = only_inputs(world, whole)
    np.testing.assert_array_equal(left.states[..., 0], whole.states[..., 0])
    assert left.states[..., 0].any()
    assert not left.states[..., 1:].any()
    assert not left.actions.any()
    assert whole.states[..., 1:].any() and whole.actions.any()  # what was given is as it was


def test_a_file_of_zeros_is_small_and_is_read_as_ever(tmp_path):
    world = short_world("ant", horizon=50)
    whole = some_episodes(world)
    sizes, read = [], []
    for name, one in (("whole", whole), ("left", only_inputs(world, whole))):
        file = tmp_path / f"{name}.parquet"
        write_demonstrations(file, one, world, {}, [1, 2])
        sizes.append(file.stat().st_size)
        read.append(visited_inputs(world, read_shown(file, world, [1, 2])))
    np.testing.assert_array_equal(*read)
    assert sizes[1] < sizes[0] / 5


def test_an_expert_leaves_them_where_it_is_told_to():
    world = short_world("halfcheetah", horizon=10)
    chosen = ExpertSettings(trajectories=2, constrained_rl=TINY)
    whole, left = (
        train_experts(world, replace(chosen, only_inputs=given), [1], Job())
        for given in (False, True)
    )
    expected = only_inputs(world, whole.trajectories)
    for ours, theirs in zip(left.trajectories.parts(), expected.parts(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(left.policy.parameters, whole.policy.parameters)
