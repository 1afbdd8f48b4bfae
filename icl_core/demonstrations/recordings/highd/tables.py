"""Simulated carriageways as the three tables of a HighD recording, every column filled.

Who drives around whom follows from the boxes of one frame and one driving direction alone.
"Ahead" and "left" are the driver's. Alongside is a vehicle of the next lane whose box overlaps
along the road; preceding and following in a next lane are those that do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings.highd import format as form

if TYPE_CHECKING:  # it needs highway-env
    from icl_core.demonstrations.recordings.highd.traffic import Driver

# The simulated recording: a straight highway with two lanes per side, as recording 17 has.
RECORDING = 1  # its number
VIEW = 420.0  # [m]
FRAME_RATE = 25.0  # [Hz]
UPPER, LOWER = np.array([7.68, 11.89, 15.73]), np.array([20.53, 24.50, 28.46])  # markings [m]

DECIMALS = 4  # of what is written; all that follows from a number is computed from it as written
NEIGHBOURS = (
    *("precedingId", "followingId"),
    *("leftPrecedingId", "leftAlongsideId", "leftFollowingId"),
    *("rightPrecedingId", "rightAlongsideId", "rightFollowingId"),
)


def recording_tables(
    sides: Sequence[tuple[np.ndarray, Sequence[Driver]]], frames: int
) -> dict[str, pa.Table]:
    """The tables by the names of `tracks.PARTS`; `sides` are (rows, drivers) of both directions."""
    columns = [
        _seen(rows, drivers, side)
        for (rows, drivers), side in zip(sides, (form.LEFTWARD, form.RIGHTWARD), strict=True)
    ]
    tracks = {name: np.concatenate([c[name] for c in columns]) for name in columns[0]}
    _number(tracks)
    centre = tracks["y"] + tracks["height"] / 2
    tracks["laneId"] = form.lane_ids(centre, UPPER, LOWER)
    _sights(tracks)
    _relate(tracks)
    order = np.lexsort((tracks["frame"], tracks["id"]))
    tracks = {name: values[order] for name, values in tracks.items()}
    meta = _tracks_meta(tracks)
    return {
        "tracks": _table(tracks, form.TRACKS),
        "tracksMeta": _table(meta, form.TRACKS_META),
        "recordingMeta": _table(_recording_meta(tracks, meta, frames), form.RECORDING_META),
    }


def _seen(rows: np.ndarray, drivers: Sequence[Driver], side: int) -> dict[str, np.ndarray]:
    """What is in view of one side, in the image's frame; accelerations by difference."""
    rows = rows[np.lexsort((rows[:, 0], rows[:, 1]))]
    goes_on = rows[1:, 1] == rows[:-1, 1]  # the same vehicle, one frame later
    acceleration = (rows[1:, 4:6] - rows[:-1, 4:6]) * FRAME_RATE
    rows = np.hstack([rows[:-1], acceleration])[goes_on]
    rows = rows[(rows[:, 2] >= 0) & (rows[:, 2] <= VIEW)]
    known = {driver.serial: driver for driver in drivers}
    mine = [known[int(serial)] for serial in rows[:, 1]]
    length, width = (np.array([getattr(d, n) for d in mine]) for n in ("LENGTH", "WIDTH"))
    x, y, motion = rows[:, 2], rows[:, 3], rows[:, 4:8]
    if side == form.LEFTWARD:  # half a turn about the middle of the view
        x, y, motion = VIEW - x, -y, -motion
    names = ("xVelocity", "yVelocity", "xAcceleration", "yAcceleration")
    return {
        "frame": rows[:, 0].astype(np.int64) + 1,
        "id": 2 * rows[:, 1].astype(np.int64) + side,  # for now: unlike on both sides
        "x": _rounded(x - length / 2),
        "y": _rounded(y - width / 2),
        "width": length,
        "height": width,
        **{name: _rounded(column) for name, column in zip(names, motion.T, strict=True)},
        "direction": np.full(len(rows), side),
        "class": np.array([driver.kind.name for driver in mine]),
    }


def _number(tracks: dict[str, np.ndarray]) -> None:
    """Number the vehicles from 1, in the order in which they are first seen."""
    ids, vehicle = np.unique(tracks["id"], return_inverse=True)
    first = np.full(len(ids), np.iinfo(np.int64).max)
    np.minimum.at(first, vehicle, tracks["frame"])
    rank = np.empty(len(ids), np.int64)
    rank[np.lexsort((ids, first))] = np.arange(1, len(ids) + 1)
    tracks["id"] = rank[vehicle]


def _sights(tracks: dict[str, np.ndarray]) -> None:
    """How much of the view lies ahead of and behind the vehicle's centre."""
    to_left = tracks["x"] + tracks["width"] / 2
    rightward = tracks["direction"] == form.RIGHTWARD
    tracks["frontSightDistance"] = _rounded(np.where(rightward, VIEW - to_left, to_left))
    tracks["backSightDistance"] = _rounded(np.where(rightward, to_left, VIEW - to_left))


def _relate(tracks: dict[str, np.ndarray]) -> None:
    """Neighbours, dhw, thw and ttc, frame by frame and side by side."""
    sign = np.where(tracks["direction"] == form.RIGHTWARD, 1.0, -1.0)
    ahead = sign * (tracks["x"] + tracks["width"] / 2)
    lane = (sign * tracks["laneId"]).astype(np.int64)  # to the driver's right it grows
    speed = sign * tracks["xVelocity"]
    for name in NEIGHBOURS:
        tracks[name] = np.zeros(len(sign), np.int64)
    for name in ("dhw", "thw", "ttc", "precedingXVelocity"):
        tracks[name] = np.zeros(len(sign))
    order = np.lexsort((tracks["direction"], tracks["frame"]))
    keys = tracks["frame"][order] * 4 + tracks["direction"][order]
    for rows in np.split(order, np.flatnonzero(np.diff(keys)) + 1):
        seen = Vehicles(
            tracks["id"][rows], ahead[rows], tracks["width"][rows], speed[rows], lane[rows]
        )
        for name, values in relations(seen).items():
            tracks[name][rows] = values
    tracks["precedingXVelocity"] *= sign
    for name in ("dhw", "thw", "ttc", "precedingXVelocity"):
        tracks[name] = _rounded(tracks[name])


def _tracks_meta(tracks: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One row per vehicle; `tracks` sorted by id and frame."""
    first = np.flatnonzero(np.diff(tracks["id"], prepend=0))
    last = np.append(first[1:], len(tracks["id"])) - 1
    speed = np.abs(tracks["xVelocity"])
    count = last - first + 1
    follows = tracks["precedingId"] != form.NO_VEHICLE
    changes = (np.diff(tracks["laneId"], prepend=0) != 0).astype(np.int64)
    changes[first] = 0
    copied = ("id", "width", "height", "class")
    return {
        **{name: tracks[name][first] for name in copied},
        "initialFrame": tracks["frame"][first],
        "finalFrame": tracks["frame"][last],
        "numFrames": count,
        "drivingDirection": tracks["direction"][first],
        "traveledDistance": _rounded(np.abs(tracks["x"][last] - tracks["x"][first])),
        "minXVelocity": np.minimum.reduceat(speed, first),
        "maxXVelocity": np.maximum.reduceat(speed, first),
        "meanXVelocity": _rounded(np.add.reduceat(speed, first) / count),
        "minDHW": _least(tracks["dhw"], follows, first),
        "minTHW": _least(tracks["thw"], follows, first),
        "minTTC": _least(tracks["ttc"], follows & (tracks["ttc"] > 0), first),
        "numLaneChanges": np.add.reduceat(changes, first),
    }


def _least(values: np.ndarray, counts: np.ndarray, first: np.ndarray) -> np.ndarray:
    least = np.minimum.reduceat(np.where(counts, values, np.inf), first)
    return np.where(np.isfinite(least), least, form.NO_MINIMUM)


def _recording_meta(
    tracks: dict[str, np.ndarray], meta: dict[str, np.ndarray], frames: int
) -> dict[str, list]:
    cars = int(np.sum(meta["class"] == form.CAR))
    return {
        "id": [RECORDING],
        "frameRate": [FRAME_RATE],
        "locationId": [0],  # no place on earth
        "speedLimit": [form.NO_LIMIT],
        "month": ["1.2023"],
        "weekDay": ["Sun"],
        "startTime": ["00:00"],
        "duration": [frames / FRAME_RATE],
        "totalDrivenDistance": [round(float(meta["traveledDistance"].sum()), DECIMALS)],
        "totalDrivenTime": [round(len(tracks["id"]) / FRAME_RATE, DECIMALS)],
        "numVehicles": [len(meta["id"])],
        "numCars": [cars],
        "numTrucks": [len(meta["id"]) - cars],
        "upperLaneMarkings": [form.LISTS.join(f"{y:.2f}" for y in UPPER)],
        "lowerLaneMarkings": [form.LISTS.join(f"{y:.2f}" for y in LOWER)],
    }


def _table(columns: dict, schema: pa.Schema) -> pa.Table:
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def _rounded(values: np.ndarray) -> np.ndarray:
    return np.round(values, DECIMALS) + 0.0  # the sum makes -0.0 a plain 0.0


@dataclass(frozen=True)
class Vehicles:
    """Vehicles of one frame that drive the same way, as arrays (n,)."""

    ids: np.ndarray
    ahead: np.ndarray  # position of the centre in driving direction [m]
    length: np.ndarray  # [m]
    speed: np.ndarray  # in driving direction [m/s]
    lane: np.ndarray  # counted from the driver's left to the right


def relations(vehicles: Vehicles) -> dict[str, np.ndarray]:
    """Ids of the neighbours, and dhw, thw, ttc, precedingXVelocity (as a speed ahead)."""
    v = vehicles
    distance = v.ahead[None, :] - v.ahead[:, None]  # [i, j]: how far j is ahead of i
    bumpers = np.abs(distance) - (v.length[None, :] + v.length[:, None]) / 2
    right = v.lane[None, :] - v.lane[:, None]
    itself = np.eye(len(v.ids), dtype=bool)
    found = {
        "precedingId": _nearest(v.ids, distance, (right == 0) & (distance >= 0) & ~itself),
        "followingId": _nearest(v.ids, distance, (right == 0) & (distance < 0)),
    }
    for side, step in (("left", -1), ("right", 1)):
        beside, overlaps = right == step, bumpers < 0
        apart = beside & ~overlaps
        found[f"{side}PrecedingId"] = _nearest(v.ids, distance, apart & (distance > 0))
        found[f"{side}AlongsideId"] = _nearest(v.ids, distance, beside & overlaps)
        found[f"{side}FollowingId"] = _nearest(v.ids, distance, apart & (distance < 0))
    return found | _following(v, found["precedingId"], bumpers)


def _nearest(ids: np.ndarray, distance: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    far = np.where(eligible, np.abs(distance), np.inf)
    return np.where(eligible.any(axis=1), ids[np.argmin(far, axis=1)], form.NO_VEHICLE)


def _following(v: Vehicles, preceding: np.ndarray, bumpers: np.ndarray) -> dict[str, np.ndarray]:
    """Distance, time gap and time to collision; negative where the distance grows."""
    follows = preceding != form.NO_VEHICLE
    leader = np.argmax(v.ids[None, :] == preceding[:, None], axis=1)
    dhw = np.where(follows, bumpers[np.arange(len(leader)), leader], 0.0)
    closing = np.where(follows, v.speed - v.speed[leader], 0.0)
    return {
        "dhw": dhw,
        "thw": np.divide(dhw, np.abs(v.speed), out=np.zeros_like(dhw), where=v.speed != 0),
        "ttc": np.divide(dhw, closing, out=np.zeros_like(dhw), where=closing != 0),
        "precedingXVelocity": np.where(follows, v.speed[leader], 0.0),
    }
