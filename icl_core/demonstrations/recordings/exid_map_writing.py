"""A simulated road as a Lanelet2 map: OpenStreetMap XML as the data set's maps are.

Each lane boundary of a piece of road is a way; the lanelets on its two sides name the
same way and so share its nodes, lanelets behind one another share the two nodes where
they meet. Nodes, ways and relations are numbered each for themselves, so that an id
alone says nothing: some maps of the data set are like that.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from icl_core.demonstrations.recordings.exid_roads import LANES, Road
from icl_core.demonstrations.recordings.exid_utm import from_utm

DEGREE_PLACES = 11  # a micrometre


def map_text(road: Road, zone: int) -> str:
    """The map's XML."""
    root = ET.Element("osm", version="0.6", generator="icl_core (simulated road)")
    nodes = int(road.first_nodes[-1]) + 1
    for boundary in range(LANES + 1):
        _add_nodes(root, road, boundary, nodes, zone)
    for boundary in range(LANES + 1):
        for piece in range(len(road.pieces)):
            _add_way(root, road, boundary, piece, nodes)
    for piece in range(len(road.pieces)):
        for lane in range(LANES):
            _add_lanelet(root, road, piece, lane)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_nodes(root, road: Road, boundary: int, nodes: int, zone: int) -> None:
    offset = (boundary - LANES / 2) * road.lane_width
    points = road.position(np.arange(nodes) * road.step, np.full(nodes, offset))
    origin = np.array([road.x_utm_origin, road.y_utm_origin])
    east, north = (points + origin).T
    for k, (latitude, longitude) in enumerate(zip(*from_utm(east, north, zone), strict=True)):
        attributes = {
            "id": str(boundary * nodes + k + 1),
            "lat": f"{latitude:.{DEGREE_PLACES}f}",
            "lon": f"{longitude:.{DEGREE_PLACES}f}",
        }
        ET.SubElement(root, "node", visible="true", version="1", **attributes)


def _add_way(root, road: Road, boundary: int, piece: int, nodes: int) -> None:
    way = ET.SubElement(
        root, "way", id=str(_way_id(road, boundary, piece)), visible="true", version="1"
    )
    for k in range(road.first_nodes[piece], road.first_nodes[piece + 1] + 1):
        ET.SubElement(way, "nd", ref=str(boundary * nodes + k + 1))
    outer = boundary in (0, LANES)
    _tags(way, type="line_thin", subtype="solid" if outer else "dashed")


def _add_lanelet(root, road: Road, piece: int, lane: int) -> None:
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


def _tags(element, **tags: str) -> None:
    for key, value in tags.items():
        ET.SubElement(element, "tag", k=key, v=value)
