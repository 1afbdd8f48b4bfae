"""Constraints to test with: untrained networks on the inputs of a world."""

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.inputs import inputs_of
from icl_core.learning.engine.networks import Networks
from icl_core.using.constraint import Constraint
from tests.worlds import random_actions, small_world


def networks(k, seeds, activation="relu", scale=2.0, hidden=(16, 16)):
    """Networks whose output really depends on their input."""
    rngs = [np.random.default_rng(seed) for seed in seeds]
    made = Networks.initialise(rngs, (k, *hidden, 1), activation)
    made.parameters *= scale
    return made


def constraint(name="gridworld-a", seeds=(1, 2, 3), activation="relu", **more):
    world = small_world(name)
    stack = networks(world.input_size, seeds, activation)
    return Constraint(stack, inputs_of(world), world.threshold, world.discount, seeds, **more)


def pairs(name, rng, *axes):
    """Observations and actions of a world, as shapes `axes`."""
    world = small_world(name)
    observations = rng.uniform(-3, 3, (*axes, world.observation_size)).astype(np.float32)
    return observations, random_actions(world, rng, *axes)


def by_hand(made, inputs):
    """c of every seed at inputs (n, k), layer by layer and seed by seed, in float64."""
    values = []
    for run in range(made.networks.runs):
        hidden = np.asarray(inputs, np.float64)
        for depth, (weights, biases) in enumerate(made.networks.layers):
            hidden = hidden @ weights[run].astype(np.float64) + biases[run]
            if depth < len(made.networks.layers) - 1:
                tanh = made.networks.activation == "tanh"
                hidden = np.tanh(hidden) if tanh else np.maximum(hidden, 0)
        values.append(1 / (1 + np.exp(-hidden[:, 0])))
    return np.array(values)


def demonstrations(name, rng, episodes=5, steps=30):
    observations, actions = pairs(name, rng, episodes, steps)
    lengths = rng.integers(steps // 2, steps, episodes)
    return Trajectories(observations, actions, np.zeros((episodes, steps), np.float32), lengths)
