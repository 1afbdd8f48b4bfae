"""What checks on recovered constraints measure, worked out by hand."""

import numpy as np
import pytest

from icl_core.measuring.claims.checks.constraints import edge_room, ranking
from tests.measuring.claims.made_up import by, runs, sizes, world_of

GRID, OTHER = "gridworld-a", "gridworld-b"
TRUTH = world_of(GRID).true_on_grid.reshape(7, 7)  # row 3, columns 0 to 3: four of 49
VARIANCE = 4 / 49 * 45 / 49


def grid(truth=1.0, rest=0.0, **cells):
    """Values of true cells and of the others; single ones by row and column, `at_30=0.5`."""
    values = np.where(TRUTH == 1, truth, rest)
    for name, value in cells.items():
        row, column = map(int, name.removeprefix("at_"))
        values[row, column] = value
    return values


def errors(value):
    return {"reported": lambda metric, name, method="icl", selection="last": runs(value)}


def test_likeness_is_variance_explained_and_overlap():
    # Half of the true cells are high, and just one half is high; one other cell is.
    found = grid(truth=0.5, at_30=0.49, at_31=0.4, at_00=0.9)
    shown = {"constraints": by(1, icl=found)} | errors(0.01)
    assert sizes("resembles", [GRID], shown, method="icl", explained=0.75, overlap=0.5) == (
        pytest.approx([0.25 * VARIANCE - 0.01, 2 / 5 - 0.5])
    )


def test_what_does_not_overlap_refutes_the_likeness_alone():
    shown = {"constraints": by(1, icl=grid(0.4, 0.1))} | errors(0.0)
    given = {"method": "icl", "explained": 0.5, "overlap": 0.5}
    assert sizes("resembles", [GRID], shown, **given) == pytest.approx([0.5 * VARIANCE, -0.5])


def test_places_are_above_and_below_what_is_said():
    half = grid(truth=0.5, rest=0.4, at_30=0.3, at_31=0.3)  # half of the pairs are in order
    shown = {"constraints": by(0, gridworld_a=half, gridworld_b=np.zeros((7, 7)))}
    given = {"method": "icrl", "above": {GRID: 0.4}, "below": {GRID: 0.8, OTHER: 0.8}}
    found = sizes("finds", [GRID, OTHER], shown, **given, less_than={GRID: OTHER})
    assert found == pytest.approx([0.1, 0.3, 0.3, 0.0])


@pytest.mark.parametrize(("highest", "place"), [(0.0999, 0.5), (0.1, 1.0)])
def test_what_is_nowhere_above_a_tenth_is_not_found(highest, place):
    assert ranking(np.array([0.0, 0.05, highest]), np.array([0, 0, 1])) == place


def test_places_are_compared_by_the_mean_over_environments():
    def constraints(name, method):
        good = method == "gail-constraint" or name == GRID
        truth = world_of(name).true_on_grid.reshape(7, 7)
        return runs(truth if good else 1 - truth)

    given = {"method": "gail-constraint", "other": "icrl"}
    assert sizes("finds_more", [GRID, OTHER], {"constraints": constraints}, **given) == [0.5]


def test_spills_are_means_of_unconstrained_cells():
    shown = {"constraints": by(1, icl=grid(1.0, 0.1), icrl=grid(0.0, 0.1, at_00=1.0))}
    found = sizes("spills_less", [GRID], shown | errors(0.08), method="icl", other="icrl")
    assert found == pytest.approx([0.9 / 45, VARIANCE - 0.08])


def test_sharpness_is_relative_absolute_and_in_place():
    shown = {"constraints": by(1, icl=grid(0.9, 0.0), icrl=grid(0.5, 0.0))} | errors(0.1)
    blur = 4 / 49 * 0.36, 4 / 49 * 1.0
    found = sizes("sharper", [GRID], shown, method="icl", other="icrl", most=0.25)
    assert found == pytest.approx([blur[1] - blur[0], VARIANCE - 0.1, 0.25 - blur[0]])


def test_what_is_hard_has_both_sides():
    shown = {"constraints": by(1, icrl=grid(0.9, 0.1))}
    found = sizes("hard", [GRID], shown, method="icrl", most=0.25)
    assert found == pytest.approx([0.25 - 0.36, 4 / 49 - 0.05])


@pytest.mark.parametrize(("low", "room"), [(0.5, -0.05), (0.4999, 0.20), (0.0, 0.20)])
def test_an_edge_has_a_twentieth_on_its_smaller_side(low, room):
    assert edge_room(np.array([low, 0.9, 0.9, 0.9])) == pytest.approx(room)


def test_roughness_leaves_out_the_edge_of_the_truth():
    smooth = grid(1.0, 0.0)
    rough = grid(1.0, 0.0, at_66=0.5)  # a corner: two of its neighbours' differences
    alike = 84 - 9  # pairs of neighbours, less those across the edge of the four cells
    names = ["gridworld-a-lagrangian", "gridworld-a-all-iterations"]
    shown = by(0, gridworld_a_lagrangian=rough, gridworld_a_all_iterations=smooth)
    assert sizes("rougher", names, {"constraints": shown}) == pytest.approx([1.0 / alike])


def test_high_cells_are_compared_within_rows_of_so_many():
    shares = {"a": 1, "b": 3, "c": 2, "d": 7}  # high cells, of which one half counts as high

    def constraints(name):
        values = np.full(49, 0.49)
        values[: shares[name[-1]]] = 0.5
        return runs(values.reshape(7, 7))

    names = [f"gridworld-a-{one}" for one in shares]
    shown = {"constraints": constraints}
    assert sizes("more_high_nodes", names, shown) == pytest.approx([2 / 49, 5 / 49])
    assert sizes("more_high_nodes", names[:3], shown, steps=3) == pytest.approx([2 / 49, -1 / 49])
