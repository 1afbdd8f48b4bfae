"""Accruals against a naive loop, NAD against closed forms, POT itself and scipy."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wasserstein_distance

from icl_core.demonstrations import accruals
from icl_core.demonstrations.accruals import (
    accrual_dissimilarity,
    cost_by_flow,
    cost_by_pot,
    normalised,
    self_dissimilarity,
    visits,
)
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.environments.world import Axis, EvaluationGrid
from tests.worlds import NAMES, random_actions, small_world

GRID = make_world("gridworld-a").grid
SLICED = make_world("cartpole-mr").grid
LINE = EvaluationGrid((Axis("z", np.arange(11.0)),))

counts_2d = arrays(np.int64, (7, 7), elements=st.integers(0, 5)).filter(lambda c: c.sum() > 0)
counts_1d = arrays(np.int64, 11, elements=st.integers(0, 20)).filter(lambda c: c.sum() > 0)
few = settings(max_examples=30, deadline=None)


def random_trajectories(world, rng, lead=(6,), steps=9):
    # Some samples fall outside: of the gridworlds, of x and z, of v and g, of d.
    scale = {"gridworld-a": 8, "gridworld-b": 8, "highd": 240, "exid": 15}.get(world.name, 6.0)
    if world.name.startswith("cartpole"):
        scale = 3.0
    states = rng.uniform(-scale / 4, scale, size=(*lead, steps, world.observation_size))
    if world.name.startswith("grid"):
        states = np.floor(states)
    elif world.name == "highd":
        states[..., 2] /= 5  # speeds, beside gaps
    return Trajectories(
        states.astype(np.float32),
        random_actions(world, rng, *lead, steps),
        np.zeros((*lead, steps), dtype=np.float32),
        rng.integers(1, steps + 1, size=lead),
    )


def naive_visits(world, trajectories):
    """Loop over every recorded step; compare with every node in turn."""
    counts = np.zeros(world.grid.shape, dtype=int)
    for episode in range(len(trajectories)):
        for t in range(trajectories.lengths[episode]):
            state, action = trajectories.states[episode, t], trajectories.actions[episode, t]
            inputs = world.constraint_inputs(state, np.asarray(action))
            index = []
            for value, axis in zip(inputs, world.grid.axes, strict=True):
                gap = np.abs(axis.nodes - value)
                half = (axis.nodes[1] - axis.nodes[0]) / 2
                index.append(int(gap.argmin()) if gap.min() <= half else None)
            if None not in index:
                counts[tuple(index)] += 1
    return counts


@pytest.mark.parametrize("name", NAMES)
def test_visits_equal_a_naive_loop(name):
    world = small_world(name)
    trajectories = random_trajectories(world, np.random.default_rng(3))
    counted = visits(world, trajectories)
    np.testing.assert_array_equal(counted, naive_visits(world, trajectories))
    assert 0 < counted.sum() < trajectories.lengths.sum()  # some outside, and they were dropped


def test_visits_of_a_stack_are_the_visits_of_its_runs():
    world = make_world("cartpole-mid")
    stack = random_trajectories(world, np.random.default_rng(4), lead=(3, 5))
    counted = visits(world, stack)
    assert counted.shape == (3, *world.grid.shape)
    for run in range(3):
        np.testing.assert_array_equal(counted[run], visits(world, stack[run]))


def test_exact_windows_drop_the_cracks():
    world = make_world("cartpole-mr")
    x = np.array([-2.4, 0.0, 0.0495, 0.0515, 0.0502, -0.0495, 0.7 - 0.0495, 2.46])
    states = np.zeros((1, len(x), 4), dtype=np.float32)
    states[0, :, 0] = x
    zeros = np.zeros((1, len(x)))
    steps = Trajectories(states, zeros.astype(int), zeros, np.array([len(x)]))
    exact = visits(world, steps, exact_windows=True)
    # 0.0495 lies in 0.0's window; 0.0502 lies in the crack below 0.1's, which 0.0515 is past.
    assert exact[0, 0] == 1 and exact[24, 0] == 2 and exact[25, 0] == 1 and exact.sum() == 4
    assert visits(world, steps).sum() == len(x) - 1


@few
@given(counts_1d, counts_1d)
def test_one_dimension_equals_pot_and_scipy(a, b):
    from ot.lp import emd2

    index = np.arange(11.0)
    exact = emd2(a / a.sum(), b / b.sum(), np.abs(index[:, None] - index[None]))
    ours = accrual_dissimilarity(LINE, a, b)
    assert ours == pytest.approx(exact, abs=1e-9)
    assert ours == pytest.approx(wasserstein_distance(index, index, a, b), abs=1e-9)


@few
@given(counts_2d, counts_2d, counts_2d)
def test_nad_is_a_metric(a, b, c):
    ab, ba = accrual_dissimilarity(GRID, a, b), accrual_dissimilarity(GRID, b, a)
    assert accrual_dissimilarity(GRID, a, a) == pytest.approx(0, abs=1e-9)
    assert ab == pytest.approx(ba, abs=1e-9)
    assert ab >= -1e-12
    ac, cb = accrual_dissimilarity(GRID, a, c), accrual_dissimilarity(GRID, c, b)
    assert ab <= ac + cb + 1e-9


@few
@given(counts_2d, st.integers(1, 9))
def test_nad_ignores_the_number_of_visits(a, times):
    b = np.roll(a, 1, axis=0)
    once, often = accrual_dissimilarity(GRID, a, b), accrual_dissimilarity(GRID, times * a, b)
    assert once == pytest.approx(often, abs=1e-9)


@pytest.mark.parametrize("down,right", [(0, 0), (0, 3), (2, 0), (2, 3)])
def test_translation_costs_the_cells_it_moves(down, right):
    a = np.zeros((7, 7))
    a[1:3, 0:2] = [[1, 2], [3, 4]]
    moved = np.roll(a, (down, right), axis=(0, 1))
    assert accrual_dissimilarity(GRID, a, moved) == pytest.approx(down + right)


def test_hand_made_accruals():
    a, b = np.zeros((7, 7)), np.zeros((7, 7))
    a[0, 0] = 4
    b[0, 0], b[0, 2], b[3, 3] = 2, 1, 1  # half stays, a quarter moves 2, a quarter moves 6
    assert accrual_dissimilarity(GRID, a, b) == pytest.approx(2 / 4 + 6 / 4)


shapes = st.tuples(st.integers(1, 9), st.integers(1, 9)) | st.tuples(*[st.integers(1, 4)] * 3)
# From empty to a million visits: shares that differ by as much as a long run's.
visited = st.integers(0, 3) | st.integers(0, 10**6)
two_counts = shapes.flatmap(
    lambda shape: arrays(np.int64, (2, *shape), elements=visited).filter(
        lambda both: all(one.sum() > 0 for one in both)
    )
)


@settings(max_examples=150, deadline=None)
@given(two_counts)
def test_the_flow_between_neighbours_costs_what_pot_says(both):
    a, b = (one / one.sum() for one in both)
    assert cost_by_flow(a, b) == pytest.approx(cost_by_pot(a, b), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("filled", [0.05, 0.3, 1.0])
def test_the_flow_is_exact_on_the_largest_grids_that_pot_can_do(filled):
    rng = np.random.default_rng(0)
    a, b = (rng.random((28, 28)) * (rng.random((28, 28)) < filled) for _ in range(2))
    a, b = a / a.sum(), b / b.sum()
    assert cost_by_flow(a, b) == pytest.approx(cost_by_pot(a, b), rel=1e-12)


def test_nothing_flows_between_equal_accruals():
    a = np.random.default_rng(0).random((60, 60))
    assert cost_by_flow(a, a) == 0.0


def grid_of(*sizes):
    return EvaluationGrid(tuple(Axis(str(k), np.arange(float(n))) for k, n in enumerate(sizes)))


@pytest.mark.parametrize(
    ("sizes", "filled", "by"),
    [
        ((7, 7), 3, "cost_by_pot"),
        ((41, 81), 28, "cost_by_pot"),
        ((50, 50), 45, "cost_by_flow"),
        ((60, 60), 2, "cost_by_flow"),  # POT would want a table of all pairs of nodes
    ],
)
def test_the_sizes_alone_say_how_it_is_computed(sizes, filled, by, monkeypatch):
    """And a block that moves by 3 and 4 costs 7, either way."""
    a = np.zeros(sizes)
    a[:filled, :filled] = 1.0
    b = np.roll(a, (3, 4), axis=(0, 1))
    taken = []
    for name in ("cost_by_pot", "cost_by_flow"):
        exact = getattr(accruals, name)
        monkeypatch.setattr(
            accruals, name, lambda *given, n=name, f=exact: (taken.append(n), f(*given))[1]
        )
    assert accrual_dissimilarity(grid_of(*sizes), a, b) == pytest.approx(7.0, rel=1e-12)
    assert taken == [by]


def test_slices_are_normalised_alone_and_added():
    a, b = np.zeros((49, 2)), np.zeros((49, 2))
    a[10, 0], b[13, 0] = 1000, 1  # three nodes apart, whatever the counts
    a[20, 1], b[20, 1], b[22, 1] = 5, 3, 3  # half of it two nodes apart
    assert accrual_dissimilarity(SLICED, a, b) == pytest.approx(3 + 1)


def test_empty_histogram_or_slice_is_undefined():
    a = np.ones((49, 2))
    b = a.copy()
    b[:, 1] = 0
    assert np.isnan(accrual_dissimilarity(SLICED, a, b))
    assert np.isnan(accrual_dissimilarity(SLICED, b, a))
    assert np.isnan(accrual_dissimilarity(GRID, np.zeros((7, 7)), np.ones((7, 7))))


def test_normalised_sums_to_one_per_slice():
    counts = np.random.default_rng(0).integers(1, 9, size=(3, 49, 2))
    np.testing.assert_allclose(normalised(SLICED, counts).sum(axis=1), np.ones((3, 2)))
    counts = np.random.default_rng(0).integers(1, 9, size=(3, 7, 7))
    np.testing.assert_allclose(normalised(GRID, counts).sum(axis=(1, 2)), np.ones(3))


def test_measuring_loads_little_of_pot_and_leaves_no_trace():
    code = (
        "import os, sys, numpy as np; from icl_core.environments import make_world;"
        "from icl_core.demonstrations.accruals import accrual_dissimilarity as nad;"
        "before = dict(os.environ);"
        "ours = nad(make_world('gridworld-a').grid, np.eye(7), np.ones((7, 7)));"
        "assert dict(os.environ) == before;"
        "assert not {'torch', 'scipy.stats', 'networkx', 'ot'} & set(sys.modules);"
        # Whoever imports all of it afterwards has all of it.
        "import ot; assert ot.lp is sys.modules['ot.lp'];"
        "index = np.indices((7, 7)).reshape(2, -1).T;"
        "costs = ot.dist(index, index, metric='cityblock');"
        "assert ours == ot.emd2(np.eye(7).ravel() / 7, np.full(49, 1 / 49), costs)"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith("POT_BACKEND")}
    subprocess.run([sys.executable, "-c", code], env=clean, check=True)


def one_step_episodes(positions):
    """Episodes of one step each, at the given positions x, action 0 and 1 in turn."""
    states = np.zeros((len(positions), 1, 4), np.float32)
    states[:, 0, 0] = positions
    actions = (np.arange(len(positions)) % 2)[:, None]
    ones = np.ones((len(positions), 1), np.float32)
    return Trajectories(states, actions, ones, np.ones(len(positions), np.int64))


def test_self_dissimilarity_is_that_of_two_samples_of_the_same_size():
    """Against the thing itself: independent pairs of samples from a known distribution."""
    world, rng = make_world("cartpole-mr"), np.random.default_rng(0)
    size = 200
    halves, pairs = [], []
    for _ in range(30):
        a, b = (one_step_episodes(rng.normal(0.0, 0.5, size)) for _ in range(2))
        pairs.append(accrual_dissimilarity(world.grid, visits(world, a), visits(world, b)))
        halves.append(self_dissimilarity(world, a, rng, splits=10))
    assert np.mean(halves) == pytest.approx(np.mean(pairs), rel=0.15)


def test_self_dissimilarity_of_equal_trajectories_is_zero():
    world = make_world("gridworld-a")
    episodes = Trajectories(
        np.zeros((8, 1, 2), np.float32), np.zeros((8, 1), np.int64), np.zeros((8, 1)), np.ones(8)
    )
    assert self_dissimilarity(world, episodes, np.random.default_rng(0)) == 0.0
