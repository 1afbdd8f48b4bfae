"""From the tables of HighD recordings to a scene: a window of traffic and who may be the ego.

As the authors do: of each recording the window of frames that holds most complete
tracks; in it the vehicles that enter the view where it begins, and no others; as ego
candidates those of them that leave it where it ends. Vehicles that drive to the left
(direction 1) are turned by 180 degrees, so that all drive towards +x.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.artifacts import RECORDED, SOURCE, remedy
from icl_core.demonstrations.recordings.highd import format as form
from icl_core.demonstrations.recordings.tracks import MARK, TABLES
from icl_core.environments.traffic import Headway, Road, Scene
from icl_core.errors import InputError
from icl_core.settings import setting

MARKINGS = {form.LEFTWARD: "upper_markings", form.RIGHTWARD: "lower_markings"}


@dataclass(frozen=True)
class Settings:
    """What is cut out of a recording."""

    window: int = setting(
        5000, "frames of a recording that are used", at_least=2, at_most=10_000_000
    )
    directions: tuple[int, ...] = setting(
        (form.RIGHTWARD,),
        "2: who drives to the right, 1: to the left (then turned round)",
        choices=(form.LEFTWARD, form.RIGHTWARD),
        each_once=True,
    )
    entry: float = setting(
        0.1, "share of the view, at its beginning, in which a track must begin", above=0, below=1
    )
    goal: float = setting(
        0.1,
        "share of the view, at its end, in which a driver to learn from must arrive",
        above=0,
        below=1,
    )

    def __post_init__(self) -> None:
        if self.entry + self.goal > 1:
            raise InputError(
                "entry and goal of a HighD scene: expected shares of the view, together at most 1, "
                f"found {self.entry} and {self.goal}; make one smaller"
            )


def make_scene(
    tables: Mapping[str, pa.Table], folder: str | os.PathLike, settings: Settings
) -> pa.Table:
    """The scene of the recordings that were read from a folder of CSV files.

    `tables` are the reader's, by their names. Of simulated drivers the rule is known: it stands
    beside their CSV files.
    """
    mark = Path(folder, MARK)
    return scene_of(tables, settings, known_headway(mark) if mark.exists() else None)


def scene_of(
    tables: Mapping[str, pa.Table], settings: Settings, headway: Headway | None = None
) -> pa.Table:
    """The scene of all given recordings, to be written with `artifacts.write_table`.

    `headway` is the drivers' rule where it is known.
    """
    tracks, vehicles, recordings = (tables[name] for name in TABLES)
    rate = _frame_rate(recordings)
    roads: list[Road] = []
    parts = []
    for meta in recordings.to_pylist():
        recording = _Recording(meta, tracks, vehicles)
        start = recording.best_window(settings)
        found = 0
        for direction in sorted(set(settings.directions)):
            road, rows = recording.carriageway(direction, start, settings)
            if rows["ego"].any():
                rows["road"] = np.full(len(rows["x"]), len(roads))
                roads.append(road)
                parts.append(rows)
                found += 1
        if not found:
            raise _no_ego(meta["recording"], start, settings)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    source = (tracks.schema.metadata or {}).get(SOURCE, RECORDED.encode()).decode()
    scene = Scene(
        columns, tuple(roads), rate, settings.window, settings.goal, settings.entry, source, headway
    )
    return scene.table()


def known_headway(path: str | os.PathLike) -> Headway:
    """The rule that simulated drivers keep on average, from a simulation's `SIMULATED.json`."""
    try:
        rule = json.loads(Path(path).read_text(encoding="utf-8"))["headway_rule"]
        kinds = [kind for kind in rule.values() if isinstance(kind, dict)]
        shares = [kind["share"] for kind in kinds]
        # Each driver's numbers are drawn evenly between two bounds.
        means = [
            float(np.average([np.mean(kind[name]) for kind in kinds], weights=shares))
            for name in ("minimum_distance", "time_gap")
        ]
    except (OSError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise InputError(
            f"{path}: expected the drivers' rule under 'headway_rule' (share, minimum_distance and "
            f"time_gap of each kind), found none that can be read ({error!r}); {remedy(path)}"
        ) from error
    return Headway(*means)


def _frame_rate(recordings: pa.Table) -> float:
    rates = sorted(set(recordings["frame_rate"].to_pylist()))
    if len(rates) != 1:
        raise InputError(
            "recordings of a HighD scene: expected at least one, all of one frame rate, found "
            f"{', '.join(f'{rate:g} Hz' for rate in rates) or 'no recording'}; "
            "choose recordings that agree"
        )
    return float(rates[0])


def _no_ego(recording: int, start: int, settings: Settings) -> InputError:
    directions = " or ".join(map(str, sorted(set(settings.directions))))
    return InputError(
        f"recording {recording:02d}: expected a vehicle of direction {directions} that is seen "
        f"only within the frames {start} to {start + settings.window - 1}, enters in the first "
        f"{settings.entry:.0%} of the view and leaves in the last {settings.goal:.0%}, found none; "
        "choose another recording, a longer window or both directions"
    )


class _Recording:
    """One recording's columns in memory; `of_row` is the vehicle of each row of a track."""

    def __init__(self, meta: Mapping, tracks: pa.Table, vehicles: pa.Table):
        self.meta = meta
        number = meta["recording"]
        self.vehicles = _of_recording(vehicles, number, ("vehicle", "length", "width", "direction"))
        self.tracks = _of_recording(
            tracks, number, ("vehicle", "frame", "x", "y", "vx", "ax"), ordered=True
        )
        order = np.argsort(self.vehicles["vehicle"])
        self.vehicles = {name: column[order] for name, column in self.vehicles.items()}
        ids, self.first_row, self.rows = np.unique(
            self.tracks["vehicle"], return_index=True, return_counts=True
        )
        if not np.array_equal(ids, self.vehicles["vehicle"]):
            raise InputError(
                f"recording {number:02d}: expected tracks of just the vehicles in its list, found "
                f"{len(ids)} and {len(self.vehicles['vehicle'])} that differ; read the CSV anew"
            )
        self.of_row = np.repeat(np.arange(len(ids)), self.rows)
        self.last_row = self.first_row + self.rows - 1
        half = self.vehicles["length"][self.of_row] / 2
        # The view is what all boxes of the recording cover.
        self.left = float((self.tracks["x"] - half).min(initial=np.inf))
        self.right = float((self.tracks["x"] + half).max(initial=-np.inf))

    def inside(self, start: int, settings: Settings) -> np.ndarray:
        """Which vehicles are seen only within the window, (vehicles,) bool."""
        first, last = self.tracks["frame"][self.first_row], self.tracks["frame"][self.last_row]
        return (first >= start) & (last < start + settings.window) & (self.rows > 1)

    def best_window(self, settings: Settings) -> int:
        """The first frame of the window that holds most complete tracks; the earliest of equals."""
        wanted = np.isin(self.vehicles["direction"], settings.directions)
        starts = np.unique(self.tracks["frame"][self.first_row[wanted]])
        if not len(starts):
            return 0
        held = [np.count_nonzero(self.inside(start, settings) & wanted) for start in starts]
        return int(starts[np.argmax(held)])

    def carriageway(
        self, direction: int, start: int, settings: Settings
    ) -> tuple[Road, dict[str, np.ndarray]]:
        """One direction's road and the rows of the vehicles on it, turned towards +x."""
        forwards = 1 if direction == form.RIGHTWARD else -1
        length = self.right - self.left
        x = self.tracks["x"] - self.left if forwards > 0 else self.right - self.tracks["x"]
        entered = x[self.first_row] <= settings.entry * length
        arrived = x[self.last_row] >= (1 - settings.goal) * length
        kept = self.inside(start, settings) & (self.vehicles["direction"] == direction) & entered
        taken = kept[self.of_row]
        vehicle = self.of_row[taken]
        edge, markings = self._markings(direction, needed=bool(kept.any()))
        rows = {
            "vehicle": self.tracks["vehicle"][taken],
            "frame": self.tracks["frame"][taken] - start,
            "x": x[taken],
            "y": forwards * (edge - self.tracks["y"][taken]),  # the image's y points down
            "v": forwards * self.tracks["vx"][taken],
            "acc": forwards * self.tracks["ax"][taken],
            "length": self.vehicles["length"][vehicle],
            "width": self.vehicles["width"][vehicle],
            "ego": arrived[vehicle],
        }
        return Road(self.meta["recording"], direction, start, length, markings), rows

    def _markings(self, direction: int, needed: bool) -> tuple[float, tuple[float, ...]]:
        """The right edge in the image, and all markings by their distance from it."""
        markings = sorted(self.meta[MARKINGS[direction]])
        if len(markings) < 2:
            if not needed:
                return 0.0, (0.0, 1.0)
            raise InputError(
                f"recording {self.meta['recording']:02d}: expected two or more lane markings in "
                f"{MARKINGS[direction]}, found {len(markings)}; correct its recordingMeta.csv"
            )
        edge = markings[-1] if direction == form.RIGHTWARD else markings[0]
        return float(edge), tuple(sorted(abs(float(edge) - float(m)) for m in markings))


def _of_recording(
    table: pa.Table, number: int, names: tuple[str, ...], ordered: bool = False
) -> dict[str, np.ndarray]:
    """A recording's rows of some columns; `ordered`: by vehicle and frame."""
    of = table["recording"].to_numpy() == number
    columns = {name: table[name].to_numpy()[of] for name in names}
    if ordered:
        order = np.lexsort((columns["frame"], columns["vehicle"]))
        columns = {name: column[order] for name, column in columns.items()}
    return columns
