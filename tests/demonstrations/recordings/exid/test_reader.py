"""ExiD reader: round trip of a simulation, and hand-made recordings with each fault."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from icl_core.artifacts import read_table
from icl_core.demonstrations.recordings.exid import format as form
from icl_core.demonstrations.recordings.exid.maps import read_map
from icl_core.demonstrations.recordings.exid.reader import (
    RECORDINGS,
    SCHEMAS,
    TRACKS,
    VEHICLES,
    files,
    read,
)
from icl_core.demonstrations.recordings.exid.simulation import Settings, simulate
from icl_core.demonstrations.recordings.tracks import MARK, PARTS, csv_path, write_recordings
from icl_core.errors import InputError

SETTINGS = Settings(recordings=(4, 9), vehicles=4, seed=2)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exid")
    simulate(folder, SETTINGS)
    return folder


def test_round_trip(simulated, tmp_path):
    got = read(simulated)
    assert got.source == "simulated"
    write_recordings(tmp_path, got, {"code": "x"})
    for name, schema in SCHEMAS.items():
        path = tmp_path / f"{name}.parquet"
        assert read_table(path, schema).equals(getattr(got, name))
        assert pq.read_schema(path).metadata[b"source"] == b"simulated"
    rows = got.tracks.to_pylist()
    keys = [(row["recording"], row["track"], row["frame"]) for row in rows]
    assert keys == sorted(set(keys))
    plain = []
    for number in SETTINGS.recordings:
        with open(csv_path(simulated, number, "tracks")) as file:
            plain += list(csv.DictReader(file))
    assert len(plain) == len(rows)
    for row, cells in list(zip(rows, plain, strict=True))[::13]:
        assert row["lanelet"] == int(cells["laneletId"].split(";")[0])
        assert row["lane_change"] == bool(int(cells["laneChange"]))
        assert (row["x"], row["y"]) == (float(cells["xCenter"]), float(cells["yCenter"]))
        for ours, theirs in {
            "recording": "recordingId",
            "track": "trackId",
            "frame": "frame",
            "heading": "heading",
            "vx": "xVelocity",
            "vy": "yVelocity",
            "ax": "xAcceleration",
            "ay": "yAcceleration",
            "lon_velocity": "lonVelocity",
            "lat_velocity": "latVelocity",
            "width": "width",
            "length": "length",
        }.items():
            assert row[ours] == pytest.approx(float(cells[theirs]), rel=1e-6)
    assert got.vehicles.num_rows == 2 * SETTINGS.vehicles


def test_positions_lie_in_the_lanelets_of_the_map(simulated):
    got = read(simulated)
    for recording in got.recordings.to_pylist():
        path = form.find_map(simulated, recording["location"])
        lanelets = read_map(path, recording["x_utm_origin"], recording["y_utm_origin"])
        polygons = {lanelet.id: lanelet.polygon for lanelet in lanelets}
        rows = [r for r in got.tracks.to_pylist() if r["recording"] == recording["recording"]]
        for row in rows[::11]:
            point = shapely.Point(row["x"], row["y"])
            assert polygons[row["lanelet"]].distance(point) < 1e-4


def test_a_choice_of_recordings(simulated):
    assert read(simulated, [9]).recordings["recording"].to_pylist() == [9]
    own = {f"09_{part}.csv" for part in PARTS}
    assert {p.name for p in files(simulated, [9])} == own | {
        "2_simulated.osm"
    }  # its location's map
    assert len(files(simulated)) == 8
    with pytest.raises(InputError, match="expected recording 5, found the recordings 4, 9"):
        read(simulated, [5])


# A hand-made recording: five vehicles that drive towards the east at 25 m/s.


def recording(location=2, number=7):
    meta = dict.fromkeys(form.RECORDING_META.names, "1")
    meta |= {"recordingId": number, "locationId": location, "frameRate": 25, "duration": 8 / 25}
    meta |= {"xUtmOrigin": 350000.5, "yUtmOrigin": 5640000.25}
    tracks_meta, tracks = [], []
    for track, frames in enumerate((range(4), range(1, 5), range(6), range(3, 4), range(2, 8))):
        sizes = {"width": 1.8 + track / 10, "length": 4.0 + track}
        tracks_meta.append(
            {
                "recordingId": number,
                "trackId": track,
                "initialFrame": frames[0],
                "finalFrame": frames[-1],
                "numFrames": len(frames),
                **sizes,
                "class": "truck" if track == 4 else "car",
            }
        )
        for frame in frames:
            row = dict.fromkeys(form.TRACKS.names, "0") | sizes
            row |= {"recordingId": number, "trackId": track, "frame": frame}
            row |= {"xCenter": 10.0 * track + frame, "yCenter": 3.5 * track, "xVelocity": 25.0}
            row |= {"laneletId": f"{100 + track};200", "laneChange": int(frame == 2)}
            tracks.append(row)
    return {"recordingMeta": [meta], "tracksMeta": tracks_meta, "tracks": tracks}


def write(folder, tables, number=7):
    for part, rows in tables.items():
        names = list(rows[0]) if rows else form.TRACKS.names
        with open(csv_path(folder, number, part), "w", newline="") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def test_hand_made(tmp_path):
    tables = recording()
    rng = np.random.default_rng(0)
    for part in ("tracks", "tracksMeta"):  # files are not trusted to be sorted
        tables[part] = [tables[part][k] for k in rng.permutation(len(tables[part]))]
    tables["tracks"] = [{"more": "x", **row} for row in tables["tracks"]]
    write(tmp_path, tables)
    got = read(tmp_path)
    assert got.source == "recorded"
    assert got.recordings.schema == RECORDINGS and got.tracks.schema == TRACKS
    assert got.recordings.to_pylist() == [
        {
            "recording": 7,
            "location": 2,
            "frame_rate": 25.0,
            "duration": pytest.approx(0.32),
            "x_utm_origin": 350000.5,
            "y_utm_origin": 5640000.25,
        }
    ]
    assert got.vehicles.schema == VEHICLES
    assert got.vehicles["track"].to_pylist() == [0, 1, 2, 3, 4]
    assert got.vehicles["first_frame"].to_pylist() == [0, 1, 0, 3, 2]
    assert got.vehicles["last_frame"].to_pylist() == [3, 4, 5, 3, 7]
    assert got.vehicles["length"].to_pylist() == [4, 5, 6, 7, 8]
    assert got.vehicles["kind"].to_pylist() == ["car"] * 4 + ["truck"]
    tracks = got.tracks
    assert tracks["frame"].to_pylist() == [0, 1, 2, 3, 1, 2, 3, 4, *range(6), 3, *range(2, 8)]
    x = 10 * tracks["track"].to_numpy() + tracks["frame"].to_numpy()
    assert tracks["x"].to_numpy() == pytest.approx(x)
    assert tracks["lanelet"].to_pylist() == [100 + t for t in tracks["track"].to_pylist()]
    assert tracks["lane_change"].to_pylist() == [f == 2 for f in tracks["frame"].to_pylist()]


def test_no_lanelet(tmp_path):
    tables = recording()
    for row, cell in zip(tables["tracks"], ("", "-1", "-1;5"), strict=False):
        row["laneletId"] = cell
    write(tmp_path, tables)
    assert read(tmp_path).tracks["lanelet"].to_pylist()[:4] == [-1, -1, -1, 100]


def test_location_0_has_other_sizes_in_its_meta(tmp_path):
    tables = recording(location=0)
    for row in tables["tracksMeta"]:
        row["width"], row["length"] = 9.0, 9.5
    write(tmp_path, tables)
    vehicles = read(tmp_path).vehicles
    assert vehicles["length"].to_pylist() == [4, 5, 6, 7, 8]
    assert vehicles["width"].to_pylist() == pytest.approx([1.8, 1.9, 2.0, 2.1, 2.2])


class Fault:
    """What is done to a part of the recording, and where the error must place it."""

    def __init__(self, change, part, line=None, column=None, words=""):
        self.change, self.part, self.words = change, part, words
        places = [f"line {line}"] * bool(line) + [f"column {column!r}"] * bool(column)
        self.place = ", ".join(places) + ": " * bool(places)


def cell(part, row, column, text, words=""):
    """A wrong cell, named where it stands; line 1 is the header."""
    return Fault(lambda rows: rows[row].update({column: text}), part, row + 2, column, words)


def rename(part, old, new, words):
    def change(rows):
        rows[:] = [{new if k == old else k: v for k, v in row.items()} for row in rows]

    return Fault(change, part, words=words)


FAULTS = {
    "renamed": rename("tracks", "xCenter", "xCentre", "rename 'xCentre'"),
    "renamed in meta": rename("tracksMeta", "class", "kind", "column 'class'"),
    "missing": rename("recordingMeta", "xUtmOrigin", "z", "column 'xUtmOrigin'"),
    "text": cell("tracks", 5, "yVelocity", "fast", "'fast'"),
    "NaN": cell("tracks", 3, "heading", "nan", "finite"),
    "empty": cell("tracks", 0, "xCenter", "", "an empty cell"),
    "not whole": cell("tracks", 2, "frame", "2.5", "whole number"),
    "size": cell("tracks", 6, "length", 5.5, "the size of tracksMeta, 5,"),
    "negative size": cell("tracksMeta", 1, "width", -2),
    "first frame": cell("tracksMeta", 4, "initialFrame", 0, "2 as in the track"),
    "last frame": cell("tracksMeta", 4, "finalFrame", 8, "7 as in the track"),
    "count": cell("tracksMeta", 0, "numFrames", 3, "4 as in the track"),
    "lanelets": cell("tracks", 4, "laneletId", "101;x", "'101;x'"),
    "huge lanelet": cell("tracks", 4, "laneletId", "9" * 30, "9999"),
    "lane change": cell("tracks", 4, "laneChange", 2, "0 or 1"),
    "recording": cell("tracks", 4, "recordingId", 8, "7 as in the file's name"),
    "recording in meta": cell("tracksMeta", 0, "recordingId", 8, "7 as in the file's name"),
    "name": cell("recordingMeta", 0, "recordingId", 8, "7 as in the file's name"),
    "frame rate": cell("recordingMeta", 0, "frameRate", 0, "from 5 to 60"),
    # Row 10 is track 2's frame 2, row 14 all that there is of track 3.
    "missing frame": Fault(lambda rows: rows.pop(10), "tracks", 12, "frame", "frame 2 of"),
    "repeated frame": Fault(
        lambda rows: rows.append(rows[9]), "tracks", 23, "frame", "a second time"
    ),
    "meta row twice": Fault(lambda rows: rows.append(rows[3]), "tracksMeta", 7, "trackId", "once"),
    "two recordings": Fault(lambda rows: rows.append(rows[0]), "recordingMeta", 3, words="found 2"),
    "no rows": Fault(lambda rows: rows.clear(), "tracks", words="at least one row"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_are_named_by_file_line_and_column(tmp_path, fault):
    tables = recording()
    fault.change(tables[fault.part])
    write(tmp_path, tables)
    _check_fault(tmp_path, fault.part, fault.place, fault.words)


def test_track_without_meta_row(tmp_path):
    tables = recording()
    tables["tracksMeta"].pop(3)
    write(tmp_path, tables)
    _check_fault(tmp_path, "tracks", "line 16, column 'trackId': ", "a row in tracksMeta")


def test_meta_row_without_track(tmp_path):
    tables = recording()
    tables["tracks"].pop(14)
    write(tmp_path, tables)
    _check_fault(tmp_path, "tracksMeta", "line 5, column 'trackId': ", "with rows in tracks")


def _check_fault(folder, part, place, words):
    with pytest.raises(InputError) as caught:
        read(folder)
    message = str(caught.value)
    assert message.startswith(f"{csv_path(folder, 7, part)}: {place}expected ")
    assert words in message and "\n" not in message


def test_files_missing(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="found no recordings in it"):
        read(tmp_path)
    write(tmp_path, recording())
    path = csv_path(tmp_path, 7, "tracksMeta")
    path.unlink()
    with pytest.raises(
        InputError, match=r"07_tracksMeta\.csv: expected all three files of recording 7"
    ):
        read(tmp_path)


def test_marked_as_simulated(tmp_path):
    write(tmp_path, recording())
    (tmp_path / MARK).write_text("{}")
    assert read(tmp_path).source == "simulated"


def test_blocks_of_text_change_nothing(simulated, monkeypatch):
    whole = read(simulated)
    monkeypatch.setattr("icl_core.demonstrations.recordings.csv_tables.BLOCK", 5000)
    pieces = read(simulated)
    assert pieces.tracks.equals(whole.tracks)
