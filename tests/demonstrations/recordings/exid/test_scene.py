"""The scene against closed forms, and against the slow rules of the authors' distance."""

import json
import math

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.artifacts import write_table
from icl_core.demonstrations.recordings.exid.lane_changes import find_lane_changes
from icl_core.demonstrations.recordings.exid.scene import (
    Settings,
    authors,
    perpendicular,
    scene_of,
    scene_of_changes,
)
from icl_core.environments.lane_change_scene import FRAME_COLUMNS, SCHEMA, VIEW, read_scene
from icl_core.errors import InputError
from tests.demonstrations.made_up_roads import (
    WIDTH,
    drive,
    glide,
    left_bend,
    right_bend,
    road,
    scene_file,
    straight,
    tables,
    track_table,
)

LEFT, RIGHT = 0.5 * WIDTH, 1.5 * WIDTH
N = 240


def change_on(place, lateral, **options):
    lanelets = road(place, **options)
    (change,) = find_lane_changes(track_table([(1, 0, drive(place, lateral))]), {1: lanelets})
    return change


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5])
def test_a_straight_road(angle):
    lateral = glide(N, LEFT, RIGHT) + 0.2 * np.sin(np.arange(N) / 9)
    change = change_on(straight(angle), lateral)
    frames = perpendicular(change)
    driven = lateral[change.frames]
    assert frames["slope"] == pytest.approx(1)
    assert frames["lateral"] == pytest.approx(driven - LEFT)
    # The target line lies to the right of the start line: seen from there d is negative.
    assert frames["distance"] == pytest.approx(-WIDTH)


@pytest.mark.parametrize(("bend", "before", "after"), [
    (left_bend, LEFT, RIGHT), (left_bend, RIGHT, LEFT), (right_bend, LEFT, RIGHT),
])  # fmt: skip
def test_a_bend_has_no_effect_on_the_distance(bend, before, after):
    lateral = glide(N, before, after)
    change = change_on(bend(250.0), lateral, spacing=1.0)
    frames = perpendicular(change)
    driven = lateral[change.frames]
    replayed = frames["distance"] + frames["slope"] * frames["lateral"]
    assert replayed == pytest.approx(driven - after, abs=2e-3)
    assert frames["lateral"] == pytest.approx(driven - before, abs=2e-3)
    assert frames["slope"] == pytest.approx(1, abs=1e-4)


@given(
    angle=st.floats(-0.3, 0.3),
    apart=st.floats(2.5, 4.5),
    offsets=st.lists(st.floats(-6, 6), min_size=2, max_size=6),
)
@settings(max_examples=50, deadline=None)
def test_lanes_that_are_not_parallel(angle, apart, offsets):
    """Straight lines: from any lateral offset the distance is exact, not only the recorded one."""

    class Way:
        class start:
            centre_line = np.array([[0.0, 0.0], [100.0, 0.0]])

        class target:
            centre_line = np.array([[0.0, apart], [100.0, apart + 100 * math.tan(angle)]])

        positions = np.stack([np.linspace(20, 60, len(offsets)), offsets], axis=1)

    frames = perpendicular(Way)
    for other in (-3.0, 0.0, 2.0):
        for k, x in enumerate(Way.positions[:, 0]):
            # The place `other` metres right of the start line, i.e. below it: y = -other.
            expected = (math.tan(angle) * x + apart + other) * math.cos(angle)
            found = frames["distance"][k] + frames["slope"][k] * other
            assert found == pytest.approx(expected, abs=1e-9)


def slow_authors(change, lateral):
    """The authors' rule for each frame, step by step, with offsets of our own choosing."""
    start, target = change.start.centre_line, change.target.centre_line
    first = change.positions[0]
    node = min(range(len(start)), key=lambda k: math.dist(start[k], first))
    a, b = (start[node], start[node + 1]) if node + 1 < len(start) else start[node - 1 : node + 1]
    e = (b - a) / math.dist(a, b)
    n = np.array([e[1], -e[0]])
    progress = sum(math.dist(start[k], start[k + 1]) for k in range(node))
    found = []
    for k in range(len(lateral)):
        previous = progress
        if k:
            progress += float((change.positions[k] - change.positions[k - 1]) @ e)
        place = slow_point(start, previous) + lateral[k] * n + (first - start[node])
        length = math.dist(place, slow_point(target, progress))
        found.append((length, place))
    return found


def slow_point(nodes, progress):
    for k in range(len(nodes) - 1):
        length = math.dist(nodes[k], nodes[k + 1])
        if progress <= length or k == len(nodes) - 2:
            if progress < 0 and k > 0:
                raise AssertionError
            return nodes[k] + progress * (nodes[k + 1] - nodes[k]) / length
        progress -= length


@given(st.sampled_from([straight(0.4), left_bend(150.0), right_bend(220.0)]), st.booleans(),
       st.integers(0, 2**32))  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_the_authors_distance_against_its_slow_rule(place, leftwards, seed):
    ends = (RIGHT, LEFT) if leftwards else (LEFT, RIGHT)
    change = change_on(place, glide(N, *ends))
    frames = authors(change)
    rng = np.random.default_rng(seed)
    for lateral in (frames["authors_lateral"], rng.normal(0, 2, size=len(change.frames))):
        expected = [length for length, _ in slow_authors(change, lateral)]
        found = np.hypot(frames["along"], frames["across"] + lateral)
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_authors_distance_leaks_along_the_road():
    """On a straight road the leak is one frame's way plus what the nearest node leaves over."""
    change = change_on(straight(), glide(N, LEFT, RIGHT), spacing=10.0)
    frames = authors(change)
    step = 310 / (N - 1)
    over = change.positions[0, 0] - 0.0  # from the node at 0, the nearest
    assert frames["along"][0] == pytest.approx(over)
    assert frames["along"][1:] == pytest.approx(over - step)
    assert frames["across"] == pytest.approx(-WIDTH)
    assert frames["side"] == pytest.approx(-WIDTH) and frames["side_slope"] == pytest.approx(1)


def test_starts_that_are_too_far_are_left_out_and_none_is_an_error():
    far = road(straight(), lanes=2)
    change = change_on(straight(), glide(N, LEFT, RIGHT))
    assert scene_of_changes([change], {1: far}, "simulated").num_rows == 1
    shifted = change.target.centre_line + np.array([0, -3.0])

    class Far:
        recording, track, frames, positions, start = (
            change.recording, change.track, change.frames, change.positions, change.start,
        )  # fmt: skip

        class target:
            id, centre_line = 101, shifted

    assert scene_of_changes([change, Far], {1: far}, "simulated").num_rows == 1
    with pytest.raises(
        InputError, match=r"^folder: expected a vehicle .* found 1 from farther away; add"
    ):
        scene_of_changes([Far], {1: far}, "simulated", "folder")
    with pytest.raises(InputError, match=r"^folder: .*found none; add"):
        scene_of_changes([], {}, "simulated", "folder")


def test_recordings_of_another_rate_or_without_a_map_are_refused():
    tracks = track_table([(1, 0, drive(straight(), glide(N, LEFT, RIGHT)))])
    maps = {1: road(straight())}
    with pytest.raises(InputError, match=r"expected 25 frames per second in recording 1, found 10"):
        scene_of(tables(tracks, rate=10.0), maps, Settings(), "recorded", "folder")
    with pytest.raises(InputError, match=r"^folder: expected a map .* recording 1, found none"):
        scene_of(tables(tracks), {}, Settings(), "recorded", "folder")


def test_a_scene_is_read_as_it_was_written(tmp_path):
    vehicles = [glide(N, LEFT, RIGHT), glide(180, RIGHT, LEFT), glide(90, LEFT, RIGHT)]
    scene = read_scene(scene_file(tmp_path / "scene.parquet", straight(), vehicles))
    assert scene.source == "simulated" and scene.recording.tolist() == [1, 1, 1] == [1] * len(scene)
    lengths = np.diff(scene.offsets)
    assert all(len(scene.frames[name]) == lengths.sum() for name in FRAME_COLUMNS)
    frames = perpendicular(change_on(straight(), vehicles[1]))
    second = slice(scene.offsets[1], scene.offsets[2])
    for name in frames:
        assert np.array_equal(scene.frames[name][second], frames[name])
    assert set(scene.view["lanelets"]) == {"100", "101"}


def test_the_view_is_of_a_change_that_was_nearly_completed(tmp_path):
    """Here only the second vehicle comes all the way to the target's centre line."""
    vehicles = [glide(N, LEFT, LEFT + share * WIDTH) for share in (0.6, 1.0, 0.7)]
    scene = read_scene(scene_file(tmp_path / "scene.parquet", straight(), vehicles))
    assert scene.view["change"] == scene.view["track"] == 1
    assert (scene.view["start"], scene.view["target"]) == (100, 101)
    assert len(scene.view["positions"]) == scene.offsets[2] - scene.offsets[1]


def test_equal_recordings_give_equal_bytes(tmp_path):
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for path in paths:
        scene_file(path, left_bend(200.0), [glide(N, LEFT, RIGHT)])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def faulty(tmp_path, change):
    path = scene_file(tmp_path / "scene.parquet", straight(), [glide(N, LEFT, RIGHT)])
    write_table(path, change(pq.read_table(path)), {})
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.slice(0, 0), "at least one lane change"),
        (lambda t: t.drop_columns(["slope"]), "expected the columns"),
        (lambda t: t.replace_schema_metadata({}), "a source in its metadata"),
        (lambda t: t.set_column(7, SCHEMA.field("slope"), [[[1.0, 1.0]]]), "as many frames"),
        (lambda t: t.set_column(5, SCHEMA.field("lateral"), [[[1.0]]]), "at least two frames"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, change, words):
    path = faulty(tmp_path, change)
    with pytest.raises(InputError, match=words) as error:
        read_scene(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_the_view_is_json(tmp_path):
    change = change_on(straight(), glide(N, LEFT, RIGHT))
    table = scene_of_changes([change], {1: road(straight())}, "recorded")
    view = json.loads(table.schema.metadata[VIEW])
    assert np.allclose(view["positions"], change.positions, atol=0.006)
    assert np.allclose(view["target_line"], change.target.centre_line, atol=0.006)
