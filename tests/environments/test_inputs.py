"""What constraints see, as linear functions that a file can hold."""

import numpy as np
import pytest

from icl_core.environments.inputs import inputs_of
from tests.worlds import NAMES, random_actions, small_world


@pytest.mark.parametrize("name", NAMES)
def test_inputs_of_every_world_are_linear(name):
    world, rng = small_world(name), np.random.default_rng(1)
    inputs = inputs_of(world)
    observations = rng.uniform(-5, 5, (3, 20, world.observation_size)).astype(np.float32)
    actions = random_actions(world, rng, 3, 20)
    assert inputs.function is None
    found = inputs(observations, actions)
    assert found.dtype == np.float32 and found.shape == (3, 20, world.input_size)
    np.testing.assert_allclose(found, world.constraint_inputs(observations, actions), atol=1e-5)


def test_a_world_with_other_inputs_keeps_its_function():
    world = small_world("gridworld-a")
    world.constraint_inputs = lambda states, actions: np.asarray(states, np.float32) ** 2
    inputs = inputs_of(world)
    assert inputs.function is not None
    states = np.array([[2.0, 3.0]], np.float32)
    np.testing.assert_allclose(inputs(states, np.array([0])), [[4.0, 9.0]])
