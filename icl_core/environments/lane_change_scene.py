"""The lane changes that the ExiD world replays, as a Parquet file: one row per change.

All geometry is done when the file is made (`demonstrations.recordings.exid.scene`), so
that a step of the world is arithmetic. In each frame a vehicle's place is one
number, its lateral offset l in metres, to the right positive, and the file says how
the signed distance d to the target lane's centre line follows from it:

- perpendicular: d = distance + slope * l, with l measured from the start lane's centre
  line. `distance` is the target line's place seen from that line, `slope` is the cosine
  between the normals of the two (1 where they are parallel).
- the authors': |d| is the length of (along, across + l), where l is the way to the right
  since the first frame and `along` the longitudinal part that leaks into the distance;
  the sign is that of side + side_slope * l.

`lateral` and `authors_lateral` are the recorded l of the two.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icl_core.artifacts import RECORDED, SIMULATED, SOURCE, read_table, remedy
from icl_core.errors import InputError

FRAME_RATE = 25.0  # frames per second of all recordings; a step of the world is a frame
FARTHEST_START = 6.0  # metres; lane changes that start farther from their target are not used
FRAME_COLUMNS = (
    "lateral",
    "distance",
    "slope",
    "authors_lateral",
    "along",
    "across",
    "side",
    "side_slope",
)
SCHEMA = pa.schema(
    {
        "recording": pa.int32(),
        "track": pa.int32(),
        "start_lanelet": pa.int64(),
        "target_lanelet": pa.int64(),
        "start_frame": pa.int32(),
        **{name: pa.list_(pa.float64()) for name in FRAME_COLUMNS},  # one number per frame
    }
)
VIEW = b"view"  # the surroundings of one lane change, for Figure 15, as JSON


@dataclass(frozen=True)
class Scene:
    """A scene file in memory: the frames of all lane changes one behind the other."""

    recording: np.ndarray  # (changes,) ascending
    offsets: np.ndarray  # (changes + 1,) where the frames of each begin
    frames: dict[str, np.ndarray]  # each of FRAME_COLUMNS, (frames,)
    source: str
    view: dict  # see `demonstrations.recordings.exid.scene`

    def __len__(self) -> int:
        return len(self.recording)


def read_scene(path: str | os.PathLike) -> Scene:
    """The scene at `path`; InputError where it is not one."""
    table = read_table(path, SCHEMA).combine_chunks()
    _expect(table.num_rows > 0, path, "at least one lane change", "none")
    lengths = pc.list_value_length(table["lateral"]).to_numpy()
    short = np.flatnonzero(lengths < 2)
    _expect(not len(short), path, "at least two frames in each lane change", f"row {short[:1]}")
    frames = {}
    for name in FRAME_COLUMNS:
        same = np.array_equal(pc.list_value_length(table[name]).to_numpy(), lengths)
        _expect(same, path, f"as many frames in {name!r} as in 'lateral'", "other lengths")
        frames[name] = pc.list_flatten(table[name]).to_numpy()
        finite = np.isfinite(frames[name]).all() and len(frames[name]) == lengths.sum()
        _expect(finite, path, f"finite numbers in {name!r}", "undefined ones")
    recording = table["recording"].to_numpy()
    ordered = bool(np.all(np.diff(recording) >= 0))
    _expect(ordered, path, "rows in order of recording", "another order")
    metadata = table.schema.metadata or {}
    source = metadata.get(SOURCE, b"").decode()
    _expect(source in (SIMULATED, RECORDED), path, "a source in its metadata", repr(source))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    view = json.loads(metadata.get(VIEW, b"{}"))
    return Scene(recording, offsets, frames, source, view)


def _expect(right: bool, path: str | os.PathLike, expected: str, found: str) -> None:
    if not right:
        raise InputError(f"{path}: expected {expected}, found {found}; {remedy(path)}")
