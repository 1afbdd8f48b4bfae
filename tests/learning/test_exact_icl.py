"""Exact ICL against hand-made cases, duality, and the linear program of constrained RL."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from icl_core.environments import make_world, world_type
from icl_core.errors import InputError
from icl_core.learning.engine.networks import sigmoid
from icl_core.learning.engine.training import Job
from icl_core.learning.exact_policies import Cells, cell_visits, sample_episodes
from icl_core.learning.linear_program import evaluate_policy, solve_constrained_optimum
from icl_core.learning.methods.exact_icl.adjustment import Soft, against_mixture, against_worst
from icl_core.learning.methods.exact_icl.algorithm import (
    OursSettings,
    Settings,
    alternate,
    learn,
)
from icl_core.learning.methods.exact_icl.tables import constraint_networks, policy_networks
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings, SoftLoss
from icl_core.learning.problem import Problem
from tests.learning.tiny import problem_of
from tests.small_grids import optimal_expert, two_ways, walk

NODES = np.argwhere(np.ones((7, 7))).astype(np.float32)


def made_up(policies=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((policies, 49)) ** 2, rng.random(49) ** 4, rng.standard_normal(49)


# ------------------------------------------------------------------ policies


@pytest.mark.parametrize("slip", [0.0, 0.3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_constrained_optimum_is_that_of_the_linear_program(slip, seed):
    world = make_world("gridworld-b", slip=slip)
    world.horizon, world.discount = 15, 0.95
    cells = Cells(world)
    constraint = np.random.default_rng(seed).random(49) * 0.5
    least = -cells.best(-constraint).visits @ -constraint
    for threshold in (0.9 * least, 1.02 * least, 1.3 * least, 50.0):
        ours = cells.constrained_optimum(constraint, threshold)
        theirs = solve_constrained_optimum(world, constraint, threshold)
        assert ours.feasible == theirs.feasible
        assert ours.visits[cells.goal] == pytest.approx(theirs.return_value, abs=1e-6)
        if ours.feasible:
            assert ours.visits @ constraint <= threshold + 1e-8
        values = evaluate_policy(world, ours.policy(), constraint)
        assert values == pytest.approx((ours.visits[cells.goal], ours.visits @ constraint))


def test_sampled_episodes_have_the_visits_of_their_policy():
    world = make_world("gridworld-a", slip=0.2)
    found = Cells(world).constrained_optimum(np.full(49, 0.05), 0.5)
    n = 4000
    stack = np.broadcast_to(found.policy(), (n, 50, 49, 8))
    visits = cell_visits(world, sample_episodes(world, stack, np.random.default_rng(1)), 1.0)
    error = np.maximum(visits.std(axis=0) / np.sqrt(n), 1e-3)
    assert (np.abs(visits.mean(axis=0) - found.visits) < 5 * error).all()


# ------------------------------------------------------------------ linear programs


@pytest.mark.parametrize("seed", range(4))
def test_equation_4_is_proved_by_its_prices(seed):
    agents, expert, direction = made_up(seed=seed)
    found = against_worst(agents, expert, 0.99, direction)
    c = found.constraint
    assert ((c >= 0) & (c <= 1)).all() and expert @ c <= 0.99 + 1e-7
    assert (agents @ c).min() == pytest.approx(found.value, abs=1e-6)
    # Prices are a mixture; no constraint can cost it more (weak duality), and this is attained.
    assert (found.weights >= -1e-12).all() and found.weights.sum() == pytest.approx(1)
    assert found.multiplier >= 0
    assert found.bound(agents, expert, 0.99) == pytest.approx(found.value, abs=1e-7)
    # Complementary slackness: only the cheapest have a weight, only a spent budget has a price.
    slack = agents @ c - found.value
    assert np.abs(found.weights * slack).max() < 1e-6
    assert abs(found.multiplier * (0.99 - expert @ c)) < 1e-6


def test_equation_5_buys_cells_by_what_they_bring():
    agents, expert, direction = made_up()
    found = against_mixture(agents, expert, 0.99, direction)
    mean = agents.mean(axis=0)
    order, bought, left = np.argsort(-mean / expert), np.zeros(49), 0.99
    for cell in order:  # the fractional knapsack
        bought[cell] = min(1.0, left / expert[cell])
        left -= bought[cell] * expert[cell]
    assert found.value == pytest.approx(mean @ bought)
    assert found.bound(agents, expert, 0.99) == pytest.approx(found.value, abs=1e-7)
    np.testing.assert_allclose(found.constraint, bought, atol=1e-4)


@pytest.mark.parametrize("hinge", ["trajectory", "mean"])
def test_our_objective_is_that_of_the_networks(hinge):
    agents, _, direction = made_up(30)
    shown = np.random.default_rng(3).random((20, 49)) ** 6 * 3
    weights = np.random.default_rng(4).dirichlet(np.ones(30))
    settings = AdjustmentSettings(hinge=hinge)
    loss = SoftLoss(agents, shown, weights, 0.99, settings)
    rows = shown if hinge == "trajectory" else shown.mean(axis=0)[None]
    program = Soft(agents, rows, weights, 0.99, settings.penalty, loss.ceiling)
    found = program.adjusted(direction)
    c = found.constraint

    def value(one):
        return float(loss.log(one[None], np.array([settings.penalty]))["loss"][0])

    assert value(c) == pytest.approx(-found.value, abs=1e-6)
    for other in np.random.default_rng(5).random((200, 49)):
        assert value(c + 0.1 * (other - c)) >= value(c) - 1e-7  # convex: no step improves it


def test_a_seed_draws_among_equally_good_constraints():
    agents, expert = np.zeros((1, 49)), np.full(49, 0.01)
    agents[0, 0] = 1.0
    drawn = [
        against_worst(agents, expert, 0.99, np.random.default_rng(s).standard_normal(49))
        for s in (0, 1)
    ]
    for one in drawn:
        assert one.value == pytest.approx(1) and one.constraint[0] == pytest.approx(1)
    assert np.abs(drawn[0].constraint - drawn[1].constraint).max() == pytest.approx(1)


# ------------------------------------------------------------------ the alternation


def test_two_ways_by_hand():
    """The expert goes by (1, 1). Once both ways are known, the cheaper costs at most beta: v_2."""
    world = two_ways()
    problem = Problem(world, walk((0, 0), (1, 1), (0, 2), world=world), [1], 0.99)
    for seed in range(4):
        end = alternate(replace(problem, seeds=[seed]), Settings(tolerance=1e-6), 0)
        assert end.ended and len(end.visits) <= 4
        assert end.adjustments[-1].value == pytest.approx(0.99)
        assert end.policy.visits @ end.constraint <= 0.99 + 1e-9
        assert end.log[-1]["return"] == pytest.approx(1)
        # Whoever goes by (0, 1) alone costs more than beta, or as much: the expert's way is left.
        seen = end.visits @ np.eye(49)[:, [1, 8]]
        assert seen[:, 1].max() > 0


@pytest.mark.parametrize("slip", [0.0, 0.2])
@pytest.mark.parametrize("name", ["gridworld-a", "gridworld-b"])
def test_the_alternation_ends_as_theorem_1_says(name, slip):
    world = make_world(name, slip=slip)
    world.horizon = 10
    truth = world.true_on_grid
    problem = Problem(world, optimal_expert(world, truth), [1], world.threshold)
    expert = cell_visits(world, problem.demonstrations, 1.0).mean(axis=0)
    end = alternate(problem, Settings(tolerance=0.05), 0)
    assert end.ended and end.gap <= 0.05
    values = [one.value for one in end.adjustments]
    assert all(b <= a + 1e-7 for a, b in pairwise(values))  # Pi grows
    last, known = end.adjustments[-1], end.visits[:-1]
    assert last.bound(known, expert, world.threshold) == pytest.approx(last.value, abs=1e-6)
    cost = end.policy.visits @ end.constraint
    assert last.value <= max(world.threshold, cost) + 0.05
    least = -(Cells(world).best(-end.constraint).visits @ -end.constraint)
    assert cost <= max(world.threshold, least) + 1e-7
    # A policy that was added is infeasible, or nearly the cheapest, under every later constraint.
    for k, one in enumerate(end.adjustments):
        assert (end.visits[: k + 1] @ one.constraint).min() >= one.value - 1e-6


def strays():
    """Three of four episodes arrive: J_E(r) = 0.75, though all could."""
    world = two_ways()
    reach = walk((0, 0), (1, 1), (0, 2), world=world, times=3)
    stray = walk((0, 0), (1, 1), (1, 0), world=world)
    parts = zip(reach.parts(), stray.parts(), strict=True)
    return world, type(reach)(*(np.concatenate(pair) for pair in parts))


@pytest.mark.parametrize("seed", range(5))
def test_what_has_been_found_contains_the_expert(seed):
    world, shown = strays()
    end = alternate(Problem(world, shown, [seed], 0.6), Settings(tolerance=1e-6), 0)
    assert end.ended and end.adjustments[-1].value == pytest.approx(0.6, abs=1e-5)
    # The mixture of the certificate does nothing that the expert does not.
    expert = cell_visits(world, shown, 1.0).mean(axis=0)
    last = end.adjustments[-1]
    mixture = last.weights @ end.visits[:-1]
    assert (mixture <= max(1.0, last.multiplier) * expert + 1e-5).all()
    goal = np.ravel_multi_index(world.goal, (7, 7))
    assert end.visits[:, goal].min() <= 0.75 + 1e-5


def test_the_last_policy_need_not_be_the_expert():
    """A gap in the proof of Theorem 1: it shows that Pi contains the expert, not that it is last.

    Of three policies, straight on, by (1, 1), and the expert's, that alone earns 0.75. With all
    three in Pi the value is beta, and this c attains it. Under it the way by (1, 1), which earns
    1, costs beta too: it is the answer of Equation 3, and is in Pi already.
    """
    world, shown = strays()
    expert = cell_visits(world, shown, 1.0).mean(axis=0)
    known = np.array([np.eye(49)[[0, 1, 2]].sum(axis=0), np.eye(49)[[0, 8, 2]].sum(axis=0), expert])
    found = against_worst(known, expert, 0.6, np.zeros(49))
    assert found.value == pytest.approx(0.6)
    c = np.zeros(49)
    c[[0, 1, 2, 7]] = 0.2, 1.0, 0.4, 0.4
    assert expert @ c <= 0.6 + 1e-12 and (known @ c).min() == pytest.approx(found.value)
    best = Cells(world).constrained_optimum(c, 0.6 + 1e-12)
    assert best.visits[2] == pytest.approx(1.0) and best.visits @ c == pytest.approx(0.6)
    np.testing.assert_allclose(best.visits, known[1])


def test_the_other_objectives_end_too():
    world = two_ways()
    problem = Problem(world, walk((0, 0), (1, 1), (0, 2), world=world), [1], 0.99)
    for settings in (Settings(objective="paper", iterations=30), OursSettings(iterations=30)):
        end = alternate(problem, settings, 0)
        assert end.ended and end.log[-1]["return"] == pytest.approx(1)


# ------------------------------------------------------------------ what it leaves


def test_networks_are_the_tables_in_every_cell():
    rng = np.random.default_rng(0)
    c = np.concatenate([rng.random((2, 49)), rng.integers(2, size=(1, 49))])
    found = sigmoid(constraint_networks(c)(np.stack([NODES] * 3))[..., 0].astype(np.float64))
    np.testing.assert_allclose(found, c, atol=1e-6)
    policies = rng.dirichlet(np.full(8, 0.2), size=(3, 49))
    outputs = policy_networks(policies)(np.stack([NODES] * 3)).astype(np.float64)
    shares = np.exp(outputs) / np.exp(outputs).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(shares, policies, atol=1e-6)


def test_an_outcome_says_how_it_ended():
    world = two_ways()
    problem = Problem(world, walk((0, 0), (1, 1), (0, 2), world=world), [1, 2], 0.99)
    outcome = learn(problem, Settings(), Job())
    assert outcome.extras["ended"].tolist() == [1, 1]
    assert (outcome.extras["gap"] <= 0.01).all()
    rows = outcome.log["seed"].to_pylist()
    assert [rows.count(seed) for seed in (1, 2)] == outcome.extras["policies"].tolist()


def test_a_world_without_cells_is_refused():
    assert not Settings().conflict_with(world_type("gridworld-b"))
    assert "cartpole-mr is no gridworld" in Settings().conflict_with(world_type("cartpole-mr"))
    with pytest.raises(InputError, match="cartpole-mr is no gridworld"):
        learn(problem_of("cartpole-mr", [1]), Settings(), Job())
