"""HighD recordings from CSV to Arrow tables: all that later stages use, and nothing unchecked.

The tables keep the frame of the files (metres, y down, both driving directions), but positions
are the centres of the boxes. Rows of the files may stand in any order. Where a vehicle follows
nobody, `preceding`, `dhw`, `thw` and `ttc` are 0, as in the files; `ttc` is negative where the
distance grows. A recording of full size (345,588 shuffled rows, 1,020 vehicles, 42 MB) takes
0.8 s of CPU on one core and 250 MB at its peak.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings.csv_tables import CsvFile, arrays, table_of
from icl_core.demonstrations.recordings.highd import format as form
from icl_core.demonstrations.recordings.plausible import (
    MOTION_TOLERANCE,
    SLOW,
    UNITS,
    check_motion,
)
from icl_core.demonstrations.recordings.tracks import (
    SIZE_ROOM,
    Recordings,
    Spans,
    check_frames,
    check_once,
    check_spans,
    find_files,
    joined,
    joined_blocks,
    narrowed,
    place_in_meta,
    recording_row,
)

MOVED = 1.0  # [m] beyond which a track's direction is beyond doubt
RECORDINGS = pa.schema(
    {
        "recording": pa.int32(),
        "location": pa.int32(),
        "frame_rate": pa.float32(),  # [Hz]
        "duration": pa.float32(),  # [s]
        "speed_limit": pa.float32(),  # [m/s], -1 where there is none
        "upper_markings": pa.list_(pa.float32()),  # y of the lane markings from top to bottom
        "lower_markings": pa.list_(pa.float32()),
    }
)
VEHICLES = pa.schema(
    {
        "recording": pa.int32(),
        "vehicle": pa.int32(),
        "length": pa.float32(),
        "width": pa.float32(),
        "first_frame": pa.int32(),
        "last_frame": pa.int32(),
        "kind": pa.string(),  # Car or Truck
        "direction": pa.int8(),  # 1 to the left, 2 to the right
    }
)
TRACKS = pa.schema(
    {
        "recording": pa.int32(),
        "vehicle": pa.int32(),
        "frame": pa.int32(),
        **dict.fromkeys(("x", "y", "vx", "vy", "ax", "ay"), pa.float32()),
        "lane": pa.int16(),
        "preceding": pa.int32(),  # vehicle, 0 where there is none
        **dict.fromkeys(("dhw", "thw", "ttc"), pa.float32()),
    }
)
SCHEMAS = {"tracks": TRACKS, "vehicles": VEHICLES, "recordings": RECORDINGS}

# Columns that are taken over as they are: {in our table: in the file}
_COPIED = {
    "frame": "frame",
    "vehicle": "id",
    "vx": "xVelocity",
    "vy": "yVelocity",
    "ax": "xAcceleration",
    "ay": "yAcceleration",
    "lane": "laneId",
    "preceding": "precedingId",
    "dhw": "dhw",
    "thw": "thw",
    "ttc": "ttc",
}


def read(
    folder: str | os.PathLike,
    numbers: Collection[int] | None = None,
    motion_tolerance: float | None = MOTION_TOLERANCE,
) -> Recordings:
    """All recordings of a folder, or those of the given numbers; InputError where one is faulty."""
    found = find_files(folder, numbers, "HighD")
    tables = [_recording(number, parts, motion_tolerance) for number, parts in found.items()]
    return joined(tables, folder)


def files(folder: str | os.PathLike, numbers: Collection[int] | None = None) -> list[Path]:
    """The CSV files that `read` reads, for a provenance."""
    found = find_files(folder, numbers, "HighD")
    return [path for parts in found.values() for path in parts.values()]


def _recording(
    number: int, paths: Mapping[str, Path], motion_tolerance: float | None
) -> dict[str, pa.Table]:
    recording_file = CsvFile(paths["recordingMeta"], form.RECORDING_META)
    recording = _recording_row(recording_file, number)
    meta_file = CsvFile(paths["tracksMeta"], form.TRACKS_META)
    meta = arrays(meta_file.read())
    _check_meta(meta_file, meta)
    tracks_file = CsvFile(paths["tracks"], form.TRACKS, form.ALIASES)
    rows = _rows(tracks_file, meta)
    order = np.lexsort((rows["frame"], rows["vehicle"]))
    rows = {name: values[order] for name, values in rows.items()}
    spans = check_frames(tracks_file, rows["vehicle"], rows["frame"], order)
    check_spans(meta_file, meta, spans, "id")
    _check_directions(meta_file, meta, spans, rows["x"])
    rate = recording["frame_rate"][0].as_py()
    check_motion(tracks_file, rows, spans.first, order, rate, motion_tolerance)
    _check_speeds(meta_file, meta, spans, rows["vx"], motion_tolerance)
    _check_headways(tracks_file, rows, order, motion_tolerance)
    tracks = {"recording": np.full(len(order), number), **rows}
    return {
        "tracks": table_of(tracks, TRACKS),
        "vehicles": _vehicles(number, meta),
        "recordings": recording,
    }


def _rows(file: CsvFile, meta: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The rows of all tracks in the order of the file, a narrow copy of each block of text."""
    blocks, start = [], 0
    for batch in file.batches():
        columns = arrays(batch)
        _check_rows(file, columns, meta, start)
        centres = {
            "x": columns["x"] + columns["width"] / 2,
            "y": columns["y"] + columns["height"] / 2,
        }
        copied = {name: columns[theirs] for name, theirs in _COPIED.items()}
        blocks.append(narrowed(file, centres | copied, TRACKS, _COPIED, start))
        start += batch.num_rows
    return joined_blocks(file, blocks)


def _recording_row(file: CsvFile, number: int) -> pa.Table:
    row = recording_row(file, number, "id")
    markings = [_markings(file, f"{side}LaneMarkings", row) for side in ("upper", "lower")]
    values = (
        number,
        row["locationId"],
        row["frameRate"],
        row["duration"],
        row["speedLimit"],
        *markings,
    )
    columns = [
        pa.array([value], kind) for value, kind in zip(values, RECORDINGS.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=RECORDINGS)


def _vehicles(number: int, meta: Mapping[str, np.ndarray]) -> pa.Table:
    order = np.argsort(meta["id"], kind="stable")
    names = ("id", "width", "height", "initialFrame", "finalFrame", "class", "drivingDirection")
    columns = [np.full(len(order), number), *(meta[name][order] for name in names)]
    return table_of(dict(zip(VEHICLES.names, columns, strict=True)), VEHICLES)


# What must agree within and between the files. Rows are counted in the order of the file, whatever
# order the values were sorted into.


def _check_meta(file: CsvFile, meta: Mapping[str, np.ndarray]) -> None:
    """tracksMeta by itself."""
    check_once(file, meta["id"], "id", "each vehicle once", "delete the second row of this id")
    for name in ("width", "height"):
        file.check(meta[name] > 0, name, "a size above 0", "correct the cell")
    directions = (form.LEFTWARD, form.RIGHTWARD)
    right = np.isin(meta["drivingDirection"], directions)
    expected = "1 (to the left) or 2 (to the right)"
    file.check(right, "drivingDirection", expected, "correct the cell")
    right = np.isin(meta["class"].astype(str), (form.CAR, form.TRUCK))
    file.check(right, "class", f"{form.CAR} or {form.TRUCK}", "correct the cell")


def _check_rows(
    file: CsvFile, columns: Mapping[str, np.ndarray], meta: Mapping[str, np.ndarray], start: int
) -> None:
    """A block of tracks, its first row the file's `start`: known vehicles with known sizes."""
    rows = start + np.arange(len(columns["id"]))
    vehicle, known = place_in_meta(columns["id"], meta["id"])
    advice = "add its row there or delete its track"
    file.check(known, "id", "a vehicle that has a row in tracksMeta", advice, rows)
    for name in ("width", "height"):
        wanted = meta[name][vehicle]
        wrong = np.abs(columns[name] - wanted) > SIZE_ROOM
        if wrong.any():
            size = wanted[np.argmax(wrong)]
            expected = f"the size of tracksMeta, {size:g}"
            file.check(~wrong, name, expected, "make the two files agree", rows)
    right = (columns["laneId"] >= 0) & (columns["laneId"] <= np.iinfo(np.int16).max)
    file.check(right, "laneId", "a lane's number", "correct the cell", rows)


def _check_directions(
    file: CsvFile, meta: Mapping[str, np.ndarray], spans: Spans, x: np.ndarray
) -> None:
    """tracksMeta's directions against the way in which the vehicles move."""
    track = np.searchsorted(spans.vehicle, meta["id"])
    moved = (x[spans.last] - x[spans.first])[track]
    towards = np.where(moved > 0, form.RIGHTWARD, form.LEFTWARD)
    wrong = (np.abs(moved) > MOVED) & (meta["drivingDirection"] != towards)
    if wrong.any():
        expected = f"{towards[np.argmax(wrong)]}, the way in which the vehicle moves"
        file.check(~wrong, "drivingDirection", expected, "correct the cell")


def _check_speeds(
    file: CsvFile,
    meta: Mapping[str, np.ndarray],
    spans: Spans,
    vx: np.ndarray,
    tolerance: float | None,
) -> None:
    """tracksMeta's mean speeds against the tracks: somebody may have converted one file alone."""
    if tolerance is None:
        return
    frames = spans.last - spans.first + 1
    track = np.searchsorted(spans.vehicle, meta["id"])
    speed = (np.add.reduceat(np.abs(vx, dtype=np.float64), spans.first) / frames)[track]
    wrong = np.abs(np.abs(meta["meanXVelocity"]) - speed) > tolerance * np.maximum(speed, SLOW)
    if wrong.any():
        expected = f"{speed[np.argmax(wrong)]:.4g}, the mean speed of the track"
        file.check(~wrong, "meanXVelocity", expected, UNITS)


def _check_headways(
    file: CsvFile, rows: Mapping[str, np.ndarray], order: np.ndarray, tolerance: float | None
) -> None:
    """Time gaps against distances: thw is dhw over the speed, whatever bumpers dhw is between."""
    if tolerance is None:
        return
    speed, dhw = np.abs(rows["vx"], dtype=np.float64), np.abs(rows["dhw"], dtype=np.float64)
    off = np.abs(np.abs(rows["thw"]) * speed - dhw)
    counts = (rows["preceding"] != form.NO_VEHICLE) & (speed > SLOW)
    wrong = counts & (off > tolerance * np.maximum(dhw, SLOW))
    if wrong.sum() > counts.sum() / 2:  # single rows may follow another frame's leader
        k = int(np.argmax(wrong))
        expected = f"{dhw[k] / speed[k]:.4g} s, the distance of dhw at the speed of xVelocity"
        raise file.fault(expected, f"{rows['thw'][k]:.4g} s", UNITS, int(order[k]), "thw")


def _markings(file: CsvFile, column: str, row: Mapping) -> list[float]:
    """The lane markings of one side from top to bottom."""
    try:
        found = [float(part) for part in row[column].split(form.LISTS) if part.strip()]
    except ValueError:
        found = []
    widths, (least, most) = np.diff(found), form.LANE_WIDTHS
    right = len(found) >= 2 and bool(np.all((widths >= least) & (widths <= most)))
    right = right and max(map(abs, found)) < form.FARTHEST_MARKING
    expected = (
        f"two or more growing numbers, {least:g} to {most:g} m apart, separated by {form.LISTS!r}"
    )
    file.check([right], column, expected, "correct the cell")
    return found
