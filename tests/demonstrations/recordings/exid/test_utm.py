"""The projection against lanelet2's and against published coordinates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.demonstrations.recordings.exid.maps import from_utm, to_utm, utm_zone


def test_known_points():
    # The CN Tower, as given beside UTM's definition in Wikipedia: 17T 630084 4833438.
    east, north = to_utm(43 + 38 / 60 + 33.24 / 3600, -(79 + 23 / 60 + 13.7 / 3600), 17)
    assert (east, north) == (pytest.approx(630084, abs=1), pytest.approx(4833438, abs=1))
    # On the central meridian: the meridian arc to the pole times 0.9996 is 9997964.943 m.
    east, north = to_utm(90.0, 9.0, 32)
    assert (east, north) == (pytest.approx(500000), pytest.approx(9997964.943, abs=1e-3))


def test_zones():
    assert [utm_zone(x) for x in (-180, -79.4, 0, 5.999, 6, 11.9, 179.9)] == [
        1, 17, 31, 31, 32, 32, 60
    ]  # fmt: skip


def test_against_lanelet2():
    lanelet2 = pytest.importorskip("lanelet2")
    # Its coordinates count from an origin; this one is the zone's own.
    projector = lanelet2.projection.UtmProjector(lanelet2.io.Origin(0, 9))
    rng = np.random.default_rng(0)
    for latitude, longitude in zip(rng.uniform(40, 60, 200), rng.uniform(6, 12, 200), strict=True):
        point = projector.forward(lanelet2.core.GPSPoint(latitude, longitude, 0))
        east, north = to_utm(latitude, longitude, 32)
        assert east - 500_000 == pytest.approx(point.x, abs=1e-4)
        assert north == pytest.approx(point.y, abs=1e-4)


@settings(deadline=None)
@given(st.floats(0, 84), st.floats(6, 12))
def test_back_again(latitude, longitude):
    again = from_utm(*to_utm(latitude, longitude, 32), 32)
    assert again == pytest.approx((latitude, longitude), abs=1e-11)
