"""ICRL's backward phase: importance weights and stops by hand, gradients by autograd."""

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch

from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.methods.icrl.feasibility import (
    EPSILON,
    BackwardSettings,
    Sides,
    backward,
    feasibility_slope,
    importance,
    zeta,
)
from icl_core.randomness import generator, generators

SETTINGS = BackwardSettings()


def test_importance_of_a_hand_made_sample():
    """Two episodes, of two steps and of one; zeta doubles, halves, and stays."""
    then = np.array([0.2, 0.4, 0.5])
    now = np.array([0.4, 0.2, 0.25])
    found = importance(now, then, np.array([2, 1]))
    rho = [(0.4 + 1e-5) / (0.2 + 1e-5), (0.2 + 1e-5) / (0.4 + 1e-5), (0.25 + 1e-5) / (0.5 + 1e-5)]
    np.testing.assert_allclose(found.weights, np.array(rho) * 3 / sum(rho))
    omega = [rho[0] * rho[1], rho[2]]  # very nearly 1 and 1/2
    logs, mean = np.log(np.array(omega) + 1e-5), sum(omega) / 2
    assert found.kl_old_new == pytest.approx(-logs.mean())
    assert found.kl_old_new == pytest.approx(np.log(2) / 2, abs=1e-3)
    expected = ((omega[0] - mean) * logs[0] + (omega[1] - mean) * logs[1]) / 2 / (mean + 1e-5)
    assert found.kl_new_old == pytest.approx(expected)
    assert found.kl_new_old == pytest.approx(0.25 * np.log(2) / 2 / 0.75, abs=1e-3)


def test_unmoved_feasibility_has_weights_of_one_and_no_divergence():
    values = np.random.default_rng(0).uniform(0.01, 0.99, size=30)
    found = importance(values, values, np.array([10, 15, 5]))
    np.testing.assert_allclose(found.weights, 1.0)
    assert found.kl_old_new == pytest.approx(0.0, abs=2e-5)
    assert found.kl_new_old == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("forth", "back", "stops"),
    [
        (9.9, 2.4, False),
        (10.1, 0.0, True),
        (0.0, 2.6, True),
        (-5.0, 0.0, False),
        (0.0, np.nan, True),
    ],
)
def test_stops(forth, back, stops):
    found = replace(importance(np.ones(1), np.ones(1), np.ones(1, int)), kl_old_new=forth)
    assert replace(found, kl_new_old=back).too_far(SETTINGS) == stops


@pytest.mark.parametrize("step", [0.9, -0.9, 4.0, -4.0])
def test_episodes_whose_weights_no_number_can_hold(step):
    """Of 1,000 and 800 steps: the formulas with 2,000 digits (by decimal) are the reference."""
    lengths = np.array([1000, 800])
    then = np.full(1800, 0.01 if step > 0 else 0.5)
    now = (then + EPSILON) * np.exp(step) - EPSILON
    found = importance(now, then, lengths)
    with localcontext() as context:
        context.prec = 2000
        rho = (Decimal(now[0]) + Decimal(EPSILON)) / (Decimal(then[0]) + Decimal(EPSILON))
        omega = [rho ** int(n) for n in lengths]
        mean, logs = sum(omega) / 2, [(one + Decimal(EPSILON)).ln() for one in omega]
        forth = -sum(logs) / 2
        back = sum((one - mean) * log for one, log in zip(omega, logs, strict=True)) / 2
        back /= mean + Decimal(EPSILON)
    assert found.kl_old_new == pytest.approx(float(forth), rel=1e-6)
    assert found.kl_new_old == pytest.approx(float(back), rel=1e-6, abs=1e-12)


def test_slope_is_that_of_autograd():
    rng = np.random.default_rng(1)
    logits = rng.normal(scale=3, size=(2, 20))
    weights = rng.uniform(0, 3, size=20)
    expert, agent = (torch.tensor(side, requires_grad=True) for side in logits)
    z_e, z_a, w = torch.sigmoid(expert), torch.sigmoid(agent), torch.tensor(weights)
    loss = -torch.log(z_e + EPSILON).mean() + (w * torch.log(z_a + EPSILON)).mean()
    loss = loss + 0.6 * ((1 - z_e).mean() + (1 - z_a).mean())
    loss.backward()
    expected = np.concatenate([expert.grad.numpy(), agent.grad.numpy()])
    np.testing.assert_allclose(feasibility_slope(*logits, weights, 0.6), expected, rtol=1e-9)


def phase(settings, rate=5e-4):
    network = Networks.initialise(generators([1], "z"), (2, 16, 16, 1))
    rng = generator(1, "data")
    expert, agent = rng.normal(size=(90, 2)) + 2.0, rng.normal(size=(150, 2)) - 2.0
    optimiser = Adam(network.parameters, rate)
    lengths = np.array([50, 70, 30])
    expert, agent = (side.astype(np.float32) for side in (expert, agent))
    sides = Sides([expert], [agent], [lengths])
    (made,), (moved,) = backward(network, optimiser, sides, [generator(1, "b")], settings)
    return network, optimiser, (expert, agent), made, moved


def test_a_phase_makes_the_expert_feasible_and_the_agent_not():
    settings = replace(SETTINGS, passes=60, kl_old_new=1e9, kl_new_old=1e9, regularisation=0.0)
    network, optimiser, (expert, agent), made, _ = phase(settings, rate=1e-3)
    assert made == 60
    assert optimiser.steps[0] == 120  # min(90, 150) pairs, 64 and 26
    assert zeta(network, 0, expert).mean() > 0.9
    assert zeta(network, 0, agent).mean() < 0.1


def test_a_run_of_a_stack_is_that_run_by_itself():
    """Runs of all sizes, more and fewer steps than the expert's; they stop at different times."""
    seeds, sizes, rng = [1, 2, 3, 4], [150, 40, 300, 129], generator(1, "data")
    experts = [rng.normal(size=(n, 2)).astype(np.float32) + 1 for n in (170, 170, 90, 200)]
    agents = [rng.normal(size=(n, 2)).astype(np.float32) - k for k, n in enumerate(sizes)]
    lengths = [np.array([n - 30, 30]) for n in sizes]
    settings = replace(SETTINGS, passes=9, kl_old_new=3.0)

    def learn(chosen):
        networks = Networks.initialise(generators([seeds[k] for k in chosen], "z"), (2, 16, 16, 1))
        optimiser = Adam(networks.parameters, 5e-3)
        own = ([part[k] for k in chosen] for part in (experts, agents, lengths))
        rngs = generators([seeds[k] for k in chosen], "b")
        made, moved = backward(networks, optimiser, Sides(*own), rngs, settings)
        return networks.parameters, optimiser.first, optimiser.second, optimiser.steps, made, moved

    *stacked, moved = learn(range(4))
    assert len(set(stacked[-1])) > 1
    for k in range(4):
        *alone, (still,) = learn([k])
        for ours, theirs in zip(stacked, alone, strict=True):
            np.testing.assert_array_equal(ours[k], theirs[0])
        assert moved[k].kl_old_new == still.kl_old_new


def test_a_phase_ends_before_the_pass_that_would_begin_too_far():
    *_, made, moved = phase(replace(SETTINGS, passes=50, kl_old_new=0.5, kl_new_old=1e9), rate=1e-2)
    assert 0 < made < 50
    assert moved.kl_old_new > 0.5


def test_ignored_weights_change_the_second_pass_and_not_the_first():
    far = replace(SETTINGS, kl_old_new=1e9, kl_new_old=1e9)
    for passes, same in [(1, True), (3, False)]:
        right = phase(replace(far, passes=passes), 1e-2)[0].parameters
        wrong = phase(replace(far, passes=passes, ignore_weights=True), 1e-2)[0].parameters
        assert np.array_equal(right, wrong) == same
