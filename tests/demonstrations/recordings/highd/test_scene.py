"""From the reader's tables to a scene, with scenes whose content is known by hand."""

import json

import numpy as np
import pyarrow as pa
import pytest

from icl_core import settings
from icl_core.demonstrations.recordings.highd.scene import (
    Settings,
    known_headway,
    make_scene,
    scene_of,
)
from icl_core.environments.traffic import SCENE_SCHEMA, Headway, read_scene
from icl_core.environments.worlds.highd import HighD
from icl_core.errors import InputError
from tests.environments.highd_scenes import VIEW, Recording, random_recording, save_scene


def whole(table):
    """The scene's rows by vehicle, as (frames, columns)."""
    vehicles = np.unique(table["vehicle"].to_numpy())
    return {int(v): table.filter(pa.array(table["vehicle"].to_numpy() == v)) for v in vehicles}


def build(recording, **changed):
    return scene_of(recording.tables(), Settings(**changed))


def test_a_hand_made_recording():
    recording = Recording()
    recording.frame_the_view()  # 1 is seen for one frame only, 2 does not begin in the entry
    ego = recording.drive(10.0, 30.0, frame=5)
    short = recording.drive(20.0, 30.0, frame=5, until=50)  # leaves the picture half-way
    recording.drive(60.0, 30.0, frame=5)  # was on the road before
    recording.drive(10.0, 30.0, frame=7, direction=1)
    table = build(recording)
    assert table.schema.remove_metadata().equals(SCENE_SCHEMA)
    rows = whole(table)
    assert set(rows) == {ego, short}
    assert all(rows[ego]["ego"].to_pylist()) and not any(rows[short]["ego"].to_pylist())
    x = rows[ego]["x"].to_numpy()
    np.testing.assert_allclose(x, 10 + 30 * np.arange(len(x)) / 25, atol=1e-3)
    assert rows[ego]["frame"][0].as_py() == 4  # the window begins with frame 1
    assert set(rows[ego]["y"].to_pylist()) == {2.0}  # right lane: half a lane from the edge
    details = json.loads(table.schema.metadata[b"scene"])
    assert table.schema.metadata[b"source"] == b"simulated"
    (road,) = details["roads"]
    assert road["length"] == pytest.approx(VIEW) and road["markings"] == [0, 4, 8]


def test_both_directions_are_the_same_once_turned():
    """Mirrored traffic on the other carriageway gives the same road, row for row."""
    recording = Recording()
    recording.frame_the_view()
    for direction in (2, 1):
        recording.drive(8.0, 31.0, frame=3, lane=0, direction=direction, acc=0.1)
        recording.drive(9.0, 36.0, frame=9, lane=1, direction=direction, length=12.0)
    table = build(recording, directions=(1, 2))
    left, right = (table.filter(pa.array(table["road"].to_numpy() == r)) for r in (0, 1))
    for name in ("frame", "x", "y", "v", "acc", "length", "width", "ego"):
        a, b = left[name].to_numpy(), right[name].to_numpy()
        np.testing.assert_allclose(a.astype(float), b.astype(float), atol=1e-4)
    assert np.all(left["v"].to_numpy() > 0)


def test_the_window_holds_most_complete_tracks():
    """Against a plain count over all windows."""
    rng = np.random.default_rng(4)
    recording = random_recording(rng, 30, both=False)
    tables = recording.tables()
    spans = [(v["first_frame"], v["last_frame"]) for v in tables["vehicles"].to_pylist()]
    for window in (350, 450, 600):
        held = {
            s: sum(s <= first < last < s + window for first, last in spans)
            for s in sorted({first for first, _ in spans})
        }
        best = max(held, key=lambda s: (held[s], -s))
        table = scene_of(tables, Settings(window=window))
        road = json.loads(table.schema.metadata[b"scene"])["roads"][0]
        assert road["first_frame"] == best
        assert table["frame"].to_numpy().min() >= 0 and table["frame"].to_numpy().max() < window


def test_rows_of_the_tables_may_come_in_any_order():
    tables = random_recording(np.random.default_rng(1), 20).tables()
    tracks = tables["tracks"]
    shuffled = tracks.take(np.random.default_rng(2).permutation(len(tracks)))
    assert scene_of({**tables, "tracks": shuffled}, Settings()) == scene_of(tables, Settings())


def test_several_recordings_make_several_roads(tmp_path):
    first, second = (random_recording(np.random.default_rng(n), 8, n) for n in (1, 2))
    both = first.tables(), second.tables()
    tables = {name: pa.concat_tables([one[name] for one in both]) for name in both[0]}
    table = scene_of(tables, Settings(directions=(1, 2)))
    roads = json.loads(table.schema.metadata[b"scene"])["roads"]
    assert [(r["recording"], r["direction"]) for r in roads] == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_the_scene_comes_back(tmp_path):
    path = save_scene(
        tmp_path / "scene.parquet", random_recording(np.random.default_rng(5)), Headway(2.0, 1.5)
    )
    scene = read_scene(path)
    assert scene.headway == Headway(2.0, 1.5) and scene.frame_rate == 25
    assert scene.source == "simulated" and scene.frames == 5000
    tables = random_recording(np.random.default_rng(5)).tables()
    assert scene.table() == scene_of(tables, Settings(), Headway(2.0, 1.5))
    recorded = random_recording(np.random.default_rng(5), source="recorded")
    assert HighD(scene=save_scene(path, recorded)).source == "recorded"


def test_without_a_usable_ego_there_is_no_scene():
    recording = Recording(17)
    recording.frame_the_view()
    recording.drive(10.0, 30.0, direction=1)
    message = (
        r"recording 17: expected a vehicle of direction 2 that is seen only within the frames 1 to "
        r"5000, enters in the first 10% of the view and leaves in the last 10%, found none; choose"
    )
    with pytest.raises(InputError, match=message):
        build(recording)
    assert build(recording, directions=(1, 2)).num_rows > 0
    with pytest.raises(InputError, match=r"recording 17: .* direction 1 or 2"):
        build(recording, directions=(1, 2), window=100)


def test_missing_markings_and_mixed_frame_rates_are_refused():
    tables = random_recording(np.random.default_rng(6)).tables()
    recordings = tables["recordings"]
    row = recordings.to_pylist()[0]
    bare = pa.Table.from_pylist([{**row, "lower_markings": [4.0]}], recordings.schema)
    with pytest.raises(InputError, match="two or more lane markings in lower_markings, found 1"):
        scene_of({**tables, "recordings": bare}, Settings())
    mixed = pa.Table.from_pylist([row, {**row, "frame_rate": 10.0}], recordings.schema)
    with pytest.raises(InputError, match="all of one frame rate, found 10 Hz, 25 Hz"):
        scene_of({**tables, "recordings": mixed}, Settings())


@pytest.mark.parametrize(
    "wrong", [{"window": 1}, {"directions": (3,)}, {"directions": ()}, {"goal": 0}, {"entry": 0.95}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        settings.build(Settings, wrong, "scene")


def test_the_drivers_rule_is_the_mean_over_kinds(tmp_path):
    path = tmp_path / "SIMULATED.json"
    kinds = {
        "Car": {"share": 0.75, "minimum_distance": [2.0, 4.0], "time_gap": [1.0, 1.4]},
        "Truck": {"share": 0.25, "minimum_distance": [4.0, 6.0], "time_gap": [1.5, 2.5]},
    }
    path.write_text(json.dumps({"headway_rule": {"meaning": "in words", **kinds}}))
    rule = known_headway(path)
    assert (rule.minimum, rule.time) == pytest.approx((3.5, 1.4))
    for text in ("{}", "not json", json.dumps({"headway_rule": {"Car": {}}})):
        path.write_text(text)
        with pytest.raises(InputError, match=r"SIMULATED.json: expected the drivers' rule"):
            known_headway(path)


def test_the_rule_of_simulated_drivers_is_found_beside_their_files(tmp_path):
    tables = random_recording(np.random.default_rng(5)).tables()
    assert make_scene(tables, tmp_path, Settings()) == scene_of(tables, Settings())
    kind = {"share": 1.0, "minimum_distance": [2.0, 4.0], "time_gap": [1.0, 2.0]}
    (tmp_path / "SIMULATED.json").write_text(json.dumps({"headway_rule": {"Car": kind}}))
    expected = scene_of(tables, Settings(), Headway(3.0, 1.5))
    found = make_scene(tables, tmp_path, Settings())
    assert found == expected and found.schema.metadata == expected.schema.metadata
