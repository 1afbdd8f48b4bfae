"""PPO of the baselines, against PyTorch's autograd, clipping and Adam, and hand-made cases."""

import numpy as np
import pytest
import torch

from icl_core.learning.engine.actions import Choices, Vectors
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.on_policy import (
    OnPolicyAgents,
    OnPolicySettings,
    Samples,
    cut_gradients,
    generalised_advantages,
)
from icl_core.learning.engine.segments import Segment
from icl_core.randomness import generators

RATES = {"learning_rate": 1e-3, "value_rate": 1e-3}


FOUR = Choices(4)


def agents_of(seeds, critics, actions=FOUR, **settings):
    settings = OnPolicySettings(**{"hidden": (16, 12), **RATES, **settings})
    return OnPolicyAgents.initialise(generators(seeds, "a"), 3, actions, settings, critics)


def samples_of(rng, agents, runs, steps, critics, spread=0.15):
    states = rng.normal(size=(runs, steps, 3)).astype(np.float32)
    policy = agents.actions.distribution(agents.policy(states))
    actions = policy.sample(rng.random((runs, steps, agents.actions.draws)))
    log_pi = policy.log_probabilities(actions)
    old = (log_pi + rng.normal(scale=spread, size=(runs, steps))).astype(np.float32)
    advantages, targets = rng.normal(size=(2, runs, steps, critics)).astype(np.float32)
    return Samples(states, actions, old, advantages, 3 * targets)


def in_torch(networks, run):
    leaves = []
    for weights, biases in networks.layers:
        leaves += [torch.tensor(weights[run].copy()), torch.tensor(biases[run, 0].copy())]
    return [leaf.double().requires_grad_() for leaf in leaves]


def forward(leaves, inputs):
    for weights, biases in zip(leaves[:-2:2], leaves[1:-2:2], strict=True):
        inputs = torch.tanh(inputs @ weights + biases)
    return inputs @ leaves[-2] + leaves[-1]


def reference_update(nets, optimiser, batch, run, settings, nu):
    """Stable-Baselines3's update, and PPO-Lagrange's where there is a multiplier."""
    states, advantages, targets, old = (
        torch.tensor(part[run]).double()
        for part in (batch.states, batch.advantages, batch.targets, batch.old_log_probabilities)
    )
    policy, *values = nets
    pi = torch.distributions.Categorical(logits=forward(policy, states))
    ratio = torch.exp(pi.log_prob(torch.tensor(batch.actions[run])) - old)
    gain = advantages[:, 0]
    gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
    clipped = torch.clamp(ratio, 1 - settings.clip, 1 + settings.clip)
    loss = -torch.minimum(ratio * gain, clipped * gain).mean()
    if nu is not None:
        costs = advantages[:, 1] - advantages[:, 1].mean()
        loss = (loss + nu * (ratio * costs).mean()) / (1 + nu)
    loss = loss - settings.entropy * pi.entropy().mean()
    for k, value in enumerate(values):
        errors = forward(value, states)[:, 0] - targets[:, k]
        loss = loss + settings.value_weight * (errors**2).mean()
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for net in nets for p in net], settings.gradient_norm)
    optimiser.step()


@pytest.mark.parametrize("nus", [None, [0.1, 1.7]])
@pytest.mark.parametrize("norm", [0.5, 100.0])
def test_updates_are_those_of_plain_torch(nus, norm):
    critics = 1 if nus is None else 2
    agents = agents_of([1, 2], critics, gradient_norm=norm, entropy=0.05)
    nets = [[in_torch(net, run) for net in (agents.policy, *agents.values)] for run in range(2)]
    optimisers = [torch.optim.Adam([p for net in own for p in net], 1e-3, eps=1e-5) for own in nets]
    rng = np.random.default_rng(0)
    for _ in range(5):
        batch = samples_of(rng, agents, 2, 64, critics)
        agents.update(batch, None if nus is None else np.array(nus))
        for run in range(2):
            nu = None if nus is None else nus[run]
            reference_update(nets[run], optimisers[run], batch, run, agents.settings, nu)
    for run, own in enumerate(nets):
        expected = torch.cat([p.detach().reshape(-1) for net in own for p in net]).numpy()
        np.testing.assert_allclose(agents.parameters[run], expected, atol=1e-5)


def test_orthogonal_networks_are_orthogonal():
    networks = Networks.orthogonal(generators([1, 2], "o"), (3, 64, 64, 8), gain=0.01)
    first, second, last = (weights.astype(np.float64) for weights, _ in networks.layers)
    for run in range(2):
        np.testing.assert_allclose(first[run] @ first[run].T, 2 * np.eye(3), atol=1e-5)
        np.testing.assert_allclose(second[run].T @ second[run], 2 * np.eye(64), atol=1e-5)
        np.testing.assert_allclose(last[run].T @ last[run], 1e-4 * np.eye(8), atol=1e-8)
    assert not np.array_equal(second[0], second[1])
    assert not any(biases.any() for _, biases in networks.layers)


# ------------------------------------------------------------------ advantages


def test_advantages_of_a_hand_made_walk():
    """Two environments; the first ends at its second step, the second goes on."""
    rewards = np.array([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]])
    values = np.array([[[0.5, 0.5], [0.25, 0.25], [1.0, 1.0]]])
    after = np.array([[[4.0, 4.0]]])
    ended = np.array([[[False, False], [True, False], [False, False]]])
    found = generalised_advantages(rewards, values, after, ended, 0.5, 0.8)
    last = 3 + 0.5 * 4 - 1
    over = [1 + 0.5 * 0.25 - 0.5 + 0.4 * (2 - 0.25), 2 - 0.25, last]
    middle = 2 + 0.5 * 1.0 - 0.25 + 0.4 * last
    on = [1 + 0.5 * 0.25 - 0.5 + 0.4 * middle, middle, last]
    np.testing.assert_allclose(found[0, :, 0], over)
    np.testing.assert_allclose(found[0, :, 1], on)


def test_with_lambda_one_advantages_are_returns_less_values():
    rng = np.random.default_rng(1)
    rewards, values = rng.normal(size=(2, 2, 12, 3))
    after, ended = rng.normal(size=(2, 1, 3)), rng.random((2, 12, 3)) < 0.2
    found = generalised_advantages(rewards, values, after, ended, 0.9, 1.0)
    to_go = after[:, 0]
    for t in range(11, -1, -1):
        to_go = rewards[:, t] + 0.9 * np.where(ended[:, t], 0.0, to_go)
        np.testing.assert_allclose(found[:, t], to_go - values[:, t])


def test_gradients_are_cut_run_by_run():
    gradients = np.array([[3.0, 4.0], [0.03, 0.04]], np.float32)
    cut_gradients(gradients, 0.5)
    np.testing.assert_allclose(gradients, [[0.3, 0.4], [0.03, 0.04]], rtol=1e-5)


# ------------------------------------------------------------------ passes


def test_a_pass_sees_every_step_once():
    rng = np.random.default_rng(0)
    agents = agents_of([1, 2], 1)
    samples = samples_of(rng, agents, 2, 150, 1)
    batches = samples.shuffled(generators([1, 2], "s"), 64)
    assert [batch.actions.shape for batch in batches] == [(2, 64), (2, 64), (2, 22)]
    for k, part in enumerate(samples.parts()):
        seen = np.concatenate([batch.parts()[k] for batch in batches], axis=1)
        for run in range(2):
            ours, theirs = part[run].reshape(150, -1), seen[run].reshape(150, -1)
            np.testing.assert_array_equal(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])
    orders = np.concatenate([batch.states for batch in batches], axis=1)
    assert not np.array_equal(orders[0], samples.states[0])


def test_a_run_stops_when_it_has_moved_too_far():
    """Of two runs one has an old policy that its own is far from: log pi_old - log pi = 0.05."""
    rng = np.random.default_rng(3)
    agents = agents_of([1, 2], 2, learning_rate=1e-12, value_rate=1e-12, passes=4)
    samples = samples_of(rng, agents, 2, 128, 2, spread=0.0)
    samples.old_log_probabilities[1] += np.float32(0.05)
    nu, rngs = np.array([0.1, 0.1]), generators([1, 2], "s")
    for max_kl, passes in [(0.075, [4, 4]), (0.051, [4, 4]), (0.0495, [4, 1]), (None, [4, 4])]:
        np.testing.assert_array_equal(agents.learn(samples, rngs, nu, max_kl), passes)


@pytest.mark.parametrize("actions", [Choices(4), Vectors(2)], ids=["choices", "vectors"])
@pytest.mark.parametrize("critics", [1, 2])
@pytest.mark.parametrize("apart", [False, True])
def test_a_run_learns_the_same_alone_and_in_a_stack(actions, critics, apart):
    """Early ends included: they come at different passes."""
    seeds = [5, 6, 7, 8, 9]
    nu, max_kl = (np.linspace(0, 2, 5), 0.003) if critics == 2 else (None, None)
    how = {"passes": 6, "learning_rate": 5e-3, "separate_critic_updates": apart}
    together = agents_of(seeds, critics, actions, **how)
    samples = samples_of(np.random.default_rng(1), together, 5, 150, critics, spread=0.0)
    made = together.learn(samples, generators(seeds, "s"), nu, max_kl)
    assert critics == 1 or len(set(made)) > 1
    for run, seed in enumerate(seeds):
        alone = agents_of([seed], critics, actions, **how)
        one = samples.of_runs(np.array([run]))
        weight = None if nu is None else nu[run : run + 1]
        assert alone.learn(one, generators([seed], "s"), weight, max_kl) == made[run]
        np.testing.assert_array_equal(together.parameters[run], alone.parameters[0])
        for name, optimiser in together.optimisers.items():
            np.testing.assert_array_equal(optimiser.steps[run], alone.optimisers[name].steps[0])


def test_critics_apart_make_all_passes_when_the_policy_stops_early():
    agents = agents_of([1, 2], 2, passes=5, separate_critic_updates=True)
    samples = samples_of(np.random.default_rng(3), agents, 2, 128, 2, spread=0.0)
    samples.old_log_probabilities[1] += np.float32(0.05)
    made = agents.learn(samples, generators([1, 2], "s"), np.ones(2), 0.04)
    np.testing.assert_array_equal(made, [5, 1])
    np.testing.assert_array_equal(agents.optimisers["policy"].steps, [10, 2])  # 2 batches a pass
    np.testing.assert_array_equal(agents.optimisers["critics"].steps, [10, 10])


def test_a_cut_episode_counts_as_going_on_where_it_is_told_to():
    """One environment, two steps, both cut: the value behind each follows, discounted."""
    for bootstrap in (False, True):
        agents = agents_of([1], 1, bootstrap=bootstrap, gae_lambda=0.5)
        rng = np.random.default_rng(0)
        states, moved = rng.normal(size=(2, 1, 2, 1, 3)).astype(np.float32)
        always = np.ones((1, 2, 1), bool)
        rewards, none = np.ones((1, 2, 1), np.float32), np.zeros((1, 2, 1), np.int64)
        walk = Segment(states, none, rewards, always, always, none, moved)
        found = agents.samples(walk, [rewards], 0.9)
        (value,) = agents.values
        before, behind = (value(part[:, :, 0])[0, :, 0] for part in (states, moved))
        expected = 1 + 0.9 * behind * bootstrap
        np.testing.assert_allclose(found.targets[0, :, 0], expected, rtol=1e-5)
        np.testing.assert_allclose(found.advantages[0, :, 0], expected - before, rtol=1e-4)
