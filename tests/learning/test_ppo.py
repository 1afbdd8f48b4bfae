"""The PPO update and its memory of steps, against a queue, PyTorch's autograd and optimiser."""

from collections import deque

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.learning.engine.actions import Categorical, Choices, Vectors
from icl_core.learning.engine.networks import log_softmax
from icl_core.learning.engine.ppo import (
    ActorCritic,
    Batch,
    PPOSettings,
    StepBuffer,
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
    ours = surrogate_gradient(Categorical(logits), actions, old, advantages, clip, entropy)
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
            Categorical(np.zeros((1, 1, 2), np.float32)),
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


def reference_update(nets, optimiser, batch, run, settings):
    policy, value = nets
    states = torch.tensor(batch.states[run]).double()
    errors = torch.tensor(batch.targets[run]).double() - torch_forward(value, states)[:, 0]
    advantages = errors.detach()
    if settings.normalise:
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
    actions = torch.tensor(batch.actions[run])
    old = torch.tensor(batch.old_log_probabilities[run]).double()
    logits = torch_forward(policy, states)
    loss = ppo_loss(logits, actions, old, advantages, settings.clip, settings.entropy)
    optimiser.zero_grad()
    ((errors**2).mean() + loss).backward()
    optimiser.step()


def make_batch(rng, agents, runs, steps):
    states = rng.normal(size=(runs, steps, 3)).astype(np.float32)
    policy = agents.actions.distribution(agents.policy(states))
    actions = policy.sample(rng.random((runs, steps, agents.actions.draws)))
    log_pi = policy.log_probabilities(actions)
    old = (log_pi + rng.normal(scale=0.15, size=(runs, steps))).astype(np.float32)
    return Batch(states, actions, old, rng.normal(size=(runs, steps)).astype(np.float32))


@pytest.mark.parametrize("normalise", [False, True])
def test_updates_are_those_of_plain_torch(normalise):
    settings = PPOSettings(hidden=(16, 12), learning_rate=1e-3, normalise=normalise)
    agents = ActorCritic(generators([1, 2], "ppo"), 3, Choices(4), settings)
    nets = [[torch_copy(net, run) for net in (agents.policy, agents.value)] for run in range(2)]
    optimisers = [
        torch.optim.Adam([leaf for net in leaves for leaf in net], 1e-3) for leaves in nets
    ]
    rng = np.random.default_rng(0)
    for _ in range(5):
        batch = make_batch(rng, agents, 2, 64)
        agents.update(batch)
        for run in range(2):
            reference_update(nets[run], optimisers[run], batch, run, settings)
    for run, leaves in enumerate(nets):
        expected = torch.cat([leaf.detach().reshape(-1) for net in leaves for leaf in net]).numpy()
        np.testing.assert_allclose(agents.parameters[run], expected, atol=1e-5)


def test_networks_share_memory_with_the_row_that_adam_moves():
    agents = ActorCritic(generators([1, 2], "ppo"), 3, Choices(4), PPOSettings(hidden=(8,)))
    sizes = [net.parameters.shape[1] for net in (agents.policy, agents.value)]
    assert agents.parameters.shape == (2, sum(sizes))
    assert sizes == [3 * 8 + 8 + 8 * 4 + 4, 3 * 8 + 8 + 8 + 1]
    agents.parameters[:] = 0.0
    for net in (agents.policy, agents.value):
        assert not any(part.any() for layer in net.layers for part in layer)


@pytest.mark.parametrize("actions", [Choices(4), Vectors(2)], ids=["choices", "vectors"])
def test_a_run_learns_the_same_alone_and_in_a_stack(actions):
    seeds = [5, 6, 7, 8, 9]
    together = ActorCritic(generators(seeds, "ppo"), 3, actions, PPOSettings())
    rng = np.random.default_rng(1)
    batches = [make_batch(rng, together, 5, 64) for _ in range(6)]
    for batch in batches:
        together.update(batch)
    for run, seed in enumerate(seeds):
        alone = ActorCritic(generators([seed], "ppo"), 3, actions, PPOSettings())
        for batch in batches:
            parts = (batch.states, batch.actions, batch.old_log_probabilities, batch.targets)
            alone.update(Batch(*(part[run : run + 1] for part in parts)))
        np.testing.assert_array_equal(together.parameters[run], alone.parameters[0])


def test_a_gaussian_policy_finds_the_best_action():
    """Reward -(a - target)^2 in every state: the mean goes there, the deviation shrinks."""
    target, seeds = np.array([0.7, -0.4]), [1, 2]
    settings = PPOSettings(learning_rate=3e-3, entropy=0.0, normalise=True)
    agents = ActorCritic(generators(seeds, "ppo"), 3, Vectors(2), settings)
    rng = np.random.default_rng(0)
    for _ in range(300):
        batch = make_batch(rng, agents, 2, 64)
        policy = agents.actions.distribution(agents.policy(batch.states))
        rewards = -((batch.actions - target) ** 2).sum(axis=-1).astype(np.float32)
        old = policy.log_probabilities(batch.actions)
        agents.update(Batch(batch.states, batch.actions, old, rewards))
    states = rng.normal(size=(2, 50, 3)).astype(np.float32)
    policy = agents.actions.distribution(agents.policy(states))
    np.testing.assert_allclose(policy.mean.mean(axis=1), [target, target], atol=0.15)
    assert (policy.log_deviation < -0.7).all()
    assert np.ptp(policy.log_deviation, axis=1).max() == 0.0  # the same in every state


def test_mean_entropy_is_that_of_torch_over_the_taken_steps():
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(3, 10, 4)).astype(np.float32)
    mask = rng.random((3, 10)) < 0.6
    mask[:, 0] = True
    entropies = torch.distributions.Categorical(logits=torch.tensor(logits)).entropy().numpy()
    expected = [row[taken].mean() for row, taken in zip(entropies, mask, strict=True)]
    np.testing.assert_allclose(mean_entropy(Categorical(logits), mask), expected, rtol=1e-5)


# ------------------------------------------------------------------ the memory of steps


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 12), st.lists(st.integers(0, 30), min_size=1, max_size=5), st.integers(0, 999)
)
def test_buffer_holds_what_a_queue_would_hold(capacity, sizes, seed):
    rng = np.random.default_rng(seed)
    buffer = StepBuffer(2, capacity, 3, Choices(40))
    queues = [deque(maxlen=capacity) for _ in range(2)]
    label = 0
    for size in sizes:
        names = label + np.arange(2 * size).reshape(2, size)
        label += 2 * size
        mask = rng.random((2, size)) < 0.6
        buffer.add(labelled(names), mask)
        for queue, row, taken in zip(queues, names, mask, strict=True):
            queue.extend(row[taken].tolist())
    for run, queue in enumerate(queues):
        held = min(buffer.written[run], capacity)
        assert sorted(buffer.actions[run, :held]) == sorted(queue)
    if all(queues):
        drawn = buffer.draw(rng.spawn(2), batches=6, size=10)
        for batch in drawn:
            again = labelled(batch.actions)
            np.testing.assert_array_equal(batch.states, again.states)
            np.testing.assert_array_equal(batch.targets, again.targets)
            np.testing.assert_array_equal(batch.old_log_probabilities, again.old_log_probabilities)
            for row, queue in zip(batch.actions, queues, strict=True):
                assert set(row) <= set(queue)


def labelled(names):
    """Steps whose every field shows their name, (2, n) distinct integers."""
    names = np.asarray(names)
    states = names[..., None] + np.array([0.0, 0.25, 0.5])
    return Batch(states.astype(np.float32), names, -names.astype(np.float32), names + 0.5)


def test_buffer_draws_every_step_equally_often():
    buffer = StepBuffer(1, 8, 3, Choices(40))
    buffer.add(labelled(np.arange(11)[None]), np.ones((1, 11), bool))
    drawn = buffer.draw(generators([1], "d"), batches=100, size=80)
    counts = np.bincount(np.concatenate([batch.actions[0] for batch in drawn]), minlength=11)
    assert not counts[:3].any()  # the oldest three made room
    np.testing.assert_allclose(counts[3:], 1000, atol=150)
    buffer.clear()
    buffer.add(labelled(np.array([[20]])), np.ones((1, 1), bool))
    assert (buffer.draw(generators([1], "d"), 1, 5)[0].actions == 20).all()
