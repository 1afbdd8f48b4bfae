"""Maps: the simulated ones against lanelet2 and the road; hand-made ones with each fault."""

import math

import numpy as np
import pytest

from icl_core.demonstrations.recordings.exid import format as form
from icl_core.demonstrations.recordings.exid.maps import from_utm, read_map
from icl_core.demonstrations.recordings.exid.roads import LANES, ROADS, map_text
from icl_core.errors import InputError

ORIGIN = (350_000.0, 5_640_000.0)


@pytest.fixture(params=ROADS, ids=lambda road: f"location{road.location}")
def mapped(request, tmp_path):
    road = request.param
    path = tmp_path / "map.osm"
    path.write_text(map_text(road))
    return road, path, read_map(path, road.x_utm_origin, road.y_utm_origin)


def test_boundaries_lie_on_the_arc(mapped):
    road, _, lanelets = mapped
    assert len(lanelets) == LANES * len(road.pieces)
    for k, lanelet in enumerate(lanelets):
        piece, lane = divmod(k, LANES)
        assert lanelet.id == road.lanelet_id(piece, lane)
        assert len(lanelet.left) == len(lanelet.right) == road.pieces[piece] + 1
        for side, points in ((1, lanelet.left), (-1, lanelet.right)):
            offset = (lane - 1) * road.lane_width + side * road.lane_width / 2
            far = [math.dist(point, road.centre) for point in points]
            assert far == pytest.approx([road.radius - road.turn * offset] * len(far), abs=1e-5)
        assert lanelet.polygon.is_valid
        # The left boundary is to the left of whoever drives along the centre line.
        ahead, across = (
            np.diff(lanelet.centre_line[:2], axis=0)[0],
            lanelet.left[0] - lanelet.right[0],
        )
        assert ahead[0] * across[1] - ahead[1] * across[0] > 0


def test_neighbours_share_a_boundary_and_successors_two_nodes(mapped):
    road, _, lanelets = mapped
    for i, one in enumerate(lanelets):
        for j, other in enumerate(lanelets):
            (piece, lane), (other_piece, other_lane) = divmod(i, LANES), divmod(j, LANES)
            nodes = ({*lanelet.left_nodes, *lanelet.right_nodes} for lanelet in (one, other))
            shared = len(set.intersection(*nodes))
            if piece == other_piece and abs(lane - other_lane) == 1:
                assert shared == road.pieces[piece] + 1 > 2
                assert one.left_nodes == other.right_nodes or one.right_nodes == other.left_nodes
            elif i != j:
                assert shared <= 2


def test_centre_line_is_halfway(mapped):
    _, _, lanelets = mapped
    for lanelet in lanelets:
        expected = []
        for left in lanelet.left:
            nearest = min(lanelet.right, key=lambda right: math.dist(left, right))
            expected.append((left + nearest) / 2)
        np.testing.assert_allclose(lanelet.centre_line, expected)


def test_as_lanelet2_reads_it(mapped):
    lanelet2 = pytest.importorskip("lanelet2")
    road, path, lanelets = mapped
    # Its coordinates count from an origin in degrees; this one is the zone's own.
    projector = lanelet2.projection.UtmProjector(lanelet2.io.Origin(0, 9))
    theirs, errors = lanelet2.io.loadRobust(str(path), projector)
    assert not errors
    origin = np.array([road.x_utm_origin - 500_000, road.y_utm_origin])
    for lanelet in lanelets:
        other = theirs.laneletLayer[lanelet.id]
        for points, nodes, bound in (
            (lanelet.left, lanelet.left_nodes, other.leftBound),
            (lanelet.right, lanelet.right_nodes, other.rightBound),
        ):
            assert nodes == tuple(point.id for point in bound)
            expected = np.array([(point.x, point.y) for point in bound]) - origin
            np.testing.assert_allclose(points, expected, atol=1e-4)


# A square lane of 4 m by 20 m towards the north. Ids of nodes, ways and relation coincide.
NODES = {1: (0, 0), 2: (0, 20), 3: (4, 0), 4: (4, 20)}
WAYS = {1: (1, 2), 2: (3, 4)}
MEMBERS = '<member type="way" ref="1" role="left"/><member type="way" ref="2" role="right"/>'
TAG = '<tag k="type" v="lanelet"/>'


def write_map(path, nodes=NODES, ways=WAYS, members=MEMBERS, tag=TAG, swap=("", "")):
    text = '<?xml version="1.0"?><osm version="0.6">'
    for number, (x, y) in nodes.items():
        latitude, longitude = from_utm(ORIGIN[0] + x, ORIGIN[1] + y, 32)
        text += f'<node id="{number}" lat="{latitude:.11f}" lon="{longitude:.11f}"/>'
    for number, refs in ways.items():
        inside = "".join(f'<nd ref="{ref}"/>' for ref in refs)
        text += f'<way id="{number}">{inside}<tag k="type" v="line_thin"/></way>'
    text += f'<relation id="1">{members}{tag}</relation></osm>'
    path.write_text(text.replace(*swap))
    return path


@pytest.mark.parametrize(
    "ways", [WAYS, {1: (1, 2), 2: (4, 3)}, {1: (2, 1), 2: (3, 4)}, {1: (2, 1), 2: (4, 3)}]
)
def test_ways_in_any_direction(tmp_path, ways):
    (lanelet,) = read_map(write_map(tmp_path / "m.osm", ways=ways), *ORIGIN)
    np.testing.assert_allclose(lanelet.left, [(0, 0), (0, 20)], atol=1e-5)
    np.testing.assert_allclose(lanelet.right, [(4, 0), (4, 20)], atol=1e-5)
    assert (lanelet.left_nodes, lanelet.right_nodes) == ((1, 2), (3, 4))
    assert lanelet.polygon.area == pytest.approx(80, abs=1e-3)
    np.testing.assert_allclose(lanelet.centre_line, [(2, 0), (2, 20)], atol=1e-5)


FAULTS = {
    "no way 3": ({"members": MEMBERS.replace('ref="2"', 'ref="3"')}, "no way '3'"),
    "no right": ({"members": MEMBERS.split("/>")[0] + "/>"}, "one way as the right boundary"),
    "two left": ({"members": MEMBERS.replace("right", "left")}, "found 2;"),
    "node missing": ({"nodes": {1: (0, 0), 2: (0, 20), 3: (4, 0)}}, "node '4' of way '2'"),
    "one node": ({"ways": {1: (1, 2), 2: (3,)}}, "at least two nodes in way '2'"),
    "no lanelet": ({"tag": ""}, "at least one lanelet"),
    "no latitude": ({"swap": ("lat=", "height=")}, "degrees as lat of node '1', found None"),
    "no number": ({"swap": ('lat="5', 'lat="x')}, "degrees as lat of node '1', found 'x"),
    "id": ({"swap": ('relation id="1"', 'relation id="one"')}, "id of a relation, found 'one'"),
    "cut off": ({"swap": ("</osm>", "")}, "OpenStreetMap XML"),
    "other XML": ({"swap": ("osm", "gpx")}, "the element osm"),
}


@pytest.mark.parametrize("changes, words", FAULTS.values(), ids=FAULTS)
def test_faults_are_refused(tmp_path, changes, words):
    path = write_map(tmp_path / "m.osm", **changes)
    with pytest.raises(InputError) as caught:
        read_map(path, *ORIGIN)
    message = str(caught.value)
    assert message.startswith(f"{path}: expected ") and words in message and "\n" not in message


def test_no_such_map(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_map(tmp_path / "none.osm", *ORIGIN)


def test_the_map_of_a_location(tmp_path):
    data, maps = tmp_path / "data", tmp_path / "maps" / "lanelet2"
    data.mkdir()
    maps.mkdir(parents=True)
    for name in ("1_one.osm", "12_twelve.osm", "02.osm", "3_three.txt"):
        (maps / name).touch()
    assert form.find_map(data, 1).name == "1_one.osm"
    assert form.find_map(data, 2).name == "02.osm"
    assert form.find_map(tmp_path, 12).name == "12_twelve.osm"
    for location in (3, 4):
        with pytest.raises(InputError, match=f"map of location {location} "):
            form.find_map(data, location)
