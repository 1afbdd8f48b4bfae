"""What checks on reported values measure, worked out by hand."""

import numpy as np
import pytest

from icl_core.measuring.claims.evidence.experts import SHARED
from tests.measuring.claims.made_up import runs, sizes

GRID, MID, ANT = "gridworld-a", "cartpole-mid", "ant"
CONSTANT = 41 * 60 / 101**2  # of Ant: 41 of 101 nodes are constrained


def reported(**values):
    """The values of methods, or of experiments where their names are given."""

    def found(metric, experiment, method="icl", selection="last"):
        key = method if method.replace("-", "_") in values else experiment
        return runs(values[key.replace("-", "_")])

    return {"reported": found}


def test_a_method_is_lower_than_each_other_one():
    shown = reported(icl=0.1, icrl=0.3, gail_constraint=0.05)
    given = {"metric": "cmse", "method": "icl", "others": ["gail-constraint", "icrl"]}
    assert sizes("lowest_of_methods", [GRID], shown, **given) == pytest.approx([-0.05, 0.2])


def test_all_methods_are_selected_alike():
    def found(metric, experiment, method="icl", selection="last"):
        return runs({"last": 1.0, "best": 0.5}[selection] * (2 if method == "icrl" else 1))

    given = {"metric": "nad", "method": "icl", "others": ["icrl"]}
    shown = {"reported": found}
    assert sizes("lowest_of_methods", [GRID], shown, **given) == [1.0]
    assert sizes("lowest_of_methods", [GRID], shown, **given, selection="best") == [0.5]


@pytest.mark.parametrize(
    ("metric", "experiment", "method", "mean", "room"),
    [
        ("cmse", "cartpole-mr", "icl", 0.02, 0.01),  # no deviation is printed: what rounding leaves
        ("cmse", GRID, "gail-constraint", 0.31, 0.31 / 4),
        ("nad", MID, "gail-constraint", 7.23, 2 * 3.88),
    ],
)
def test_a_cell_may_be_a_quarter_off_or_two_deviations(metric, experiment, method, mean, room):
    for apart in (0.0, 2 * room, -2 * room):
        shown = {"tabled": lambda *key, ours=mean + apart: runs(ours)}
        given = {"metric": metric, "method": method}
        found = sizes("as_in_the_paper", [experiment], shown, **given)
        assert found == pytest.approx([room - abs(apart)])
        lower = sizes("as_in_the_paper", [experiment], shown, **given, or_better=True)
        assert lower == pytest.approx([room - apart])


def test_constants_are_the_closest_ones():
    found = sizes("worse_than_constant", [ANT], reported(icrl=0.41), method="icrl")
    assert found == pytest.approx([0.41 - CONSTANT])
    given = {"method": "gail-constraint", "better": "icl", "worse": "icrl"}
    shown = reported(icl=0.1, gail_constraint=0.3, icrl=0.25)
    assert sizes("between_methods", [ANT], shown, **given) == pytest.approx(
        [0.3 - 0.1, 0.25 - 0.3, CONSTANT - 0.3]
    )


def test_what_is_left_is_taken_less_the_floor():
    shown = reported(icl=0.9) | {
        "played": lambda name: "so often",
        "first_nad": lambda name, played: runs({"so often": 2.6}[played]),
        "noise_floor": lambda name: {SHARED: 0.6},
    }
    found = sizes("near_the_expert", [GRID], shown, at_most=0.25)
    assert found == pytest.approx([0.25 - 0.3 / 2.0])


def test_behaviour_compares_as_a_share_of_the_first_policys():
    first = {GRID: [2.0, 0.1], "cartpole-mr": [10.0, 0.1], MID: [20.0, 0.1]}
    shown = reported(gridworld_a=1.0, cartpole_mr=2.0, cartpole_mid=7.0) | {
        "by_iteration": lambda metric, name: runs(np.array(first[name]))
    }
    given = {"method": "gail-constraint", "experiment": MID}
    found = sizes("furthest_on", [*first], shown, **given)
    assert found == pytest.approx([0.35 - 0.5, 0.35 - 0.2])


def test_steps_are_compared_within_rows_of_so_many():
    names = ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"]
    levels = dict(zip([one.replace("-", "_") for one in names], (1, 3, 2, 7), strict=True))
    assert sizes("steps_up", names, reported(**levels), metric="nad") == [2.0, 5.0]
    assert sizes("steps_up", names, reported(**levels), metric="nad", steps=4) == [2.0, -1.0, 5.0]


def test_variance_between_runs_leaves_out_that_of_a_policys_own_sets():
    about = np.array([-0.2, 0.0, 0.1, 0.1])
    means = np.array([1.0, 2.0, 3.0, 4.0])
    shown = {"nad_of_sets": lambda name: dict(enumerate(about + means[:, None], start=1))}
    found = sizes("varies_between_runs", ["gridworld-b"], shown, share=0.5)
    between = means.var(ddof=1) - about.var(ddof=1) / 4
    assert found == pytest.approx([np.sqrt(between) - 0.5 * 0.62])


def test_ends_vary_by_a_share_of_the_papers_deviation():
    ends = {1: 0.1, 2: 0.2, 3: 0.2, 4: 0.3}
    shown = {
        "by_iteration": lambda metric, name: {k: np.array([9.0 * k, v]) for k, v in ends.items()}
    }
    found = sizes("ends_varied", [MID], shown, variant="all-iterations", share=0.5)
    assert found == pytest.approx([np.std([*ends.values()], ddof=1) - 0.5 * 0.05])
