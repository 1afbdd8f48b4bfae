"""The PPO update, against PyTorch's autograd and optimiser."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.learning.networks import log_softmax
from icl_core.learning.ppo import (
    ActorCritic,
    Batch,
    PPOSettings,
    mean_entropy,
    surrogate_gradient,
)
from icl_core.randomness import generators


def ppo_loss(logits, actions, old, advantages, clip, entropy):
    """The loss as the paper writes it, in torch, for one run: logits (steps, n)."""
    distribution = torch.distributions.Categorical(logits=logits)
    ratio = torch.exp(distribution.log_prob(actions) - old)
    clipped = torch.clamp(ratio, 1 - clip, 1 + clip)
    surrogate = torch.minimum(ratio * advantages, clipped * advantages)
    return -(surrogate + entropy * distribution.entropy()).mean()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 20),
    st.integers(2, 8),
    st.sampled_from([0.05, 0.1, 0.2]),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.integers(0, 2**32 - 1),
)
def test_surrogate_gradient_is_that_of_autograd(runs, steps, n, clip, entropy, seed):
    """Ratios lie inside and on either side of the clipping range, never on its kinks."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2.0, size=(runs, steps, n)).astype(np.float32)
    actions = rng.integers(n, size=(runs, steps))
    offsets = np.log([(1 - clip) * 0.7, 1 - clip / 2, 1.0, 1 + clip / 2, (1 + clip) * 1.4])
    log_pi = np.take_along_axis(log_softmax(logits), actions[..., None], -1)[..., 0]
    old = (log_pi - rng.choice(offsets, size=(runs, steps))).astype(np.float32)
    size = rng.uniform(0.1, 3.0, size=(runs, steps))
    advantages = (size * rng.choice([-1, 1], size=(runs, steps))).astype(np.float32)
    ours = surrogate_gradient(logits, actions, old, advantages, clip, entropy)
    for run in range(runs):
        x = torch.tensor(logits[run], dtype=torch.float64, requires_grad=True)
        rest = (torch.tensor(part[run]) for part in (actions, old, advantages))
        ppo_loss(x, *rest, clip, entropy).backward()
        np.testing.assert_allclose(ours[run], x.grad.numpy(), rtol=1e-4, atol=2e-6)


def test_surrogate_is_flat_exactly_where_the_clipped_branch_is_smaller():
    """Hand-made: one step, two actions with equal logits, pi = 1/2."""
    for ratio, advantage, flat in [
        (1.2, 1.0, True),
        (1.2, -1.0, False),  # a bad action grew likelier: must be undone
        (0.8, 1.0, False),
        (0.8, -1.0, True),
        (1.05, 1.0, False),
        (0.95, -1.0, False),
    ]:
        gradient = surrogate_gradient(
            np.zeros((1, 1, 2), np.float32),
            np.zeros((1, 1), np.int64),
            np.log(np.array([[0.5 / ratio]], np.float32)),
            np.array([[advantage]], np.float32),
            clip=0.1,
            entropy=0.0,
        )[0, 0]
        push = 0.0 if flat else -ratio * advantage / 2
        np.testing.assert_allclose(gradient, [push, -push], atol=1e-6)


def torch_copy(networks, run):
    """Weights and biases of one run as leaves, in the order in which a row stores them."""
    leaves = []
    for weights, biases in networks.layers:
        leaves += [torch.tensor(weights[run].copy()), torch.tensor(biases[run, 0].copy())]
    return [leaf.double().requires_grad_() for leaf in leaves]


def torch_forward(leaves, inputs):
    hidden = inputs
    for weights, biases in zip(leaves[:-2:2], leaves[1:-2:2], strict=True):
        hidden = torch.relu(hidden @ weights + biases)
    return hidden @ leaves[-2] + leaves[-1]


def reference_update(nets, optimiser, batch, run, settings, multiplier):
    """One update in plain torch: value losses, advantages that carry no gradient, PPO loss."""
    policy, *values = nets
    states = torch.tensor(batch.states[run]).double()
    targets = torch.tensor(batch.targets[run]).double()
    errors = [targets[:, k] - torch_forward(v, states)[:, 0] for k, v in enumerate(values)]
    value_loss = sum((error**2).mean() for error in errors)
    advantages = [error.detach() for error in errors]
    if settings.normalise:
        advantages = [(a - a.mean()) / (a.std(correction=0) + 1e-8) for a in advantages]
    combined = advantages[0]
    if multiplier is not None:
        combined = (advantages[0] - multiplier * advantages[1]) / (1 + multiplier)
    actions = torch.tensor(batch.actions[run])
    old = torch.tensor(batch.old_log_probabilities[run]).double()
    logits = torch_forward(policy, states)
    loss = ppo_loss(logits, actions, old, combined, settings.clip, settings.entropy)
    optimiser.zero_grad()
    (value_loss + loss).backward()
    optimiser.step()


def make_batch(rng, agents, runs, steps, critics):
    states = rng.normal(size=(runs, steps, 3)).astype(np.float32)
    actions = rng.integers(4, size=(runs, steps))
    log_pi = np.take_along_axis(log_softmax(agents.policy(states)), actions[..., None], -1)[..., 0]
    old = (log_pi + rng.normal(scale=0.15, size=(runs, steps))).astype(np.float32)
    targets = rng.normal(size=(runs, steps, critics)).astype(np.float32)
    return Batch(states, actions, old, targets)


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("multipliers", [None, [0.0, 1.7]])
def test_updates_are_those_of_plain_torch(multipliers, normalise):
    settings = PPOSettings(hidden=(16, 12), learning_rate=1e-3, normalise=normalise)
    critics = 1 if multipliers is None else 2
    agents = ActorCritic(generators([1, 2], "ppo"), 3, 4, settings, critics)
    nets = [[torch_copy(net, run) for net in (agents.policy, *agents.values)] for run in range(2)]
    optimisers = [
        torch.optim.Adam([leaf for net in leaves for leaf in net], 1e-3) for leaves in nets
    ]
    rng = np.random.default_rng(0)
    multiplier = None if multipliers is None else np.array(multipliers)
    for _ in range(5):
        batch = make_batch(rng, agents, 2, 64, critics)
        agents.update(batch, multiplier)
        for run in range(2):
            weight = None if multipliers is None else multipliers[run]
            reference_update(nets[run], optimisers[run], batch, run, settings, weight)
    for run, leaves in enumerate(nets):
        expected = torch.cat([leaf.detach().reshape(-1) for net in leaves for leaf in net]).numpy()
        np.testing.assert_allclose(agents.parameters[run], expected, atol=1e-5)


def test_networks_share_memory_with_the_row_that_adam_moves():
    agents = ActorCritic(generators([1, 2], "ppo"), 3, 4, PPOSettings(hidden=(8,)), critics=2)
    sizes = [net.parameters.shape[1] for net in (agents.policy, *agents.values)]
    assert agents.parameters.shape == (2, sum(sizes))
    assert sizes == [3 * 8 + 8 + 8 * 4 + 4] + [3 * 8 + 8 + 8 + 1] * 2
    agents.parameters[:] = 0.0
    for net in (agents.policy, *agents.values):
        assert not any(part.any() for layer in net.layers for part in layer)


@pytest.mark.parametrize("critics", [1, 2])
def test_a_run_learns_the_same_alone_and_in_a_stack(critics):
    seeds = [5, 6, 7, 8, 9]
    multiplier = np.linspace(0, 2, 5) if critics == 2 else None
    together = ActorCritic(generators(seeds, "ppo"), 3, 4, PPOSettings(), critics)
    rng = np.random.default_rng(1)
    batches = [make_batch(rng, together, 5, 64, critics) for _ in range(6)]
    for batch in batches:
        together.update(batch, multiplier)
    for run, seed in enumerate(seeds):
        alone = ActorCritic(generators([seed], "ppo"), 3, 4, PPOSettings(), critics)
        for batch in batches:
            parts = (batch.states, batch.actions, batch.old_log_probabilities, batch.targets)
            one = Batch(*(part[run : run + 1] for part in parts))
            alone.update(one, None if multiplier is None else multiplier[run : run + 1])
        np.testing.assert_array_equal(together.parameters[run], alone.parameters[0])


def test_mean_entropy_is_that_of_torch_over_the_taken_steps():
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(3, 10, 4)).astype(np.float32)
    mask = rng.random((3, 10)) < 0.6
    mask[:, 0] = True
    entropies = torch.distributions.Categorical(logits=torch.tensor(logits)).entropy().numpy()
    expected = [row[taken].mean() for row, taken in zip(entropies, mask, strict=True)]
    np.testing.assert_allclose(mean_entropy(logits, mask), expected, rtol=1e-5)
