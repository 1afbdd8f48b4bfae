"""From lane changes to the scene of the ExiD world: all geometry, done once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import shapely

from icl_core.artifacts import SOURCE
from icl_core.demonstrations.recordings.exid.format import find_map
from icl_core.demonstrations.recordings.exid.lane_changes import (
    CentreLine,
    LaneChange,
    containing_lanelet,
    find_lane_changes,
    right_of,
)
from icl_core.demonstrations.recordings.exid.maps import Lanelet, read_map
from icl_core.demonstrations.recordings.plausible import OFF_ROAD, Places, check_places, some_rows
from icl_core.demonstrations.recordings.tracks import source_of
from icl_core.environments.lane_change_scene import (
    FARTHEST_START,
    FRAME_COLUMNS,
    FRAME_RATE,
    SCHEMA,
    VIEW,
)
from icl_core.errors import InputError
from icl_core.settings import setting

AROUND = 60.0  # metres of map kept around the lane change that is drawn


@dataclass(frozen=True)
class Settings:
    """Which lane changes are used."""

    clear_target: bool = setting(False, "true: only lane changes into an empty lane")
    off_road: float = setting(
        OFF_ROAD,
        "largest share of positions that may lie off the map's lanes; 1: that is not checked",
        at_least=0,
        at_most=1,
    )


def make_scene(
    tables: Mapping[str, pa.Table], folder: str | os.PathLike, settings: Settings
) -> pa.Table:
    """The scene of the recordings that were read from a folder of CSV files, with its maps.

    `tables` are the reader's, by their names.
    """
    maps = {}
    for one in tables["recordings"].to_pylist():
        path, number = find_map(folder, one["location"]), one["recording"]
        maps[number] = read_map(path, one["x_utm_origin"], one["y_utm_origin"])
        if settings.off_road < 1:
            where = f"{Path(folder)}: recording {number:02d} on the map {path}"
            found = places(tables["tracks"], number, maps[number])
            check_places(where, found, settings.off_road)
    return scene_of(tables, maps, settings, source_of(folder), str(folder))


def places(tracks: pa.Table, recording: int, lanelets: Sequence[Lanelet]) -> Places:
    """Where some of a recording's vehicles are in their lanelets."""
    rows = some_rows(tracks, recording)
    x, y, track = (tracks[name].to_numpy()[rows] for name in ("x", "y", "track"))
    points = np.stack([x, y], axis=1)
    inside = containing_lanelet(points, [lanelet.polygon for lanelet in lanelets])
    off = np.full(len(rows), np.nan)
    for k in np.unique(inside[inside >= 0]):
        line = CentreLine(lanelets[k].centre_line)
        off[inside == k] = line.signed_distance(points[inside == k])
    return Places(track, off)


def scene_of(
    tables: Mapping[str, pa.Table],
    maps: Mapping[int, Sequence[Lanelet]],
    settings: Settings,
    source: str,
    where: str = "the recordings",
) -> pa.Table:
    """Find the lane changes and make their scene; `maps` are by recording.

    `source` is SIMULATED or RECORDED; `where` names the folder in an error.
    """
    recordings = tables["recordings"]
    numbers = recordings["recording"].to_pylist()
    for number, rate in zip(numbers, recordings["frame_rate"].to_pylist(), strict=True):
        if rate != FRAME_RATE:
            raise InputError(
                f"{where}: expected {FRAME_RATE:g} frames per second in recording {number}, "
                f"found {rate:g}; leave the recording out"
            )
        if not maps.get(number):
            raise InputError(
                f"{where}: expected a map with lanelets for recording {number}, found none; "
                "add the map of its location to maps/lanelet2"
            )
    changes = find_lane_changes(tables["tracks"], maps, settings.clear_target)
    return scene_of_changes(changes, maps, source, where)


def scene_of_changes(
    changes: Sequence[LaneChange],
    maps: Mapping[int, Sequence[Lanelet]],
    source: str,
    where: str = "the recordings",
) -> pa.Table:
    """The scene of the usable lane changes, a table of `SCHEMA` with its metadata."""
    described = [(change, {**perpendicular(change), **authors(change)}) for change in changes]
    usable = [(change, frames) for change, frames in described if _starts_near(frames)]
    if not usable:
        raise InputError(
            f"{where}: expected a vehicle that changes lane exactly once, from at most "
            f"{FARTHEST_START:g} m beside the target lane's centre line, and is seen to leave its "
            f"new lanelet, found {f'{len(changes)} from farther away' if changes else 'none'}; "
            "add recordings or check their maps"
        )
    rows: dict[str, list] = {name: [frames[name] for _, frames in usable] for name in FRAME_COLUMNS}
    kept = [change for change, _ in usable]
    rows["recording"] = [change.recording for change in kept]
    rows["track"] = [change.track for change in kept]
    rows["start_lanelet"] = [change.start.id for change in kept]
    rows["target_lanelet"] = [change.target.id for change in kept]
    rows["start_frame"] = [change.frames[0] for change in kept]
    schema = SCHEMA.with_metadata({SOURCE: source.encode(), VIEW: _view(kept, maps)})
    return pa.table({name: rows[name] for name in SCHEMA.names}, schema=schema)


def perpendicular(change: LaneChange) -> dict[str, np.ndarray]:
    """The default: d is the perpendicular distance, l the offset from the start lane's line.

    l begins as that offset and then adds up the recorded displacements across the road. d is
    linear in l about the recorded place, so that a replay gives exactly the recorded vehicle's
    distance; from any other l it is exact where the lines are straight.
    """
    start, target = CentreLine(change.start.centre_line), CentreLine(change.target.centre_line)
    progress, offset = start.locate(change.positions)
    across = start.smooth_normals(progress)
    lateral = np.cumsum([offset[0], *_sideways(change.positions, across)])
    progress, recorded = target.locate(change.positions)
    slope = np.sum(across * target.smooth_normals(progress), axis=1)
    return {"lateral": lateral, "distance": recorded - slope * lateral, "slope": slope}


def _sideways(positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """(n - 1,) displacement of each frame along the normal half-way between its two ends.

    With the normal of either end the vehicle would seem to drift out of, or into, every bend.
    """
    half_way = normals[1:] + normals[:-1]
    half_way /= np.hypot(*half_way.T)[:, None]
    return np.sum(np.diff(positions, axis=0) * half_way, axis=1)


def authors(change: LaneChange) -> dict[str, np.ndarray]:
    """The authors' distance, which is not measured straight across the lane.

    One direction e (of the start line's node nearest to the first position) serves for the
    whole change. The vehicle stands where the start line was one frame ago, and its distance
    is taken to the point of the target line that has the present progress, counted from the
    target line's own first node: a longitudinal part leaks in, and d rarely comes near 0.
    """
    start, target = CentreLine(change.start.centre_line), CentreLine(change.target.centre_line)
    moved = change.positions - change.positions[0]
    node = int(np.argmin(np.hypot(*(start.nodes - change.positions[0]).T)))
    e = start.directions[min(node, len(start.directions) - 1)]
    n = right_of(e)
    progress = start.progress[node] + moved @ e
    previous = np.concatenate([progress[:1], progress[:-1]])
    reference = start.at(previous) + (change.positions[0] - start.nodes[node])
    between = reference - target.at(progress)
    lateral = moved @ n
    places = reference + lateral[:, None] * n
    progress, recorded = target.locate(places)
    slope = target.normals(progress) @ n
    return {
        "authors_lateral": lateral,
        "along": between @ e,
        "across": between @ n,
        "side": recorded - slope * lateral,
        "side_slope": slope,
    }


def _starts_near(frames: Mapping[str, np.ndarray]) -> bool:
    distance = frames["distance"][0] + frames["slope"][0] * frames["lateral"][0]
    return bool(abs(distance) <= FARTHEST_START)


def _view(changes: Sequence[LaneChange], maps: Mapping[int, Sequence[Lanelet]]) -> bytes:
    """What Figure 15 draws: a lane change that was nearly completed, and the map around it."""
    closed = [_approach(change) for change in changes]
    # Not the very first of them: the extremes of recordings tend to be odd.
    chosen = int(np.argsort(closed, kind="stable")[round(0.9 * (len(closed) - 1))])
    change = changes[chosen]
    area = shapely.LineString(change.positions).buffer(AROUND).envelope
    near = [lane for lane in maps[change.recording] if lane.polygon.intersects(area)]
    view = {
        "change": chosen,
        "recording": change.recording,
        "track": change.track,
        "start": change.start.id,
        "target": change.target.id,
        "positions": _centimetres(change.positions),
        "target_line": _centimetres(change.target.centre_line),
        "lanelets": {str(lane.id): _centimetres(outline(lane)) for lane in near},
    }
    return json.dumps(view, sort_keys=True).encode()


def _approach(change: LaneChange) -> float:
    """Metres by which the vehicle came nearer to the target line."""
    first, last = CentreLine(change.target.centre_line).signed_distance(change.positions[[0, -1]])
    return float(abs(first) - abs(last))


def outline(lanelet: Lanelet) -> np.ndarray:
    """A lanelet's border, (n, 2): along the left boundary and back along the right."""
    return np.concatenate([lanelet.left, lanelet.right[::-1]])


def _centimetres(points: np.ndarray) -> list[list[float]]:
    return np.round(points, 2).tolist()
