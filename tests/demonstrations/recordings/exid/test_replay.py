"""Demonstrations repeat the recorded lane changes."""

import numpy as np
import pytest

from icl_core.demonstrations.files import read_demonstrations, write_demonstrations
from icl_core.demonstrations.recordings.exid.replay import replay
from icl_core.environments.worlds.exid import ExiD
from tests.demonstrations.made_up_roads import WIDTH, glide, left_bend, scene_file

LEFT, RIGHT = 0.5 * WIDTH, 1.5 * WIDTH
VEHICLES = [glide(240, RIGHT, LEFT), glide(300, LEFT, RIGHT), glide(120, RIGHT, LEFT)]


@pytest.fixture(scope="module", params=["perpendicular", "authors"])
def world(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "scene.parquet"
    scene = scene_file(path, left_bend(300.0), VEHICLES, spacing=10.0)
    return ExiD(ExiD.Settings(request.param), scene)


def test_shapes_and_lengths(world):
    shown = replay(world, 50, np.random.default_rng(0))
    assert len(shown) == 50 and set(shown.lengths) <= set(np.diff(world.scene.offsets) - 1)
    assert shown.states.shape == (50, shown.lengths.max(), 1)
    assert shown.actions.shape == (50, shown.lengths.max(), 1)
    assert shown.states.dtype == shown.actions.dtype == shown.rewards.dtype == np.float32
    assert np.all(shown.states[~shown.mask] == 0) and np.all(shown.rewards[~shown.mask] == 0)


def test_the_distance_is_the_recorded_vehicles(tmp_path):
    """On a bend: against the radius at which the vehicle drove."""
    path = scene_file(tmp_path / "scene.parquet", left_bend(300.0), VEHICLES, spacing=10.0)
    world = ExiD(scene=path)
    shown = replay(world, 30, np.random.default_rng(1))
    drawn = world.initial_states(np.random.default_rng(1), 30)[:, 0].astype(int)
    for episode, change in enumerate(drawn):
        lateral, length = VEHICLES[change], shown.lengths[episode]
        first = np.flatnonzero(np.linspace(-5, 305, len(lateral)) >= 0)[0]
        expected = lateral[first : first + length] - lateral[-1]
        # Nodes are 10 m apart: the sagitta of their chords is 4 cm.
        assert shown.states[episode, :length, 0] == pytest.approx(expected, abs=0.05)


def test_actions_move_the_distance_by_a_25th(tmp_path):
    """As in the authors' demonstrations, where the residual's median is 4 mm, its 95 % 25 mm."""
    path = scene_file(tmp_path / "scene.parquet", left_bend(500.0), VEHICLES, spacing=5.0)
    shown = replay(ExiD(scene=path), 30, np.random.default_rng(2))
    moved = np.diff(shown.states[..., 0], axis=1)[shown.mask[:, 1:]]
    residual = np.abs(moved - shown.actions[:, :-1, 0][shown.mask[:, 1:]] / 25)
    assert np.median(residual) < 0.004 and np.quantile(residual, 0.95) < 0.025


def test_lateral_velocities_are_the_vehicles_own(tmp_path):
    """On a bend whose line has corners every 10 m: none of them is in the velocity."""
    path = scene_file(tmp_path / "scene.parquet", left_bend(300.0), VEHICLES, spacing=10.0)
    world = ExiD(scene=path)
    for change, lateral in enumerate(VEHICLES):
        first = np.flatnonzero(np.linspace(-5, 305, len(lateral)) >= 0)[0]
        actions = world.recorded_actions(change)[:, 0]
        expected = np.diff(lateral)[first : first + len(actions)] * 25
        assert actions == pytest.approx(expected, abs=0.01)
    shown = replay(world, 30, np.random.default_rng(3))
    product = (shown.states * shown.actions)[..., 0][shown.mask]
    moving = np.abs(shown.actions[..., 0][shown.mask]) > 0.1
    assert np.mean(product[moving] < 0) > 0.97


def test_a_demonstration_can_be_repeated_to_the_last_bit(world):
    shown = replay(world, 20, np.random.default_rng(4))
    states = world.initial_states(np.random.default_rng(4), 20)
    for t in range(shown.lengths.max()):
        going = t < shown.lengths
        assert np.array_equal(world.observe(states)[going], shown.states[going, t])
        states, rewards, ended = world.step(states, shown.actions[:, t])
        assert np.array_equal(rewards[going], shown.rewards[going, t])
        assert np.array_equal(ended[going], t + 1 == shown.lengths[going])


def test_they_are_kept_in_a_file(world, tmp_path):
    shown = replay(world, 10, np.random.default_rng(5))
    write_demonstrations(tmp_path / "trajectories.parquet", shown, world, {})
    for a, b in zip(
        read_demonstrations(tmp_path / "trajectories.parquet", world).parts(),
        shown.parts(),
        strict=True,
    ):
        assert np.array_equal(a, b)
