"""Stacked networks, trained by Adam, against PyTorch; and each run against itself alone."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.learning.engine.networks import (
    BIAS,
    Networks,
    count_parameters,
    log_softmax,
    sigmoid,
)
from icl_core.learning.engine.optimisers import Adam
from icl_core.randomness import generators

ACTIVATIONS = ["relu", "tanh"]
SHAPES = st.lists(st.integers(1, 9), min_size=2, max_size=5)
SEEDS = st.integers(0, 2**32 - 1)


def in_torch(networks, run):
    """One run as a double-precision torch module with the same weights."""
    layers = []
    for weights, biases in networks.layers:
        layer = torch.nn.Linear(*weights.shape[1:]).double()
        layer.weight.data = torch.tensor(weights[run].T, dtype=torch.float64)
        layer.bias.data = torch.tensor(biases[run, 0], dtype=torch.float64)
        layers += [layer, torch.nn.ReLU() if networks.activation == "relu" else torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def flat_gradient(module):
    """The module's gradient in the stack's order: weights (in, out), then biases, by layer."""
    linear = [layer for layer in module if isinstance(layer, torch.nn.Linear)]
    parts = [part for layer in linear for part in (layer.weight.grad.T, layer.bias.grad)]
    return torch.cat([part.reshape(-1) for part in parts]).numpy()


@settings(max_examples=30, deadline=None)
@given(SHAPES, st.integers(1, 4), st.integers(1, 12), st.sampled_from(ACTIVATIONS), SEEDS)
def test_forward_and_gradient_are_those_of_autograd(sizes, runs, n, activation, seed):
    rng = np.random.default_rng(seed)
    networks = Networks.initialise(rng.spawn(runs), sizes, activation)
    inputs = rng.normal(size=(runs, n, sizes[0])).astype(np.float32)
    slope = rng.normal(size=(runs, n, sizes[-1])).astype(np.float32)
    output, trace = networks.trace(inputs)
    gradient = networks.gradient(trace, slope)
    for run in range(runs):
        module = in_torch(networks, run)
        expected = module(torch.tensor(inputs[run], dtype=torch.float64))
        expected.backward(torch.tensor(slope[run], dtype=torch.float64))
        np.testing.assert_allclose(output[run], expected.detach().numpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(gradient[run], flat_gradient(module), rtol=1e-4, atol=1e-4)


def test_gradient_fills_the_slot_that_it_is_given():
    rng = np.random.default_rng(0)
    networks = Networks.initialise(rng.spawn(2), (3, 5, 2))
    _, trace = networks.trace(rng.normal(size=(2, 4, 3)).astype(np.float32))
    slope = rng.normal(size=(2, 4, 2)).astype(np.float32)
    whole = np.full((2, 10 + networks.parameters.shape[1]), 7.0, np.float32)
    networks.gradient(trace, slope, out=whole[:, 10:])
    np.testing.assert_array_equal(whole[:, 10:], networks.gradient(trace, slope))
    assert (whole[:, :10] == 7.0).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_adam_follows_torch_over_200_steps(activation):
    """Least squares on fixed data, so that gradients pass through many sizes."""
    rng = np.random.default_rng(3)
    networks = Networks.initialise(rng.spawn(2), (3, 16, 2), activation)
    inputs = rng.normal(size=(2, 32, 3)).astype(np.float32)
    targets = rng.normal(size=(2, 32, 2)).astype(np.float32)
    modules = [in_torch(networks, run) for run in range(2)]
    theirs = [torch.optim.Adam(module.parameters(), 1e-2) for module in modules]
    ours = Adam(networks.parameters, 1e-2)
    for _ in range(200):
        output, trace = networks.trace(inputs)
        ours.step(networks.parameters, networks.gradient(trace, 2 * (output - targets) / 32))
        for run, (module, optimiser) in enumerate(zip(modules, theirs, strict=True)):
            optimiser.zero_grad()
            error = module(torch.tensor(inputs[run]).double()) - torch.tensor(targets[run])
            (error**2).sum(dim=1).mean().backward()
            optimiser.step()
    for run, module in enumerate(modules):
        expected = module(torch.tensor(inputs[run]).double()).detach().numpy()
        np.testing.assert_allclose(networks(inputs)[run], expected, atol=2e-3)


@settings(max_examples=25, deadline=None)
@given(SHAPES, st.integers(1, 4), st.sampled_from(ACTIVATIONS), SEEDS)
def test_tensors_round_trip(sizes, runs, activation, seed):
    networks = Networks.initialise(np.random.default_rng(seed).spawn(runs), sizes, activation)
    named = networks.tensors("some.") | {"other.layer1.weight": np.zeros(3)}
    again = Networks.from_tensors(named, "some.")
    assert again.sizes == networks.sizes
    assert again.activation == activation
    np.testing.assert_array_equal(again.parameters, networks.parameters)
    for depth, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes), start=1):
        assert named[f"some.layer{depth}.weight"].shape == (runs, fan_in, fan_out)
        assert named[f"some.layer{depth}.bias"].shape == (runs, fan_out)


def test_initialise_fills_the_xavier_range():
    networks = Networks.initialise(generators([1, 2], "x"), (30, 50, 40))
    for weights, biases in networks.layers:
        limit = np.sqrt(6 / (weights.shape[1] + weights.shape[2]))
        assert 0.99 * limit < np.abs(weights).max() <= limit * (1 + 1e-6)
        # a uniform draw's variance is limit^2 / 3; 1,500 and more draws per run
        np.testing.assert_allclose(weights.var(axis=(1, 2)), limit**2 / 3, rtol=0.1)
        assert (biases == np.float32(BIAS)).all()
    assert networks.parameters.shape == (2, count_parameters((30, 50, 40))) == (2, 3590)
    assert networks.parameters.dtype == np.float32
    assert not np.array_equal(*networks.parameters)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("runs", [2, 3, 5])
def test_a_run_is_the_same_alone_and_in_a_stack(runs, activation):
    """Bit for bit: initialisation, forward, gradient and 40 Adam steps at the paper's sizes."""
    for sizes, n in [((2, 64, 64, 8), 64), ((4, 64, 64, 1), 200), ((2, 64, 64, 1), 49)]:
        data = np.random.default_rng(runs)
        inputs = data.normal(size=(runs, n, sizes[0])).astype(np.float32)
        seeds = list(range(runs))
        together = trained(Networks.initialise(generators(seeds, "n"), sizes, activation), inputs)
        for run in seeds:
            alone = Networks.initialise(generators([run], "n"), sizes, activation)
            single = trained(alone, inputs[run : run + 1])
            for whole, one in zip(together, single, strict=True):
                np.testing.assert_array_equal(whole[run], one[0])


def trained(networks, inputs):
    adam = Adam(networks.parameters, 1e-3)
    for _ in range(40):
        output, trace = networks.trace(inputs)
        adam.step(networks.parameters, networks.gradient(trace, output - np.float32(1.0)))
    output, trace = networks.trace(inputs)
    gradient = networks.gradient(trace, output)
    return networks.parameters, output, gradient, adam.first, adam.second


def test_pick_copy_and_gather_give_independent_copies():
    stacks = [Networks.initialise(generators([k, k + 1, k + 2], "g"), (2, 4, 1)) for k in (0, 10)]
    before = [stack.parameters.copy() for stack in stacks]
    gathered = Networks.gather(stacks, np.array([1, 0, 1]))
    expected = [before[1][0], before[0][1], before[1][2]]
    np.testing.assert_array_equal(gathered.parameters, expected)
    picked = stacks[0].pick([2, 0])
    np.testing.assert_array_equal(picked.parameters, before[0][[2, 0]])
    for changed in (gathered, picked, stacks[0].copy()):
        changed.parameters += 1.0
    np.testing.assert_array_equal(stacks[0].parameters, before[0])
    assert not Networks.blank(3, (2, 4, 1)).parameters.any()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-80, 80, width=32), min_size=2, max_size=9))
def test_log_softmax_and_sigmoid_are_those_of_torch(values):
    logits = np.array([[values]], np.float32)
    expected = torch.tensor(logits).double()
    np.testing.assert_allclose(
        log_softmax(logits), torch.log_softmax(expected, -1).numpy(), rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(
        sigmoid(logits.astype(np.float64)), torch.sigmoid(expected).numpy(), atol=1e-12
    )
