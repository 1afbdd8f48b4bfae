"""Lane changes are found where hand-made vehicles make them, and nowhere else."""

import numpy as np
import pyarrow as pa
import pytest
import shapely

from icl_core.demonstrations.recordings.exid.lane_changes import (
    containing_lanelet,
    find_lane_changes,
    side_by_side,
)
from tests.demonstrations.made_up_roads import (
    WIDTH,
    drive,
    glide,
    left_bend,
    road,
    straight,
    track_table,
)

LEFT, RIGHT = 0.5 * WIDTH, 1.5 * WIDTH  # the lanes' middles
PLACE = straight(0.3, (40.0, -7.0))
N = 200


def found(vehicles, lanelets=None, **options):
    lanelets = road(PLACE) if lanelets is None else lanelets
    changes = find_lane_changes(track_table(vehicles), {1: lanelets}, **options)
    return {change.track: (change.start.id, change.target.id) for change in changes}


def test_one_lane_change_in_either_direction():
    right = drive(PLACE, glide(N, LEFT, RIGHT))
    left = drive(PLACE, glide(N, RIGHT, LEFT))
    assert found([(3, 10, right), (8, 500, left)]) == {3: (100, 101), 8: (101, 100)}


def test_start_and_end_frames_are_those_of_the_lanelets():
    """The lanelets cover progress 0 to 300, and the vehicle enters and leaves both ends."""
    lateral = glide(N, LEFT, RIGHT)
    (change,) = find_lane_changes(track_table([(3, 10, drive(PLACE, lateral))]), {1: road(PLACE)})
    along = np.linspace(-5, 305, N)
    inside = np.flatnonzero((along >= 0) & (along <= 300))
    assert (change.recording, change.track) == (1, 3)
    assert change.frames.tolist() == (10 + inside).tolist()
    assert np.array_equal(change.positions, drive(PLACE, lateral)[inside])


def test_no_lane_change_and_two_are_left_out():
    stays = drive(PLACE, np.full(N, LEFT) + 0.4 * np.sin(np.arange(N)))
    back = drive(PLACE, np.concatenate([glide(N // 2, LEFT, RIGHT), glide(N // 2, RIGHT, LEFT)]))
    through = drive(PLACE, np.concatenate([glide(N // 2, LEFT, RIGHT), glide(N // 2, RIGHT, 8.75)]))
    vehicles = [(1, 0, stays), (2, 0, back), (3, 0, through)]
    assert found(vehicles, road(PLACE, lanes=3)) == {}


def test_a_successor_is_no_lane_change():
    """Three sections: the vehicle passes from one into the next, and changes lane in the second."""
    sections = road(PLACE, sections=3)
    assert found([(1, 0, drive(PLACE, np.full(N, LEFT)))], sections) == {}
    assert found([(1, 0, drive(PLACE, glide(N, LEFT, RIGHT)))], sections) == {1: (200, 201)}
    (change,) = find_lane_changes(
        track_table([(1, 0, drive(PLACE, glide(N, LEFT, RIGHT)))]), {1: sections}
    )
    along = np.linspace(-5, 305, N)
    assert change.frames.tolist() == np.flatnonzero((along >= 100) & (along <= 200)).tolist()


def test_a_vehicle_that_never_leaves_the_target_is_left_out():
    stops = drive(PLACE, glide(N, LEFT, RIGHT), end=299.0)
    assert found([(1, 0, stops)]) == {}
    # Nor may the next vehicle's rows be taken for its departure.
    assert found([(1, 0, stops), (2, 0, drive(PLACE, np.full(N, LEFT)))]) == {}


def test_frames_off_the_map_are_no_lane_change():
    """A hole in the map in the middle of the change, and one in each lane."""
    lateral = glide(N, LEFT, RIGHT)
    positions = drive(PLACE, lateral)
    for hole in (slice(30, 40), slice(95, 106), slice(160, 170)):
        gone = positions.copy()
        gone[hole] += 500.0
        assert found([(1, 0, gone)]) == {1: (100, 101)}
    gone = positions.copy()
    gone[170:] += 500.0  # leaves the target lanelet for no other
    (change,) = find_lane_changes(track_table([(1, 0, gone)]), {1: road(PLACE)})
    assert change.frames[-1] == 169


def test_lanelets_side_by_side():
    lanelets = road(PLACE, lanes=3, sections=2)
    ids = [lanelet.id for lanelet in lanelets]
    beside = side_by_side(lanelets)
    pairs = {(ids[i], ids[j]) for i, j in np.argwhere(beside)}
    one_way = {(100, 101), (101, 102), (200, 201), (201, 202)}
    assert pairs == one_way | {(b, a) for a, b in one_way}


def test_the_first_of_overlapping_lanelets_counts():
    boxes = [shapely.box(0, 0, 2, 1), shapely.box(1, 0, 3, 1), shapely.box(0, 0, 9, 9)]
    points = np.array([[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [5, 5], [20, 20]])
    assert containing_lanelet(points, boxes).tolist() == [0, 0, 1, 2, -1]
    assert containing_lanelet(points, boxes[::-1]).tolist() == [0, 0, 0, 0, -1]
    assert containing_lanelet(points, []).tolist() == [-1] * 5


def test_many_points_against_one_by_one():
    lanelets = road(left_bend(200), lanes=3, sections=4)
    polygons = [lanelet.polygon for lanelet in lanelets]
    points = np.random.default_rng(0).uniform((-20, -20), (320, 200), size=(2000, 2))
    expected = []
    for point in points:
        held = (k for k, p in enumerate(polygons) if p.intersects(shapely.Point(point)))
        expected.append(next(held, -1))
    assert containing_lanelet(points, polygons).tolist() == expected
    assert sum(k >= 0 for k in expected) > 20


@pytest.mark.parametrize("late", [0, 1000])
def test_a_clear_target_lane_may_be_asked_for(late):
    ego = drive(PLACE, glide(N, LEFT, RIGHT))
    other = drive(PLACE, np.full(N, RIGHT))
    vehicles = [(1, 0, ego), (2, late, other)]
    assert found(vehicles) == {1: (100, 101)}
    assert found(vehicles, clear_target=True) == ({1: (100, 101)} if late else {})
    behind = [(1, 0, ego), (2, late, drive(PLACE, np.full(N, LEFT)))]  # in the lane that it leaves
    assert found(behind, clear_target=True) == {1: (100, 101)}


def test_recordings_have_maps_of_their_own():
    elsewhere = straight(2.0, (1000.0, 0.0))
    tables = [
        track_table([(1, 0, drive(PLACE, glide(N, LEFT, RIGHT)))], recording=1),
        track_table([(1, 0, drive(elsewhere, glide(N, RIGHT, LEFT)))], recording=4),
    ]
    maps = {1: road(PLACE), 4: road(elsewhere)}
    changes = find_lane_changes(pa.concat_tables(tables), maps)
    assert [(c.recording, c.start.id, c.target.id) for c in changes] == [
        (1, 100, 101),
        (4, 101, 100),
    ]
