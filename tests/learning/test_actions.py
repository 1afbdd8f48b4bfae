"""Distributions over actions, against PyTorch's and against frequencies."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from icl_core.environments import make_world
from icl_core.learning.engine.actions import (
    LOG_DEVIATIONS,
    Categorical,
    Choices,
    Gaussian,
    Vectors,
    actions_of,
)
from icl_core.learning.engine.networks import Networks
from icl_core.randomness import generators


def in_torch(distribution, outputs):
    """PyTorch's distribution of the same outputs, (steps, n), and how to sum over an action."""
    if distribution is Categorical:
        return torch.distributions.Categorical(logits=outputs), lambda x: x
    k = outputs.shape[-1] // 2
    deviation = torch.exp(torch.clamp(outputs[..., k:], *LOG_DEVIATIONS))
    return torch.distributions.Normal(outputs[..., :k], deviation), lambda x: x.sum(-1)


KINDS = {"2 choices": Choices(2), "8 choices": Choices(8), "scalar": Vectors(1), "6": Vectors(6)}


@pytest.mark.parametrize("actions", KINDS.values(), ids=KINDS.keys())
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 0.3]))
def test_probabilities_entropies_and_slopes_are_those_of_torch(actions, seed, entropy):
    rng = np.random.default_rng(seed)
    outputs = rng.normal(size=(3, 10, actions.outputs)).astype(np.float32)
    ours = actions.distribution(outputs)
    chosen = ours.sample(rng.random((3, 10, actions.draws)))
    assert chosen.shape == (3, 10, *actions.shape)
    push = rng.normal(size=(3, 10)).astype(np.float32)
    x = torch.tensor(outputs, dtype=torch.float64, requires_grad=True)
    theirs, total = in_torch(type(ours), x)
    log_pi = total(theirs.log_prob(torch.tensor(chosen)))
    np.testing.assert_allclose(
        ours.log_probabilities(chosen), log_pi.detach(), rtol=1e-4, atol=1e-5
    )
    entropies = total(theirs.entropy())
    np.testing.assert_allclose(ours.entropies(), entropies.detach(), rtol=1e-4, atol=1e-5)
    (-(torch.tensor(push) * log_pi) - entropy * entropies).sum().backward()
    slope = ours.slope(chosen, push, entropy)
    np.testing.assert_allclose(slope, x.grad.numpy(), rtol=2e-3, atol=1e-4)


def test_a_deviation_at_its_limit_is_not_pushed_further():
    outputs = np.array([[[0.0, 0.0, LOG_DEVIATIONS[1] + 1, LOG_DEVIATIONS[0] - 1]]], np.float32)
    policy = Gaussian(outputs)
    np.testing.assert_allclose(policy.log_deviation[0, 0], LOG_DEVIATIONS[::-1])
    slope = policy.slope(np.ones((1, 1, 2), np.float32), np.ones((1, 1), np.float32), 0.1)
    assert not slope[..., 2:].any()
    assert slope[..., :2].all()


def test_gaussian_samples_are_normal():
    n = 100_000
    outputs = np.broadcast_to(np.array([1.5, -2.0, -1.0, 0.3], np.float32), (n, 4))
    drawn = Gaussian(outputs).sample(np.random.default_rng(0).random((n, 2)))
    for k, (mean, log_deviation) in enumerate([(1.5, -1.0), (-2.0, 0.3)]):
        test = stats.kstest(drawn[:, k], "norm", args=(mean, np.exp(log_deviation)))
        assert test.pvalue > 1e-3
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.02


def test_even_a_draw_of_zero_gives_a_finite_action():
    assert np.isfinite(Gaussian(np.zeros((1, 2), np.float32)).sample(np.zeros((1, 1)))).all()


def test_deviations_start_as_told_and_do_not_depend_on_the_state():
    actions = Vectors(2)
    policies = Networks.orthogonal(generators([1, 2], "p"), (3, 8, actions.outputs), gain=1.0)
    actions.prepare(policies, -0.5)
    states = np.random.default_rng(0).normal(size=(2, 20, 3)).astype(np.float32)
    assert (actions.distribution(policies(states)).log_deviation == -0.5).all()
    gradient = np.ones_like(policies.parameters)
    actions.hold(policies, gradient)
    assert policies.parameters.shape[1] - gradient[0].sum() == 8 * 2  # the weights, not the bias


def test_a_world_says_what_its_actions_are():
    actions = actions_of(make_world("gridworld-a"))
    assert (actions.outputs, actions.shape, actions.draws) == (8, (), 1)


def test_log_probabilities_pick_the_chosen_action():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    ours = Categorical(np.log(probabilities) + 7.0).log_probabilities(np.array([1, 2]))
    np.testing.assert_allclose(ours, np.log([0.5, 0.8]))


def test_sampled_actions_have_the_softmax_frequencies():
    rng = np.random.default_rng(5)
    n = 200_000
    for logits in ([0.0, 0.0], [3.0, -1.0, 0.5], np.linspace(-2, 2, 8)):
        logits = np.array(logits, np.float32)
        actions = Categorical(np.broadcast_to(logits, (n, len(logits)))).sample(rng.random((n, 1)))
        weights = np.exp(logits.astype(np.float64))
        expected = n * weights / weights.sum()
        counts = np.bincount(actions, minlength=len(logits))
        assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_sampling_keeps_to_the_actions_at_both_ends_of_the_draw():
    almost_one = np.nextafter(1.0, 0.0)
    for logits in ([0.0, 0.0, 0.0], [100.0, -100.0, 0.0], [-100.0, 0.0, 100.0]):
        ends = Categorical(np.array([logits, logits])).sample(np.array([[0.0], [almost_one]]))
        assert (ends >= 0).all()
        assert (ends <= 2).all()
    # an action without weight is never drawn, not even by a draw of exactly 0
    assert Categorical(np.array([[-np.inf, 0.0]])).sample(np.zeros((1, 1))) == 1
