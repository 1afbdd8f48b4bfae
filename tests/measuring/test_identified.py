"""The set of constraints that explain demonstrations, against all policies of tiny worlds."""

import numpy as np
import pytest
from scipy.optimize import linprog

from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.linear_program import solve_constrained_optimum
from icl_core.measuring.edges import allowed_edges
from icl_core.measuring.identified import Identified, score
from tests.learning.tiny import demonstrations_of
from tests.small_grids import all_visits, optimal_expert, two_ways, walk
from tests.worlds import small_world

VIA, STRAIGHT, GOAL = 8, 1, 2  # the cells (1, 1), (0, 1) and (0, 2)


def slow_and_quick(discount=0.9):
    """Four steps: the expert takes one more than it must, by (1, 1) and (1, 2)."""
    world = two_ways(4, discount=discount)
    return world, walk((0, 0), (1, 1), (1, 2), (0, 2), world=world)


def explains(world, visits, found, constraint):
    """(1) and (2) as they are written, over mixtures of all deterministic policies."""
    if found.expert @ constraint > found.beta + 1e-9:
        return False
    costs, weights = visits @ constraint, np.ones((1, len(visits)))
    goal = np.ravel_multi_index(world.goal, (7, 7))
    best = linprog(-visits[:, goal], costs[None], [found.beta], weights, [1.0])
    return best.status == 2 or -best.fun <= found.enough + 1e-9


@pytest.mark.parametrize("tolerance", [0.03, 0.06])
def test_it_contains_what_explains_and_nothing_else(tolerance):
    world, shown = slow_and_quick()
    visits = all_visits(world)
    found = Identified(world, shown, 0.99, tolerance)
    assert not found.silent and not found.empty
    rng, seen = np.random.default_rng(0), []
    for _ in range(200):
        constraint = rng.dirichlet(np.full(98, 0.1)) @ found.bounds.corners
        constraint += rng.choice([0.0, 0.01, 0.1]) * rng.standard_normal(49)
        constraint = np.clip(constraint, 0, 1)
        # The corners lie on the border, to rounding: a little to either side of it.
        constraint[0] += 1e-4 * rng.choice([-1, 1])
        constraint = np.clip(constraint, 0, 1)
        seen.append(explains(world, visits, found, constraint))
        assert found.contains(constraint) == seen[-1]
    assert 20 < sum(seen) < 180


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_bounds_are_those_of_a_program_over_all_policies(tolerance):
    world, shown = slow_and_quick()
    visits = all_visits(world)
    found = Identified(world, shown, 0.99, tolerance)
    rows = np.vstack(
        [np.append(found.expert, 0.0), np.column_stack([-visits, visits[:, GOAL] - found.enough])]
    )
    limits = np.append(0.99, np.full(len(visits), -0.99))
    for cell in (0, STRAIGHT, GOAL, VIA, 9, 40):
        for sign, ours in ((1, found.bounds.least), (-1, found.bounds.greatest)):
            gains = sign * np.eye(50)[cell]
            whole = linprog(gains, rows, limits, bounds=[(0, 1)] * 49 + [(0, None)])
            assert ours[cell] == pytest.approx(whole.x[cell], abs=1e-5)
    for corner in found.bounds.corners:  # to rounding: corners lie on the set's border
        assert found.contains(0.999 * corner + 0.001 * found.bounds.corners.mean(axis=0))


def test_bounds_with_slip_are_those_of_the_occupancy_program():
    """Where moves slip policies cannot be listed; the program over occupancies needs no list."""
    world = two_ways(4, slip=0.2, discount=0.9)
    forbidden = np.zeros(49)
    forbidden[STRAIGHT] = 1.0
    world.threshold = 0.1
    found = Identified(world, optimal_expert(world, forbidden, 400), 0.2, 0.02)
    assert not found.silent and not found.empty

    def explained(constraint):
        optimum = solve_constrained_optimum(world, constraint, found.beta)
        earns_more = optimum.feasible and optimum.return_value > found.enough + 1e-5
        return found.expert @ constraint <= found.beta + 1e-6 and not earns_more

    corners, rng = found.bounds.corners, np.random.default_rng(0)
    middle = corners.mean(axis=0)
    # Not too wide: just inside of each corner all is explained.
    for corner in np.unique(corners.round(9), axis=0):
        assert explained(corner + 1e-3 * (middle - corner))
    # Not too narrow: whoever leaves the middle for a cube's corner is within them to the set's end.
    ends = []
    for _ in range(12):
        target = rng.integers(0, 2, 49).astype(float)
        least, most = 0.0, 1.0
        for _ in range(9):
            share = (least + most) / 2
            fits = explained(middle + share * (target - middle))
            least, most = (share, most) if fits else (least, share)
        ends.append(middle + least * (target - middle))
    assert (np.array(ends) >= found.bounds.least - 1e-4).all()
    assert (np.array(ends) <= found.bounds.greatest + 1e-4).all()
    assert found.bounds.free.sum() == 3  # start, (1, 1) and goal: the bounds do say something


def test_a_detour_is_explained_by_a_price_on_arriving():
    """By hand: gamma = 0.9, so the detour earns 0.729 and the short ways 0.81.

    With c = 1 in the goal and a in the start, and tau = 1, (2') asks of who arrives
    a + J(r) >= 0.99 + J(r) - 0.729, and of who does not a >= 0.99 - 0.729: so a = 0.261. The detour
    costs a + 0.729 = 0.99, just beta.
    """
    world, shown = slow_and_quick()
    found = Identified(world, shown, 0.99, 0.0)
    for start, inside in ((0.261, True), (0.26, False), (0.262, False)):
        constraint = np.zeros(49)
        constraint[[0, GOAL]] = start, 1.0
        assert found.contains(constraint) == inside
    assert not found.contains(np.zeros(49))
    assert found.bounds.greatest[40] == 1.0 and found.bounds.least[40] == 0.0  # never visited


def test_where_reward_is_silent_only_the_budget_counts():
    world = two_ways()
    shown = walk((0, 0), (1, 1), (0, 2), world=world)
    found = Identified(world, shown, 0.4)
    assert found.silent and found.tolerance == 0 and found.least_tolerance == 0
    np.testing.assert_allclose(found.bounds.least, 0)
    expected = np.ones(49)
    expected[[0, VIA, GOAL]] = 0.4
    np.testing.assert_allclose(found.bounds.greatest, expected, atol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(found.bounds.free), [0, GOAL, VIA])
    assert found.contains(np.zeros(49))


def test_an_expert_who_never_arrives_is_explained_by_nothing_below_the_least_tolerance():
    world = two_ways()
    shown = walk((0, 0), (1, 1), (1, 0), world=world)
    found = Identified(world, shown, 0.99, 0.0)
    # The goal's price is at most 1, and both ways share the start: (0, 1) and goal can cost 2.
    assert found.least_tolerance == pytest.approx(0.0, abs=1e-6)
    tight = Identified(world, shown, 5.0, 0.0)  # three steps cost at most 3: nothing is forbidden
    assert tight.least_tolerance == pytest.approx(1.0) and tight.empty
    with pytest.raises(InputError, match="the least tolerance is 1"):
        _ = tight.bounds
    assert not Identified(world, shown, 5.0, 1.0).empty


def test_the_score_lies_between_its_bounds():
    world, shown = slow_and_quick()
    found = Identified(world, shown, 0.99, 0.0)
    truth = np.zeros(49)
    truth[[STRAIGHT, VIA]] = 1.0
    told = score(found, truth)
    assert not told.inside and 0 < told.least_cmse <= told.worst_seen_cmse <= told.most_cmse
    near = found.nearest(truth)
    assert np.mean((near - truth) ** 2) == pytest.approx(told.least_cmse)
    for corner in found.bounds.corners:  # nearest of a convex set: nothing lies nearer
        assert (corner - near) @ (truth - near) <= 1e-4
    assert score(found, near).least_cmse < 1e-4


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_an_optimal_experts_own_constraint_is_inside(slip):
    world = make_world("gridworld-a", slip=slip)
    world.horizon = 12
    shown = optimal_expert(world, world.true_on_grid, 200)
    # A sample may spend a little more, and earn a little less, than the policy it is of.
    told = score(Identified(world, shown, 1.2 * world.threshold, 0.05), world.true_on_grid)
    assert told.inside and told.least_cmse == 0
    assert told.told_forbidden == 0  # whoever never needs it is never seen to avoid it


def test_wrong_numbers_are_refused():
    world, shown = slow_and_quick()
    with pytest.raises(InputError, match="tolerance of at least 0"):
        Identified(world, shown, 0.99, -1.0)
    with pytest.raises(InputError, match="cartpole-mr is no gridworld"):
        Identified(small_world("cartpole-mr"), shown, 1.0)


# ------------------------------------------------------------------ edges


@pytest.mark.parametrize("name", ["cartpole-mr", "halfcheetah"])
def test_edges_are_those_that_the_demonstrations_can_pay(name):
    world = small_world(name)
    world.horizon = 50
    shown = demonstrations_of(world)
    inputs = world.constraint_inputs(shown.states, shown.actions)[..., 0].astype(np.float64)
    weights = shown.mask * world.discount ** np.arange(shown.mask.shape[1])

    def cost(forbidden):
        return (weights * forbidden).sum(axis=1).mean()

    total = cost(np.ones_like(inputs))
    found = allowed_edges(world, shown, total / 2)
    inch = 1e-9
    assert cost(inputs < found.below) <= total / 2 < cost(inputs < found.below + inch)
    assert cost(inputs > found.above) <= total / 2 < cost(inputs > found.above - inch)
    rich = allowed_edges(world, shown, total + 1)
    assert (rich.below, rich.above) == (np.inf, -np.inf)


def test_several_positions_have_no_edge():
    world = small_world("highd")
    with pytest.raises(InputError, match="a constraint of one position"):
        allowed_edges(world, demonstrations_of(world), 1.0)
