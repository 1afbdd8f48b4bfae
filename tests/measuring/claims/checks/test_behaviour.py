"""What checks on behaviour measure, worked out by hand."""

import numpy as np
import pytest

from icl_core.measuring.claims.evidence.experts import SHARED
from tests.measuring.claims.cases import episodes
from tests.measuring.claims.made_up import by, sizes, world_of

ROBOT = "halfcheetah"
BETA = world_of(ROBOT).threshold


def visits(**at):
    """Visits of the nodes nearest to places: {"2.0": 3} as three steps at 2 m."""
    (axis,) = world_of(ROBOT).grid.axes
    found = np.zeros(len(axis.nodes))
    for place, count in at.items():
        found[axis.nearest(float(place))] += count
    return found


def test_shares_count_the_ends_of_the_regions():
    icrl = visits(**{"0.0": 1, "0.1": 3, "1.9": 2, "2.0": 4})
    icl = visits(**{"-1.0": 2, "0.0": 2, "1.0": 3, "3.0": 1})
    given = {"method": "icrl", "other": "icl", "at_least": 2.0, "less_at_most": 0.0}
    found = sizes("visits_more", [ROBOT], {"visits": by(1, icrl=icrl, icl=icl)}, **given)
    assert found == pytest.approx([4 / 8 - 1 / 10, 4 / 10 - 1 / 8])


def test_a_shift_is_from_the_experts_mean_position():
    shown = {
        "expert_visits": lambda name: {SHARED: visits(**{"1.0": 1, "2.0": 3})},
        "visits": by(1, icl=visits(**{"2.0": 1, "3.0": 1}), icrl=visits(**{"1.0": 2})),
    }
    found = sizes("shifted_right", [ROBOT], shown, methods=["icl", "icrl"])
    assert found == pytest.approx([2.5 - 1.75, 1.0 - 1.75])


def test_who_earns_more_must_keep_the_budget():
    shown = {
        "returns": by(1, icrl=7.0, icl=5.0),
        "costs": by(1, icrl=1.2 * BETA, icl=0.0),
    }
    found = sizes("earns_more_within_budget", [ROBOT], shown, method="icrl", other="icl")
    assert found == pytest.approx([2.0, -0.2])


def test_earnings_are_a_share_of_the_experts():
    shown = {
        "demonstrations": lambda name: {SHARED: episodes(steps=5, reward=2.0)},
        "returns": by(1, icl=9.0),
    }
    assert sizes("earns_like_the_expert", [ROBOT], shown, share=0.8) == pytest.approx([0.1])
