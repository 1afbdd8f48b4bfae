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

from icl_core.artifacts import RECORDED
from icl_core.demonstrations.recordings.csv_tables import write_csv
from icl_core.demonstrations.recordings.exid import format as form
from icl_core.demonstrations.recordings.exid.roads import ROADS, map_text
from icl_core.demonstrations.recordings.exid.tables import recording_tables
from icl_core.demonstrations.recordings.tracks import MARK, PARTS, csv_path, source_of
from icl_core.disk import atomic
from icl_core.errors import InputError
from icl_core.randomness import generator
from icl_core.settings import SEED, check, plain, setting


@dataclass(frozen=True)
class Settings:
    """How much is simulated; the defaults give about 1,000 single lane changes."""

    recordings: tuple[int, ...] = setting(
        (1, 5, 30, 61, 75),
        "numbers of the recordings, XX in the names of files",
        at_least=0,
        at_most=9999,
        each_once=True,
    )
    vehicles: int = setting(280, "vehicles in each recording", at_least=1, at_most=10_000)
    seed: int = setting(0, "seed of the drivers", **SEED)


def simulate(
    folder: str | os.PathLike, settings: Settings, progress: Callable[[int], None] | None = None
) -> None:
    """Write the recordings' CSV files, their maps and, beside them, how they came about.

    `progress` is given how many of `simulation_steps(settings)` vehicles have passed. The files
    appear together at the end, the mark first, so that simulated rows cannot pass for recorded
    ones.
    """
    from icl_core.demonstrations.recordings.exid.traffic import drive

    check(Settings, plain(settings), "simulation")
    folder = Path(folder)
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
                write_csv(add(csv_path(folder, recording, part)), table)
            path = folder / form.MAP_FOLDER / f"{road.location}_simulated.osm"
            if path not in written:
                add(path).write_text(map_text(road), encoding="utf-8")
        text = json.dumps(_description(settings), indent=2)
        add(folder / MARK).write_text(text + "\n", encoding="utf-8")
        _remove_others(folder, written)


def simulation_steps(settings: Settings) -> int:
    """How many vehicles pass in all, for a progress."""
    return len(settings.recordings) * settings.vehicles


def _check_folder(folder: Path) -> None:
    """Never write among recordings that were not simulated: they may be the only copy."""
    if source_of(folder) == RECORDED and any(folder.glob("*_tracks.csv")):
        raise InputError(
            f"{folder}: expected a folder without recordings or with simulated ones, found CSV "
            f"files without {MARK}; name another folder"
        )


def _remove_others(folder: Path, written: set[Path]) -> None:
    """Remove what an earlier simulation with other recordings left."""
    pattern = re.compile(rf"\d+_({'|'.join(PARTS)})\.csv|\d+_simulated\.osm")
    for place in (folder, folder / form.MAP_FOLDER):
        for path in place.iterdir():
            if pattern.fullmatch(path.name) and path not in written:
                path.unlink()


def _from(progress: Callable[[int], None] | None, done: int) -> Callable[[int], None]:
    def report(passed: int) -> None:
        if progress is not None:
            progress(done + passed)

    return report


def _description(settings: Settings) -> dict:
    return {
        "format": "ExiD",
        "simulator": {"highway-env": metadata.version("highway-env")},
        "seed": settings.seed,
        "settings": asdict(settings),
    }
