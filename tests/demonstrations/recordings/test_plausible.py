"""Recordings that are well formed and wrong: units, signs, rates and places. Our own pass."""

import re
import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from icl_core.demonstrations.recordings.csv_tables import write_csv
from icl_core.demonstrations.recordings.exid import reader as exid_reader
from icl_core.demonstrations.recordings.exid import scene as exid_scene
from icl_core.demonstrations.recordings.exid import simulation as exid
from icl_core.demonstrations.recordings.highd import reader as highd_reader
from icl_core.demonstrations.recordings.highd import scene as highd_scene
from icl_core.demonstrations.recordings.highd import simulation as highd
from icl_core.demonstrations.recordings.tracks import PARTS, TABLES, csv_path
from icl_core.errors import InputError
from icl_core.settings import build

FOOT, KMH = 3.2808, 3.6
MODULES = {"highd": (highd_reader, highd_scene), "exid": (exid_reader, exid_scene)}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A recording of each data set."""
    folder = tmp_path_factory.mktemp("simulated")
    road = {"upstream": 100.0, "downstream": 60.0, "warm_up": 10.0}
    highd.simulate(folder / "highd", highd.Settings(frames=500, flow=0.4, **road))
    exid.simulate(folder / "exid", exid.Settings(recordings=(1, 5), vehicles=5))
    return folder


def scene(name, folder, motion_tolerance=0.1, **settings):
    """All that is made of a folder of recordings."""
    reader, maker = MODULES[name]
    read = reader.read(folder, None, motion_tolerance)
    tables = {table: getattr(read, table) for table in TABLES}
    return maker.make_scene(tables, folder, build(maker.Settings, settings))


def change(folder, part, number=1, **columns):
    """Give columns of a CSV file other values: what a function makes of them."""
    path = csv_path(folder, number, part)
    table = csv.read_csv(path)
    for name, new in columns.items():
        values = table[name].to_numpy(zero_copy_only=False)
        table = table.set_column(table.column_names.index(name), name, pa.array(new(values)))
    write_csv(path, table)


def times(factor):
    return lambda values: values * factor


def plus(shift):
    return lambda values: values + shift


def being(value):
    return lambda values: np.full(len(values), value)


def axes_swapped(folder):
    path = csv_path(folder, 1, "tracks")
    table = csv.read_csv(path)
    turned = {"x": "y", "y": "x"}
    names = [re.sub("^[xy]", lambda m: turned[m[0]], name) for name in table.column_names]
    write_csv(path, table.rename_columns(names).select(table.column_names))


def map_of_another_place(folder):
    first, other = (folder / f"maps/lanelet2/{k}_simulated.osm" for k in (1, 2))
    shutil.copy(other, first)


def map_of_another_zone(folder):
    path = folder / "maps/lanelet2/1_simulated.osm"
    text = path.read_text()
    path.write_text(re.sub(r'lon="(\d+)', lambda m: f'lon="{int(m[1]) + 5}', text))


def vehicle_turned_round(folder):
    """One vehicle of many has its velocities against its movement."""
    change(folder, "tracks", xVelocity=lambda v: np.where(np.arange(len(v)) < 60, -v, v))


def teleport(folder):
    change(folder, "tracks", x=lambda x: x + 9.0 * (np.arange(len(x)) == 30))


def x_stretched(folder):
    """All that lies along the road, in both files; time gaps stay what they were in metres."""
    change(folder, "tracks", **{k: times(1.6) for k in ("x", "xVelocity")})
    speeds = ("minXVelocity", "maxXVelocity", "meanXVelocity", "traveledDistance")
    change(folder, "tracksMeta", **{k: times(1.6) for k in speeds})


def markings(**sides):
    return {f"{side}LaneMarkings": being(text) for side, text in sides.items()}


MOTION, PLACE = "relax motion_tolerance", "relax scene.off_road"
RATE = "expected a rate from 5 to 60 frames per second"
MARKINGS = "two or more growing numbers, 2 to 8 m apart"
HIGHD = {
    "km/h": (dict(part="tracks", xVelocity=times(KMH), yVelocity=times(KMH)), MOTION),
    "feet": (dict(part="tracks", x=times(FOOT)), MOTION),
    "one file stretched": (
        dict(part="tracks", x=times(1.6), xVelocity=times(1.6)),
        "'meanXVelocity': expected",
    ),
    "both files stretched": (x_stretched, "'thw': expected"),
    "against": (dict(part="tracks", xVelocity=times(-1)), MOTION),
    "acceleration": (dict(part="tracks", xAcceleration=being(1e10)), "at most 50 m/s2 either way"),
    "beyond numbers": (dict(part="tracks", yAcceleration=being(1e300)), "at most 3.4e+38"),
    "mirrored": (dict(part="tracks", y=lambda y: 34.0 - y), PLACE),
    "upside down": (dict(part="tracks", y=times(-1), yVelocity=times(-1)), PLACE),
    "elsewhere": (dict(part="recordingMeta", **markings(lower="40.0;44.0;48.0")), PLACE),
    "beside": (dict(part="recordingMeta", **markings(lower="22.03;26.0;29.96")), PLACE),
    "1e308": (dict(part="recordingMeta", **markings(upper="7.68;11.89;1e308")), MARKINGS),
    "1e30": (dict(part="recordingMeta", **markings(upper="1e30;2e30;3e30")), MARKINGS),
    "50 Hz": (dict(part="recordingMeta", frameRate=being(50.0)), MOTION),
    "1e-9 Hz": (dict(part="recordingMeta", frameRate=being(1e-9)), RATE),
    "one vehicle": (vehicle_turned_round, MOTION),
    "teleport": (teleport, MOTION),
}
EXID = {
    "feet": (dict(part="tracks", xCenter=times(FOOT), yCenter=times(FOOT)), MOTION),
    "all in feet": (
        dict(
            part="tracks",
            **{k: times(FOOT) for k in ("xCenter", "yCenter", "xVelocity", "yVelocity")},
        ),
        PLACE,
    ),
    "km/h": (dict(part="tracks", xVelocity=times(KMH), yVelocity=times(KMH)), MOTION),
    "swapped": (axes_swapped, PLACE),
    "y down": (dict(part="tracks", yCenter=times(-1), yVelocity=times(-1)), PLACE),
    "3 m in x": (dict(part="recordingMeta", xUtmOrigin=plus(3.0)), PLACE),
    "3 m in y": (dict(part="recordingMeta", yUtmOrigin=plus(-3.0)), PLACE),
    "no origin": (
        dict(part="recordingMeta", xUtmOrigin=being(0.0), yUtmOrigin=being(0.0)),
        PLACE,
    ),
    "another place": (map_of_another_place, PLACE),
    "another zone": (map_of_another_zone, PLACE),
    "acceleration": (dict(part="tracks", yAcceleration=being(-1e10)), "at most 50 m/s2 either"),
    "1e-9 Hz": (dict(part="recordingMeta", frameRate=being(1e-9)), RATE),
}
FAULTS = [
    pytest.param(name, spoil, words, id=f"{name} {what}")
    for name, faults in (("highd", HIGHD), ("exid", EXID))
    for what, (spoil, words) in faults.items()
]


@pytest.mark.parametrize("name", MODULES)
def test_our_own_pass(simulated, name):
    assert scene(name, simulated / name).num_rows > 0


@pytest.mark.parametrize(("name", "spoil", "words"), FAULTS)
def test_a_fault_is_told(simulated, tmp_path, name, spoil, words):
    folder = tmp_path / name
    shutil.copytree(simulated / name, folder)
    if callable(spoil):
        spoil(folder)
    else:
        change(folder, **spoil)
    with pytest.raises(InputError) as error:
        scene(name, folder)
    text = str(error.value)
    assert text.startswith(str(folder)) and words in text and "\n" not in text
    assert "expected " in text and ", found " in text and "; " in text


@pytest.mark.parametrize(
    ("name", "spoil", "relaxed"),
    [
        ("highd", HIGHD["km/h"][0], {"motion_tolerance": None}),
        ("highd", HIGHD["km/h"][0], {"motion_tolerance": 3.0}),
        ("highd", HIGHD["acceleration"][0], {"motion_tolerance": None}),
        ("highd", HIGHD["beside"][0], {"off_road": 1.0}),
        ("exid", EXID["3 m in x"][0], {"off_road": 1.0}),
    ],
)
def test_a_check_can_be_relaxed(simulated, tmp_path, name, spoil, relaxed):
    folder = tmp_path / name
    shutil.copytree(simulated / name, folder)
    change(folder, **spoil)
    assert scene(name, folder, **relaxed).num_rows > 0


@pytest.mark.parametrize("name", MODULES)
def test_the_same_recording_under_another_number_is_told(simulated, tmp_path, name):
    folder = tmp_path / name
    shutil.copytree(simulated / name, folder)
    key = {"highd": ["id"], "exid": ["recordingId"]}[name]
    for part in PARTS:
        shutil.copy(csv_path(folder, 1, part), csv_path(folder, 7, part))
        if name == "exid" or part == "recordingMeta":
            change(folder, part, number=7, **{k: being(7) for k in key})
    with pytest.raises(InputError, match="expected each recording once, found the tracks of rec"):
        MODULES[name][0].read(folder)


# --- Every simulation ends


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        (highd, {"flow": float("inf")}),
        (highd, {"flow": 1e300}),
        (highd, {"frames": 10**15}),
        (highd, {"warm_up": 1e300}),
        (highd, {"upstream": 1e300}),
        (highd, {"downstream": 1e300}),
        (exid, {"vehicles": 10**15}),
        (exid, {"recordings": (10**15,)}),
    ],
)
def test_an_absurd_simulation_is_refused(tmp_path, module, settings):
    (key,) = settings
    with pytest.raises(InputError, match=rf"{key}: expected .* of at most \d+.*, found "):
        build(module.Settings, settings)
    with pytest.raises(InputError, match=f"key simulation.{key}: expected "):
        module.simulate(tmp_path, module.Settings(**settings))
    assert not list(tmp_path.iterdir())
