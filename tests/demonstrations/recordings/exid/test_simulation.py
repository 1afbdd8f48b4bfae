"""Simulated ExiD recordings: each column against a slow, plain reading of the others."""

import csv
import itertools
import json
import math

import numpy as np
import pytest
import shapely
from shapely import affinity

from icl_core.demonstrations.recordings.exid import format as form
from icl_core.demonstrations.recordings.exid.maps import read_map
from icl_core.demonstrations.recordings.exid.simulation import (
    Settings,
    simulate,
    simulation_steps,
)
from icl_core.demonstrations.recordings.tracks import MARK, PARTS, csv_path
from icl_core.errors import InputError
from icl_core.settings import build

SETTINGS = Settings(recordings=(3, 14), vehicles=10, seed=5)
TINY = Settings(recordings=(2,), vehicles=2, seed=1)
# As in the data set's documentation.
COLUMNS = (
    "recordingId,trackId,frame,trackLifetime,xCenter,yCenter,heading,width,length,xVelocity,"
    "yVelocity,xAcceleration,yAcceleration,lonVelocity,latVelocity,lonAcceleration,"
    "latAcceleration,traveledDistance,latLaneCenterOffset,laneWidth,laneletId,laneChange,"
    "lonLaneletPos,laneletLength,leadDHW,leadDV,leadTHW,leadTTC,leadId,rearId,leftLeadId,"
    "leftRearId,leftAlongsideId,rightLeadId,rightRearId,rightAlongsideId,odrRoadId,"
    "odrSectionNo,odrLaneId"
)
LISTS = {"latLaneCenterOffset", "laneWidth", "laneletId", "lonLaneletPos", "laneletLength"}
LISTS |= {"leftAlongsideId", "rightAlongsideId"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exid")
    simulate(folder, SETTINGS)
    return folder


class Recording:
    def __init__(self, folder, number):
        meta = _rows(csv_path(folder, number, "recordingMeta"))
        assert len(meta) == 1
        self.meta = {
            k: v if k in ("weekday", "startTime") else float(v) for k, v in meta[0].items()
        }
        self.tracks_meta = _rows(csv_path(folder, number, "tracksMeta"))
        self.rows = [_numbers(row) for row in _rows(csv_path(folder, number, "tracks"))]
        self.tracks = [
            list(rows) for _, rows in itertools.groupby(self.rows, lambda row: row["trackId"])
        ]
        self.frames = {}
        for row in self.rows:
            self.frames.setdefault(row["frame"], []).append(row)
        path = form.find_map(folder, int(self.meta["locationId"]))
        lanelets = read_map(path, self.meta["xUtmOrigin"], self.meta["yUtmOrigin"])
        self.lanelets = {lanelet.id: lanelet for lanelet in lanelets}
        self.lines = {k: shapely.LineString(v.centre_line) for k, v in self.lanelets.items()}


def _rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def _numbers(row):
    return {
        name: [float(v) for v in cell.split(";")] if name in LISTS else float(cell)
        for name, cell in row.items()
    }


@pytest.fixture(scope="module", params=SETTINGS.recordings)
def recording(folder, request):
    return Recording(folder, request.param)


def near(value, room=1e-4):
    return pytest.approx(value, abs=room)


def test_columns_are_those_of_the_data_set(folder):
    for number in SETTINGS.recordings:
        header = csv_path(folder, number, "tracks").read_text().partition("\n")[0]
        assert header == COLUMNS
        header = csv_path(folder, number, "tracksMeta").read_text().partition("\n")[0]
        assert header == "recordingId,trackId,initialFrame,finalFrame,numFrames,width,length,class"
        header = csv_path(folder, number, "recordingMeta").read_text().partition("\n")[0]
        assert header == (
            "recordingId,locationId,frameRate,speedLimit,weekday,startTime,duration,numTracks,"
            "numVehicles,numVRUs,latLocation,lonLocation,xUtmOrigin,yUtmOrigin,orthoPxToMeter"
        )


def test_tracks_and_meta_agree(recording):
    assert recording.meta["numTracks"] == len(recording.tracks) == SETTINGS.vehicles
    last = max(row["frame"] for row in recording.rows)
    assert recording.meta["duration"] == near((last + 1) / 25)
    assert min(row["frame"] for row in recording.rows) == 0
    for number, (track, meta) in enumerate(
        zip(recording.tracks, recording.tracks_meta, strict=True)
    ):
        assert int(meta["trackId"]) == number == track[0]["trackId"]
        first, last = int(meta["initialFrame"]), int(meta["finalFrame"])
        assert [row["frame"] for row in track] == list(range(first, last + 1))
        assert [row["trackLifetime"] for row in track] == list(range(int(meta["numFrames"])))
        for name in ("width", "length"):
            assert {row[name] for row in track} == {float(meta[name])}


def test_motion(recording):
    for track in recording.tracks:
        travelled = 0.0
        for row, after in itertools.pairwise(track):
            assert row["traveledDistance"] == near(travelled, 1e-3)
            step = after["xCenter"] - row["xCenter"], after["yCenter"] - row["yCenter"]
            travelled += math.hypot(*step)
            assert (row["xVelocity"] / 25, row["yVelocity"] / 25) == near(step)
            for axis in "xy":
                change = after[f"{axis}Velocity"] - row[f"{axis}Velocity"]
                assert row[f"{axis}Acceleration"] == near(25 * change, 1e-3)
        for row in track:
            angle = math.radians(row["heading"])
            assert 0 <= row["heading"] < 360
            for name in ("Velocity", "Acceleration"):
                turned = complex(row[f"x{name}"], row[f"y{name}"]) * complex(
                    math.cos(angle), -math.sin(angle)
                )
                assert (row[f"lon{name}"], row[f"lat{name}"]) == near((turned.real, turned.imag))


def test_lanelets(recording):
    for row in recording.rows[::9]:
        point = shapely.Point(row["xCenter"], row["yCenter"])
        for k, number in enumerate(row["laneletId"]):
            lanelet, line = recording.lanelets[number], recording.lines[number]
            inside = lanelet.polygon.contains(point)
            assert inside == (k == 0) or lanelet.polygon.exterior.distance(point) < 2e-5
            # The offset is positive to the left; beyond a line's ends shapely clamps to them.
            place, distance = line.project(point), line.distance(point)
            assert row["lonLaneletPos"][k] == near(place, 0.02)
            assert row["laneletLength"][k] == near(line.length)
            assert abs(row["latLaneCenterOffset"][k]) == near(distance, 5e-3)
            left = shapely.Point(lanelet.left[0]).distance(shapely.Point(lanelet.right[0]))
            assert row["laneWidth"][k] == near(left)
            to_left = shapely.LineString(lanelet.left).distance(point)
            to_right = shapely.LineString(lanelet.right).distance(point)
            if abs(to_left - to_right) > 0.05:
                assert (row["latLaneCenterOffset"][k] > 0) == (to_left < to_right)
        # A second lanelet is listed where the vehicle's box reaches into it.
        others = [
            number
            for number, lanelet in recording.lanelets.items()
            if number != row["laneletId"][0]
            and number // 100 == row["laneletId"][0] // 100
            and _box(row).intersection(lanelet.polygon).area > 0.05
        ]
        assert set(others) <= set(row["laneletId"][1:])


def test_lane_change_flags(recording):
    for track in recording.tracks:
        assert track[0]["laneChange"] == 0
        for before, row in itertools.pairwise(track):
            changed = before["laneletId"][0] % 100 != row["laneletId"][0] % 100
            assert row["laneChange"] == changed
    assert any(row["laneChange"] for row in recording.rows)


def test_opendrive_numbers(recording):
    for row in recording.rows[::7]:
        piece, lane = divmod(int(row["laneletId"][0]), 100)
        assert (row["odrSectionNo"], row["odrLaneId"]) == (piece - 1, lane - 4)
        assert row["odrRoadId"] == recording.meta["locationId"]


def _along(recording, row):
    """Metres from the map's beginning, along the row's lane."""
    piece, lane = divmod(int(row["laneletId"][0]), 100)
    before = sum(recording.lines[100 * k + lane].length for k in range(1, piece))
    return before + row["lonLaneletPos"][0]


def test_neighbours_by_plain_search(recording):
    lengths = {}  # of each lane, to compare places in different lanes
    for number, line in recording.lines.items():
        lengths[number % 100] = lengths.get(number % 100, 0) + line.length
    for rows in list(recording.frames.values())[::4]:
        places = []
        for row in rows:
            lane = int(row["laneletId"][0]) % 100
            places.append((row, lane, _along(recording, row) / lengths[lane]))
        for row, lane, place in places:
            expected = {"leadId": -1, "rearId": -1, "leftAlongsideId": [], "rightAlongsideId": []}
            expected |= dict.fromkeys(
                ("leftLeadId", "leftRearId", "rightLeadId", "rightRearId"), -1
            )
            nearest = {}
            for other, other_lane, other_place in places:
                ahead = (other_place - place) * lengths[lane]
                side = {0: "", 1: "left", -1: "right"}.get(other_lane - lane)
                if other is row or side is None:
                    continue
                if side and abs(ahead) < (row["length"] + other["length"]) / 2:
                    expected[f"{side}AlongsideId"].append(other["trackId"])
                    continue
                name = side + ("Lead" if ahead > 0 else "Rear") + "Id"
                name = name[0].lower() + name[1:]
                if abs(ahead) < nearest.get(name, math.inf):
                    nearest[name] = abs(ahead)
                    expected[name] = other["trackId"]
            found = {name: row[name] for name in expected}
            for name in ("leftAlongsideId", "rightAlongsideId"):
                expected[name] = expected[name] or [-1]
            assert found == expected
            _check_headway(row, {r["trackId"]: r for r in rows}, nearest.get("leadId"))


def _check_headway(row, others, ahead):
    if ahead is None:
        assert (row["leadDV"], row["leadDHW"], row["leadTHW"], row["leadTTC"]) == (
            -1000,
            -1,
            -1,
            -1,
        )
        return
    lead = others[row["leadId"]]
    gap = ahead - (lead["length"] + row["length"]) / 2
    closing = row["lonVelocity"] - lead["lonVelocity"]
    assert row["leadDHW"] == near(gap, 0.01)
    assert row["leadDV"] == near(closing)
    assert row["leadTHW"] == near(gap / row["lonVelocity"], 1e-3)
    if closing > 0.05:
        assert row["leadTTC"] == pytest.approx(gap / closing, rel=5e-3)
    elif closing < -0.05:
        assert row["leadTTC"] == -1


def _box(row):
    half = row["length"] / 2, row["width"] / 2
    box = shapely.box(-half[0], -half[1], *half)
    turned = affinity.rotate(box, row["heading"], origin=(0, 0))
    return affinity.translate(turned, row["xCenter"], row["yCenter"])


def test_nobody_collides(recording):
    for rows in list(recording.frames.values())[::10]:
        boxes = [_box(row) for row in rows]
        assert not any(a.intersects(b) for a, b in itertools.combinations(boxes, 2))


def test_lane_changes_in_both_directions_at_plausible_speed(folder):
    steps, peaks = set(), []
    for number in SETTINGS.recordings:
        for track in Recording(folder, number).tracks:
            changes = [k for k, row in enumerate(track) if row["laneChange"]]
            if len(changes) == 1:
                k = changes[0]
                steps.add(track[k]["odrLaneId"] - track[k - 1]["odrLaneId"])
                offset = [row["latLaneCenterOffset"][0] for row in track]
                speeds = np.delete(np.diff(offset), k - 1) * 25  # without the jump to the new lane
                peaks.append(np.abs(speeds).max())
    assert steps == {1, -1}
    assert min(peaks) > 0.3 and max(peaks) < 2.5


def _contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_same_seed_same_bytes(tmp_path):
    for name, settings in {
        "one": TINY,
        "two": TINY,
        "other": Settings(recordings=(2,), vehicles=2, seed=2),
    }.items():
        simulate(tmp_path / name, settings)
    one, two, other = (_contents(tmp_path / name) for name in ("one", "two", "other"))
    assert one == two
    assert one.keys() == other.keys() and one != other
    assert {str(p) for p in one} == {
        "SIMULATED.json",
        "02_recordingMeta.csv",
        "02_tracksMeta.csv",
        "02_tracks.csv",
        "maps/lanelet2/1_simulated.osm",
    }
    mark = json.loads(one[next(p for p in one if p.name == MARK)])
    assert mark["settings"] == {"recordings": [2], "vehicles": 2, "seed": 1}


def test_a_recording_does_not_depend_on_its_companions(folder, tmp_path):
    alone = Settings(recordings=(3,), vehicles=10, seed=5)
    simulate(tmp_path, alone)
    for part in PARTS:
        path = csv_path(tmp_path, 3, part)
        assert path.read_bytes() == csv_path(folder, 3, part).read_bytes()


def test_interrupted_it_leaves_nothing(tmp_path):
    def stop(done):
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(tmp_path, TINY, stop)
    assert not _contents(tmp_path)


def test_what_an_earlier_simulation_left_goes(tmp_path):
    simulate(tmp_path, TINY)
    reported = []
    settings = Settings(recordings=(7,), vehicles=1)
    simulate(tmp_path, settings, reported.append)
    assert {p.name for p in tmp_path.glob("*.csv")} == {f"07_{part}.csv" for part in PARTS}
    assert reported[-1] == simulation_steps(settings) == 1


def test_recorded_files_are_never_written_over(tmp_path):
    (tmp_path / "02_tracks.csv").write_text("the only copy")
    with pytest.raises(InputError, match=r"without SIMULATED\.json; name another folder"):
        simulate(tmp_path, TINY)
    assert (tmp_path / "02_tracks.csv").read_text() == "the only copy"


@pytest.mark.parametrize("recordings, vehicles", [((), 1), ((1, 1), 1), ((1,), 0), ((-1,), 1)])
def test_settings_that_make_no_sense(recordings, vehicles):
    with pytest.raises(InputError, match=r"simulation\.(recordings|vehicles): expected"):
        build(Settings, {"recordings": recordings, "vehicles": vehicles}, "simulation")
