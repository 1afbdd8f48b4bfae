"""The curved three-lane roads of the simulated ExiD recordings, as drawn in their maps.

A road is an arc of a circle. Its four lane boundaries are polylines with nodes at
equal angles, so a lanelet is bounded by chords, and where a point lies can be said in
closed form, exactly as the map's polygons have it. Lanes are counted from 0 on the
right, offsets are positive to the left, y points up.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from icl_core.demonstrations.recordings.exid.maps import from_utm, utm_zone

FRAME_RATE = 25
ZONE = utm_zone(7.0)  # of all simulated locations: the Rhineland, as in the data set
DEGREE_PLACES = 11  # a micrometre
LANES = 3
SPACING = 4.0  # metres between two nodes of a boundary, on the road's middle


@dataclass(frozen=True)
class Road:
    """An arc, cut along its length into lanelets."""

    location: int
    radius: float  # of the road's middle [m]
    turn: int  # 1: to the left, -1: to the right
    heading: float  # at the start [rad]
    start: tuple[float, float]  # the middle of the road where the map begins, local [m]
    lane_width: float
    pieces: tuple[int, ...]  # chords along each lanelet
    speed_limit: float  # [m/s], as the recording's meta row says
    x_utm_origin: float
    y_utm_origin: float

    @property
    def step(self) -> float:
        """Angle between neighbouring nodes [rad]."""
        return SPACING / self.radius

    @property
    def angle(self) -> float:
        """Angle of the mapped arc [rad]."""
        return self.step * sum(self.pieces)

    @cached_property
    def first_nodes(self) -> np.ndarray:
        """Index of the node at which each piece begins, and that of the last node."""
        return np.concatenate([[0], np.cumsum(self.pieces)])

    @cached_property
    def phase(self) -> float:
        """Direction from the circle's centre to the start [rad]."""
        return self.heading - self.turn * np.pi / 2

    @cached_property
    def centre(self) -> np.ndarray:
        """The circle's centre, local [m]."""
        return np.array(self.start) - self.radius * _unit(self.phase)

    def position(self, angle, offset) -> np.ndarray:
        """The point (..., 2) at an angle from the start and an offset from the middle."""
        radius = self.radius - self.turn * np.asarray(offset)
        phase = self.phase + self.turn * np.asarray(angle)
        return self.centre + radius[..., None] * np.moveaxis(_unit(phase), 0, -1)

    def lane_offset(self, lane) -> np.ndarray:
        """Offset of a lane's centre from the road's middle."""
        return (np.asarray(lane) - (LANES - 1) / 2) * self.lane_width

    def angle_of(self, x, y) -> np.ndarray:
        """Angle from the start, in (-pi, pi)."""
        phase = np.arctan2(y - self.centre[1], x - self.centre[0])
        return (self.turn * (phase - self.phase) + np.pi) % (2 * np.pi) - np.pi

    def lanelet_id(self, piece, lane):
        """The number of a lanelet in the map."""
        return 100 * (np.asarray(piece) + 1) + np.asarray(lane) + 1

    def locate(self, x: np.ndarray, y: np.ndarray) -> Located:
        """Where points on the mapped arc lie; lanes outside 0..2 are off the road."""
        radius = np.hypot(x - self.centre[0], y - self.centre[1])
        angle = self.angle_of(x, y)
        node = np.floor(angle / self.step).astype(np.int64)
        within = angle - (node + 0.5) * self.step  # from the middle of the chord
        shrink = np.cos(self.step / 2)  # a chord is that much nearer to the centre
        offset = self.turn * (self.radius * shrink - radius * np.cos(within))
        piece = np.searchsorted(self.first_nodes, node, side="right") - 1
        lane = np.floor(offset / (self.lane_width * shrink) + LANES / 2).astype(np.int64)
        return Located(self, piece, lane, node, radius * np.sin(within), offset)


@dataclass(frozen=True)
class Located:
    """Points in the road's own terms; arrays of one shape."""

    road: Road
    piece: np.ndarray  # which lanelet along the road
    lane: np.ndarray  # in which lane
    node: np.ndarray  # which chord
    along: np.ndarray  # metres from the chord's middle
    offset: np.ndarray  # metres to the left of the middle's chord

    def lanelet(self, lane) -> np.ndarray:
        """The number of the lanelet beside the point in this lane."""
        return self.road.lanelet_id(self.piece, lane)

    def lanelet_length(self, lane) -> np.ndarray:
        """Length of that lanelet's centre line [m]."""
        return np.asarray(self.road.pieces)[self.piece] * 2 * self._half_chord(lane)

    def lanelet_position(self, lane) -> np.ndarray:
        """Distance from that lanelet's beginning along its centre line [m]."""
        chords = self.node - self.road.first_nodes[self.piece]
        return (2 * chords + 1) * self._half_chord(lane) + self.along

    def lane_offset(self, lane) -> np.ndarray:
        """Offset from that lanelet's centre line, positive to the left [m]."""
        return self.offset - self.road.lane_offset(lane) * np.cos(self.road.step / 2)

    def distance(self) -> np.ndarray:
        """Distance from the map's beginning along the road's middle [m]."""
        half = self.road.radius * np.sin(self.road.step / 2)
        return (2 * self.node + 1) * half + self.along

    def _half_chord(self, lane) -> np.ndarray:
        radius = self.road.radius - self.road.turn * self.road.lane_offset(lane)
        return radius * np.sin(self.road.step / 2)


def _unit(phase) -> np.ndarray:
    return np.array([np.cos(phase), np.sin(phase)])


# Lanelets from 20 to 180 m: long ones for lane changes with all that goes before and after,
# short ones that a lane change enters half done, as on the real maps.
ROADS = (
    Road(1, 620.0, 1, 0.35, (30.0, -240.0), 3.50, (9, 28, 8, 9, 37, 9), 36.1, 293487.1, 5629711.6),
    Road(
        2,
        480.0,
        -1,
        2.10,
        (410.0, -390.0),
        3.60,
        (12, 16, 5, 10, 45, 7, 5),
        33.3,
        352601.4,
        5645312.9,
    ),
    Road(
        3,
        900.0,
        1,
        -2.65,
        (420.0, -60.0),
        3.50,
        (6, 16, 30, 18, 12, 12, 6),
        36.1,
        345830.2,
        5652204.3,
    ),
    Road(
        4, 550.0, -1, -0.70, (25.0, -45.0), 3.45, (12, 38, 18, 10, 15, 7), 27.8, 357214.8, 5641930.7
    ),
    Road(
        5,
        740.0,
        1,
        1.20,
        (220.0, -410.0),
        3.55,
        (14, 24, 5, 26, 9, 15, 7),
        36.1,
        298122.5,
        5631076.0,
    ),
)


def map_text(road: Road) -> str:
    """A road as a Lanelet2 map: OpenStreetMap XML as the data set's maps are.

    Each lane boundary of a piece of road is a way; the lanelets on its two sides name the
    same way and so share its nodes, lanelets behind one another share the two nodes where
    they meet. Nodes, ways and relations are numbered each for themselves, so that an id
    alone says nothing: some maps of the data set are like that.
    """
    root = ET.Element("osm", version="0.6", generator="icl_core (simulated road)")
    nodes = int(road.first_nodes[-1]) + 1
    for boundary in range(LANES + 1):
        _add_nodes(root, road, boundary, nodes)
    for boundary in range(LANES + 1):
        for piece in range(len(road.pieces)):
            _add_way(root, road, boundary, piece, nodes)
    for piece in range(len(road.pieces)):
        for lane in range(LANES):
            _add_lanelet(root, road, piece, lane)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_nodes(root: ET.Element, road: Road, boundary: int, nodes: int) -> None:
    offset = (boundary - LANES / 2) * road.lane_width
    points = road.position(np.arange(nodes) * road.step, np.full(nodes, offset))
    origin = np.array([road.x_utm_origin, road.y_utm_origin])
    east, north = (points + origin).T
    for k, (latitude, longitude) in enumerate(zip(*from_utm(east, north, ZONE), strict=True)):
        ET.SubElement(
            root,
            "node",
            visible="true",
            version="1",
            id=str(boundary * nodes + k + 1),
            lat=f"{latitude:.{DEGREE_PLACES}f}",
            lon=f"{longitude:.{DEGREE_PLACES}f}",
        )


def _add_way(root: ET.Element, road: Road, boundary: int, piece: int, nodes: int) -> None:
    way = ET.SubElement(
        root, "way", id=str(_way_id(road, boundary, piece)), visible="true", version="1"
    )
    for k in range(road.first_nodes[piece], road.first_nodes[piece + 1] + 1):
        ET.SubElement(way, "nd", ref=str(boundary * nodes + k + 1))
    outer = boundary in (0, LANES)
    _tags(way, type="line_thin", subtype="solid" if outer else "dashed")


def _add_lanelet(root: ET.Element, road: Road, piece: int, lane: int) -> None:
    lanelet = ET.SubElement(
        root, "relation", id=str(road.lanelet_id(piece, lane)), visible="true", version="1"
    )
    for role, boundary in (("left", lane + 1), ("right", lane)):
        ref = str(_way_id(road, boundary, piece))
        ET.SubElement(lanelet, "member", type="way", ref=ref, role=role)
    limit = f"{3.6 * road.speed_limit:.0f} km/h"
    _tags(lanelet, type="lanelet", subtype="highway", one_way="yes", speed_limit=limit)


def _way_id(road: Road, boundary: int, piece: int) -> int:
    return boundary * len(road.pieces) + piece + 1


def _tags(element: ET.Element, **tags: str) -> None:
    for key, value in tags.items():
        ET.SubElement(element, "tag", k=key, v=value)
