"""Simulated recordings in the format of ExiD, for those who have no copy of the data set.

Each recording is of another road: three lanes on a bend of 400 m, with a Lanelet2 map.
Most drivers change to a neighbouring lane once, some never or over two lanes. How long
their stay in the two lanelets of the change is, from how far off the new lane they start
and how fast they move across is near what the authors' expert file shows.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from icl_core.artifacts import RECORDED, atomic
from icl_core.demonstrations.recordings import MARK, source_of
from icl_core.demonstrations.recordings import exid_format as form
from icl_core.demonstrations.recordings.csv_tables import write_csv
from icl_core.demonstrations.recordings.exid_map_writing import map_text
from icl_core.demonstrations.recordings.exid_roads import ROADS
from icl_core.demonstrations.recordings.exid_tables import ZONE, recording_tables
from icl_core.demonstrations.recordings.exid_traffic import drive
from icl_core.errors import InputError
from icl_core.randomness import generator


@dataclass(frozen=True)
class ExiDSimulationSettings:
    """How much is simulated; the defaults give about 1,000 single lane changes."""

    recordings: tuple[int, ...] = (1, 5, 30, 61, 75)  # their numbers, XX in the names of files
    vehicles: int = 280  # in each recording
    seed: int = 0


def simulate_exid(
    folder: str | os.PathLike,
    settings: ExiDSimulationSettings,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the recordings' CSV files, their maps and, beside them, how they came about.

    `progress` is told how many of `simulation_steps(settings)` vehicles have passed. The files
    appear together at the end, the mark first, lest simulated rows pass for recorded ones.
    """
    folder = Path(folder)
    _check_settings(settings)
    _check_folder(folder)
    with ExitStack() as stack:  # files are renamed in reverse order
        written = set()

        def add(path: Path) -> Path:
            written.add(path)
            return stack.enter_context(atomic(path))

        for k, recording in enumerate(settings.recordings):
            road = ROADS[k % len(ROADS)]
            rng = generator(settings.seed, "exid", recording)
            passed = drive(road, settings.vehicles, rng, _from(progress, k * settings.vehicles))
            for part, table in recording_tables(passed, road, recording).items():
                write_csv(add(form.csv_path(folder, recording, part)), table)
            path = folder / form.MAP_FOLDER / f"{road.location}_simulated.osm"
            if path not in written:
                add(path).write_text(map_text(road, ZONE), encoding="utf-8")
        text = json.dumps(_description(settings), indent=2)
        add(folder / MARK).write_text(text + "\n", encoding="utf-8")
        _remove_others(folder, written)


def simulation_steps(settings: ExiDSimulationSettings) -> int:
    """How many vehicles pass in all, for a progress."""
    return len(settings.recordings) * settings.vehicles


def _check_settings(settings: ExiDSimulationSettings) -> None:
    numbers = settings.recordings
    if settings.vehicles < 1 or not numbers or len(set(numbers)) < len(numbers) or min(numbers) < 0:
        raise InputError(
            "simulated ExiD recordings: expected at least one vehicle in each of one or more "
            f"recordings with different numbers, found {settings.vehicles} in {numbers}; "
            "correct the configuration"
        )


def _check_folder(folder: Path) -> None:
    """Never write among recordings that were not simulated: they may be the only copy."""
    if source_of(folder) == RECORDED and any(folder.glob("*_tracks.csv")):
        raise InputError(
            f"{folder}: expected a folder without recordings or with simulated ones, found CSV "
            f"files without {MARK}; name another folder"
        )


def _remove_others(folder: Path, written: set[Path]) -> None:
    """Remove what an earlier simulation with other recordings left."""
    pattern = re.compile(rf"\d+_({'|'.join(form.PARTS)})\.csv|\d+_simulated\.osm")
    for place in (folder, folder / form.MAP_FOLDER):
        for path in place.iterdir():
            if pattern.fullmatch(path.name) and path not in written:
                path.unlink()


def _from(progress: Callable | None, done: int) -> Callable[[int], None]:
    def tell(passed: int) -> None:
        if progress is not None:
            progress(done + passed)

    return tell


def _description(settings: ExiDSimulationSettings) -> dict:
    return {
        "format": "ExiD",
        "simulator": {"highway-env": metadata.version("highway-env")},
        "seed": settings.seed,
        "settings": asdict(settings),
    }
