"""Recordings, tracks and their meta rows: what is alike for HighD and ExiD."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.artifacts import RECORDED, SIMULATED, SOURCE, write_table
from icl_core.demonstrations.recordings.csv_tables import CsvFile
from icl_core.demonstrations.recordings.plausible import FRAME_RATES, MOTION_TOLERANCE
from icl_core.errors import InputError
from icl_core.settings import PATH, POSITIVE, setting

MARK = "SIMULATED.json"  # beside the CSV files of a simulated recording: how it came about
PARTS = ("recordingMeta", "tracksMeta", "tracks")  # a recording's three CSV files
TABLES = ("tracks", "vehicles", "recordings")  # what is read of them
LARGEST = float(np.finfo(np.float32).max)
SIZE_ROOM = 0.02  # [m] sizes may differ by: both files are rounded to centimetres

_NAME = re.compile(rf"(\d+)_({'|'.join(PARTS)})\.csv")


@dataclass(frozen=True)
class RecordingsSettings:
    """Which recordings a world is made from."""

    recordings: str | None = setting(
        None, "the folder of your own copy (data/README.md); null: simulated", **PATH
    )
    numbers: tuple[int, ...] | None = setting(
        None,
        "which of its recordings; null: all that are there",
        at_least=0,
        at_most=9999,
        each_once=True,
    )
    motion_tolerance: float | None = setting(
        MOTION_TOLERANCE,
        "how far velocities may be from the change of positions, as a share of the speed; null: "
        "velocities and accelerations are not checked",
        **POSITIVE,
    )

    def conflict(self) -> str:
        """The simulation says by itself which recordings it makes."""
        if self.recordings is not None or self.numbers is None:
            return ""
        return (
            f"numbers: expected null where recordings are simulated, found {list(self.numbers)}; "
            "name the folder of your own recordings, or leave the numbers out"
        )


def source_of(folder: str | os.PathLike) -> str:
    """Whether a folder's recordings are simulated, as their mark says, or recorded."""
    return SIMULATED if (Path(folder) / MARK).is_file() else RECORDED


def csv_path(folder: str | os.PathLike, recording: int, part: str) -> Path:
    """Where one of a recording's three files is written."""
    return Path(folder) / f"{recording:02d}_{part}.csv"


def find_files(
    folder: str | os.PathLike, wanted: Collection[int] | None, data_set: str
) -> dict[int, dict[str, Path]]:
    """{number: {part: path}} of a folder's recordings, or of those that are wanted.

    In the order of numbers; an InputError where one of the three files of a recording is missing.
    """
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
            f"{folder}: expected {data_set}'s files XX_tracks.csv, XX_tracksMeta.csv and "
            f"XX_recordingMeta.csv, found {what}; name the folder that holds them"
        )
    numbers = sorted(found if wanted is None else set(wanted))
    for number in numbers:
        _check_complete(folder, number, found)
    return {number: found[number] for number in numbers}


def _check_complete(folder: Path, number: int, found: dict[int, dict[str, Path]]) -> None:
    if number not in found:
        there = ", ".join(str(n) for n in sorted(found))
        raise InputError(
            f"{folder}: expected recording {number}, found the recordings {there}; "
            "correct the number or add its files"
        )
    for part in PARTS:
        if part not in found[number]:
            stem = next(iter(found[number].values())).name.partition("_")[0]
            raise InputError(
                f"{folder / f'{stem}_{part}.csv'}: expected all three files of recording "
                f"{number}, found no such file; add it or remove the recording"
            )


@dataclass(frozen=True)
class Recordings:
    """What was read of one or several recordings, sorted by their keys."""

    tracks: pa.Table
    vehicles: pa.Table
    recordings: pa.Table
    source: str  # SIMULATED or RECORDED


def joined(parts: Sequence[Mapping[str, pa.Table]], folder: str | os.PathLike) -> Recordings:
    """The tables of each of a folder's recordings, one below the other."""
    _check_different([one["tracks"] for one in parts], folder)
    tables = {
        name: pa.concat_tables([one[name] for one in parts]).combine_chunks() for name in TABLES
    }
    return Recordings(**tables, source=source_of(folder))


def _check_different(tracks: Sequence[pa.Table], folder: str | os.PathLike) -> None:
    """No recording is there a second time, under another number: it would count twice."""
    known: dict[bytes, int] = {}
    for table in tracks if len(tracks) > 1 else ():
        number = table["recording"][0].as_py()
        places = [table[name].to_numpy().tobytes() for name in ("frame", "x", "y")]
        content = hashlib.sha256(b"".join(places)).digest()
        if content in known:
            raise InputError(
                f"{Path(folder)}: expected each recording once, found the tracks of recording "
                f"{known[content]} as recording {number} again; leave one of them out"
            )
        known[content] = number


def write_recordings(folder: str | os.PathLike, read: Recordings, provenance: Mapping) -> None:
    """Write tracks.parquet, vehicles.parquet and recordings.parquet.

    Their source stands in the schema's metadata.
    """
    for name in TABLES:
        described = getattr(read, name).replace_schema_metadata({SOURCE: read.source.encode()})
        write_table(Path(folder) / f"{name}.parquet", described, provenance)


def recording_row(file: CsvFile, number: int, key: str) -> dict:
    """The one row of recordingMeta, with the recording's number in the column `key`."""
    table = file.read()
    if table.num_rows != 1:
        raise file.fault(
            "one row, that of the recording",
            f"{table.num_rows}",
            "keep the row of this recording only",
            1,
        )
    (row,) = table.to_pylist()
    file.check([row[key] == number], key, f"{number} as in the file's name", "rename the file")
    slowest, fastest = FRAME_RATES
    right = slowest <= row["frameRate"] <= fastest
    expected = f"a rate from {slowest:g} to {fastest:g} frames per second"
    file.check([right], "frameRate", expected, "correct the cell")
    return row


def check_once(file: CsvFile, numbers: np.ndarray, column: str, expected: str, advice: str) -> None:
    """No number stands in a second row."""
    _, first = np.unique(numbers, return_index=True)
    once = np.isin(np.arange(len(numbers)), first)
    file.check(once, column, expected, advice)


def place_in_meta(numbers: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row of tracksMeta that has each number, and whether there is one at all."""
    order = np.argsort(known)
    place = np.searchsorted(known, numbers, sorter=order)
    row = order[np.minimum(place, len(order) - 1)]
    return row, known[row] == numbers


def narrowed(
    file: CsvFile, columns: Mapping[str, np.ndarray], kept: pa.Schema, theirs: Mapping, start: int
) -> dict[str, np.ndarray]:
    """A block's columns in the types that are kept, its first row the file's `start`.

    `theirs` are the names of columns in the file, where they are others. A number that single
    precision cannot hold is a fault.
    """
    with np.errstate(over="ignore"):
        narrow = {
            name: values.astype(kept.field(name).type.to_pandas_dtype())
            for name, values in columns.items()
        }
    for name, values in narrow.items():
        if values.dtype.kind == "f" and not (right := np.isfinite(values)).all():
            rows = start + np.arange(len(values))
            column, expected = theirs.get(name, name), f"a number of at most {LARGEST:.2g}"
            file.check(right, column, expected, "correct the cell", rows)
    return narrow


def joined_blocks(
    file: CsvFile, blocks: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """The columns of all blocks of a file one behind the other."""
    found = (
        {name: np.concatenate([b[name] for b in blocks]) for name in blocks[0]} if blocks else {}
    )
    if not any(map(len, found.values())):
        raise file.fault("at least one row of data", "none", "restore the file or leave it out")
    return found


@dataclass(frozen=True)
class Spans:
    """Where each track stands among the rows sorted by vehicle and frame, arrays (vehicles,)."""

    vehicle: np.ndarray
    first: np.ndarray  # row
    last: np.ndarray  # row
    first_frame: np.ndarray
    last_frame: np.ndarray


def check_frames(file: CsvFile, vehicle: np.ndarray, frame: np.ndarray, rows: np.ndarray) -> Spans:
    """Each track has every frame from its first to its last once; sorted by vehicle and frame."""
    new = np.diff(vehicle, prepend=vehicle[0] - 1) != 0
    step = np.diff(frame, prepend=frame[0])
    wrong = np.flatnonzero(~new & (step != 1))
    if len(wrong):
        k = wrong[np.argmin(rows[wrong])]
        before = f"(line {file.line(int(rows[k - 1]))})"
        if step[k] == 0:
            expected = f"frame {frame[k]} of vehicle {vehicle[k]} once {before}"
            found, advice = "it a second time", "delete one of the rows"
        else:
            expected = f"frame {frame[k - 1] + 1} of vehicle {vehicle[k]} after its last {before}"
            found, advice = f"frame {frame[k]}", "restore the missing rows or cut the track"
        raise file.fault(expected, found, advice, int(rows[k]), "frame")
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(frame)) - 1
    return Spans(vehicle[first], first, last, frame[first], frame[last])


def check_spans(file: CsvFile, meta: Mapping[str, np.ndarray], spans: Spans, key: str) -> None:
    """tracksMeta, whose column `key` numbers the tracks, against the tracks that there are."""
    has_track = np.isin(meta[key], spans.vehicle)
    advice = "delete the row or restore the track"
    file.check(has_track, key, "a track with rows in tracks", advice)
    track = np.searchsorted(spans.vehicle, meta[key])
    true = {
        "initialFrame": spans.first_frame[track],
        "finalFrame": spans.last_frame[track],
        "numFrames": (spans.last - spans.first + 1)[track],
    }
    for name, values in true.items():
        wrong = meta[name] != values
        if wrong.any():
            expected = f"{values[np.argmax(wrong)]} as in the track"
            file.check(~wrong, name, expected, "correct the cell or restore the track")
