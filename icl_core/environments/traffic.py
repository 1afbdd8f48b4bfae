"""Recorded traffic on a straight road, replayed frame by frame.

A scene is a Parquet table, one row for each vehicle and frame, in the coordinates of
its road: x in metres along the driving direction from where the camera's view begins,
y in metres to the left of the carriageway's right edge. What does not change from row
to row (the roads, the frame rate) stands as JSON in the schema's metadata.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from icl_core.artifacts import SOURCE, read_table, remedy
from icl_core.errors import InputError

SCENE_SCHEMA = pa.schema(
    {
        "road": pa.int16(),
        "vehicle": pa.int32(),  # its number in the recording
        "frame": pa.int32(),  # from the window's first frame, 0
        "x": pa.float32(),  # of the box's centre
        "y": pa.float32(),
        "v": pa.float32(),  # along the road
        "acc": pa.float32(),  # along the road
        "length": pa.float32(),
        "width": pa.float32(),
        "ego": pa.bool_(),  # whether an agent may take its place
    }
)
DETAILS = b"scene"  # key of the schema's metadata, beside SOURCE


@dataclass(frozen=True)
class Road:
    """One carriageway of one recording."""

    recording: int
    direction: int  # 1 or 2, as in the recording
    first_frame: int  # of the window, in the recording
    length: float  # metres in view
    markings: tuple[float, ...]  # y of the lane markings, from the right edge, 0, leftwards

    @property
    def width(self) -> float:
        return self.markings[-1]

    @property
    def lane_width(self) -> float:
        """Mean width of a lane."""
        return self.width / (len(self.markings) - 1)


@dataclass(frozen=True)
class Headway:
    """The rule that simulated drivers keep to: a smallest gap [m] and a time gap [s]."""

    minimum: float
    time: float

    def gap(self, speed: np.ndarray | float) -> np.ndarray | float:
        """The gap that is kept at a speed, bumper to bumper."""
        return self.minimum + self.time * speed


@dataclass(frozen=True)
class Scene:
    """A scene in memory: the columns of its table, in order of road, vehicle and frame."""

    columns: dict[str, np.ndarray]
    roads: tuple[Road, ...]
    frame_rate: float
    frames: int  # length of the window
    goal: float  # share of the view, at its end, that is the goal
    entry: float  # share of the view, at its beginning, where vehicles start
    source: str  # SIMULATED or RECORDED
    headway: Headway | None = None

    def table(self) -> pa.Table:
        """The scene as it is written."""
        details = {
            "roads": [asdict(road) for road in self.roads],
            **{name: getattr(self, name) for name in ("frame_rate", "frames", "goal", "entry")},
            "headway": asdict(self.headway) if self.headway else None,
        }
        text = json.dumps(details, sort_keys=True).encode()
        schema = SCENE_SCHEMA.with_metadata({DETAILS: text, SOURCE: self.source.encode()})
        columns = [pa.array(self.columns[field.name], field.type) for field in schema]
        return pa.Table.from_arrays(columns, schema=schema)


def read_scene(path: str | os.PathLike) -> Scene:
    """The scene at `path`; InputError where it is not one."""
    table = read_table(path, SCENE_SCHEMA)
    metadata = table.schema.metadata or {}
    try:
        details = json.loads(metadata[DETAILS])
        roads = [Road(**{**r, "markings": tuple(r["markings"])}) for r in details.pop("roads")]
        rule = details.pop("headway")
        scene = Scene(
            columns={name: table[name].to_numpy() for name in table.column_names},
            roads=tuple(roads),
            source=metadata[SOURCE].decode(),
            headway=Headway(**rule) if rule else None,
            **details,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: expected the roads of a scene in the metadata key 'scene', found none that "
            f"can be read ({error}); {remedy(path)}"
        ) from error
    if not scene.columns["ego"].any():
        raise InputError(
            f"{path}: expected a vehicle that an agent may drive, found none; {remedy(path)}"
        )
    return scene


class Tracks:
    """The vehicles of a scene, one entry each, and where their rows begin."""

    def __init__(self, scene: Scene):
        columns = scene.columns
        key = columns["road"].astype(np.int64) << 32 | columns["vehicle"].astype(np.int64)
        _, self.first_row, self.of_row = np.unique(key, return_index=True, return_inverse=True)
        self.rows = np.bincount(self.of_row)  # how many frames each is seen
        self.road = columns["road"][self.first_row].astype(np.int64)
        self.first_frame = columns["frame"][self.first_row].astype(np.int64)
        self.half_length = columns["length"][self.first_row].astype(np.float64) / 2
        self.width = columns["width"][self.first_row].astype(np.float64)
        self.egos = np.flatnonzero(columns["ego"][self.first_row])


class Places(NamedTuple):
    """Where egos are, all (n,)."""

    road: np.ndarray
    frame: np.ndarray
    own: np.ndarray  # the number of the recorded vehicle whose place the ego takes
    x: np.ndarray
    y: np.ndarray
    half_length: np.ndarray  # of the ego
    half_lane: np.ndarray


class Traffic:
    """Who is on a road in a frame, and how near the ego is to them.

    The vehicles present in a frame stand side by side in one row of an array, so that
    many episodes, each in a frame of its own, are looked up at once.
    """

    def __init__(self, scene: Scene, tracks: Tracks):
        columns = scene.columns
        self.frames = scene.frames
        row = columns["road"].astype(np.int64) * self.frames + columns["frame"]
        order = np.argsort(row, kind="stable")
        row = row[order]
        counts = np.bincount(row, minlength=len(scene.roads) * self.frames)
        slot = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        # One row more, which stays empty: all frames after the window. Nobody is at infinity.
        self._present = np.full((len(counts) + 1, 4, counts.max()), np.inf)
        self._present[:, 1] = 0.0
        vehicle = tracks.of_row[order]
        self._present[row, 0, slot] = columns["x"][order]
        self._present[row, 1, slot] = tracks.half_length[vehicle]
        self._present[row, 2, slot] = columns["y"][order]
        self._present[row, 3, slot] = vehicle

    def present(self, road: np.ndarray, frame: np.ndarray) -> np.ndarray:
        """(n, 4, slots): centre x (infinite: nobody), half length, y and number of each vehicle."""
        row = np.where(frame < self.frames, road * self.frames + frame, len(self._present) - 1)
        return self._present.take(row, axis=0)

    def ahead(self, egos: Places, centres: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Gap to the next vehicle ahead in the lane (-1: none), and whether there is a collision.

        A vehicle is in the ego's lane if its centre is at most half a lane's width to the
        side, and ahead if its centre is not behind the ego's. The gap is from bumper to
        bumper and never negative (`centres`: from centre to centre). Boxes in the lane that
        touch or overlap along the road are a collision.
        """
        present = self.present(egos.road, egos.frame)
        distance = present[:, 0] - egos.x[:, None]
        space = np.abs(distance) - (present[:, 1] + egos.half_length[:, None])
        in_lane = np.abs(present[:, 2] - egos.y[:, None]) <= egos.half_lane[:, None]
        in_lane &= present[:, 3] != egos.own[:, None]
        collision = (in_lane & (space <= 0)).any(axis=1)
        measured = distance if centres else np.maximum(space, 0.0)
        gap = np.where(in_lane & (distance >= 0), measured, np.inf).min(axis=1)
        return np.where(np.isinf(gap), -1.0, gap), collision
