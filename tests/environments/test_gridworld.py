"""The gridworlds, cell by cell, and how they slip."""

import numpy as np
import pytest

from icl_core.environments import make_world

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
    """In the middle of the grid all eight moves are known by where they lead."""
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
