"""What drivers did on a simulated road, as the three tables of an ExiD recording.

Numbers are rounded to five places as in the data set, positions before anything is
derived from them: so the lanelet of a row is the one whose polygon contains the point
as it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icl_core.demonstrations.recordings.exid import format as form
from icl_core.demonstrations.recordings.exid.maps import from_utm
from icl_core.demonstrations.recordings.exid.roads import FRAME_RATE, LANES, ZONE, Located, Road

if TYPE_CHECKING:  # it needs highway-env
    from icl_core.demonstrations.recordings.exid.traffic import Drive

PLACES = 5


def recording_tables(drive: Drive, road: Road, recording: int) -> dict[str, pa.Table]:
    """The tables recordingMeta, tracksMeta and tracks of what passed over the mapped road."""
    rows = _seen(drive, road)
    tracks = _tracks(rows, road, recording)
    meta = _tracks_meta(rows, recording)
    recorded = _recording_meta(rows, len(meta["trackId"]), road, recording)
    return {
        "recordingMeta": _table(recorded, form.RECORDING_META),
        "tracksMeta": _table(meta, form.TRACKS_META),
        "tracks": _table(tracks, form.TRACKS),
    }


def _seen(drive: Drive, road: Road) -> dict[str, np.ndarray]:
    """The rows on the mapped road, sorted by track and frame, both counted from 0."""
    order = np.lexsort((drive.frame, drive.driver))
    driver, frame = drive.driver[order], drive.frame[order]
    x, y, heading, vx, vy = drive.motion[order].T
    x, y = x.round(PLACES), y.round(PLACES)
    acceleration = np.diff(np.stack([vx, vy]), axis=1, append=0.0) * FRAME_RATE
    angle = road.angle_of(x, y)
    seen = (angle >= 0) & (angle < road.angle)
    rows = {
        "driver": driver, "frame": frame, "x": x, "y": y, "heading": heading,
        "vx": vx, "vy": vy, "ax": acceleration[0], "ay": acceleration[1],
    }  # fmt: skip
    rows = {name: column[seen] for name, column in rows.items()}
    rows["frame"] = rows["frame"] - rows["frame"].min()
    rows["track"] = _numbered(rows["driver"], rows["frame"])
    order = np.lexsort((rows["frame"], rows["track"]))
    rows = {name: column[order] for name, column in rows.items()}
    for name in ("width", "length", "kind"):
        values = np.array([getattr(character, name) for character in drive.characters])
        rows[name] = values[rows["driver"]]
    return rows


def _numbered(driver: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Track numbers 0, 1, 2, ... in the order of appearance; rows come sorted by driver."""
    _, first, inverse = np.unique(driver, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, frame[first]))] = np.arange(len(first))
    return rank[inverse]


def _tracks(rows: dict, road: Road, recording: int) -> dict:
    x, y, track = rows["x"], rows["y"], rows["track"]
    located = road.locate(x, y)
    starts = np.flatnonzero(np.diff(track, prepend=-1))
    counts = np.diff(starts, append=len(track))
    fresh = np.zeros(len(track), dtype=bool)
    fresh[starts] = True
    moved = np.hypot(np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0]))
    moved[fresh] = 0
    total = np.cumsum(moved)
    changed = np.diff(located.lane, prepend=located.lane[0]) != 0
    columns = {
        "recordingId": np.full(len(track), recording),
        "trackId": track,
        "frame": rows["frame"],
        "trackLifetime": np.arange(len(track)) - np.repeat(starts, counts),
        "xCenter": x,
        "yCenter": y,
        "heading": np.degrees(rows["heading"]) % 360,
        "width": rows["width"],
        "length": rows["length"],
        "traveledDistance": total - np.repeat(total[starts], counts),
        "laneChange": changed & ~fresh,
        "odrRoadId": np.full(len(track), road.location),
        "odrSectionNo": located.piece,
        "odrLaneId": located.lane - LANES,  # OpenDRIVE: -1 beside the median, then outwards
        **_motion(rows),
        **_lanelets(rows, located),
    }
    places = _Places(
        track,
        rows["frame"],
        located.lane,
        angle=road.angle_of(x, y),
        lane_radius=road.radius - road.turn * road.lane_offset(located.lane),
        length=rows["length"],
        speed=columns["lonVelocity"],
    )
    return {**columns, **_neighbours(places)}


def _motion(rows: dict) -> dict[str, np.ndarray]:
    """Velocity and acceleration, also along and across the vehicle's axis (left positive)."""
    cos, sin = np.cos(rows["heading"]), np.sin(rows["heading"])
    columns: dict[str, np.ndarray] = {}
    for name, x, y in (
        ("Velocity", rows["vx"], rows["vy"]),
        ("Acceleration", rows["ax"], rows["ay"]),
    ):
        columns |= {f"x{name}": x, f"y{name}": y}
        columns |= {f"lon{name}": cos * x + sin * y, f"lat{name}": cos * y - sin * x}
    return columns


def _lanelets(rows: dict, located: Located) -> dict[str, pa.Array]:
    """The current lanelet and, behind the semicolon, the one that the box reaches into too."""
    road, lane = located.road, located.lane
    offset = located.lane_offset(lane)
    course = road.heading + road.turn * road.angle_of(rows["x"], rows["y"])
    turned = rows["heading"] - course
    reach = rows["width"] / 2 * np.abs(np.cos(turned)) + rows["length"] / 2 * np.abs(np.sin(turned))
    second = lane + np.where(offset > 0, 1, -1)
    touches = np.abs(offset) + reach > road.lane_width / 2
    touches &= (second >= 0) & (second < LANES)
    width = np.full(len(lane), road.lane_width)
    lists = {
        "laneletId": (located.lanelet(lane), located.lanelet(second)),
        "latLaneCenterOffset": (offset, located.lane_offset(second)),
        "lonLaneletPos": (located.lanelet_position(lane), located.lanelet_position(second)),
        "laneletLength": (located.lanelet_length(lane), located.lanelet_length(second)),
        "laneWidth": (width, width),
    }
    return {name: _pairs(*values, touches) for name, values in lists.items()}


def _pairs(first: np.ndarray, second: np.ndarray, both: np.ndarray) -> pa.Array:
    texts = [pa.array(np.asarray(v).round(PLACES)).cast(pa.string()) for v in (first, second)]
    texts[1] = pc.if_else(pa.array(both), texts[1], pa.scalar(None, pa.string()))
    return pc.binary_join_element_wise(*texts, form.LISTS, null_handling="skip")


def _tracks_meta(rows: dict, recording: int) -> dict:
    track, first, counts = np.unique(rows["track"], return_index=True, return_counts=True)
    frame = rows["frame"][first]
    return {
        "recordingId": np.full(len(track), recording),
        "trackId": track,
        "initialFrame": frame,
        "finalFrame": frame + counts - 1,
        "numFrames": counts,
        "width": rows["width"][first],
        "length": rows["length"][first],
        "class": rows["kind"][first],
    }


def _recording_meta(rows: dict, tracks: int, road: Road, recording: int) -> dict:
    latitude, longitude = from_utm(road.x_utm_origin, road.y_utm_origin, ZONE)
    return {
        "recordingId": [recording],
        "locationId": [road.location],
        "frameRate": [float(FRAME_RATE)],
        "speedLimit": [road.speed_limit],
        "weekday": ["monday"],
        "startTime": ["9"],
        "duration": [(int(rows["frame"].max()) + 1) / FRAME_RATE],
        "numTracks": [tracks],
        "numVehicles": [tracks],
        "numVRUs": [0],
        "latLocation": [float(latitude)],
        "lonLocation": [float(longitude)],
        "xUtmOrigin": [road.x_utm_origin],
        "yUtmOrigin": [road.y_utm_origin],
        "orthoPxToMeter": [0.1],
    }


def _table(columns: dict, schema: pa.Schema) -> pa.Table:
    arrays = []
    for field in schema:
        values = columns[field.name]
        if not isinstance(values, pa.Array):
            values = np.asarray(values)
            if values.dtype.kind == "f":
                values = values.round(PLACES) + 0.0  # no "-0"
            values = pa.array(values)
            values = values.cast(pa.int8()) if values.type == pa.bool_() else values
        arrays.append(values.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


@dataclass(frozen=True)
class _Places:
    """Where vehicles are along the road, arrays (rows,)."""

    track: np.ndarray
    frame: np.ndarray
    lane: np.ndarray
    angle: np.ndarray  # along the road [rad]
    lane_radius: np.ndarray  # of the own lane's centre line; times the angle: along that lane
    length: np.ndarray
    speed: np.ndarray


def _neighbours(places: _Places) -> dict[str, np.ndarray | pa.Array]:
    """The columns leadDHW to rightAlongsideId, one entry per row.

    Ahead and behind are counted along the arc. In the own lane a neighbour is the next vehicle
    whose centre is ahead or behind; in a neighbouring lane those whose boxes overlap lengthwise
    with the own are alongside, and the next that do not are lead and rear.
    """
    track, speed = places.track, places.speed
    slots = _Slots(places.frame)
    ahead = (
        slots.differences(places.angle) * places.lane_radius[:, None]
    )  # metres to each other vehicle
    halves = (places.length[slots.other] + places.length[:, None]) / 2
    lanes = slots.differences(places.lane)
    others = slots.present & (slots.other != np.arange(len(track))[:, None])
    own = others & (lanes == 0)
    columns = {
        "lead": slots.nearest(own & (ahead > 0), ahead),
        "rear": slots.nearest(own & (ahead < 0), -ahead),
    }
    beside = {}
    for side, step in (("left", 1), ("right", -1)):
        there = others & (lanes == step)
        columns[f"{side}Lead"] = slots.nearest(there & (ahead >= halves), ahead)
        columns[f"{side}Rear"] = slots.nearest(there & (-ahead >= halves), -ahead)
        numbers = np.where(there & (np.abs(ahead) < halves), track[slots.other], -1)
        beside[f"{side}AlongsideId"] = pa.array(_joined(numbers), pa.string())
    lead = columns["lead"]
    found = {f"{name}Id": np.where(row >= 0, track[row], -1) for name, row in columns.items()}
    gap = slots.between(ahead - halves, lead)
    return {**found, **beside, **_headway(gap, speed, speed[lead], lead >= 0)}


def _headway(
    gap: np.ndarray, own: np.ndarray, leader: np.ndarray, led: np.ndarray
) -> dict[str, np.ndarray]:
    """Gap from bumper to bumper, speed difference, and the times that they mean."""
    closing = own - leader
    with np.errstate(divide="ignore", invalid="ignore"):
        time_gap = gap / own
        collision = np.where(closing > 0, gap / closing, -1.0)
    return {
        "leadDHW": np.where(led, gap, -1.0),
        "leadDV": np.where(led, closing, form.NO_SPEED_DIFFERENCE),
        "leadTHW": np.where(led & (own > 0), time_gap, -1.0),
        "leadTTC": np.where(led, collision, -1.0),
    }


class _Slots:
    """Rows of the same frame laid side by side: `other` (rows, slots) are row numbers."""

    def __init__(self, frame: np.ndarray):
        frame = frame - frame.min()
        counts = np.bincount(frame)
        order = np.argsort(frame, kind="stable")
        slot = np.arange(len(frame)) - np.repeat(np.cumsum(counts) - counts, counts)
        table = np.full((len(counts), counts.max()), -1, dtype=np.int64)
        table[frame[order], slot] = order
        self.other = table[frame]
        self.present = self.other >= 0

    def differences(self, values: np.ndarray) -> np.ndarray:
        return values[self.other] - values[:, None]

    def nearest(self, candidates: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Row of the nearest candidate of each row, or -1."""
        slot = np.argmin(np.where(candidates, distance, np.inf), axis=1)
        rows = np.take_along_axis(self.other, slot[:, None], axis=1)[:, 0]
        return np.where(candidates.any(axis=1), rows, -1)

    def between(self, values: np.ndarray, row: np.ndarray) -> np.ndarray:
        """The entry of each row that belongs to another row of its frame."""
        slot = np.argmax(self.other == row[:, None], axis=1)
        return np.take_along_axis(values, slot[:, None], axis=1)[:, 0]


def _joined(numbers: np.ndarray) -> list[str]:
    """Each row's numbers as a list in text; "-1" where there is none."""
    texts = ["-1"] * len(numbers)
    for row in np.flatnonzero((numbers >= 0).any(axis=1)):
        texts[row] = form.LISTS.join(str(n) for n in numbers[row] if n >= 0)
    return texts
