"""Constraint adjustment: visits against plain loops, the soft loss against autograd."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from icl_core.demonstrations.accruals import self_dissimilarity
from icl_core.demonstrations.trajectories import Trajectories, zero_after_end
from icl_core.environments import make_world
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint, should_stop
from icl_core.learning.methods.icl.soft_loss import (
    AdjustmentSettings,
    LagrangianLoss,
    SoftLoss,
    Visits,
    descend,
    normalised,
)
from icl_core.learning.methods.icl.state import LoopSettings, PolicyState
from icl_core.randomness import generator, generators
from tests.learning.icl_steps import TINY, steps_of, through_checkpoint
from tests.learning.tiny import problem_of, problem_with_experts
from tests.worlds import NAMES, random_actions, small_world

SEEDS = st.integers(0, 2**32 - 1)


def random_trajectories(world, rng, episodes, longest=12):
    lengths = rng.integers(1, longest + 1, size=episodes)
    mask = np.arange(longest) < lengths[:, None]
    if world.name.startswith("gridworld"):
        states = rng.integers(0, 7, size=(episodes, longest, 2))
    else:
        # a narrow range, so that several steps share one cell of the resolution
        wide = {"highd": 2.0, "exid": 0.5}.get(world.name, 0.05)
        states = rng.uniform(-wide, wide, size=(episodes, longest, world.observation_size))
    parts = (
        states.astype(np.float32),
        random_actions(world, rng, episodes, longest),
        np.ones((episodes, longest), np.float32),
    )
    return Trajectories(*(zero_after_end(part, mask) for part in parts), lengths)


def counted(world, trajectory, discount):
    """{rounded input: summed weight} of one episode, one step at a time."""
    visits = defaultdict(float)
    for t in range(trajectory.lengths):
        inputs = world.constraint_inputs(trajectory.states[t], trajectory.actions[t])
        visits[tuple(np.rint(inputs / world.input_resolution).astype(int))] += discount**t
    return dict(visits)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_visits_are_those_of_a_plain_loop(name, seed):
    world, rng = small_world(name), np.random.default_rng(seed)
    sets = [random_trajectories(world, rng, n) for n in (4, 3)]
    visits = Visits(world, *sets)
    keys = [tuple(key) for key in np.rint(visits.inputs / world.input_resolution).astype(int)]
    assert len(set(keys)) == len(keys)
    for trajectories, discounted, shares in zip(
        sets, visits.discounted, visits.shares, strict=True
    ):
        for k in range(len(trajectories)):
            for row, discount, total in [
                (discounted[k], world.discount, 1.0),
                (shares[k], 1.0, trajectories.lengths[k]),
            ]:
                ours = {key: w for key, w in zip(keys, row, strict=True) if w != 0}
                expected = counted(world, trajectories[k], discount)
                assert ours.keys() == expected.keys()
                for key, weight in expected.items():
                    assert ours[key] == pytest.approx(weight / total)
    np.testing.assert_allclose([s.sum() for s in visits.shares[0]], 1.0)


def evaluated(loss, c):
    """Gradient at c, and the log of that one step."""
    log = loss.log(c[None], np.array([loss.multiplier]))
    return loss.gradient(c), {name: column[0] for name, column in log.items()}


def torch_loss(agent, expert, weights, c, beta, settings):
    """Equation 7 in torch, with the agents' ceiling."""
    agent_costs, expert_costs = agent @ c, expert @ c
    if settings.max_agent_cost:
        agent_costs = torch.clamp(agent_costs, max=settings.max_agent_cost * beta)
    if settings.hinge == "mean":
        hinge = torch.relu(expert_costs.mean() - beta)
    else:
        hinge = torch.relu(expert_costs - beta).mean()
    return settings.penalty * hinge - (weights * agent_costs).sum()


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["trajectory", "mean"]), st.sampled_from([0.0, 1.0, 2.0]), SEEDS)
def test_soft_loss_and_gradient_are_those_of_autograd(hinge, bound, seed):
    rng = np.random.default_rng(seed)
    agent, expert = (rng.poisson(0.4, size=(n, 15)).astype(float) for n in (6, 5))
    weights, c = normalised(rng.random(6)), rng.random(15)
    beta = rng.uniform(0.5, 4.0)
    chosen = AdjustmentSettings(hinge=hinge, max_agent_cost=bound, penalty=rng.uniform(1, 50))
    kinks = [expert @ c - beta, [(expert @ c).mean() - beta], agent @ c - (bound or 100) * beta]
    assume(min(np.abs(k).min() for k in kinks) > 1e-6)
    gradient, row = evaluated(SoftLoss(agent, expert, weights, beta, chosen), c)
    leaf = torch.tensor(c, requires_grad=True)
    loss = torch_loss(*map(torch.tensor, (agent, expert, weights)), leaf, beta, chosen)
    loss.backward()
    np.testing.assert_allclose(gradient, leaf.grad.numpy(), rtol=1e-10, atol=1e-12)
    assert row["loss"] == pytest.approx(loss.item())
    assert row["agent_value"] == pytest.approx(sum(weights * (agent @ c)))
    assert row["expert_value"] == pytest.approx((expert @ c).mean())
    assert row["expert_satisfaction"] == np.mean([cost <= beta for cost in expert @ c])


def test_an_agent_beyond_the_bound_pushes_no_further():
    agent, expert = np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros((1, 2))
    loss = SoftLoss(
        agent, expert, np.array([0.5, 0.5]), 1.0, AdjustmentSettings(max_agent_cost=2.0)
    )
    np.testing.assert_array_equal(loss.gradient(np.ones(2)), [0.0, -0.5])
    unbounded = replace(loss, settings=AdjustmentSettings(max_agent_cost=0.0))
    np.testing.assert_array_equal(unbounded.gradient(np.ones(2)), [-1.5, -0.5])


def test_the_two_hinges_differ_where_only_some_demonstrations_violate():
    expert = np.array([[4.0, 0.0], [0.0, 1.0]])  # costs 4 and 1: mean 2.5
    loss = SoftLoss(np.zeros((1, 2)), expert, np.ones(1), 3.0, AdjustmentSettings(penalty=10.0))
    gradient, row = evaluated(loss, np.ones(2))
    assert row["loss"] == pytest.approx(10 * (1.0 + 0.0) / 2)
    np.testing.assert_allclose(gradient, [10 * 4 / 2, 0.0])
    of_mean = replace(loss, settings=AdjustmentSettings(penalty=10.0, hinge="mean"))
    gradient, row = evaluated(of_mean, np.ones(2))
    assert row["loss"] == 0
    np.testing.assert_array_equal(gradient, [0.0, 0.0])


def walk(*cells):
    """An episode through the given cells."""
    states = np.array([cells], np.float32)
    n = len(cells)
    return Trajectories(states, np.zeros((1, n), int), np.zeros((1, n), np.float32), np.array([n]))


def test_descent_separates_the_agents_path_from_the_experts():
    """Agents go through row 3, the expert through row 0: c must rise there and stay low here."""
    world = make_world("gridworld-a")
    agents, expert = walk(*[(3, j) for j in range(7)]), walk(*[(0, j) for j in range(7)])
    visits = Visits(world, agents, expert)
    chosen = AdjustmentSettings(max_agent_cost=0.0, steps=400)
    loss = SoftLoss(*visits.discounted, np.ones(1), world.threshold, chosen)
    network = Networks.initialise(generators([1], "c"), (2, 64, 64, 1))
    optimiser = Adam(network.parameters, 5e-3)
    log = descend(network, optimiser, visits, loss)
    assert log["loss"][0] > 0  # c of one half: the expert breaks beta
    assert log["loss"][-1] < -5.0  # of -7 at best
    assert log["agent_value"][-1] > 6.0
    assert log["expert_value"][-1] <= 1.1 * world.threshold
    c = sigmoid(network(world.grid.nodes[None].astype(np.float32))[0, :, 0]).reshape(7, 7)
    assert c[3].min() > 0.5 > c[0].mean()
    assert len(log["loss"]) == 400
    assert optimiser.steps == 400


def test_descent_is_that_of_autograd_and_torchs_adam():
    """Twenty steps of the whole chain: network, sigmoid, visits, loss, optimiser."""
    world, rng = make_world("cartpole-mr"), np.random.default_rng(0)
    sets = [random_trajectories(world, rng, n) for n in (6, 4)]
    visits = Visits(world, *sets)
    weights = normalised(rng.random(6))
    chosen = AdjustmentSettings(max_agent_cost=0.0, steps=20)
    loss = SoftLoss(*visits.discounted, weights, 2.0, chosen)
    network = Networks.initialise(generators([1], "c"), (2, 16, 1))
    leaves = [torch.tensor(p[0], dtype=torch.float64) for layer in network.layers for p in layer]
    for leaf in leaves:
        leaf.requires_grad_()
    optimiser = torch.optim.Adam(leaves, 1e-2)
    x = torch.tensor(visits.inputs).double()
    agent, expert = map(torch.tensor, visits.discounted)
    expected = []
    for _ in range(20):
        hidden = torch.relu(x @ leaves[0] + leaves[1])
        c = torch.sigmoid(hidden @ leaves[2] + leaves[3])[:, 0]
        value = torch_loss(agent, expert, torch.tensor(weights), c, 2.0, chosen)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        expected.append(value.item())
    log = descend(network, Adam(network.parameters, 1e-2), visits, loss)
    np.testing.assert_allclose(log["loss"], expected, rtol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([0.0, 2.0]), SEEDS)
def test_lagrangian_and_gradient_are_those_of_autograd(bound, seed):
    rng = np.random.default_rng(seed)
    agent, expert = (rng.poisson(0.4, size=(n, 15)).astype(float) for n in (6, 5))
    weights, c, beta = normalised(rng.random(6)), rng.random(15), rng.uniform(0.5, 4.0)
    multiplier = rng.uniform(0, 5)
    chosen = AdjustmentSettings(objective="lagrangian", max_agent_cost=bound)
    loss = LagrangianLoss(agent, expert, weights, beta, chosen, np.array([multiplier]))
    gradient, row = evaluated(loss, c)
    leaf = torch.tensor(c, requires_grad=True)
    costs = torch.tensor(agent) @ leaf
    agents = torch.clamp(costs, max=bound * beta) if bound else costs
    excess = (torch.tensor(expert) @ leaf).mean() - beta
    value = multiplier * excess - (torch.tensor(weights) * agents).sum()
    value.backward()
    np.testing.assert_allclose(gradient, leaf.grad.numpy(), rtol=1e-10, atol=1e-12)
    assert row["loss"] == pytest.approx(value.item())
    assert row["multiplier"] == multiplier


def test_the_multiplier_climbs_while_the_expert_is_beyond_beta_and_never_falls_below_zero():
    expert = np.array([[2.0, 0.0], [0.0, 4.0]])  # mean cost 1 + 2 = 3 at c = 1
    chosen = AdjustmentSettings(objective="lagrangian", multiplier_rate=0.1)
    held = np.array([1.0, 7.0])  # another run's lambda beside it
    loss = LagrangianLoss(np.zeros((1, 2)), expert, np.ones(1), 2.0, chosen, held[:1])
    loss.follow(np.ones(2))
    assert held[0] == pytest.approx(1.0 + 0.1 * (3 - 2))
    for _ in range(10):
        loss.follow(np.zeros(2))
    np.testing.assert_array_equal(held, [0.0, 7.0])


def test_a_lagrangian_descent_finds_the_multiplier_that_holds_the_expert_at_beta():
    """Agents share the expert's first half: c may rise there until J_E is beta, not beyond."""
    world = make_world("gridworld-a")
    agents, expert = walk(*[(3, j) for j in range(7)]), walk(*[(3, j) for j in range(4)])
    visits = Visits(world, agents, expert)
    chosen = AdjustmentSettings(
        objective="lagrangian", max_agent_cost=0.0, steps=4000, multiplier_rate=0.01
    )
    held = np.ones(1)
    parts = (*visits.discounted, np.ones(1), world.threshold, chosen, held)
    network = Networks.initialise(generators([1], "c"), (2, 64, 64, 1))
    optimiser = Adam(network.parameters, 5e-4)
    log = descend(network, optimiser, visits, LagrangianLoss(*parts))
    late = slice(2000, None)
    assert log["expert_value"][late].mean() == pytest.approx(world.threshold, abs=0.15)
    assert log["multiplier"][late].mean() == pytest.approx(1.0, abs=0.4)  # J_mix' / J_E' there
    assert log["agent_value"][late].mean() > 3.0 + 0.5 * world.threshold
    assert held[0] == log["multiplier"][-1]


def test_normalised_weights():
    np.testing.assert_allclose(normalised(np.array([1.0, 3.0, 0.0])), [0.25, 0.75, 0.0])
    np.testing.assert_allclose(normalised(np.zeros(4)), [0.25] * 4)


# ------------------------------------------------------------------ the step of an iteration


def test_learning_goes_on_from_checkpoints_with_adams_moments():
    """Through the artifact nothing changes; without any of clock and moments, everything would."""
    constraints, policies, _, _ = steps_of("gridworld-a", (1,), TINY)
    problem = problem_of("gridworld-a", [1])
    density = fit_density(problem, TINY.density)
    state = constraints[1]
    assert state.first.any()
    assert state.second.any()

    def adjusted(known):
        return adjust_constraint(problem, density, policies, known, TINY.adjustment, Job())[0]

    kept = adjusted(through_checkpoint(state)).networks.parameters
    np.testing.assert_array_equal(kept, constraints[2].networks.parameters)
    forgotten = {
        "first": np.zeros_like(state.first),
        "second": np.zeros_like(state.second),
        "steps": np.zeros(1, np.int64),
    }
    for name, blank in forgotten.items():
        other = adjusted(replace(state, **{name: blank})).networks.parameters
        assert np.abs(other - kept).max() > 1e-6, f"{name} has no say"


def test_adjustment_leaves_its_inputs_as_they_are():
    constraints, policies, _, _ = steps_of("cartpole-mr", (1, 2), TINY)
    problem = problem_of("cartpole-mr", [1, 2])
    density = fit_density(problem, TINY.density)
    before = {name: part.copy() for name, part in constraints[1].tensors().items()}
    adjust_constraint(problem, density, policies, constraints[1], TINY.adjustment, Job())
    for name, part in constraints[1].tensors().items():
        np.testing.assert_array_equal(part, before[name], err_msg=name)


@pytest.mark.parametrize(
    ("nad", "options", "expected"),
    [
        ([0.1], {"tolerance": 1.0}, False),  # nominal: nothing has been learned yet
        ([0.1], {"tolerance": 1.0, "unconstrained_first_policy": False}, True),
        ([9.0, 1.0], {"tolerance": 1.0}, True),
        ([9.0, 1.1], {"tolerance": 1.0}, False),
        ([9.0, np.nan], {"tolerance": 1.0}, False),
        ([9.0, 2.0, 3.0, 4.0], {"patience": 2}, True),
        ([9.0, 2.0, 3.0, 4.0], {"patience": 3}, False),
        ([1.0, 2.0, 3.0, 4.0], {"patience": 3}, False),  # the nominal policy does not count
        ([9.0, 3.0, 4.0, 2.0], {"patience": 2}, False),
        ([9.0, 8.0, 8.0, 8.0, 8.0], {}, False),
    ],
)
def test_when_a_run_stops(nad, options, expected):
    blank = Networks.blank(1, (2, 8))
    policies = [PolicyState(blank, blank, np.array([one]), np.zeros(1)) for one in nad]
    loop = LoopSettings(tolerance=None, patience=None, unconstrained_first_policy=True)
    loop = replace(loop, **options)
    stops = should_stop(problem_of("gridworld-a", [1]), policies, loop)
    np.testing.assert_array_equal(stops, [expected])


def test_a_run_may_stop_as_close_as_two_samples_of_the_expert_would_be():
    problem = problem_of("gridworld-a", [1, 2])
    limit = self_dissimilarity(problem.world, problem.demonstrations, generator(0, "halves"))
    blank = Networks.blank(2, (2, 8))
    loop = LoopSettings(tolerance="demonstrations", patience=None)
    nads = [np.array([9.0, 9.0]), np.array([limit, np.nextafter(limit, 10.0)])]
    policies = [PolicyState(blank, blank, nad, np.zeros(len(nad))) for nad in nads]
    np.testing.assert_array_equal(should_stop(problem, policies, loop), [True, False])


def test_each_run_may_stop_as_close_as_two_samples_of_its_own_expert_would_be():
    problem = problem_with_experts("gridworld-a", [1, 2])
    limits = [
        self_dissimilarity(problem.world, problem.shown(run), generator(0, "halves"))
        for run in range(2)
    ]
    assert limits[0] != limits[1]
    blank = Networks.blank(2, (2, 8))
    loop = LoopSettings(tolerance="demonstrations", patience=None)
    nads = [np.array([9.0, 9.0]), np.array([limits[0], np.nextafter(limits[1], 10.0)])]
    policies = [PolicyState(blank, blank, nad, np.zeros(2)) for nad in nads]
    np.testing.assert_array_equal(should_stop(problem, policies, loop), [True, False])
