"""What checks on networks, times, settings and training measure, worked out by hand."""

import numpy as np
import pyarrow as pa
import pytest

from icl_core.measuring.claims.intervals import Sample
from tests.measuring.claims.made_up import by, runs, sizes

GRID = "gridworld-a"


def errors(**means):
    return {"error": lambda name, shape, *like: Sample(means["_".join((shape, *like))], 0.01, 4, 5)}


def test_errors_are_taken_from_a_bound():
    assert sizes("can_hold", [GRID], errors(b=0.002), architecture="b", error=0.005) == (
        pytest.approx([0.003])
    )
    given = {"architecture": "a2", "like": "b", "error": 0.005}
    assert sizes("cannot_hold", [GRID], errors(a2_b=0.03, a2=0.0), **given) == (
        pytest.approx([0.025])
    )


def test_more_capacity_may_lose_a_margin():
    shown = errors(a1=0.03, b=0.01, c1=0.04)
    found = sizes("capacity_helps", [GRID], shown, pairs=[["a1", "b"], ["b", "c1"]], margin=0.01)
    assert found == pytest.approx([0.03, -0.02])


@pytest.mark.parametrize(("icl", "room"), [(30.0, 0.1), (250.0, -1.0), (2.0, -0.18), (140.0, 0.1)])
def test_times_are_compared_with_the_slowest_other(icl, room):
    taken = {"icl": icl, "gail-constraint": 10.0, "icrl": 100.0}
    shown = {"seconds": lambda name, method: taken[method]}
    given = {"others": ["gail-constraint", "icrl"], "least": 0.2, "most": 1.5}
    assert sizes("times_comparable", [GRID], shown, **given) == pytest.approx([room])


def test_settings_are_counted_for_both():
    shown = {"settings_of": {"icl": 8, "icrl": 17}.get}
    assert sizes("fewer_settings", [GRID], shown, method="icl", other="icrl") == [9.0]


def test_training_is_compared_by_the_first_tenth_and_the_last():
    """Of twenty epochs two each; one in which no episode ended does not count."""
    returns = [1.0, np.nan, *[9.0] * 16, 3.0, 5.0]
    costs = [7.0, 5.0, *[0.0] * 16, np.nan, 6.5]
    log = pa.table({"return": returns, "constraint_value": costs})
    assert sizes("training_improves", [GRID], {"training": lambda name: runs(log)}) == (
        pytest.approx([4.0 - 1.0, 6.0 - 6.5])
    )


def test_of_a_few_epochs_the_first_and_the_last_count():
    log = pa.table({"return": [1.0, 5.0, 3.0], "constraint_value": [2.0, 0.0, 1.0]})
    found = sizes("training_improves", [GRID], {"training": lambda name: runs(log)})
    assert found == pytest.approx([2.0, 1.0])


def test_steps_are_compared_run_by_run_of_those_that_both_have():
    shown = {"steps": by(1, icl=500.0, icrl=200.0)}
    assert sizes("takes_more_steps", [GRID], shown, others=["icrl"], times=2) == (
        pytest.approx([0.5])
    )
    more = {"icl": {1: 8.0, 2: 6.0, 9: 99.0}, "icrl": {1: 2.0, 2: 3.0}}
    shown = {"steps": lambda name, method: more[method]}
    assert sizes("takes_more_steps", [GRID], shown, others=["icrl"], times=2) == (
        pytest.approx([1.0])
    )


def test_the_theorem_is_a_share_of_problems():
    shown = {"alternations": lambda: {1: 1.0, 2: 1.0, 3: 0.0, 4: 1.0}}
    assert sizes("alternation_ends_at_the_expert", [GRID], shown, share=0.5) == [0.25]
