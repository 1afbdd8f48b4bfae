"""Pictures of HighD: the right things are where they should be."""

import numpy as np
import pytest
from PIL import Image

from icl_core.environments.pictures import BLUE, DARK
from icl_core.environments.pictures.highd import SCALE, VEHICLE, animate, caption, picture
from icl_core.environments.worlds.highd import X
from tests.environments.highd_scenes import VIEW, Recording, make_highd


@pytest.fixture
def world(tmp_path):
    recording = Recording()
    recording.drive(2.0, 30.0)
    recording.drive(36.0, 30.0, length=12.0)
    recording.drive(20.0, 30.0, lane=1)
    recording.frame_the_view()
    return make_highd(tmp_path / "scene.parquet", recording)


def columns_of(image, colour):
    return np.flatnonzero((image == colour).all(axis=-1).any(axis=0))


def test_a_frame(world):
    state = world._starts[0]
    image = picture(world, state)
    assert image.dtype == np.uint8 and image.shape[1:] == (VIEW * SCALE, 3)
    ego = columns_of(image, BLUE)
    assert ego[[0, -1]].tolist() == [0, 4 * SCALE - 1]
    others = columns_of(image, VEHICLE)
    assert others.min() == 18 * SCALE and others.max() == 42 * SCALE - 1
    gap = columns_of(image, DARK)  # from the ego's front, at 4 m, to the truck's rear, at 30 m
    assert gap[[0, -1]].tolist() == [4 * SCALE, 30 * SCALE - 1]


def test_boxes(world):
    ego, others = world.boxes(world._starts[0])
    assert ego.tolist() == [2, 2, 4, 2]
    # The glimpse at the view's beginning was one frame long, so it is not on the road.
    assert sorted(others.round(3).tolist()) == [[20, 6, 4, 2], [36, 2, 12, 2]]


def test_a_film(world, tmp_path):
    states = [world._starts[[0]]]
    for _ in range(29):
        states.append(world.step(states[-1], np.zeros((1, 1)))[0])
    states = np.concatenate(states)
    paths = [tmp_path / name for name in ("a.gif", "b.gif")]
    for path in paths:
        animate(world, states, path, every=5)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with Image.open(paths[0]) as film:
        assert film.n_frames == 6 and film.info["duration"] == 200
        assert film.size[0] == VIEW * SCALE
    assert caption(world, states[0]).startswith("t 0.0 s    v 30.0 m/s    gap 26 m")
    assert np.all(np.diff(states[:, X]) > 0)
