"""What checks on the iterations of ICL and its variants measure, worked out by hand."""

import numpy as np
import pytest

from tests.measuring.claims.made_up import runs, sizes

GRID, OTHER = "gridworld-a", "gridworld-b"


def curves(**variants):
    """CMSE by iteration from the initial constraint on, or NAD from the first policy on."""

    def by_iteration(metric, experiment):
        name = experiment.removeprefix(f"{GRID}-").removeprefix(f"{OTHER}-").replace("-", "_")
        found = variants[name]
        return runs(np.array(found[metric] if isinstance(found, dict) else found, float))

    return {"by_iteration": by_iteration}


def test_to_settle_is_to_move_little_at_the_end_and_to_stay_near_the_best():
    own = {"cmse": [0.9, 0.5, 0.1, 0.13, 0.12, 0.14], "nad": [9.0, 1.0, 1.2, 1.5, 2.1]}
    found = sizes("settles", [GRID], curves(icl=own), variant="icl", margin=0.02, times=1.5)
    assert found == pytest.approx([0.02 - 0.06 / 3, 1.5 - 1.6])


def test_ends_are_the_last_iterations():
    shown = curves(icl=[0.1, 0.9, 0.5], other=[0.9, 0.1, 0.48])
    given = {"variant": "icl", "others": ["other"]}
    assert sizes("ends_lower", [GRID], shown, **given) == pytest.approx([-0.02])
    assert sizes("ends_lower", [GRID], shown, **given, margin=0.05) == pytest.approx([0.03])
    assert sizes("ends_alike", [GRID], shown, **given, margin=0.03) == pytest.approx([0.01])
    given = {"variant": "other", "others": ["icl"]}
    assert sizes("ends_alike", [GRID], shown, **given, margin=0.01) == pytest.approx([-0.01])


def test_the_way_is_a_mean_from_an_iteration_on():
    shown = curves(one=[9.0, 9.0, 0.3, 0.5], other=[0.0, 0.0, 0.1, 0.2])
    found = sizes("worse_on_the_way", [GRID], shown, variant="one", others=["other"], first=2)
    assert found == pytest.approx([0.25])


def test_moves_are_the_mean_change_either_way():
    shown = curves(one=[1.0, 3.0, 2.0], other=[1.0, 1.5, 1.0])
    found = sizes("moves_more", [GRID], shown, variant="one", other="other")
    assert found == pytest.approx([1.0])


def test_who_cycles_returns_after_two_iterations():
    found = sizes("cycles", [GRID], curves(one=[1.0, 3.0, 2.0, 3.5]), variant="one")
    assert found == pytest.approx([4.5 / 3 - 1.5 / 2])
    two = sizes("cycles", [GRID], curves(one=[1.0, 3.0]), variant="one")
    three = sizes("cycles", [GRID], curves(one=[1.0, 3.0, 1.0]), variant="one")
    assert (np.isnan(two).all(), three) == (True, [2.0])


def test_speed_is_the_first_step_and_the_way_to_the_own_least():
    # The own least is 0.1: 0.11 has arrived, after three iterations; the other's after one.
    shown = curves(one=[0.05, 0.4, 0.2, 0.1099, 0.3, 0.1], other=[0.5, 0.25, 0.3, 0.3])
    found = sizes("learns_slower", [GRID], shown, variant="one", other="other")
    assert found == pytest.approx([0.4 - 0.25, 3 - 1])


def test_who_converges_by_an_iteration_stays_near_the_end():
    shown = curves(one=[9.0, 0.5, 0.12, 0.15, 0.1], other=[9.0, 9.0, 0.1, 0.09, 0.1])
    given = {"variants": ["one", "other"], "iteration": 2, "margin": 0.02}
    assert sizes("converges_by", [GRID], shown, **given) == pytest.approx([-0.03, 0.01])
    given = {"variants": ["one"], "iteration": 5, "margin": 0.02}
    assert np.isnan(sizes("converges_by", [GRID], shown, **given)).all()


@pytest.mark.parametrize(("gains", "room"), [((0.0, 0.06), 0.02), ((0.06, 0.06), -0.01)])
def test_a_small_gain_is_the_mean_over_environments(gains, room):
    def by_iteration(metric, experiment):
        gain = gains[experiment.startswith(OTHER)] * experiment.endswith("other")
        return runs(np.array([9.0, 0.1 + gain]))

    given = {"variant": "icl", "other": "other", "at_most": 0.05}
    shown = {"by_iteration": by_iteration}
    assert sizes("mean_gain_is_small", [GRID, OTHER], shown, **given) == pytest.approx([room])
