"""What checks on driving measure, worked out by hand."""

import numpy as np
import pytest

from icl_core.measuring.claims.checks.driving import FAR
from icl_core.measuring.claims.evidence.experts import SHARED
from tests.measuring.claims.made_up import EXID, HIGHD, by, runs, sizes

SPEEDS, GAPS = (axis.physical for axis in HIGHD.grid.axes)
CAR = 5.0  # m from bumper to bumper, and to the centres besides
LONG = {"between_centres": lambda name: CAR}


def up_to(*places):
    """c is 1 up to a gap of metres at 20 m/s, another at 30 and at 40; straight lines between."""
    ends = np.interp(SPEEDS, (20, 30, 40), places)
    return (GAPS[None] <= ends[:, None]).astype(float)


def edge(place):
    """Where c falls below one half: midway to the next node, and between centres."""
    return place + 1.25 + CAR


def test_gaps_are_those_between_centres():
    shown = LONG | {"constraints": by(1, icl=up_to(60, 80, 120), icrl=up_to(80, 60, 40))}
    given = {"methods": ["icl", "icrl"], "speeds": [20, 40]}
    assert sizes("gap_grows_with_speed", ["highd"], shown, **given) == pytest.approx([60, -40])


def test_a_time_gap_is_the_mean_over_speeds():
    shown = LONG | {"constraints": by(1, icl=up_to(60, 80, 120), icrl=up_to(60, 90, 180))}
    given = {"methods": ["icl", "icrl"], "speeds": [20, 30, 40], "low": 3.0, "high": 4.0}
    times = [
        np.mean([edge(place) / speed for place, speed in zip(places, (20, 30, 40), strict=True)])
        for places in ((60, 80, 120), (60, 90, 180))
    ]
    assert sizes("time_gap_between", ["highd"], shown, **given) == pytest.approx(
        [times[0] - 3.0, 4.0 - times[1]]
    )


@pytest.mark.parametrize(
    ("place", "room"), [(60, edge(60) - 60), (75, 80 - edge(75)), (90, 80 - edge(90))]
)
def test_a_gap_has_two_ends(place, room):
    shown = LONG | {"constraints": by(1, icl=up_to(place, 100, 100))}
    given = {"speed": 20, "ranges": {"icl": [60, 80]}}
    assert sizes("gap_between", ["highd"], shown, **given) == pytest.approx([room])


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_without_an_edge_a_gap_is_far_from_all_that_is_asked(level):
    shown = LONG | {"constraints": by(1, icl=np.full(HIGHD.grid.shape, level))}
    given = {"speed": 20, "ranges": {"icl": [60, 80]}}
    assert sizes("gap_between", ["highd"], shown, **given) == [-FAR] == [-100.0]


def test_large_gaps_are_those_between_centres():
    """Beyond 5 s of the centres: at 20 m/s that is from 97.5 m between the bumpers on."""
    beyond = GAPS[None] + CAR > 5 * SPEEDS[:, None]
    values = np.where(beyond, 0.4, 0.9)
    values[20, GAPS == 97.5] = 0.5
    other = np.where(beyond, 0.5, 0.0)
    shown = LONG | {"constraints": by(1, icl=values, icrl=other)}
    given = {"method": "icl", "others": ["icrl"], "seconds": 5, "most": 0.01}
    found = sizes("allows_large_gaps", ["highd"], shown, **given)
    assert found == pytest.approx([0.01 - 1 / beyond.sum(), 0.99])


def test_what_satisfies_allows_the_expert_and_has_an_edge():
    visited = np.zeros(HIGHD.grid.shape)
    visited[0, :10] = 3.0
    share = 10 / visited.size

    def high(of_visited, of_all):
        """High on so many of the expert's ten nodes; half of a row, or all of it, besides."""
        values = np.zeros(visited.shape)
        values[1:of_all] = 0.5
        values[0, :of_visited] = 0.5
        return values

    edges = {"half": high(1, 21), "narrow": high(2, 1), "strict": high(4, 21)}
    shown = {"constraints": by(1, **edges), "expert_visits": lambda name: {SHARED: visited}}
    given = {"methods": ["half"], "others": ["narrow", "strict"], "most": 0.25}
    small = 20 * 81 + 1  # nodes that are high, fewer than those that are low
    assert sizes("satisfies", ["highd"], shown, **given) == pytest.approx(
        [0.15, small / visited.size - 0.05, 0.05 - 0.2 * share, 0.15]
    )


def test_moving_away_is_to_have_the_sign_of_the_distance():
    d, v = (axis.physical for axis in EXID.grid.axes)
    sign = np.sign(np.round(d, 9))[:, None] * np.sign(np.round(v, 9))[None]
    values = np.select([sign > 0, sign < 0], [0.6, 0.1], 1.0)
    values[0, 0], values[0, -1] = 1.0, 0.3  # of two quarters of 20 by 25 nodes each
    found = sizes("forbids_moving_away", ["exid"], {"constraints": by(1, icl=values)}, method="icl")
    assert found == pytest.approx([(0.6 + 0.4 / 1000) - (0.1 + 0.2 / 1000)])


def test_what_is_allowed_narrows_with_distance():
    """16 velocities up to -1 m/s and 35 above it; near to the lane the worst one counts."""
    d, v = (axis.physical for axis in EXID.grid.axes)
    values = np.zeros(EXID.grid.shape)
    values[np.isclose(d, 10)] = np.where(v <= -1 + 1e-6, 0.2, 0.9)
    values[np.isclose(d, 10), 0] = 0.5
    values[np.isclose(d, 10), -1] = 0.0
    values[np.isclose(d, 2.5), 3] = 0.7
    found = sizes(
        "narrows_with_distance",
        ["exid"],
        {"constraints": lambda *key: runs(values)},
        **{"method": "icl", "far": 10.0, "near": 2.5, "towards": -1.0},
    )
    allowed = (v <= -1 + 1e-6).sum()
    others = len(v) - allowed
    assert (allowed, others) == (16, 35)
    assert found == pytest.approx(
        [0.5 - (0.2 + 0.3 / allowed), (0.9 - 0.9 / others) - 0.5, 0.5 - 0.7]
    )
