"""GAIL-Constraint: the discriminator against its optimum and PyTorch, its pairs, its warm-up."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from icl_core.learning.engine.costs import fresh_constraints
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.gail_constraint import Settings, _Learner, discriminate, learn, pairs
from icl_core.randomness import generators
from tests.learning.tiny import Heard, assert_same_runs, problem_of

PPO = OnPolicySettings(hidden=(16, 16), steps=120, environments=6, passes=3, batch=32)
TINY = Settings(hidden=(16, 16), total_steps=480, warm_up=0.25, batch=32, on_policy=PPO)


def train(name, seeds, **changes):
    return learn(problem_of(name, seeds), replace(TINY, **changes), Job())


def test_the_discriminator_reaches_the_bayes_optimal_value():
    """On two known discrete distributions D converges to p_E / (p_E + p_A)."""
    p_expert, p_agent = np.array([0.6, 0.3, 0.1, 0.0]), np.array([0.1, 0.3, 0.4, 0.2])
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    networks = Networks.initialise(generators([1, 2], "n"), (2, 32, 32, 1))
    optimiser = Adam(networks.parameters, 2e-3)
    rng = np.random.default_rng(0)
    for step in range(1500):
        if step == 1000:
            optimiser.learning_rate = 2e-4
        expert, agent = (cells[rng.choice(4, (2, 512), p=p)] for p in (p_expert, p_agent))
        discriminate(networks, optimiser, expert, agent, [0, 1])
    found = sigmoid(networks(np.stack([cells, cells]))[..., 0])
    optimal = p_expert / (p_expert + p_agent)
    np.testing.assert_allclose(found, np.stack([optimal] * 2), atol=0.03)
    recovered = sigmoid(networks.negated()(np.stack([cells, cells]))[..., 0])
    np.testing.assert_allclose(recovered, 1.0 - found, atol=1e-6)


def test_a_discriminator_step_is_that_of_torch():
    networks = Networks.initialise(generators([1], "n"), (2, 8, 1))
    leaves = [
        torch.tensor(part[0].copy(), requires_grad=True)
        for layer in networks.layers
        for part in layer
    ]
    theirs = torch.optim.Adam(leaves, 1e-2)
    ours = Adam(networks.parameters, 1e-2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        expert, agent = rng.normal(size=(2, 1, 20, 2)).astype(np.float32)
        discriminate(networks, ours, expert, agent, [0])
        logits = [
            torch.relu(torch.tensor(side[0]) @ leaves[0] + leaves[1]) @ leaves[2] + leaves[3]
            for side in (expert, agent)
        ]
        bce = torch.nn.functional.binary_cross_entropy_with_logits
        loss = bce(logits[0], torch.ones(20, 1)) + bce(logits[1], torch.zeros(20, 1))
        theirs.zero_grad()
        loss.backward()
        theirs.step()
    expected = torch.cat([leaf.detach().reshape(-1) for leaf in leaves]).numpy()
    np.testing.assert_allclose(networks.parameters[0], expected, atol=1e-5)


def test_a_pass_draws_pairs_from_all_demonstrations_unless_told_otherwise():
    expert = np.arange(100, dtype=np.float32)[:, None]
    agent = np.arange(60, dtype=np.float32)[None, :, None].repeat(2, axis=0)
    for first_only, highest in [(False, 99), (True, 59)]:
        seen = set()
        for k in range(20):
            rngs = generators([1, 2], "p", k)
            runs, *sides = zip(*pairs([expert] * 2, agent, rngs, 25, first_only), strict=True)
            assert runs == ([0, 1],) * 3
            assert [e.shape for e in sides[0]] == [(2, 25, 1), (2, 25, 1), (2, 10, 1)]
            theirs, ours = (np.concatenate(side, axis=1) for side in sides)
            for run in range(2):
                assert len(np.unique(theirs[run])) == len(np.unique(ours[run])) == 60
            assert np.array_equal(theirs, ours) == first_only
            seen |= set(theirs.ravel())
        assert max(seen) == highest


@pytest.mark.parametrize("first_only", [False, True])
def test_runs_with_more_pairs_go_on_alone_with_the_batches_that_they_have_by_themselves(first_only):
    sizes, rng = (60, 35, 90, 50), np.random.default_rng(0)
    experts = [rng.normal(size=(n, 2)).astype(np.float32) for n in sizes]
    agents = rng.normal(size=(4, 80, 2)).astype(np.float32)

    def learn(chosen):
        networks = Networks.initialise(generators(chosen, "n"), (2, 8, 1))
        optimiser = Adam(networks.parameters, 1e-2)
        expert, agent = ([side[k] for k in chosen] for side in (experts, agents))
        for runs, *batch in pairs(expert, agent, generators(chosen, "p"), 25, first_only):
            discriminate(networks, optimiser, *batch, runs)
        return networks.parameters, optimiser.steps

    whole, steps = learn([0, 1, 2, 3])
    np.testing.assert_array_equal(steps, [3, 2, 4, 2])  # of 60, 35, 80 and 50 pairs
    for k in range(4):
        np.testing.assert_array_equal(learn([k])[0][0], whole[k])


def test_a_warm_up_is_reward_alone():
    """Its policies do not depend on the demonstrations, and D stays as it was drawn."""
    problem, settings = problem_of("gridworld-a", [1]), replace(TINY, warm_up=0.75)
    fewer = replace(problem, demonstrations=problem.demonstrations[:2])
    seen: list[list[np.ndarray]] = []
    for one in (problem, fewer):
        learner = _Learner(one, settings)
        seen.append([])
        for _ in range(4):
            learner.advance()
            parts = (learner.discriminator, learner.policies.agents.policy)
            seen[-1].append(np.concatenate([part.parameters.ravel() for part in parts]))
    for step, (all_, some) in enumerate(zip(*seen, strict=True), start=1):
        assert np.array_equal(all_, some) == (step <= 3)
    fresh = fresh_constraints(problem.world, [1], (16, 16))
    drawn = fresh.parameters.ravel()
    np.testing.assert_array_equal(seen[0][2][: len(drawn)], drawn)
    assert not np.array_equal(seen[0][3][: len(drawn)], drawn)


@pytest.mark.parametrize(
    ("share", "total", "warm"), [(0.0, 480, 0), (0.25, 480, 1), (0.99, 480, 3), (0.1, 480, 0)]
)
def test_a_warm_up_is_a_share_of_the_rollouts_and_never_all(share, total, warm):
    assert replace(TINY, warm_up=share, total_steps=total).warm_rollouts == warm


@pytest.mark.parametrize(("total", "rollouts"), [(480, 4), (481, 5), (1, 1)])
def test_rollouts_reach_the_total(total, rollouts):
    heard = Heard()
    end = learn(problem_of("gridworld-a", [1]), replace(TINY, total_steps=total), Job(heard))
    assert heard.epochs == list(range(1, rollouts + 1))
    assert heard.total == len(end.log) == rollouts


def test_the_paper_makes_a_thousand_rollouts():
    settings = Settings()
    assert settings.total_steps == 1000 * settings.on_policy.steps


def test_the_networks_are_those_of_the_settings():
    end = train("cartpole-mr", [1])
    assert (end.constraint.activation, end.policy.activation) == ("relu", "tanh")
    assert (end.constraint.sizes, end.policy.sizes) == ((2, 16, 16, 1), (4, 16, 16, 2))


def test_the_fault_of_the_authors_code_changes_the_result_and_keeps_runs_apart():
    together = train("cartpole-mid", [1, 2], first_pairs_only=True)
    assert_same_runs(together, train("cartpole-mid", [2], first_pairs_only=True), [1])
    right = train("cartpole-mid", [1, 2])
    assert not np.array_equal(together.constraint.parameters, right.constraint.parameters)
