"""What demonstrations determine, in closed form and as rows of the metrics."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from icl_core.demonstrations.trajectories import side_by_side
from icl_core.learning.engine.networks import Networks
from icl_core.learning.methods.exact_icl.tables import constraint_networks
from icl_core.learning.problem import Problem
from icl_core.measuring.budget import Budget
from icl_core.measuring.determined import (
    DETERMINED,
    DETERMINED_FORBIDDEN,
    EDGE_ABOVE,
    EDGE_BELOW,
    EXCESS_COST,
    EXCESS_RETURN,
    INSIDE,
    LEAST_CMSE,
    MOST_CMSE,
    NOBODY,
    REWARD_LEFT_OUT,
    REWARD_SILENT,
    TRUTH_INSIDE,
    UNEXPLAINED,
    demonstrated_cost,
    determined,
    determined_rows,
    known_bounds,
    learned_excess,
)
from icl_core.measuring.edges import allowed_edges
from icl_core.measuring.identified import Identified
from icl_core.measuring.metrics import METRICS_SCHEMA, Run
from tests.learning.tiny import demonstrations_of
from tests.small_grids import optimal_expert, two_ways, walk
from tests.worlds import small_world

# ------------------------------------------------------------------ the budget alone


def some_budget(seed, cells=6):
    rng = np.random.default_rng(seed)
    visits = rng.random(cells) ** 3 * 2 * rng.integers(0, 2, cells)
    return Budget(visits, 0.4), rng.integers(0, 2, cells).astype(float)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_a_budget_are_those_of_a_program(seed):
    budget, _ = some_budget(seed)
    for cell in range(6):
        for sign, ours in ((1, budget.bounds.least), (-1, budget.bounds.greatest)):
            found = linprog(sign * np.eye(6)[cell], budget.expert[None], [0.4], bounds=[(0, 1)] * 6)
            assert ours[cell] == pytest.approx(found.x[cell], abs=1e-9)
    assert all(budget.excess(corner) < 1e-12 for corner in budget.bounds.corners)


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_of_a_budget_is_that_of_a_solver(seed):
    budget, target = some_budget(seed)
    found = budget.nearest(target)
    assert budget.excess(found) < 1e-9 and ((found >= 0) & (found <= 1)).all()
    room = {"type": "ineq", "fun": lambda c: 0.4 - budget.expert @ c}
    solved = minimize(
        lambda c: ((c - target) ** 2).sum(), 0.1 * target, bounds=[(0, 1)] * 6, constraints=room
    )
    assert ((found - target) ** 2).sum() == pytest.approx(solved.fun, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_farthest_of_a_budget_is_the_farthest_corner(seed):
    """Corners of {c in [0, 1]^n : d . c <= beta} have one value between 0 and 1 at most."""
    budget, target = some_budget(seed)
    corners = []
    for free in range(6):
        rest = [cell for cell in range(6) if cell != free]
        for values in itertools.product((0.0, 1.0), repeat=5):
            corner = np.zeros(6)
            corner[rest] = values
            left = 0.4 - budget.expert @ corner
            if left >= 0:
                price = budget.expert[free]
                corners += [corner, corner + np.eye(6)[free] * min(1, left / price if price else 1)]
    most = max(((corner - target) ** 2).sum() for corner in corners)
    found = budget.farthest(target)
    assert budget.excess(found) < 1e-12
    assert ((found - target) ** 2).sum() == pytest.approx(most)


# ------------------------------------------------------------------ gridworlds


def test_a_silent_reward_leaves_the_budget():
    """By hand: three of 49 cells are visited once, and beta = 0.4 is their greatest c."""
    world = two_ways()
    shown = walk((0, 0), (1, 1), (0, 2), world=world)
    found = determined(world, shown, 0.4)
    truth = world.true_on_grid
    told = Identified(world, shown, 0.4)
    assert (found[REWARD_SILENT], found[REWARD_LEFT_OUT], found[UNEXPLAINED]) == (1, 0, 0)
    assert found[DETERMINED] == pytest.approx(3 / 49)
    assert found[DETERMINED_FORBIDDEN] == 0
    assert found[TRUTH_INSIDE] == told.contains(truth)
    assert found[LEAST_CMSE] == pytest.approx(np.mean((told.nearest(truth) - truth) ** 2))
    corner = told.budget.farthest(truth)
    assert found[MOST_CMSE] == pytest.approx(np.mean((corner - truth) ** 2))
    assert found[MOST_CMSE] >= np.mean((np.zeros(49) - truth) ** 2)


def slow_and_quick(discount=0.9, slip=0.0):
    world = two_ways(4, discount=discount, slip=slip)
    return world, walk((0, 0), (1, 1), (1, 2), (0, 2), world=world)


def test_a_reward_that_speaks_is_asked():
    world, shown = slow_and_quick()
    found = determined(world, shown, 0.99)
    assert (found[REWARD_SILENT], found[REWARD_LEFT_OUT], found[UNEXPLAINED]) == (0, 0, 0)
    bounds = Identified(world, shown, 0.99).bounds
    np.testing.assert_array_equal(known_bounds(Identified(world, shown, 0.99)).least, bounds.least)
    assert found[DETERMINED] == bounds.told.mean()
    assert found[LEAST_CMSE] <= found[MOST_CMSE]


def test_where_moves_slip_the_budget_alone_is_asked_and_says_so():
    world = two_ways(4, slip=0.2, discount=0.9)
    forbidden = np.zeros(49)
    forbidden[1] = 1.0
    world.threshold = 0.1
    shown = optimal_expert(world, forbidden, 400)
    told = Identified(world, shown, 0.2, 0.02)
    assert not told.silent
    bounds = known_bounds(told)
    # Less is asked: the bounds are as wide or wider.
    assert (bounds.least <= told.bounds.least + 1e-6).all()
    assert (bounds.greatest >= told.bounds.greatest - 1e-6).all()
    found = determined(world, walk((0, 0), (1, 1), (1, 0), world=world), 0.2)
    assert (found[REWARD_SILENT], found[REWARD_LEFT_OUT]) == (0, 1)


def test_what_nothing_explains_has_no_other_rows():
    world = two_ways()
    shown = walk((0, 0), (1, 1), (1, 0), world=world)
    found = determined(world, shown, 5.0)
    assert found == {REWARD_SILENT: 0, REWARD_LEFT_OUT: 0, UNEXPLAINED: 1}


def problem_in(world, shown, beta, runs):
    return Problem(world, shown, range(runs), beta)


def test_each_run_is_asked_about_its_own_expert():
    world, shown = slow_and_quick()
    values = np.zeros((1, 49))
    values[0, 0] = 1.0
    both = constraint_networks(np.concatenate([values, values]))
    other = walk((1, 0), (1, 1), (0, 2), world=world)
    sets = side_by_side([shown, other])
    found = learned_excess(Problem(world, sets, [1, 2], 0.99), both)
    for run, one in enumerate((shown, other)):
        alone = learned_excess(problem_in(world, one, 0.99, 1), constraint_networks(values))
        assert {name: column[run] for name, column in found.items()} == {
            name: column[0] for name, column in alone.items()
        }


def test_where_a_learned_constraint_lies():
    world, shown = slow_and_quick()
    told = Identified(world, shown, 0.99, 0.0)
    values = np.zeros((3, 49))
    values[0, [0, 2]] = 0.2605, 1.0  # explains them (test_identified)
    values[1, 8] = values[1, 0] = 1.0  # too dear: the expert passes both
    found = learned_excess(problem_in(world, shown, 0.99, len(values)), constraint_networks(values))
    expected = [told.excess(c) for c in values]
    np.testing.assert_allclose(found[EXCESS_COST], [e[0] for e in expected], atol=1e-4)
    np.testing.assert_allclose(found[EXCESS_RETURN], [e[1] for e in expected], atol=1e-3)
    assert found[EXCESS_COST][1] == pytest.approx(0.91, abs=1e-3)
    assert found[EXCESS_RETURN][2] > 0.05 and found[EXCESS_COST][2] == 0
    np.testing.assert_array_equal(
        found[INSIDE], np.maximum(found[EXCESS_COST], found[EXCESS_RETURN]) <= 1e-4
    )


def test_a_budget_that_is_spent_to_rounding_is_kept():
    world, shown = slow_and_quick()
    values = np.zeros((1, 49))
    values[0, 0] = 0.99  # the expert's first cell, which it cannot leave out
    found = learned_excess(problem_in(world, shown, 0.99, len(values)), constraint_networks(values))
    assert found[EXCESS_COST][0] < 1e-5 and found[EXCESS_RETURN][0] < 1e-9 and found[INSIDE][0]


# ------------------------------------------------------------------ one position


@pytest.mark.parametrize("name", ["cartpole-mr", "halfcheetah"])
def test_edges_end_with_the_grid(name):
    world = small_world(name)
    shown = demonstrations_of(world)
    edges = allowed_edges(world, shown, 1.0)
    ends = edges.axis.physical[[0, -1]]
    found = determined(world, shown, 1.0)
    assert found == {
        EDGE_BELOW: np.clip(edges.below, *ends),
        EDGE_ABOVE: np.clip(edges.above, *ends),
    }
    rich = determined(world, shown, 1e6)
    assert (rich[EDGE_BELOW], rich[EDGE_ABOVE]) == (ends[1], ends[0])


@pytest.mark.parametrize("name", ["cartpole-mr", "halfcheetah"])
def test_what_demonstrations_spend_is_summed_step_by_step(name):
    world = small_world(name)
    shown = demonstrations_of(world)
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    networks = Networks.initialise(rngs, (world.input_size, 8, 1))
    spent = np.zeros(2)
    for one in range(len(shown)):
        for step in range(shown.lengths[one]):
            states, actions = shown.states[one, [step]], shown.actions[one, [step]]
            inputs = world.constraint_inputs(states, actions).astype(np.float32)
            logits = networks(np.stack([inputs, inputs]))[:, 0, 0].astype(np.float64)
            spent += world.discount**step / (1 + np.exp(-logits)) / len(shown)
    np.testing.assert_allclose(demonstrated_cost(world, shown, networks), spent, rtol=1e-5)
    found = learned_excess(problem_in(world, shown, float(spent.mean()), 2), networks)
    assert sorted(found[INSIDE]) == [False, True]
    np.testing.assert_allclose(found[EXCESS_COST].max(), np.ptp(spent) / 2, rtol=1e-4)


# ------------------------------------------------------------------ rows


def test_rows_of_demonstrations_have_no_method():
    world, shown = slow_and_quick()
    table = determined_rows(Run("grid", NOBODY, world, [7]), shown, 0.99)
    assert table.schema == METRICS_SCHEMA
    assert set(table["method"].to_pylist()) == {NOBODY}
    assert set(table["seed"].to_pylist()) == {7}
    assert dict(zip(table["metric"].to_pylist(), table["value"].to_pylist(), strict=True)) == (
        determined(world, shown, 0.99)
    )


def test_other_worlds_have_no_rows():
    world = small_world("nav")
    shown = demonstrations_of(world)
    assert determined_rows(Run("nav", NOBODY, world, [0]), shown, 1.0).num_rows == 0
    assert learned_excess(problem_in(world, shown, 1.0, 1), Networks.blank(1, (2, 4, 1))) == {}
