"""The HighD reader on a recording made by hand: values, and every fault with its place."""

import json
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icl_core.artifacts import read_provenance, read_table
from icl_core.demonstrations.recordings.highd.reader import (
    RECORDINGS,
    SCHEMAS,
    TRACKS,
    VEHICLES,
    files,
    read,
)
from icl_core.demonstrations.recordings.tracks import write_recordings
from icl_core.errors import InputError


def refused(hand_made, part, *words, line=None, column=None, write=True):
    """The reader refuses the recording in one sentence with this file, line and column."""
    folder = hand_made.write() if write else hand_made.folder
    with pytest.raises(InputError) as caught:
        read(folder)
    sentence = str(caught.value)
    where = f" line {line}, column {column!r}:" if column and line else ""
    where = f" line {line}:" if line and not column else where
    assert sentence.startswith(f"{hand_made.path(part)}:{where} expected "), sentence
    assert "\n" not in sentence and ", found " in sentence and "; " in sentence
    for word in words:
        assert word in sentence, sentence


def test_tables_of_the_five_vehicles(hand_made):
    got = read(hand_made.write())
    assert got.source == "recorded"
    assert (got.tracks.schema, got.vehicles.schema, got.recordings.schema) == (
        TRACKS,
        VEHICLES,
        RECORDINGS,
    )
    assert got.recordings.to_pylist() == [
        {
            "recording": 3,
            "location": 2,
            "frame_rate": 25.0,
            "duration": pytest.approx(0.4),
            "speed_limit": -1.0,
            "upper_markings": [8.0, 12.0, 16.0],
            "lower_markings": [20.0, 24.0, 28.0],
        }
    ]
    assert got.vehicles["vehicle"].to_pylist() == [1, 2, 4, 5, 7]
    assert got.vehicles["kind"].to_pylist() == ["Car", "Car", "Car", "Truck", "Car"]
    assert got.vehicles["direction"].to_pylist() == [1, 2, 2, 2, 1]
    assert got.vehicles["length"].to_pylist()[3] == 12.0
    assert got.vehicles["last_frame"].to_pylist() == [10, 8, 10, 6, 9]
    rows = [row for row in got.tracks.to_pylist() if row["vehicle"] == 5]
    assert [row["frame"] for row in rows] == [1, 2, 3, 4, 5, 6]
    # the corner is at (150, 25), the box 12 by 2.5: the centre is half of that away
    assert rows[0]["x"] == 156.0 and rows[0]["y"] == 26.25
    assert rows[5]["x"] == pytest.approx(156 + 5 * 22 / 25)
    follower = next(row for row in got.tracks.to_pylist() if row["vehicle"] == 2)
    assert (follower["preceding"], follower["lane"]) == (5, 6)
    assert (follower["dhw"], follower["ttc"]) == (30.0, -7.5)
    assert follower["thw"] == pytest.approx(1.2)


@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_in_any_order_read_the_same(hand_made, shuffled):
    whole = read(hand_made.write())
    rng = np.random.default_rng(5)
    for part in ("tracks", "tracksMeta"):
        rows = hand_made.tables[part]
        order = rng.permutation(len(rows)) if shuffled else range(len(rows))[::-1]
        hand_made.tables[part] = [rows[k] for k in order]
    again = read(hand_made.write())
    assert all(getattr(whole, name) == getattr(again, name) for name in SCHEMAS)


def test_the_misspelt_column_is_accepted(hand_made):
    names = hand_made.columns["tracks"]
    hand_made.columns["tracks"] = [n.replace("rightAlong", "rightAlsong") for n in names]
    assert "rightAlsongsideId" in hand_made.write().joinpath("03_tracks.csv").read_text()
    assert read(hand_made.folder).tracks.num_rows == 40


def test_several_recordings_and_a_choice_of_them(hand_made):
    folder = hand_made.write()
    for part in hand_made.tables:
        text = hand_made.path(part).read_text()
        if part == "recordingMeta":
            text = text.replace("\n3,", "\n12,")
        elif part == "tracks":
            text = text.replace(",13.0,", ",13.5,")  # elsewhere in the lane
        (folder / f"12_{part}.csv").write_text(text)
    got = read(folder)
    assert got.recordings["recording"].to_pylist() == [3, 12]
    assert got.tracks.num_rows == 80 and got.vehicles.num_rows == 10
    keys = [got.tracks[name].to_numpy() for name in ("frame", "vehicle", "recording")]
    assert np.array_equal(np.lexsort(keys), np.arange(80))
    assert read(folder, [12]).tracks["recording"].unique().to_pylist() == [12]
    assert [path.name[:2] for path in files(folder, [12])] == ["12"] * 3
    with pytest.raises(InputError, match="expected recording 4, found the recordings 3, 12"):
        read(folder, [4])


def test_written_tables_name_their_source(hand_made, tmp_path):
    folder = hand_made.write()
    for source in ("recorded", "simulated"):
        if source == "simulated":
            (folder / "SIMULATED.json").write_text(json.dumps({}))
        write_recordings(tmp_path / "out", read(folder), {"code": "abc"})
        for name, schema in SCHEMAS.items():
            path = tmp_path / "out" / f"{name}.parquet"
            assert pq.read_schema(path).metadata[b"source"].decode() == source
            assert read_provenance(path) == {"code": "abc"}
            assert read_table(path, schema).num_rows > 0


# --- faults of files ---


def test_a_folder_without_recordings(tmp_path):
    (tmp_path / "tracks.csv").write_text("frame,id\n")
    with pytest.raises(InputError, match=r"expected HighD's files .* found no recordings in it"):
        read(tmp_path)
    with pytest.raises(InputError, match="found no such folder"):
        read(tmp_path / "nowhere")


@pytest.mark.parametrize("part", ["recordingMeta", "tracksMeta", "tracks"])
def test_one_of_the_three_files_is_missing(hand_made, part):
    hand_made.write()
    hand_made.path(part).unlink()
    refused(hand_made, part, "all three files of recording 3", "no such file", write=False)


@pytest.mark.parametrize("part", ["recordingMeta", "tracksMeta", "tracks"])
def test_a_file_without_rows(hand_made, part):
    hand_made.tables[part] = []
    refused(hand_made, part, "at least one row")


def test_the_same_recording_twice(hand_made):
    hand_made.write()
    (hand_made.folder / "3_tracks.csv").write_text("")
    with pytest.raises(InputError, match=r"3_tracks\.csv: expected each recording once"):
        read(hand_made.folder)


@pytest.mark.parametrize(
    ("part", "name", "spelt", "advice"),
    [
        ("tracks", "xVelocity", "x_velocity", "rename 'x_velocity'"),
        ("tracks", "laneId", "laneID", "rename 'laneID'"),
        ("tracks", "rightAlongsideId", "rightBesideId", "rename 'rightBesideId'"),
        ("tracksMeta", "drivingDirection", "direction", "rename 'direction'"),
        ("recordingMeta", "frameRate", "hertz", "add the column"),
    ],
)
def test_a_renamed_column(hand_made, part, name, spelt, advice):
    hand_made.columns[part] = [spelt if n == name else n for n in hand_made.columns[part]]
    refused(hand_made, part, f"a column {name!r} in the header", advice)


# --- faults of cells ---


@pytest.mark.parametrize("cell", ["nan", "", "fast", "inf"])
@pytest.mark.parametrize("column", ["x", "dhw", "xAcceleration", "rightAlongsideId", "frame"])
def test_a_cell_of_the_tracks_that_is_no_number(hand_made, cell, column):
    hand_made.tables["tracks"][16][column] = cell
    refused(hand_made, "tracks", line=18, column=column)


@pytest.mark.parametrize(
    ("part", "row", "column", "cell"),
    [
        ("tracksMeta", 2, "width", "-1"),
        ("tracksMeta", 2, "height", "nan"),
        ("tracksMeta", 1, "class", "Bus"),
        ("tracksMeta", 3, "drivingDirection", "3"),
        ("tracksMeta", 3, "drivingDirection", "1"),  # but it moves to the right
        ("tracksMeta", 0, "drivingDirection", "2"),
        ("tracksMeta", 4, "initialFrame", "1"),
        ("tracksMeta", 4, "finalFrame", "8"),
        ("tracksMeta", 4, "numFrames", "8"),
        ("tracksMeta", 4, "id", "5"),  # a second time
        ("recordingMeta", 0, "frameRate", "0"),
        ("recordingMeta", 0, "id", "4"),
        ("recordingMeta", 0, "upperLaneMarkings", "8.0;north;16.0"),
        ("recordingMeta", 0, "lowerLaneMarkings", "28.0;24.0;20.0"),
        ("recordingMeta", 0, "lowerLaneMarkings", ""),
        ("tracks", 30, "width", "4.9"),
        ("tracks", 11, "height", "2.1"),
        ("tracks", 11, "laneId", "-1"),
        ("tracks", 11, "id", "99"),  # no such row in tracksMeta
    ],
)
def test_a_cell_that_disagrees(hand_made, part, row, column, cell):
    hand_made.tables[part][row][column] = cell
    refused(hand_made, part, repr(cell), line=row + 2, column=column)


def test_a_meta_row_without_track(hand_made):
    for k in reversed(hand_made.rows_of(4)):
        del hand_made.tables["tracks"][k]
    refused(hand_made, "tracksMeta", "a track with rows in tracks", "'4'", line=4, column="id")


def test_a_track_without_meta_row(hand_made):
    del hand_made.tables["tracksMeta"][2]
    first = hand_made.rows_of(4)[0]
    refused(hand_made, "tracks", "in tracksMeta", "'4'", line=first + 2, column="id")


def test_two_rows_for_one_recording(hand_made):
    hand_made.tables["recordingMeta"] *= 2
    refused(hand_made, "recordingMeta", "one row", line=3)


def test_a_missing_frame(hand_made):
    missing = hand_made.rows_of(2)[3]  # frame 4
    del hand_made.tables["tracks"][missing]
    words = ("frame 4 of vehicle 2 after its last (line 14)", "found frame 5")
    refused(hand_made, "tracks", *words, line=missing + 2, column="frame")


def test_a_repeated_frame_is_told_where_it_stands_again(hand_made):
    rows = hand_made.tables["tracks"]
    again = hand_made.rows_of(2)[3]
    rows.append(dict(rows[again]))  # files are not sorted: far from its track
    words = (f"frame 4 of vehicle 2 once (line {again + 2})", "a second time")
    refused(hand_made, "tracks", *words, line=len(rows) + 1, column="frame")


def test_lines_are_counted_as_an_editor_does(hand_made):
    hand_made.tables["tracks"][16]["x"] = "nan"
    hand_made.write()
    path = hand_made.path("tracks")
    lines = path.read_text().splitlines()
    path.write_text("\r\n".join([lines[0], "", "", *lines[1:]]) + "\r\n")
    refused(hand_made, "tracks", "'nan'", line=20, column="x", write=False)


def test_a_full_size_recording_is_read_fast_and_small(hand_made):
    """A tenth of a full recording in a tenth of its 10 s; and what is kept is narrow."""
    track = [hand_made.tables["tracks"][k] for k in hand_made.rows_of(1)]
    meta = hand_made.tables["tracksMeta"][0]
    vehicles = range(1, 3501)
    hand_made.tables["tracks"] = [{**row, "id": k} for k in vehicles for row in track]
    hand_made.tables["tracksMeta"] = [{**meta, "id": k} for k in vehicles]
    folder = hand_made.write()
    start = time.process_time()
    tracks = read(folder).tracks
    assert time.process_time() - start < 1.0
    assert tracks.num_rows == 35_000 and tracks.nbytes < 60 * tracks.num_rows
    assert isinstance(tracks, pa.Table)
