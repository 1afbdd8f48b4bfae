"""What must agree within and between the files of a HighD recording.

Each check tells the first fault with file, line and column (`csv_tables`); rows are counted
in the order of the file, whatever order the values were sorted into.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from icl_core.demonstrations.recordings import highd_format as form
from icl_core.demonstrations.recordings.csv_tables import CsvFile
from icl_core.demonstrations.recordings.spans import (
    SIZE_ROOM,
    Spans,
    check_once,
    place_in_meta,
)

MOVED = 1.0  # [m] beyond which a track's direction is beyond doubt


def check_meta(file: CsvFile, meta: Mapping[str, np.ndarray]) -> None:
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


def check_rows(
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


def check_directions(
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
