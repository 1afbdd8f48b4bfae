"""Simulated HighD recordings: what is written comes back, and every column is true."""

import csv
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from highway_env.road.road import Road

from icl_core.demonstrations.recordings.highd.format import RECORDING_META, TRACKS, TRACKS_META
from icl_core.demonstrations.recordings.highd.reader import read
from icl_core.demonstrations.recordings.highd.simulation import (
    CAR,
    TRUCK,
    Settings,
    simulate,
    simulation_steps,
)
from icl_core.demonstrations.recordings.highd.traffic import Driver, straight_road
from icl_core.errors import InputError
from icl_core.settings import build

SMOKE = Settings(frames=200, seed=4, flow=0.7, upstream=100.0, downstream=60.0, warm_up=20.0)
NAMES = ("01_recordingMeta.csv", "01_tracksMeta.csv", "01_tracks.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("highd")
    simulate(path, SMOKE)
    return path


def rows(path):
    """A CSV file in plain Python: numbers where they are numbers."""

    def value(cell):
        try:
            return float(cell)
        except ValueError:
            return cell

    with open(path, newline="") as file:
        return [{name: value(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def tracks(folder):
    return rows(folder / NAMES[2])


@pytest.fixture(scope="module")
def meta(folder):
    return {row["id"]: row for row in rows(folder / NAMES[1])}


def test_columns_stand_in_the_order_of_the_format(folder):
    for name, schema in zip(NAMES, (RECORDING_META, TRACKS_META, TRACKS), strict=True):
        header = (folder / name).read_text().splitlines()[0]
        assert header == ",".join(schema.names)


def test_what_was_written_is_read(folder, tracks, meta):
    got = read(folder)
    assert got.source == "simulated"
    assert got.vehicles["vehicle"].to_pylist() == sorted(meta)
    assert got.tracks.num_rows == len(tracks)
    for row, theirs in zip(got.tracks.to_pylist(), tracks, strict=True):  # both sorted
        assert (row["vehicle"], row["frame"]) == (theirs["id"], theirs["frame"])
        assert row["x"] == pytest.approx(theirs["x"] + theirs["width"] / 2, abs=1e-4)
        assert row["y"] == pytest.approx(theirs["y"] + theirs["height"] / 2, abs=1e-5)
        assert row["vx"] == pytest.approx(theirs["xVelocity"], rel=1e-6)
        assert row["lane"] == theirs["laneId"] and row["preceding"] == theirs["precedingId"]


def test_what_is_moved_is_what_the_velocities_say(tracks):
    """Explicit Euler, as highway-env integrates; numbers have four decimals."""
    dt, checked = 1 / 25, 0
    for row, later in pairwise(tracks):
        if row["id"] != later["id"]:
            continue
        assert later["frame"] == row["frame"] + 1
        for axis in "xy":
            v, a = row[f"{axis}Velocity"], row[f"{axis}Acceleration"]
            assert later[axis] - row[axis] == pytest.approx(v * dt, abs=2e-4)
            assert later[f"{axis}Velocity"] - v == pytest.approx(a * dt, abs=2e-4)
        checked += 1
    assert checked > 2000


def test_paths_are_smooth_and_vehicles_never_touch(tracks, meta):
    frames = {}
    for row in tracks:
        assert abs(row["xAcceleration"]) < 6.5 and abs(row["yAcceleration"]) < 3
        assert 10 < abs(row["xVelocity"]) < 50 and abs(row["yVelocity"]) < 2.5
        assert (row["xVelocity"] > 0) == (meta[row["id"]]["drivingDirection"] == 2)
        frames.setdefault(row["frame"], []).append(row)
    for seen in frames.values():
        for k, one in enumerate(seen):
            for other in seen[k + 1 :]:
                apart = any(
                    one[p] + one[s] <= other[p] or other[p] + other[s] <= one[p]
                    for p, s in (("x", "width"), ("y", "height"))
                )
                assert apart, (one["frame"], one["id"], other["id"])


def lane_of(row):
    """Counted by hand from the markings of recording 17."""
    y = row["y"] + row["height"] / 2
    for lane, (top, bottom) in {
        2: (7.68, 11.89), 3: (11.89, 15.73), 5: (20.53, 24.50), 6: (24.50, 28.46)
    }.items():  # fmt: skip
        if top <= y < bottom:
            return lane
    raise AssertionError(f"off the road at y = {y}")


def neighbours(row, seen, meta):
    """The slow reference: from the boxes of one frame, one vehicle at a time."""
    direction = meta[row["id"]]["drivingDirection"]
    sign = 1 if direction == 2 else -1
    found = dict.fromkeys([n for n in row if n.endswith("Id") and n != "laneId"], 0)
    nearest = dict.fromkeys(found, np.inf)
    for other in seen:
        if other["id"] == row["id"] or meta[other["id"]]["drivingDirection"] != direction:
            continue
        centre = other["x"] + other["width"] / 2 - row["x"] - row["width"] / 2
        overlap = other["x"] < row["x"] + row["width"] and row["x"] < other["x"] + other["width"]
        place = "Preceding" if sign * centre > 0 else "Following"
        aside = sign * (lane_of(other) - lane_of(row))  # +1: the driver's right
        if aside == 0:
            name = f"{place.lower()}Id"
        elif abs(aside) == 1:
            name = f"{'right' if aside > 0 else 'left'}{'Alongside' if overlap else place}Id"
        else:
            continue
        if abs(centre) < nearest[name]:
            found[name], nearest[name] = other["id"], abs(centre)
    return found


def test_neighbours_and_gaps_against_plain_python(tracks, meta):
    frames = {}
    for row in tracks:
        frames.setdefault(row["frame"], {})[row["id"]] = row
    followers = 0
    for seen in list(frames.values())[::5]:
        for row in seen.values():
            assert row["laneId"] == lane_of(row)
            found = neighbours(row, seen.values(), meta)
            assert found == {name: row[name] for name in found}
            ahead = seen.get(row["precedingId"])
            if ahead is None:
                assert row["dhw"] == row["thw"] == row["ttc"] == row["precedingXVelocity"] == 0
                continue
            followers += 1
            if row["xVelocity"] > 0:
                gap = ahead["x"] - (row["x"] + row["width"])
            else:
                gap = row["x"] - (ahead["x"] + ahead["width"])
            closing = abs(row["xVelocity"]) - abs(ahead["xVelocity"])
            assert row["dhw"] == pytest.approx(gap, abs=1e-4)
            assert row["thw"] == pytest.approx(gap / abs(row["xVelocity"]), abs=1e-4)
            assert row["precedingXVelocity"] == ahead["xVelocity"]
            if closing:
                assert row["ttc"] == pytest.approx(gap / closing, abs=1e-4, rel=1e-6)
    assert followers > 200


def test_sights_add_up_to_the_view(tracks):
    for row in tracks[::7]:
        assert row["frontSightDistance"] + row["backSightDistance"] == pytest.approx(420, abs=2e-4)
        left = row["backSightDistance"] if row["xVelocity"] > 0 else row["frontSightDistance"]
        assert left == pytest.approx(row["x"] + row["width"] / 2, abs=2e-4)


def test_meta_follows_from_the_tracks(folder, tracks, meta):
    by_id = {}
    for row in tracks:
        by_id.setdefault(row["id"], []).append(row)
    assert list(by_id) == list(meta) == list(range(1, len(meta) + 1))
    for k, track in by_id.items():
        row, speeds = meta[k], [abs(r["xVelocity"]) for r in track]
        assert (row["minXVelocity"], row["maxXVelocity"]) == (min(speeds), max(speeds))
        assert row["meanXVelocity"] == pytest.approx(sum(speeds) / len(speeds), abs=1e-4)
        assert row["traveledDistance"] == pytest.approx(
            abs(track[-1]["x"] - track[0]["x"]), abs=1e-4
        )
        follows = [r for r in track if r["precedingId"]]
        for least, name in (("minDHW", "dhw"), ("minTHW", "thw"), ("minTTC", "ttc")):
            values = [r[name] for r in follows if name != "ttc" or r["ttc"] > 0]
            assert row[least] == (min(values) if values else -1)
        lanes = [r["laneId"] for r in track]
        assert row["numLaneChanges"] == sum(a != b for a, b in pairwise(lanes))
    (recording,) = rows(folder / NAMES[0])
    assert recording["numVehicles"] == len(meta) == recording["numCars"] + recording["numTrucks"]
    assert recording["duration"] == SMOKE.frames / 25
    assert recording["totalDrivenTime"] == pytest.approx(len(tracks) / 25)
    assert recording["lowerLaneMarkings"] == "20.53;24.50;28.46"


def test_vehicles_enter_and_leave_at_the_ends_of_the_view(tracks, meta):
    """Whoever appears after the first frame does so at its entrance, within a frame's way."""
    for k, row in meta.items():
        track = [r for r in tracks if r["id"] == k]
        if row["initialFrame"] > 1:
            assert track[0]["backSightDistance"] < 2.5
        if row["finalFrame"] < SMOKE.frames:
            assert track[-1]["frontSightDistance"] < 2.5
    assert min(r["frame"] for r in tracks) == 1
    assert max(r["frame"] for r in tracks) == SMOKE.frames


def test_the_mark_tells_settings_seed_and_true_rule(folder):
    mark = json.loads((folder / "SIMULATED.json").read_text())
    assert mark["seed"] == SMOKE.seed and mark["settings"]["frames"] == SMOKE.frames
    car = mark["headway_rule"]["Car"]
    assert tuple(car["time_gap"]) == CAR.time_gap
    assert car["share"] + mark["headway_rule"]["Truck"]["share"] == pytest.approx(1)
    assert sorted(path.name for path in folder.iterdir()) == [*sorted(NAMES), "SIMULATED.json"]


def test_same_seed_same_bytes_and_another_seed_others(tmp_path):
    short = replace(SMOKE, frames=10, seed=1, upstream=0.0, warm_up=4.0)
    steps = []
    simulate(tmp_path / "a", short, steps.append)
    simulate(tmp_path / "b", short)
    simulate(tmp_path / "c", replace(short, seed=2))
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    a, c = (tmp_path / name / NAMES[2] for name in "ac")
    assert a.read_bytes() != c.read_bytes()
    assert steps == list(range(1, simulation_steps(short) + 1))


def test_settings_that_make_no_traffic():
    for wrong in ({"frames": 0}, {"flow": 0.0}, {"truck_share": 1.5}, {"warm_up": -2.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            build(Settings, wrong, "simulation")


# --- the traffic against highway-env itself ---


def random_road(rng, n=14):
    road = straight_road(np.array([-2.0, 2.0, 6.0]), (-500.0, 500.0), rng)
    for serial in range(n):
        driver = Driver(road, (CAR, TRUCK)[serial % 3 == 0], rng, serial)
        index = list(road.network.lanes_dict())[serial % 2]
        position = np.array([rng.uniform(-400, 400), rng.uniform(-1, 5)])
        driver.enter(index, position, rng.uniform(20, 40), 0.04)
        road.vehicles.append(driver)
    road.sort()
    return road


@pytest.mark.parametrize("seed", range(5))
def test_sorted_lanes_find_the_neighbours_that_highway_env_finds(seed):
    road = random_road(np.random.default_rng(seed))
    for vehicle in road.vehicles:
        for index in (None, *road.network.lanes_dict()):
            ours = road.neighbour_vehicles(vehicle, index)
            assert ours == Road.neighbour_vehicles(road, vehicle, index)


def test_a_follower_settles_at_the_gap_of_the_idm():
    """In equilibrium (s0 + v T) / sqrt(1 - (v / v0)^4), bumper to bumper."""
    rng = np.random.default_rng(0)
    road = straight_road(np.array([-2.0, 2.0]), (-100.0, 20_000.0), rng)
    still = replace(CAR, changes_lane=False)
    (index,) = road.network.lanes_dict()
    leader, follower = (Driver(road, kind, rng, 0) for kind in (TRUCK, still))
    leader.enter(index, np.array([100.0, 0.0]), leader.wish, 0.04)
    follower.enter(index, np.array([0.0, 0.0]), leader.wish, 0.04)
    road.vehicles = [leader, follower]
    for _ in range(2500):
        road.sort()
        road.act()
        road.step(0.04)
    v, boxes = follower.speed, (leader.LENGTH + follower.LENGTH) / 2
    wished = follower.DISTANCE_WANTED + v * follower.TIME_WANTED
    gap = leader.position[0] - follower.position[0] - boxes
    assert v == pytest.approx(leader.wish, rel=2e-3)
    assert gap == pytest.approx(wished / np.sqrt(1 - (v / follower.wish) ** 4), rel=1e-2)
