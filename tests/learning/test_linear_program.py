"""The exact optimum, against hand-made cases, duality and simulation."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.linear_program import evaluate_policy, solve_constrained_optimum

GRIDS = ["gridworld-a", "gridworld-b"]
NOTHING = np.zeros(49)


def changed(world, **attributes):
    """The world with other numbers than the paper's."""
    for name, value in attributes.items():
        setattr(world, name, value)
    return world


def best_penalised(world, penalised):
    """max over all policies of E sum_t gamma^t u(s_t), by backward induction; u is (49,).

    Works from `step` rather than the transition matrix, slip 0.
    """
    cells = np.stack(np.divmod(np.arange(49), 7), axis=1).astype(np.float32)
    moved, _, ended = world.step(np.repeat(cells, 8, axis=0), np.tile(np.arange(8), 49))
    target = (moved @ (7, 1)).astype(int).reshape(49, 8)
    goes_on = 1.0 - ended.reshape(49, 8)
    value = np.zeros(49)
    for _ in range(world.horizon):
        value = penalised + world.discount * (goes_on * value[target]).max(axis=1)
    return value[world.starts.ravel()].mean()


def dual_value(world, constraint, threshold):
    """min over prices p >= 0 of max over policies of return - p (J - beta): the same optimum."""
    goal = np.zeros(49)
    goal[np.ravel_multi_index(world.goal, (7, 7))] = 1

    def priced(price):
        return best_penalised(world, goal - price * constraint) + price * threshold

    found = minimize_scalar(priced, bounds=(0, 200), method="bounded", options={"xatol": 1e-9})
    return min(found.fun, priced(0.0))


def simulate(world, policy, constraint, n, rng):
    """Sample episodes with World.step and average return and constraint value."""
    states = world.initial_states(rng, n)
    running = np.ones(n, dtype=bool)
    returns, values = np.zeros(n), np.zeros(n)
    for t in range(world.horizon):
        cells = (states @ (7, 1)).astype(int)
        thresholds = policy[t, cells].cumsum(axis=1)
        actions = np.minimum((rng.random((n, 1)) > thresholds).sum(axis=1), 7)
        values += running * world.discount**t * constraint[cells]
        states, rewards, ended = world.step(states, actions, rng.random((n, world.noise_size)))
        returns += running * world.discount**t * rewards
        running &= ~ended
    return returns, values


@pytest.mark.parametrize("name", GRIDS)
def test_without_a_constraint_every_episode_reaches_the_goal(name):
    optimum = solve_constrained_optimum(make_world(name), NOTHING, 0.0)
    assert optimum.feasible
    assert optimum.return_value == pytest.approx(1)
    assert optimum.constraint_value == pytest.approx(0)


@pytest.mark.parametrize("name", GRIDS)
def test_the_true_constraint_can_be_kept_without_loss(name):
    world = make_world(name)
    for threshold in (0.0, world.threshold):
        optimum = solve_constrained_optimum(world, world.true_on_grid, threshold)
        assert optimum.return_value == pytest.approx(1)
        assert optimum.constraint_value <= threshold + 1e-9


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 0.99, 1.0, 2.0])
def test_a_wall_across_the_grid_is_crossed_as_often_as_allowed(threshold):
    """Row 3 costs 1 and cannot be jumped: a share beta of the episodes may pass it."""
    wall = np.zeros((7, 7))
    wall[3] = 1
    optimum = solve_constrained_optimum(make_world("gridworld-a"), wall.ravel(), threshold)
    assert optimum.feasible
    assert optimum.return_value == pytest.approx(min(threshold, 1))


def test_when_each_step_costs_the_shortest_paths_are_needed():
    """From row i the goal is 6 - i moves away, 7 - i recorded steps: 6 on average."""
    world, each = make_world("gridworld-a"), np.full(49, 0.1)
    enough = solve_constrained_optimum(world, each, 0.6 + 1e-6)
    assert enough.feasible and enough.return_value == pytest.approx(1, abs=1e-4)
    assert enough.constraint_value == pytest.approx(0.6, abs=1e-4)
    short = solve_constrained_optimum(world, each, 0.55)
    assert not short.feasible
    assert short.constraint_value == pytest.approx(0.6)  # the least there is
    assert evaluate_policy(world, short.policy, each)[1] == pytest.approx(0.6)


def test_the_goal_must_be_reached_before_the_last_step():
    """With 5 steps, the action at the goal is the fifth: only row 2 is near enough."""
    optimum = solve_constrained_optimum(changed(make_world("gridworld-a"), horizon=5), NOTHING, 1.0)
    assert optimum.return_value == pytest.approx(1 / 3)


def test_the_discount_counts_from_the_first_step():
    """The reward is paid at t = 6 - i from row i."""
    world = changed(make_world("gridworld-a"), discount=0.9)
    optimum = solve_constrained_optimum(world, NOTHING, 1.0)
    assert optimum.return_value == pytest.approx(np.mean([0.9**6, 0.9**5, 0.9**4]))


@pytest.mark.parametrize(
    ("name", "discount", "horizon", "seed"),
    [
        ("gridworld-a", 1.0, 50, 0),  # the paper's; the rest smaller, for programs grow fast
        ("gridworld-a", 1.0, 20, 1),
        ("gridworld-b", 1.0, 20, 0),
        ("gridworld-b", 1.0, 20, 1),
        ("gridworld-a", 0.9, 20, 0),
        ("gridworld-a", 0.9, 20, 1),
    ],
)
def test_the_optimum_equals_the_dual_by_backward_induction(name, discount, horizon, seed):
    world = changed(make_world(name), discount=discount, horizon=horizon)
    rng = np.random.default_rng(seed)
    constraint = rng.random(49) ** 3
    cheapest = -best_penalised(world, -constraint)
    for threshold in (1.05 * cheapest, 1.5 * cheapest):
        optimum = solve_constrained_optimum(world, constraint, threshold)
        assert optimum.feasible
        assert optimum.return_value == pytest.approx(
            dual_value(world, constraint, threshold), abs=1e-5
        )
        assert optimum.constraint_value <= threshold + 1e-6
    assert not solve_constrained_optimum(world, constraint, 0.95 * cheapest).feasible


@pytest.mark.parametrize(
    "settings", [{}, {"slip": 0.3}, {"slip": 0.5, "slip_over_all": True}], ids=str
)
@pytest.mark.parametrize("name", GRIDS)
def test_the_policy_attains_the_programs_value(name, settings):
    world = make_world(name, **settings)
    world.horizon = 20  # programs with slips are dense: keep them small
    constraint = np.random.default_rng(2).random(49) * 0.3
    optimum = solve_constrained_optimum(world, constraint, 2.0)
    assert optimum.policy.shape == (20, 49, 8)
    assert np.allclose(optimum.policy.sum(axis=-1), 1)
    found = evaluate_policy(world, optimum.policy, constraint)
    assert found == pytest.approx((optimum.return_value, optimum.constraint_value), abs=1e-6)


def test_more_room_never_hurts():
    world = changed(make_world("gridworld-a", slip=0.2), horizon=15)
    thresholds = [0.2, 0.3, 0.5, 0.8, 1.2]
    optima = [solve_constrained_optimum(world, world.true_on_grid, b) for b in thresholds]
    assert all(o.feasible for o in optima)
    values = [o.return_value for o in optima]
    assert all(b >= a - 1e-9 for a, b in pairwise(values))
    assert all(o.constraint_value <= b + 1e-6 for o, b in zip(optima, thresholds, strict=True))


def test_no_stationary_policy_does_better():
    world = changed(make_world("gridworld-b"), horizon=20)
    rng = np.random.default_rng(3)
    constraint = rng.random(49) * 0.2
    for _ in range(5):
        policy = rng.dirichlet(np.full(8, 0.3), size=49)
        reached, cost = evaluate_policy(world, policy, constraint)
        optimum = solve_constrained_optimum(world, constraint, cost)
        assert optimum.return_value >= reached - 1e-7


@pytest.mark.parametrize("settings", [{}, {"slip": 0.3}], ids=str)
@pytest.mark.parametrize("name", GRIDS)
def test_simulation_agrees(name, settings):
    world = make_world(name, **settings)
    world.horizon = 20
    rng = np.random.default_rng(4)
    constraint, n = rng.random(49) * 0.2, 20_000
    policies = [
        solve_constrained_optimum(world, constraint, 0.8).policy,
        np.broadcast_to(rng.dirichlet(np.full(8, 0.5), size=49), (20, 49, 8)),
    ]
    for policy in policies:
        expected = evaluate_policy(world, policy, constraint)
        for sampled, exact in zip(
            simulate(world, policy, constraint, n, rng), expected, strict=True
        ):
            error = max(sampled.std() / np.sqrt(n), 1e-4)
            assert abs(sampled.mean() - exact) < 4.5 * error


def test_a_stationary_policy_is_the_same_at_all_times():
    world = make_world("gridworld-a")
    policy = np.random.default_rng(5).dirichlet(np.ones(8), size=49)
    always = np.broadcast_to(policy, (50, 49, 8))
    assert evaluate_policy(world, policy, NOTHING) == evaluate_policy(world, always, NOTHING)


@pytest.mark.parametrize("constraint", [np.zeros(48), np.zeros((7, 7)), np.full(49, np.nan)])
def test_wrong_constraint_values_are_refused(constraint):
    with pytest.raises(InputError, match="constraint values must be 49 finite numbers"):
        solve_constrained_optimum(make_world("gridworld-a"), constraint, 1.0)


def test_wrong_thresholds_and_policies_are_refused():
    world = make_world("gridworld-a")
    with pytest.raises(InputError, match="threshold must be a finite number"):
        solve_constrained_optimum(world, NOTHING, np.nan)
    with pytest.raises(InputError, match="policy must have shape"):
        evaluate_policy(world, np.zeros((7, 7, 8)), NOTHING)
    with pytest.raises(InputError, match="sum to 1"):
        evaluate_policy(world, np.zeros((49, 8)), NOTHING)
