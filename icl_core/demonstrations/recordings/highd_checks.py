"""What must agree within and between the files of a HighD recording.

Each check tells the first fault with file, line and column (`csv_tables`); rows are counted
in the order of the file, whatever order the values were sorted into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from icl_core.demonstrations.recordings import highd_format as form
from icl_core.demonstrations.recordings.csv_tables import CsvFile

SIZE_ROOM = 0.02  # [m] sizes may differ by: both files are rounded to centimetres
MOVED = 1.0  # [m] beyond which a track's direction is beyond doubt


@dataclass(frozen=True)
class Spans:
    """Where each track stands among the rows sorted by vehicle and frame, arrays (vehicles,)."""

    vehicle: np.ndarray
    first: np.ndarray  # row
    last: np.ndarray  # row
    first_frame: np.ndarray
    last_frame: np.ndarray


def check_meta(file: CsvFile, meta: Mapping[str, np.ndarray]) -> None:
    """tracksMeta by itself."""
    ids = meta["id"]
    _, first = np.unique(ids, return_index=True)
    again = np.isin(np.arange(len(ids)), first)
    file.check(again, "id", "each vehicle once", "delete the second row of this id")
    for name in ("width", "height"):
        file.check(meta[name] > 0, name, "a size above 0", "correct the cell")
    directions = (form.LEFTWARD, form.RIGHTWARD)
    right = np.isin(meta["drivingDirection"], directions)
    expected = "1 (to the left) or 2 (to the right)"
    file.check(right, "drivingDirection", expected, "correct the cell")
    right = np.isin(meta["class"].astype(str), (form.CAR, form.TRUCK))
    file.check(right, "class", f"{form.CAR} or {form.TRUCK}", "correct the cell")


def check_rows(
    file: CsvFile, columns: Mapping[str, np.ndarray], meta: Mapping[str, np.ndarray], start: int
) -> None:
    """A block of tracks, its first row the file's `start`: known vehicles with known sizes."""
    rows = start + np.arange(len(columns["id"]))
    order = np.argsort(meta["id"])
    place = np.searchsorted(meta["id"], columns["id"], sorter=order)
    vehicle = order[np.minimum(place, len(order) - 1)]
    file.check(
        meta["id"][vehicle] == columns["id"],
        "id",
        "a vehicle that has a row in tracksMeta",
        "add its row there or delete its track",
        rows,
    )
    for name in ("width", "height"):
        wanted = meta[name][vehicle]
        wrong = np.abs(columns[name] - wanted) > SIZE_ROOM
        if wrong.any():
            size = wanted[np.argmax(wrong)]
            expected = f"the size of tracksMeta, {size:g}"
            file.check(~wrong, name, expected, "make the two files agree", rows)
    right = (columns["laneId"] >= 0) & (columns["laneId"] <= np.iinfo(np.int16).max)
    file.check(right, "laneId", "a lane's number", "correct the cell", rows)


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


def check_spans(file: CsvFile, meta: Mapping[str, np.ndarray], spans: Spans, x: np.ndarray) -> None:
    """tracksMeta against the tracks that there are."""
    has_track = np.isin(meta["id"], spans.vehicle)
    advice = "delete the row or restore the track"
    file.check(has_track, "id", "a vehicle with a track", advice)
    track = np.searchsorted(spans.vehicle, meta["id"])
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
    moved = (x[spans.last] - x[spans.first])[track]
    towards = np.where(moved > 0, form.RIGHTWARD, form.LEFTWARD)
    wrong = (np.abs(moved) > MOVED) & (meta["drivingDirection"] != towards)
    if wrong.any():
        expected = f"{towards[np.argmax(wrong)]}, the way in which the vehicle moves"
        file.check(~wrong, "drivingDirection", expected, "correct the cell")


def markings(file: CsvFile, column: str, row: Mapping) -> list[float]:
    """The lane markings of one side from top to bottom."""
    try:
        found = [float(part) for part in row[column].split(form.LISTS) if part.strip()]
    except ValueError:
        found = []
    right = len(found) >= 2 and bool(np.all(np.isfinite(found)) and np.all(np.diff(found) > 0))
    expected = f"two or more growing numbers, separated by {form.LISTS!r}"
    file.check([right], column, expected, "correct the cell")
    return found
