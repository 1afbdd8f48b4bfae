"""Recordings: small simulated ones, damaged or healthy, read and made into a scene."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from icl_core.demonstrations.recordings.csv_tables import write_csv
from icl_core.demonstrations.recordings.exid import reader as exid_reader
from icl_core.demonstrations.recordings.exid import scene as exid_scene
from icl_core.demonstrations.recordings.exid import simulation as exid
from icl_core.demonstrations.recordings.highd import reader as highd_reader
from icl_core.demonstrations.recordings.highd import scene as highd_scene
from icl_core.demonstrations.recordings.highd import simulation as highd
from icl_core.demonstrations.recordings.tracks import PARTS, TABLES, csv_path
from tests.campaign.cases import Kind, Place, Seen, accepted, choose, refused

Rng = np.random.Generator
MODULES = {"highd": (highd_reader, highd_scene), "exid": (exid_reader, exid_scene)}
PLACES = {"highd": ("x", "y"), "exid": ("xCenter", "yCenter")}
VELOCITIES = ("xVelocity", "yVelocity")
ID = {"highd": "id", "exid": "trackId"}
_FOLDER = tempfile.TemporaryDirectory(prefix="recordings-")


@cache
def simulated(seed: int) -> Path:
    """A recording of each data set."""
    folder = Path(_FOLDER.name, str(os.getpid()), str(seed))  # workers are copies of one process
    road = {"upstream": 100.0, "downstream": 60.0, "warm_up": 10.0}
    highd.simulate(folder / "highd", highd.Settings(frames=400, flow=0.4, seed=seed, **road))
    exid.simulate(folder / "exid", exid.Settings(recordings=(1,), vehicles=5, seed=seed))
    return folder


def scene(name: str, folder: Path) -> pa.Table:
    """All that is made of a folder of recordings."""
    reader, maker = MODULES[name]
    read = reader.read(folder)
    tables = {table: getattr(read, table) for table in TABLES}
    return maker.make_scene(tables, folder, maker.Settings())


def load(folder: Path, part: str) -> pa.Table:
    """A CSV file of recording 1."""
    return csv.read_csv(csv_path(folder, 1, part))


def put(folder: Path, part: str, table: pa.Table, name: str, values) -> pa.Table:
    """Write a file with other values in a column."""
    table = table.set_column(table.column_names.index(name), name, pa.array(values))
    write_csv(csv_path(folder, 1, part), table)
    return table


def factor(rng: Rng) -> float:
    """Of units: never near 1."""
    return float(choose(rng, (3.6, 1 / 3.6, 3.2808, 0.3048, 100, 0.01, 1000, 0.001, 2.237, -1)))


# ------------------------------------------------------------------ damages


def velocity_units(rng: Rng, name: str, folder: Path) -> str:
    table, by = load(folder, "tracks"), factor(rng)
    for column in VELOCITIES:
        table = put(folder, "tracks", table, column, table[column].to_numpy() * by)
    return f"velocities times {by:g}"


def place_units(rng: Rng, name: str, folder: Path) -> str:
    table, by = load(folder, "tracks"), factor(rng)
    for column in PLACES[name]:
        table = put(folder, "tracks", table, column, table[column].to_numpy() * by)
    return f"positions times {by:g}"


def all_units(rng: Rng, name: str, folder: Path) -> str:
    """Positions and velocities, as somebody would convert a whole file."""
    table, by, columns = load(folder, "tracks"), factor(rng), (*PLACES[name], *VELOCITIES)
    if rng.random() < 0.5:
        columns = (PLACES[name][0], VELOCITIES[0])
    for column in columns:
        table = put(folder, "tracks", table, column, table[column].to_numpy() * by)
    return f"{', '.join(columns)} times {by:g}"


def axes_swapped(rng: Rng, name: str, folder: Path) -> str:
    table = load(folder, "tracks")
    turned = {"x": "y", "y": "x"}
    names = [re.sub("^[xy]", lambda m: turned[m[0]], one) for one in table.column_names]
    write_csv(csv_path(folder, 1, "tracks"), table.rename_columns(names).select(table.column_names))
    return "axes swapped"


def missing_column(rng: Rng, name: str, folder: Path) -> str:
    columns = {
        "tracks": (ID[name], "frame", *PLACES[name], *VELOCITIES, "width"),
        "tracksMeta": (ID[name], "initialFrame", "finalFrame", "numFrames", "class"),
        "recordingMeta": ("frameRate", "locationId", "duration"),
    }
    part = choose(rng, PARTS)
    column = choose(rng, columns[part])
    table = load(folder, part)
    names = [one + "2" * (one == column) for one in table.column_names]
    renamed = rng.random() < 0.5
    table = table.rename_columns(names) if renamed else table.drop_columns([column])
    write_csv(csv_path(folder, 1, part), table)
    return f"{part} without {column}"


def rate(rng: Rng, name: str, folder: Path) -> str:
    table = load(folder, "recordingMeta")
    value = choose(rng, [50.0, 10.0, 12.5, 1e-9, 0.0, -25.0, float("nan"), 1e9, "fast", None])
    put(folder, "recordingMeta", table, "frameRate", [value])
    return f"a rate of {value}"


def lanes_elsewhere(rng: Rng, name: str, folder: Path) -> str:
    """Markings, or the origin of the map."""
    table = load(folder, "recordingMeta")
    if name == "exid":
        column = choose(rng, ("xUtmOrigin", "yUtmOrigin"))
        by = float(choose(rng, (-1, 1)) * 10 ** rng.uniform(1.5, 6))
        put(folder, "recordingMeta", table, column, table[column].to_numpy() + by)
        return f"{column} plus {by:.3g}"
    column = choose(rng, ("upperLaneMarkings", "lowerLaneMarkings"))
    found = [float(part) for part in str(table[column][0]).split(";")]
    shifted = [one + float(choose(rng, (-1, 1)) * rng.uniform(1.3, 2.4)) for one in found]
    bad = ["", "x;y", "nan;1", "1e308;2e308", ";".join(f"{one:g}" for one in reversed(found))]
    by = float(choose(rng, (-1, 1)) * rng.uniform(1.4, 2.3))
    bad += [";".join(f"{one + by:.2f}" for one in found), f"{shifted[0]:.2f}", "12"]
    text = choose(rng, bad)
    put(folder, "recordingMeta", table, column, [text])
    return f"{column} {text!r}"


def bad_cell(rng: Rng, name: str, folder: Path) -> str:
    """One cell that is no number, or one that cannot be."""
    path = csv_path(folder, 1, "tracks")
    lines = path.read_text().splitlines()
    header, at = lines[0].split(","), int(rng.integers(1, len(lines)))
    column = choose(rng, (ID[name], "frame", *PLACES[name], *VELOCITIES, "xAcceleration", "width"))
    value = choose(rng, ["nan", "inf", "-inf", "x", "", "1,5", "1e39", "99999999999", "0x1F", "é"])
    cells = lines[at].split(",")
    cells[header.index(column)] = value
    path.write_text("\n".join([*lines[:at], ",".join(cells), *lines[at + 1 :]]) + "\n")
    return f"{column} is {value!r} in row {at - 1}"


def cut(rng: Rng, name: str, folder: Path) -> str:
    """A file that ends too soon: its last row, at least, is not whole."""
    path = csv_path(folder, 1, choose(rng, PARTS))
    content = path.read_bytes()
    last = content.rstrip(b"\r\n").rfind(b"\n") + 1
    path.write_bytes(content[: int(rng.integers(last))])
    return f"{path.name} of {path.stat().st_size} bytes"


def rows_changed(rng: Rng, name: str, folder: Path) -> str:
    """A row twice, or one missing."""
    part = choose(rng, PARTS)
    path = csv_path(folder, 1, part)
    lines = path.read_text().splitlines()
    at = int(rng.integers(1, len(lines)))
    twice = rng.random() < 0.5
    lines[at : at + 1] = [lines[at]] * (2 * twice)
    path.write_text("\n".join(lines) + "\n")
    return f"{part}: row {at - 1} {'twice' if twice else 'missing'}"


def jump(rng: Rng, name: str, folder: Path) -> str:
    table, column = load(folder, "tracks"), choose(rng, PLACES[name])
    values = table[column].to_numpy().copy()
    at, by = int(rng.integers(len(values))), float(choose(rng, (-1, 1)) * rng.uniform(5, 500))
    values[at] += by
    put(folder, "tracks", table, column, values)
    return f"{column} jumps by {by:.3g} in row {at}"


def other_ids(rng: Rng, name: str, folder: Path) -> str:
    part = choose(rng, ("tracks", "tracksMeta"))
    table = load(folder, part)
    values = table[ID[name]].to_numpy().copy()
    values[int(rng.integers(len(values)))] += 1000
    put(folder, part, table, ID[name], values)
    return f"another vehicle in {part}"


def files_changed(rng: Rng, name: str, folder: Path) -> str:
    """A file that is missing, empty or that of another part; a map that is none."""
    paths = [csv_path(folder, 1, part) for part in PARTS]
    if name == "exid":
        paths += list(folder.rglob("*.osm"))
    path, way = choose(rng, paths), int(rng.integers(4))
    path.unlink()
    if way:
        texts = [b"", rng.bytes(300), b"<osm><node id='1'"]
        path.write_bytes(texts[way - 1])
    return f"{path.name}: {('missing', 'empty', 'noise', 'half an XML')[way]}"


DAMAGES = (
    *(velocity_units, place_units, all_units, axes_swapped, missing_column, rate, bad_cell),
    *(lanes_elsewhere, cut, rows_changed, jump, other_ids, files_changed),
)


def damaged(rng: Rng, place: Place) -> Seen:
    """A recording with one damage."""
    name, folder = choose(rng, [*MODULES]), place.folder / "mine"
    shutil.copytree(simulated(int(rng.integers(3))) / name, folder)
    damage = choose(rng, DAMAGES)
    drawn = f"{name}: {damage(rng, name, folder)}"
    return refused(drawn, lambda: scene(name, folder), "expected ")


def healthy(rng: Rng, place: Place) -> Seen:
    """Rows in any order."""
    name, folder = choose(rng, [*MODULES]), place.folder / "mine"
    shutil.copytree(simulated(int(rng.integers(3))) / name, folder)
    for part in ("tracks", "tracksMeta"):
        table = load(folder, part)
        write_csv(csv_path(folder, 1, part), table.take(rng.permutation(table.num_rows)))
    return accepted(f"{name}: healthy", lambda: scene(name, folder))


KINDS = (Kind("recordings", 200, damaged), Kind("healthy-recordings", 30, healthy))
