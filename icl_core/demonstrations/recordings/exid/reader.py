"""ExiD recordings from CSV to Arrow tables: all that later stages use, and nothing unchecked.

Of ExiD's 39 columns those are read that are used: the data set's versions differ in the
others. Positions stay the centres of the boxes in local metres, y up (`exid_format`).
Rows of the files may stand in any order.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings import Recordings, joined
from icl_core.demonstrations.recordings import exid_checks as checks
from icl_core.demonstrations.recordings import exid_format as form
from icl_core.demonstrations.recordings.csv_tables import CsvFile, arrays, table_of
from icl_core.demonstrations.recordings.spans import (
    check_frames,
    check_spans,
    joined_blocks,
    recording_row,
)
from icl_core.errors import InputError

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


def read_exid(folder: str | os.PathLike, recordings: Collection[int] | None = None) -> Recordings:
    """All recordings of a folder, or those of the given numbers; InputError where one is faulty."""
    return joined([_recording(folder, number) for number in _numbers(folder, recordings)], folder)


def exid_files(folder: str | os.PathLike, recordings: Collection[int] | None = None) -> list[Path]:
    """The CSV files that `read_exid` reads, for a provenance."""
    numbers = _numbers(folder, recordings)
    return [form.csv_path(folder, number, part) for number in numbers for part in form.PARTS]


def _numbers(folder: str | os.PathLike, wanted: Collection[int] | None) -> list[int]:
    found = form.recording_numbers(folder)
    for number in wanted or ():
        if number not in found:
            raise InputError(
                f"{folder}: expected recording {number}, found the recordings "
                f"{', '.join(map(str, found))}; correct the number or add its files"
            )
    return found if wanted is None else sorted(set(wanted))


def _recording(folder: str | os.PathLike, number: int) -> dict[str, pa.Table]:
    files = {part: form.csv_path(folder, number, part) for part in form.PARTS}
    recording = _recording_row(CsvFile(files["recordingMeta"], _RECORDING_READ), number)
    meta_file = CsvFile(files["tracksMeta"], form.TRACKS_META)
    meta = arrays(meta_file.read())
    checks.check_meta(meta_file, meta, number)
    tracks_file = CsvFile(files["tracks"], _TRACKS_READ)
    sizes_agree = recording["location"][0].as_py() != checks.OTHER_SIZES
    rows = _rows(tracks_file, meta, number, sizes_agree)
    order = np.lexsort((rows["frame"], rows["track"]))
    rows = {name: values[order] for name, values in rows.items()}
    spans = check_frames(tracks_file, rows["track"], rows["frame"], order)
    check_spans(meta_file, meta, spans, "trackId")
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
        checks.check_rows(file, columns, meta, number, start, sizes_agree)
        narrow = {
            name: columns[theirs].astype(TRACKS.field(name).type.to_pandas_dtype())
            for name, theirs in _COPIED.items()
        }
        narrow["lanelet"] = checks.first_lanelets(file, batch["laneletId"], start)
        blocks.append(narrow)
        start += batch.num_rows
    return joined_blocks(file, blocks)


def _recording_row(file: CsvFile, number: int) -> pa.Table:
    row = recording_row(file, number, "recordingId")
    columns = [
        pa.array([value], kind) for value, kind in zip(row.values(), RECORDINGS.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=RECORDINGS)


def _vehicles(number: int, meta: Mapping, rows: Mapping, spans) -> pa.Table:
    """One row a track; sizes as in the track, since tracksMeta has others at one location."""
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
