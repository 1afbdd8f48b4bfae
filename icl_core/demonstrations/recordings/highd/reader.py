"""HighD recordings from CSV to Arrow tables: all that later stages use, and nothing unchecked.

The tables keep the frame of the files (metres, y down, both driving directions), but positions
are the centres of the boxes. Rows of the files may stand in any order. Where a vehicle follows
nobody, `preceding`, `dhw`, `thw` and `ttc` are 0, as in the files; `ttc` is negative where the
distance grows. A recording of full size (345,588 shuffled rows, 1,020 vehicles, 42 MB) takes
0.8 s of CPU on one core and 250 MB at its peak.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings import Recordings, joined
from icl_core.demonstrations.recordings import highd_checks as checks
from icl_core.demonstrations.recordings import highd_format as form
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
_NAME = re.compile(rf"(\d+)_({'|'.join(form.PARTS)})\.csv")


def read_highd(folder: str | os.PathLike, recordings: Collection[int] | None = None) -> Recordings:
    """All recordings of a folder, or those of the given numbers; InputError where one is faulty."""
    return joined(
        [_recording(number, files) for number, files in _files(folder, recordings).items()], folder
    )


def highd_files(folder: str | os.PathLike, recordings: Collection[int] | None = None) -> list[Path]:
    """The CSV files that `read_highd` reads, for a provenance."""
    return [path for files in _files(folder, recordings).values() for path in files.values()]


def _files(folder: str | os.PathLike, wanted: Collection[int] | None) -> dict[int, dict[str, Path]]:
    """{number: {part: path}}, in the order of numbers; all three parts of each."""
    folder = Path(folder)
    found: dict[int, dict[str, Path]] = {}
    for path in sorted(folder.glob("*.csv")):
        if match := _NAME.fullmatch(path.name):
            parts = found.setdefault(int(match[1]), {})
            if match[2] in parts:
                raise InputError(
                    f"{path}: expected each recording once, found {parts[match[2]].name} of the "
                    "same number; delete one of them"
                )
            parts[match[2]] = path
    if not found:
        what = "no recordings in it" if folder.is_dir() else "no such folder"
        raise InputError(
            f"{folder}: expected HighD's files XX_tracks.csv, XX_tracksMeta.csv and "
            f"XX_recordingMeta.csv, found {what}; name the folder that holds them"
        )
    numbers = sorted(found if wanted is None else wanted)
    for number in numbers:
        _complete(folder, number, found)
    return {number: found[number] for number in numbers}


def _complete(folder: Path, number: int, found: dict[int, dict[str, Path]]) -> None:
    if number not in found:
        there = ", ".join(str(n) for n in sorted(found))
        raise InputError(
            f"{folder}: expected recording {number}, found the recordings {there}; "
            "correct the number or add its files"
        )
    for part in form.PARTS:
        if part not in found[number]:
            stem = next(iter(found[number].values())).name.partition("_")[0]
            raise InputError(
                f"{folder / f'{stem}_{part}.csv'}: expected all three files of recording "
                f"{number}, found no such file; add it or remove the recording"
            )


def _recording(number: int, files: Mapping[str, Path]) -> dict[str, pa.Table]:
    recording_file = CsvFile(files["recordingMeta"], form.RECORDING_META)
    recording = _recording_row(recording_file, number)
    meta_file = CsvFile(files["tracksMeta"], form.TRACKS_META)
    meta = arrays(meta_file.read())
    checks.check_meta(meta_file, meta)
    tracks_file = CsvFile(files["tracks"], form.TRACKS, form.ALIASES)
    rows = _rows(tracks_file, meta)
    order = np.lexsort((rows["frame"], rows["vehicle"]))
    rows = {name: values[order] for name, values in rows.items()}
    spans = check_frames(tracks_file, rows["vehicle"], rows["frame"], order)
    check_spans(meta_file, meta, spans, "id")
    checks.check_directions(meta_file, meta, spans, rows["x"])
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
        checks.check_rows(file, columns, meta, start)
        centres = {
            "x": columns["x"] + columns["width"] / 2,
            "y": columns["y"] + columns["height"] / 2,
        }
        copied = {name: columns[theirs] for name, theirs in _COPIED.items()}
        narrow = {
            name: values.astype(TRACKS.field(name).type.to_pandas_dtype())
            for name, values in (centres | copied).items()
        }
        blocks.append(narrow)
        start += batch.num_rows
    return joined_blocks(file, blocks)


def _recording_row(file: CsvFile, number: int) -> pa.Table:
    row = recording_row(file, number, "id")
    markings = [checks.markings(file, f"{side}LaneMarkings", row) for side in ("upper", "lower")]
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
