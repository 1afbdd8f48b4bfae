"""What must agree within and between the files of an ExiD recording.

Each check tells the first fault with file, line and column (`csv_tables`); rows are counted
in the order of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings import exid_format as form
from icl_core.demonstrations.recordings.csv_tables import CsvFile
from icl_core.demonstrations.recordings.spans import SIZE_ROOM, check_once, place_in_meta

OTHER_SIZES = 0  # the location at which tracksMeta has other sizes than tracks


def check_meta(file: CsvFile, meta: Mapping[str, np.ndarray], number: int) -> None:
    """tracksMeta by itself."""
    expected = f"{number} as in the file's name"
    file.check(meta["recordingId"] == number, "recordingId", expected, "rename the file")
    advice = "delete the second row of this track"
    check_once(file, meta["trackId"], "trackId", "each track once", advice)
    for name in ("width", "length"):  # 0 for a pedestrian or a bicycle
        file.check(meta[name] >= 0, name, "a size of 0 or more", "correct the cell")


def check_rows(
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


def first_lanelets(file: CsvFile, cells: pa.Array, start: int) -> np.ndarray:
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
