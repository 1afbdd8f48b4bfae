"""ExiD recordings from CSV to Arrow tables: all that later stages use, and nothing unchecked.

Of ExiD's 39 columns those are read that are used: the data set's versions differ in the
others. Positions stay the centres of the boxes in local metres, y up (`format`).
Rows of the files may stand in any order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings.csv_tables import CsvFile, arrays, table_of
from icl_core.demonstrations.recordings.exid import format as form
from icl_core.demonstrations.recordings.plausible import MOTION_TOLERANCE, check_motion
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

OTHER_SIZES = 0  # the location at which tracksMeta has other sizes than tracks
RECORDINGS = pa.schema(
    {
        "recording": pa.int32(),
        "location": pa.int32(),
        "frame_rate": pa.float32(),  # [Hz]
        "duration": pa.float32(),  # [s]
        "x_utm_origin": pa.float64(),  # [m]
        "y_utm_origin": pa.float64(),
    }
)
VEHICLES = pa.schema(
    {
        "recording": pa.int32(),
        "track": pa.int32(),
        "first_frame": pa.int32(),
        "last_frame": pa.int32(),
        "width": pa.float32(),
        "length": pa.float32(),
        "kind": pa.string(),  # car, truck, van, ...
    }
)
TRACKS = pa.schema(
    {
        "recording": pa.int32(),
        "track": pa.int32(),
        "frame": pa.int32(),
        "x": pa.float64(),
        "y": pa.float64(),
        "heading": pa.float32(),  # [degrees]
        **dict.fromkeys(("width", "length"), pa.float32()),
        **dict.fromkeys(("vx", "vy", "ax", "ay"), pa.float32()),
        **dict.fromkeys(("lon_velocity", "lat_velocity"), pa.float32()),
        "lanelet": pa.int64(),  # the current one, -1 where there is none
        "lane_change": pa.bool_(),
    }
)
SCHEMAS = {"tracks": TRACKS, "vehicles": VEHICLES, "recordings": RECORDINGS}

# Columns of tracks.csv that are taken over as they are: {in our table: in the file}
_COPIED = {
    "track": "trackId",
    "frame": "frame",
    "x": "xCenter",
    "y": "yCenter",
    "heading": "heading",
    "width": "width",
    "length": "length",
    "vx": "xVelocity",
    "vy": "yVelocity",
    "ax": "xAcceleration",
    "ay": "yAcceleration",
    "lon_velocity": "lonVelocity",
    "lat_velocity": "latVelocity",
    "lane_change": "laneChange",
}
_TRACKS_READ = pa.schema(
    [form.TRACKS.field(name) for name in ("recordingId", *_COPIED.values(), "laneletId")]
)
# In the order of RECORDINGS
_RECORDING_COLUMNS = (
    "recordingId",
    "locationId",
    "frameRate",
    "duration",
    "xUtmOrigin",
    "yUtmOrigin",
)
_RECORDING_READ = pa.schema([form.RECORDING_META.field(name) for name in _RECORDING_COLUMNS])


def read(
    folder: str | os.PathLike,
    numbers: Collection[int] | None = None,
    motion_tolerance: float | None = MOTION_TOLERANCE,
) -> Recordings:
    """All recordings of a folder, or those of the given numbers; InputError where one is faulty."""
    found = find_files(folder, numbers, "ExiD")
    tables = [_recording(number, parts, motion_tolerance) for number, parts in found.items()]
    return joined(tables, folder)


def files(folder: str | os.PathLike, numbers: Collection[int] | None = None) -> list[Path]:
    """The CSV files that `read` reads, and the maps of their locations, for a provenance."""
    found = find_files(folder, numbers, "ExiD")
    rows = [
        recording_row(CsvFile(parts["recordingMeta"], _RECORDING_READ), number, "recordingId")
        for number, parts in found.items()
    ]
    maps = {form.find_map(folder, row["locationId"]) for row in rows}
    return [path for parts in found.values() for path in parts.values()] + sorted(maps)


def _recording(
    number: int, paths: Mapping[str, Path], motion_tolerance: float | None
) -> dict[str, pa.Table]:
    recording = _recording_row(CsvFile(paths["recordingMeta"], _RECORDING_READ), number)
    meta_file = CsvFile(paths["tracksMeta"], form.TRACKS_META)
    meta = arrays(meta_file.read())
    _check_meta(meta_file, meta, number)
    tracks_file = CsvFile(paths["tracks"], _TRACKS_READ)
    sizes_agree = recording["location"][0].as_py() != OTHER_SIZES
    rows = _rows(tracks_file, meta, number, sizes_agree)
    order = np.lexsort((rows["frame"], rows["track"]))
    rows = {name: values[order] for name, values in rows.items()}
    spans = check_frames(tracks_file, rows["track"], rows["frame"], order)
    check_spans(meta_file, meta, spans, "trackId")
    rate = recording["frame_rate"][0].as_py()
    check_motion(tracks_file, rows, spans.first, order, rate, motion_tolerance)
    tracks = {"recording": np.full(len(order), number), **rows}
    return {
        "tracks": table_of(tracks, TRACKS),
        "vehicles": _vehicles(number, meta, rows, spans),
        "recordings": recording,
    }


def _rows(
    file: CsvFile, meta: Mapping[str, np.ndarray], number: int, sizes_agree: bool
) -> dict[str, np.ndarray]:
    """The rows of all tracks in the order of the file, a narrow copy of each block of text."""
    blocks, start = [], 0
    for batch in file.batches():
        columns = arrays(batch.drop_columns(["laneletId"]))
        _check_rows(file, columns, meta, number, start, sizes_agree)
        copied = {name: columns[theirs] for name, theirs in _COPIED.items()}
        narrow = narrowed(file, copied, TRACKS, _COPIED, start)
        narrow["lanelet"] = _first_lanelets(file, batch["laneletId"], start)
        blocks.append(narrow)
        start += batch.num_rows
    return joined_blocks(file, blocks)


def _recording_row(file: CsvFile, number: int) -> pa.Table:
    row = recording_row(file, number, "recordingId")
    columns = [
        pa.array([value], kind) for value, kind in zip(row.values(), RECORDINGS.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=RECORDINGS)


def _vehicles(number: int, meta: Mapping, rows: Mapping, spans: Spans) -> pa.Table:
    """One row per track; sizes as in the track, since tracksMeta has others at one location."""
    kinds = dict(zip(meta["trackId"].tolist(), meta["class"], strict=True))
    columns = {
        "recording": np.full(len(spans.vehicle), number),
        "track": spans.vehicle,
        "first_frame": spans.first_frame,
        "last_frame": spans.last_frame,
        "width": rows["width"][spans.first],
        "length": rows["length"][spans.first],
        "kind": [kinds[track] for track in spans.vehicle.tolist()],
    }
    return table_of(columns, VEHICLES)


# What must agree within and between the files. Rows are counted in the order of the file.


def _check_meta(file: CsvFile, meta: Mapping[str, np.ndarray], number: int) -> None:
    """tracksMeta by itself."""
    expected = f"{number} as in the file's name"
    file.check(meta["recordingId"] == number, "recordingId", expected, "rename the file")
    advice = "delete the second row of this track"
    check_once(file, meta["trackId"], "trackId", "each track once", advice)
    for name in ("width", "length"):  # 0 for a pedestrian or a bicycle
        file.check(meta[name] >= 0, name, "a size of 0 or more", "correct the cell")


def _check_rows(
    file: CsvFile,
    columns: Mapping[str, np.ndarray],
    meta: Mapping[str, np.ndarray],
    number: int,
    start: int,
    sizes_agree: bool,
) -> None:
    """A block of tracks, its first row the file's `start`: known tracks with known sizes."""
    rows = start + np.arange(len(columns["trackId"]))
    expected = f"{number} as in the file's name"
    right = columns["recordingId"] == number
    file.check(right, "recordingId", expected, "take out the rows of others", rows)
    track, known = place_in_meta(columns["trackId"], meta["trackId"])
    advice = "add its row there or delete the track"
    file.check(known, "trackId", "a track that has a row in tracksMeta", advice, rows)
    for name in ("width", "length"):
        wanted = meta[name][track] if sizes_agree else columns[name]
        wrong = ~(np.abs(columns[name] - wanted) <= SIZE_ROOM) | (columns[name] < 0)
        if wrong.any():
            expected = f"the size of tracksMeta, {wanted[np.argmax(wrong)]:g}"
            if not sizes_agree:
                expected = "a size of 0 or more"
            file.check(~wrong, name, expected, "make the two files agree", rows)
    right = np.isin(columns["laneChange"], (0, 1))
    file.check(right, "laneChange", "0 or 1", "correct the cell", rows)


def _first_lanelets(file: CsvFile, cells: pa.Array, start: int) -> np.ndarray:
    """The first number of each list of lanelets; -1 where the list is empty."""
    lists = cells.dictionary_encode()  # few are different
    found = [_first(text) for text in lists.dictionary.to_pylist()]
    right = np.array([number is not None for number in found], dtype=bool)
    which = lists.indices.to_numpy()
    rows = start + np.arange(len(which))
    expected = f"whole numbers separated by {form.LISTS!r}"
    file.check(right[which], "laneletId", expected, "correct the cell", rows)
    return np.array(found, dtype=np.int64)[which]


def _first(text: str) -> int | None:
    """The first of a list of whole numbers, None where the text is none."""
    if not text.strip():
        return form.NO_LANELET
    numbers = [part.strip() for part in text.split(form.LISTS)]
    right = all(re.fullmatch(r"-?\d{1,18}", number) for number in numbers)
    return int(numbers[0]) if right else None
