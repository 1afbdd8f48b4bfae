"""Demonstrations of recorded egos, by hand and as the world would have shown them."""

import math

import numpy as np
import pytest

from icl_core.demonstrations.files import read_demonstrations, write_demonstrations
from icl_core.demonstrations.recordings.highd.replay import replay
from tests.environments.highd_scenes import LANES, VIEW, Recording, make_highd, random_recording

ANY = 1, np.random.default_rng(0)  # all egos are replayed, whatever is asked for


def test_a_hand_made_pair(tmp_path):
    """A car that speeds up a little behind a slower truck, and the truck with nobody ahead."""
    recording = Recording()
    recording.drive(2.0, 25.0, frame=30, acc=0.2)
    recording.drive(40.0, 30.0, frame=30, length=12.0)
    recording.frame_the_view()
    demonstrations = replay(make_highd(tmp_path / "s.parquet", recording), *ANY)
    assert len(demonstrations) == 2
    goal = 0.9 * VIEW
    t = (-25 + math.sqrt(25**2 + 2 * 0.2 * (goal - 2.0))) / 0.2
    assert demonstrations.lengths.tolist() == [math.ceil(25 * t), math.ceil(25 * (goal - 40) / 30)]
    car, truck = demonstrations[0], demonstrations[1]
    n = car.lengths
    time = np.arange(n) / 25
    np.testing.assert_allclose(car.states[:n, 0], 2 + 25 * time + 0.1 * time**2, atol=1e-3)
    np.testing.assert_allclose(car.states[:n, 2], 25 + 0.2 * time, atol=1e-4)
    np.testing.assert_allclose(car.actions[:n, 0], 0.1, atol=1e-6)
    ahead = 40 + 30 * time - 6 - (car.states[:n, 0] + 2)
    seen = 40 + 30 * time <= VIEW - 6  # the truck has left the picture later on
    np.testing.assert_allclose(car.states[:n, 13][seen], ahead[seen], atol=2e-3)
    assert np.all(car.states[:n, 12][~seen] == -1)
    assert np.all(car.states[:n, 13][~seen] == np.float32(VIEW))
    assert np.all(truck.states[: truck.lengths, 12] == -1)
    assert demonstrations.returns.tolist() == [1.0, 1.0]
    assert np.all(car.rewards[: n - 1] == 0) and car.rewards[n - 1] == 1


def test_lane_changes_are_followed(tmp_path):
    """The gap is to whoever is ahead in the lane that the ego is in at the time."""
    right, left = LANES[2]
    y = np.full(4000, right)
    y[100:] = left
    recording = Recording()
    recording.drive(2.0, 25.0, y=y)
    recording.drive(30.0, 25.0, lane=0)
    recording.drive(40.0, 25.0, lane=1)
    recording.frame_the_view()
    world = make_highd(tmp_path / "s.parquet", recording)
    gap = replay(world, *ANY)[0].states[:, 13]
    assert gap[:100] == pytest.approx(24.0, abs=1e-3)
    assert gap[100:200] == pytest.approx(34.0, abs=1e-3)


def test_the_time_limit_cuts_a_slow_driver(tmp_path):
    recording = Recording()
    recording.drive(2.0, 5.0)
    recording.frame_the_view()
    world = make_highd(tmp_path / "s.parquet", recording)
    demonstrations = replay(world, *ANY)
    assert demonstrations.lengths.tolist() == [1000]
    distance = math.hypot(0.95 * VIEW - (2 + 5 * 40), 4 - 2)
    assert demonstrations.returns[0] == pytest.approx(-distance / (0.9 * VIEW), abs=6e-4)


def test_a_constant_speed_driver_is_what_the_world_would_do(tmp_path):
    """Where the recorded acceleration is the whole truth, the world replays the demonstration."""
    recording = Recording()
    recording.drive(2.0, 25.0, frame=3)
    recording.drive(40.0, 30.0, frame=9)
    recording.frame_the_view()
    world = make_highd(tmp_path / "s.parquet", recording)
    demonstrations = replay(world, *ANY)
    for ego in range(2):
        state = world._starts[[ego]]
        for t in range(demonstrations.lengths[ego]):
            np.testing.assert_allclose(
                world.observe(state)[0], demonstrations.states[ego, t], atol=2e-3
            )
            state, reward, ended = world.step(state, demonstrations.actions[ego, t][None])
            assert reward[0] == demonstrations.rewards[ego, t]
        assert ended[0]


def test_the_file_of_demonstrations_comes_back(tmp_path):
    world = make_highd(tmp_path / "s.parquet", random_recording(np.random.default_rng(2), 30))
    demonstrations = replay(world, *ANY)
    path = tmp_path / "demonstrations.parquet"
    write_demonstrations(path, demonstrations, world, {})
    found = read_demonstrations(path, world)
    for a, b in zip(found.parts(), demonstrations.parts(), strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b)
