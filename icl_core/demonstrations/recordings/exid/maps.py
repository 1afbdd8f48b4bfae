"""Lanelet2 maps (OpenStreetMap XML) as lanelets in a recording's local metres.

The lanelet2 package reads such maps well, ids shared by a node and a way included, and
the tests hold this reader against it. It is not used here because it keeps lanelets in
an order of its own (where polygons overlap, the first in the file counts), reads a
coordinate that is no number as 0, and names faults by a number that may be a node's, a
way's or a relation's. What is needed of a map is little: the standard library's XML
parser does it.

UTM: latitude and longitude to metres east and north, and back. Krüger's series in the third
flattening n up to n^4 (Karney 2011, "Transverse Mercator with an accuracy of a few
nanometers", eqs. 7-11 and 35-36), on WGS84 and for the northern hemisphere, where all ExiD
locations are. Cut off there it is right to far less than a millimetre within a zone. The
lanelet2 package has such a projection too, one point per call and without a way to name the
zone; the tests hold the two against each other.
"""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import shapely

from icl_core.errors import InputError

SEMI_MAJOR_AXIS = 6_378_137.0
FLATTENING = 1 / 298.257223563
SCALE = 0.9996
FALSE_EASTING = 500_000.0

_N = FLATTENING / (2 - FLATTENING)
_ECCENTRICITY = np.sqrt(FLATTENING * (2 - FLATTENING))
_RADIUS = SEMI_MAJOR_AXIS / (1 + _N) * (1 + _N**2 / 4 + _N**4 / 64)
_FORWARD = (
    _N / 2 - 2 * _N**2 / 3 + 5 * _N**3 / 16 + 41 * _N**4 / 180,
    13 * _N**2 / 48 - 3 * _N**3 / 5 + 557 * _N**4 / 1440,
    61 * _N**3 / 240 - 103 * _N**4 / 140,
    49561 * _N**4 / 161280,
)
_BACKWARD = (
    _N / 2 - 2 * _N**2 / 3 + 37 * _N**3 / 96 - _N**4 / 360,
    _N**2 / 48 + _N**3 / 15 - 437 * _N**4 / 1440,
    17 * _N**3 / 480 - 37 * _N**4 / 840,
    4397 * _N**4 / 161280,
)


@dataclass(frozen=True, eq=False)
class Lanelet:
    """A piece of lane between two boundaries, both running in driving direction."""

    id: int
    left: np.ndarray  # (n, 2) local metres
    right: np.ndarray  # (m, 2)
    left_nodes: tuple[int, ...]  # the map's ids of the same points
    right_nodes: tuple[int, ...]

    @cached_property
    def polygon(self) -> shapely.Polygon:
        """The area between the boundaries."""
        return shapely.Polygon(np.concatenate([self.left, self.right[::-1]]))

    @cached_property
    def centre_line(self) -> np.ndarray:
        """Midpoints (n, 2) between each left node and its nearest right node, as the authors'."""
        apart = np.linalg.norm(self.left[:, None] - self.right[None], axis=-1)
        return (self.left + self.right[apart.argmin(axis=1)]) / 2


def read_map(
    path: str | os.PathLike, x_utm_origin: float, y_utm_origin: float
) -> tuple[Lanelet, ...]:
    """All lanelets of a map, in the order of the file; InputError where it is faulty.

    The origin is that of the recording's meta row (xUtmOrigin, yUtmOrigin).
    """
    file = _MapFile(Path(path))
    lanelets = tuple(
        file.lanelet(relation, (x_utm_origin, y_utm_origin)) for relation in file.relations()
    )
    if not lanelets:
        raise file.fault("at least one lanelet", "none", "give a Lanelet2 map")
    return lanelets


class _MapFile:
    """A map under examination. Nodes and ways are kept apart: their ids may coincide."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.root = ET.parse(path).getroot()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise self.fault("a Lanelet2 map", f"none ({reason})", "correct the path") from error
        except ET.ParseError as error:
            raise self.fault("OpenStreetMap XML", f"other text ({error})", "restore it") from error
        if self.root.tag != "osm":
            raise self.fault("the element osm", f"{self.root.tag!r}", "give a Lanelet2 map")
        self.nodes = {node.get("id"): node for node in self.root.iterfind("node")}
        self.ways = {way.get("id"): way for way in self.root.iterfind("way")}
        self.zone: int | None = None  # that of the first node used: one for the whole map
        self._points: dict[str, tuple[float, float]] = {}

    def fault(self, expected: str, found: str, advice: str) -> InputError:
        return InputError(f"{self.path}: expected {expected}, found {found}; {advice}")

    def relations(self) -> list[ET.Element]:
        """The relations that are lanelets."""
        return [
            relation
            for relation in self.root.iterfind("relation")
            if any(t.get("k") == "type" and t.get("v") == "lanelet" for t in relation.iter("tag"))
        ]

    def lanelet(self, relation: ET.Element, origin: tuple[float, float]) -> Lanelet:
        """One lanelet, its boundaries turned so that they run in driving direction."""
        name = f"lanelet {relation.get('id')!r}"
        left_nodes, right_nodes = (self._side(relation, role, name) for role in ("left", "right"))
        left, right = (
            np.array([self._point(node) for node in nodes]) - origin
            for nodes in (left_nodes, right_nodes)
        )
        # A way may run against the lane: turn the right one to run like the left one, then
        # both if the lane lies on the wrong side of them.
        straight = math.dist(left[0], right[0]) + math.dist(left[-1], right[-1])
        crossed = math.dist(left[0], right[-1]) + math.dist(left[-1], right[0])
        if crossed < straight:
            right, right_nodes = right[::-1], right_nodes[::-1]
        if _signed_area(np.concatenate([left, right[::-1]])) > 0:
            left, right = left[::-1], right[::-1]
            left_nodes, right_nodes = left_nodes[::-1], right_nodes[::-1]
        numbers = [
            tuple(self._number(n, "a node") for n in ids) for ids in (left_nodes, right_nodes)
        ]
        return Lanelet(self._number(relation.get("id"), "a relation"), left, right, *numbers)

    def _side(self, relation: ET.Element, role: str, name: str) -> list[str]:
        """The nodes of the one way that is a lanelet's left or right boundary."""
        members = [
            member
            for member in relation.iterfind("member")
            if member.get("role") == role and member.get("type") == "way"
        ]
        if len(members) != 1:
            raise self.fault(
                f"one way as the {role} boundary of {name}", f"{len(members)}", "correct the map"
            )
        way = self.ways.get(members[0].get("ref"))
        if way is None:
            found = f"no way {members[0].get('ref')!r}"
            raise self.fault(f"the {role} boundary of {name}", found, "restore the map")
        nodes = [nd.get("ref", "") for nd in way.iterfind("nd")]
        if len(nodes) < 2:
            expected = f"at least two nodes in way {way.get('id')!r}"
            raise self.fault(expected, f"{len(nodes)}", "correct the map")
        for node in nodes:
            if node not in self.nodes:
                expected = f"node {node!r} of way {way.get('id')!r}"
                raise self.fault(expected, "no such node", "restore the map")
        return nodes

    def _point(self, node: str) -> tuple[float, float]:
        """A node in UTM metres."""
        if node not in self._points:
            latitude, longitude = (self._degrees(node, key) for key in ("lat", "lon"))
            if self.zone is None:
                self.zone = utm_zone(longitude)
            east, north = to_utm(latitude, longitude, self.zone)
            self._points[node] = float(east), float(north)
        return self._points[node]

    def _degrees(self, node: str, key: str) -> float:
        text, limit = self.nodes[node].get(key), 90 if key == "lat" else 180
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not abs(value) < limit:
            expected = f"degrees as {key} of node {node!r}"
            raise self.fault(expected, f"{text!r}", "restore the map")
        return value

    def _number(self, text: str | None, what: str) -> int:
        try:
            return int(text or "")
        except ValueError:
            raise self.fault(
                f"a whole number as id of {what}", f"{text!r}", "restore the map"
            ) from None


def _signed_area(ring: np.ndarray) -> float:
    """Area of a ring, positive where it runs counter-clockwise."""
    x, y = (ring - ring[0]).T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) / 2)


def utm_zone(longitude: float) -> int:
    """The zone, 1 to 60, that a longitude in degrees falls into."""
    return int((longitude + 180) // 6) % 60 + 1


def to_utm(latitude, longitude, zone: int) -> tuple[np.ndarray, np.ndarray]:
    """Degrees to (easting, northing) in metres."""
    phi = np.radians(latitude)
    lam = np.radians(longitude) - _meridian(zone)
    tau = np.tan(_conformal(phi))
    xi = np.arctan2(tau, np.cos(lam))
    eta = np.arcsinh(np.sin(lam) / np.hypot(tau, np.cos(lam)))
    zeta = xi + 1j * eta
    moved = zeta + sum(a * np.sin(2 * k * zeta) for k, a in enumerate(_FORWARD, start=1))
    return (
        FALSE_EASTING + SCALE * _RADIUS * np.imag(moved),
        SCALE * _RADIUS * np.real(moved),
    )


def from_utm(easting, northing, zone: int) -> tuple[np.ndarray, np.ndarray]:
    """Metres to (latitude, longitude) in degrees."""
    east = (np.asarray(easting, dtype=np.float64) - FALSE_EASTING) / (SCALE * _RADIUS)
    moved = np.asarray(northing, dtype=np.float64) / (SCALE * _RADIUS) + 1j * east
    zeta = moved - sum(b * np.sin(2 * k * moved) for k, b in enumerate(_BACKWARD, start=1))
    xi, eta = np.real(zeta), np.imag(zeta)
    conformal = np.arctan2(np.sin(xi), np.hypot(np.sinh(eta), np.cos(xi)))
    lam = np.arctan2(np.sinh(eta), np.cos(xi))
    phi = conformal
    for _ in range(6):  # each pass gains a factor of e^2 = 1/150
        phi = phi + conformal - _conformal(phi)
    return np.degrees(phi), np.degrees(lam + _meridian(zone))


def _meridian(zone: int) -> float:
    """The zone's central meridian in radians."""
    return np.radians(6 * zone - 183)


def _conformal(phi):
    """The conformal latitude of a latitude, both in radians."""
    sine = np.sin(phi)
    return np.arctan(
        np.sinh(np.arcsinh(np.tan(phi)) - _ECCENTRICITY * np.arctanh(_ECCENTRICITY * sine))
    )
