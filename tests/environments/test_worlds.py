"""What each world promises, against independent truths."""

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.environments import WORLDS, Axis, EvaluationGrid, World, make_world
from icl_core.environments.cartpole import ANGLE_LIMIT, X_LIMIT
from icl_core.environments.robots import Robot
from icl_core.errors import InputError
from tests.worlds import NAMES, random_actions, small_world

VARIANTS = [
    *[(name, {}) for name in NAMES],
    ("gridworld-a", {"slip": 0.3}),
    ("gridworld-b", {"slip": 0.5, "slip_over_all": True}),
    ("highd", {"centre_gap": True}),
    ("exid", {"distance": "authors"}),
]


def random_batch(world, rng, n=64):
    """States that occur: some random steps away from a start."""
    states = world.initial_states(rng, n)
    for _ in range(5):
        states, _, _ = world.step(states, *moves(world, rng, n))
    return states


def moves(world, rng, n):
    """Random actions and noise."""
    return random_actions(world, rng, n), rng.random((n, world.noise_size))


# --- The contract: every world, whatever it simulates


@pytest.fixture(params=VARIANTS, ids=str)
def world(request):
    name, given_settings = request.param
    return small_world(name, **given_settings)


def test_declarations(world):
    assert isinstance(world, World) and WORLDS[world.name] is type(world)
    assert 0 < world.discount <= 1 and world.threshold > 0 and world.horizon > 0
    assert world.observation_size == len(world.observation_low) == len(world.observation_high)
    assert world.observation_low.dtype == world.observation_high.dtype == np.float32
    assert world.input_size == len(world.grid.axes)
    assert world.grid.nodes.shape == (np.prod(world.grid.shape), world.input_size)
    assert np.array_equal(world.grid.locate(world.grid.nodes), np.arange(len(world.grid.nodes)))
    assert world.input_resolution.shape == (world.input_size,) and np.all(
        world.input_resolution > 0
    )
    if not world.discrete:
        assert world.action_low.dtype == world.action_high.dtype == np.float32
        assert world.action_shape == world.action_low.shape == world.action_high.shape


def test_shapes_and_types(world):
    rng = np.random.default_rng(0)
    states = world.initial_states(rng, 10)
    assert states.shape == (10, world.state_size) and states.dtype.kind == "f"
    actions, noise = moves(world, rng, 10)
    next_states, rewards, terminated = world.step(states, actions, noise)
    assert next_states.shape == states.shape and next_states.dtype == states.dtype
    assert rewards.shape == (10,) and rewards.dtype == np.float32
    assert terminated.shape == (10,) and terminated.dtype == bool
    observations = world.observe(states)
    assert observations.shape == (10, world.observation_size) and observations.dtype == np.float32
    inputs = world.constraint_inputs(observations, actions)
    assert inputs.shape == (10, world.input_size) and inputs.dtype == np.float32
    seen = world.features(observations)
    assert seen.shape == observations.shape and seen.dtype == np.float32
    if world.true_constraint is not None:
        values = world.true_constraint(inputs)
        assert values.shape == (10,) and values.dtype == np.float32
        assert set(np.unique(values)) <= {0.0, 1.0}


def test_constraints_take_any_leading_axes(world):
    rng = np.random.default_rng(1)
    observations = world.observe(random_batch(world, rng, 24))
    actions, _ = moves(world, rng, 24)
    flat = world.constraint_inputs(observations, actions)
    stacked = world.constraint_inputs(
        observations.reshape(2, 3, 4, -1), actions.reshape(2, 3, 4, *world.action_shape)
    )
    assert np.array_equal(stacked.reshape(flat.shape), flat)
    if world.true_constraint is not None:
        assert np.array_equal(world.true_constraint(stacked).ravel(), world.true_constraint(flat))
    assert np.array_equal(world.grid.locate(stacked).ravel(), world.grid.locate(flat))


def test_a_batch_steps_like_its_rows(world):
    """To the last bit: a run must not depend on what it is stacked with."""
    rng = np.random.default_rng(2)
    for n in (3, 17, 64):
        states = random_batch(world, rng, n)
        actions, noise = moves(world, rng, n)
        together = world.step(states, actions, noise)
        for k in range(n):
            alone = world.step(states[k : k + 1], actions[k : k + 1], noise[k : k + 1])
            for a, b in zip(together, alone, strict=True):
                assert np.array_equal(a[k], b[0])


def test_step_leaves_its_arguments_alone(world):
    rng = np.random.default_rng(3)
    states = random_batch(world, rng)
    actions, noise = moves(world, rng, len(states))
    copies = states.copy(), actions.copy(), noise.copy()
    next_states, _, _ = world.step(states, actions, noise)
    for before, after in zip(copies, (states, actions, noise), strict=True):
        assert np.array_equal(before, after)
    assert not np.shares_memory(next_states, states)


def test_equal_generators_give_equal_worlds(world):
    def run(seed):
        rng = np.random.default_rng(seed)
        states = [world.initial_states(rng, 8)]
        for _ in range(20):
            states.append(world.step(states[-1], *moves(world, rng, 8))[0])
        return np.array(states)

    assert np.array_equal(run(5), run(5))
    assert not np.array_equal(run(5), run(6))


def test_starts_are_inside(world):
    rng = np.random.default_rng(6)
    seen = world.observe(world.initial_states(rng, 500))
    assert np.all((seen >= world.observation_low) & (seen <= world.observation_high))
    inputs = world.constraint_inputs(seen, moves(world, rng, 500)[0])
    located = world.grid.locate(inputs)
    second = world.grid.axes[-1].nodes
    max_kl = second[-1] + (second[1] - second[0]) / 2
    if world.name == "highd":  # an empty road ahead is longer than the grid
        assert np.array_equal(located < 0, inputs[:, 1] > max_kl)
    elif world.name == "exid":  # velocities have no bounds, the grid has
        assert np.array_equal(located < 0, np.abs(inputs[:, 1]) > max_kl)
    else:
        assert np.all(located >= 0)


def test_episodes_may_be_stepped_beyond_their_end(world):
    """Rollouts do so: an episode waits there until the last of its stack is over."""
    rng, n = np.random.default_rng(7), 4
    states = world.initial_states(rng, n)
    over = np.zeros(n, bool)
    for _ in range(600):  # no world keeps count, and random steps end all that can end
        states, rewards, terminated = world.step(states, *moves(world, rng, n))
        assert np.all(np.isfinite(rewards)) and np.all(np.isfinite(states))
        over |= terminated
    assert np.all(np.isfinite(world.observe(states)))
    assert over.any() != isinstance(world, Robot)  # robots only end by the horizon


def test_the_true_constraint_on_the_grid(world):
    values = world.true_on_grid
    if world.true_constraint is None:
        assert values is None
    else:
        assert values.shape == (len(world.grid.nodes),) and values.dtype == np.float64


def test_an_unknown_world_names_the_known_ones():
    with pytest.raises(InputError, match=r"'mars' is unknown.*cartpole-mid.*gridworld-b"):
        make_world("mars")


# --- Numbers of the paper and the authors' grids


def test_constrained_nodes_are_as_many_as_the_authors():
    assert make_world("gridworld-a").true_on_grid.sum() == 4
    assert make_world("gridworld-b").true_on_grid.sum() == 9
    by_action = {
        name: make_world(name).true_on_grid.reshape(49, 2).sum(axis=0).tolist()
        for name in ("cartpole-mr", "cartpole-mid")
    }
    assert by_action == {"cartpole-mr": [26, 26], "cartpole-mid": [14, 15]}


def test_the_empty_constraint_scores_as_published():
    expected = {
        "gridworld-a": 0.082,
        "gridworld-b": 0.184,
        "cartpole-mr": 0.531,
        "cartpole-mid": 0.296,
    }
    for name, value in expected.items():
        assert np.mean(make_world(name).true_on_grid ** 2) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "discount", "threshold", "horizon", "actions"),
    [
        ("gridworld-a", 1.0, 0.99, 50, 8),
        ("gridworld-b", 1.0, 0.99, 50, 8),
        ("cartpole-mr", 0.99, 50, 200, 2),
        ("cartpole-mid", 0.99, 30, 200, 2),
        ("highd", 0.99, 0.1, 1000, 0),
        ("exid", 0.99, 5, 1000, 0),
        ("ant", 0.99, 5, 500, 0),
        ("halfcheetah", 0.99, 15, 1000, 0),
    ],
)
def test_settings_of_the_paper(name, discount, threshold, horizon, actions):
    world = small_world(name)
    found = (world.discount, world.threshold, world.horizon, world.n_actions)
    assert found == (discount, threshold, horizon, actions)


# --- Gridworld

COMPASS = {
    0: (0, 1),
    1: (0, -1),
    2: (1, 0),
    3: (-1, 0),
    4: (1, 1),
    5: (-1, 1),
    6: (1, -1),
    7: (-1, -1),
}


@pytest.mark.parametrize("name", ["gridworld-a", "gridworld-b"])
def test_every_move_from_every_cell(name):
    world = make_world(name)
    for i in range(7):
        for j in range(7):
            for action, (di, dj) in COMPASS.items():
                target = (i + di, j + dj)
                if min(target) < 0 or max(target) > 6 or (i, j) == world.goal:
                    target = (i, j)  # a wall cancels the whole move; the goal is not left
                state = np.array([[i, j]], dtype=np.float32)
                next_state, reward, terminated = world.step(state, np.array([action]))
                assert tuple(next_state[0]) == target
                assert (reward[0], terminated[0]) == (
                    (1, True) if (i, j) == world.goal else (0, False)
                )


def test_entering_the_goal_pays_nothing_yet():
    world = make_world("gridworld-a")
    states, rewards, terminated = world.step(np.array([[5.0, 0.0]]), np.array([2]))
    assert tuple(states[0]) == world.goal and rewards[0] == 0 and not terminated[0]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("gridworld-a", {(i, j) for i in range(3) for j in range(2)}),
        ("gridworld-b", {(i, j) for i in range(7) for j in range(7) if i < 2 or j < 2}),
    ],
)
def test_starts_are_uniform_on_their_cells(name, cells):
    drawn = make_world(name).initial_states(np.random.default_rng(7), 24_000).astype(int)
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert {tuple(cell) for cell in found} == cells
    expected = 24_000 / len(cells)
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))


def test_constrained_cells():
    a, b = make_world("gridworld-a"), make_world("gridworld-b")
    assert {tuple(c) for c in np.argwhere(a.constrained)} == {(3, j) for j in range(4)}
    assert {tuple(c) for c in np.argwhere(b.constrained)} == {
        (i, j) for i in (2, 3, 4) for j in (2, 3, 4)
    }
    assert a.goal == (6, 0) and b.goal == (6, 6)


@pytest.mark.parametrize("over_all", [False, True])
@pytest.mark.parametrize("slip", [0.1, 0.5, 1.0])
def test_slips_are_as_frequent_as_declared(slip, over_all):
    """In the middle of the grid all eight moves can be told apart by where they lead."""
    world = make_world("gridworld-a", slip=slip, slip_over_all=over_all)
    n, action = 40_000, 5
    noise = np.random.default_rng(8).random((n, 1))
    states = np.full((n, 2), 3, dtype=np.float32)
    moved, _, _ = world.step(states, np.full(n, action), noise)
    counts = {tuple(np.add((3, 3), d)): 0 for d in COMPASS.values()}
    for cell, count in zip(*np.unique(moved.astype(int), axis=0, return_counts=True), strict=True):
        counts[tuple(cell)] = count
    frequencies = np.array(list(counts.values())) / n
    expected = np.full(8, slip / 8 if over_all else slip / 7)
    expected[action] = 1 - slip + (slip / 8 if over_all else 0)
    assert np.allclose(frequencies, expected, atol=5 * np.sqrt(0.25 / n))


@pytest.mark.parametrize(
    "variant", [{}, {"slip": 0.3}, {"slip": 0.5, "slip_over_all": True}], ids=str
)
def test_step_follows_the_transition_matrix(variant):
    """A fine comb of the noise integrates each transition probability almost exactly."""
    world = make_world("gridworld-b", **variant)
    matrix = world.transition_matrix()
    assert np.allclose(matrix.sum(axis=-1), 1) and np.all(matrix >= 0)
    comb = (np.arange(2000) + 0.5) / 2000
    cells, actions = np.divmod(np.arange(49 * 8), 8)
    states = np.stack(np.divmod(cells, 7), axis=1).astype(np.float32)
    n = len(comb) if world.noise_size else 1
    moved, _, _ = world.step(
        np.repeat(states, n, axis=0),
        np.repeat(actions, n),
        np.tile(comb[:n], len(cells))[:, None][:, : world.noise_size],
    )
    flat = (moved @ (7, 1)).astype(int).reshape(-1, n)
    found = np.stack([np.bincount(row, minlength=49) / n for row in flat]).reshape(49, 8, 49)
    inner = np.arange(49) != np.ravel_multi_index(world.goal, (7, 7))  # the matrix has no ending
    assert np.allclose(found[inner], matrix[inner], atol=0.01 if world.noise_size else 0)


# --- CartPole against Gymnasium's


@pytest.fixture(scope="module")
def reference():
    return gymnasium.make("CartPole-v1").unwrapped


def step_reference(env: CartPoleEnv, state, action):
    env.state, env.steps_beyond_terminated = state, None
    _, reward, terminated, _, _ = env.step(int(action))
    return env.state, reward, terminated


def test_cartpole_moves_like_gymnasiums(reference):
    rng = np.random.default_rng(9)
    n = 5000
    states = rng.uniform(-1, 1, size=(n, 4)) * (1.1 * X_LIMIT, 4, 1.2 * ANGLE_LIMIT, 4)
    actions = rng.integers(2, size=n)
    moved, rewards, terminated = make_world("cartpole-mr").step(states, actions)
    expected = [step_reference(reference, *pair) for pair in zip(states, actions, strict=True)]
    assert np.array_equal(moved, [e[0] for e in expected])
    assert np.array_equal(rewards, [e[1] for e in expected])
    assert np.array_equal(terminated, [e[2] for e in expected])
    assert 0.2 < terminated.mean() < 0.8  # both sides of the limits were tried


@pytest.mark.parametrize("name", ["cartpole-mr", "cartpole-mid"])
def test_whole_cartpole_episodes_are_gymnasiums(name, reference):
    """Through the Gymnasium adapter, with an agent that balances for a while."""
    env = gymnasium.make(WORLDS[name].gymnasium_id)
    rng = np.random.default_rng(10)
    lengths = []
    for episode in range(10):
        env.reset(seed=episode)
        reference.reset()
        reference.state = env.unwrapped._state[0].copy()
        done, length = False, 0
        while not done:
            _, _, angle, spin = reference.state
            action = int(angle + 0.3 * spin > 0) if rng.random() < 0.9 else int(rng.integers(2))
            observation, reward, terminated, truncated, _ = env.step(action)
            expected = reference.step(action)
            assert np.array_equal(observation, expected[0])
            assert (reward, terminated) == expected[1:3]
            length += 1
            done = terminated or truncated
        lengths.append(length)
    assert max(lengths) > 100


def test_cartpole_starts():
    rng = np.random.default_rng(11)
    right = make_world("cartpole-mr").initial_states(rng, 20_000)
    assert np.all(np.abs(right) <= 0.05) and np.all(np.abs(right.mean(axis=0)) < 0.002)
    middle = make_world("cartpole-mid").initial_states(rng, 20_000)
    x = middle[:, 0]
    assert np.all((np.abs(x) >= 1.15) & (np.abs(x) <= 2.4)) and np.all(
        np.abs(middle[:, 1:]) <= 0.05
    )
    assert np.mean(x > 0) == pytest.approx(0.5, abs=0.02)
    assert np.abs(x).mean() == pytest.approx((1.15 + 2.4) / 2, abs=0.02)


def test_cartpole_constraints():
    right, middle = make_world("cartpole-mr"), make_world("cartpole-mid")
    inputs = np.array([[x, a] for x in (-2, -0.5, 0.1, 0.3, 0.9, 1.1, 2) for a in (0, 1)])
    assert right.true_constraint(inputs).tolist() == [1] * 6 + [0] * 8
    assert middle.true_constraint(inputs).tolist() == [1, 0] + [0, 0] * 4 + [0, 1] * 2


# --- The evaluation grid

AXES = st.builds(
    lambda low, spacing, n: Axis("z", low + spacing * np.arange(n)),
    st.floats(-100, 100),
    st.floats(0.01, 10),
    st.integers(2, 60),
)


@given(axis=AXES, share=st.floats(-0.3, 1.3))
@settings(max_examples=300)
def test_nearest_is_the_nearest_node_or_none(axis, share):
    low, high = axis.nodes[0], axis.nodes[-1]
    half = (axis.nodes[1] - axis.nodes[0]) / 2
    value = low + share * (high - low)
    index = int(axis.nearest(np.array(value)))
    distances = np.abs(axis.nodes - value)
    if index == -1:
        assert value <= low - half + 1e-9 or value >= high + half - 1e-9
    else:
        assert distances[index] <= distances.min() + 1e-9 and distances[index] <= half + 1e-9


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=20))
@settings(max_examples=200)
def test_locate_takes_any_number(pairs):
    """Huge, infinite and undefined inputs are outside, without a warning."""
    grid = make_world("gridworld-a").grid
    inputs = np.array(pairs, dtype=np.float32)
    with np.errstate(all="raise"):
        found = grid.locate(inputs)
    for (i, j), index in zip(inputs.astype(np.float64), found, strict=True):
        inside = -0.5 <= i <= 6.5 and -0.5 <= j <= 6.5
        assert (index >= 0) == inside
        if inside:
            assert max(abs(grid.nodes[index] - (i, j))) <= 0.5


def test_locate_counts_the_last_axis_fastest():
    grid = EvaluationGrid((Axis("a", np.arange(3.0)), Axis("b", np.arange(4.0))))
    assert grid.locate(np.array([[0, 1], [1, 0], [2, 3], [3, 0], [0, -1]])).tolist() == [
        1,
        4,
        11,
        -1,
        -1,
    ]
    assert grid.shape == (3, 4) and grid.nodes[4].tolist() == [1, 0]
