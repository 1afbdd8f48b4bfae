"""The picture shows the vehicle on the side of the target line where d says it is."""

import numpy as np
import pytest

from icl_core.environments.pictures import BLUE, GREEN
from icl_core.environments.pictures.exid import SCALE, WIDTH, picture
from icl_core.environments.worlds.exid import ExiD
from tests.demonstrations.made_up_roads import WIDTH as LANE
from tests.demonstrations.made_up_roads import glide, left_bend, scene_file

LEFT, RIGHT = 0.5 * LANE, 1.5 * LANE


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "scene.parquet"
    vehicles = [glide(200, RIGHT, LEFT), glide(200, LEFT, RIGHT)]
    return ExiD(scene=scene_file(path, left_bend(300.0), vehicles))


def metres(image, colour):
    """Where a colour is, in metres right of the middle, on average."""
    columns = np.flatnonzero(np.all(image == colour, axis=-1).any(axis=0))
    return (columns.mean() + 0.5) / SCALE - WIDTH / 2


def test_the_vehicle_is_drawn_where_d_says(world):
    state = world.start_states
    for action in (0.0, -20.0, -60.0):
        state = world.step(state, np.array([[action], [-action]]))[0]
        for k in (0, 1):
            image = picture(world, state[k])
            assert image.dtype == np.uint8 and image.shape == (280, 400, 3)
            d = world.observe(state[k : k + 1])[0, 0]
            assert metres(image, BLUE) == pytest.approx(d, abs=0.06)
            assert np.all(image[0, image.shape[1] // 2] == GREEN)


def test_the_road_moves_and_far_vehicles_leave_the_picture(world):
    state = world.start_states[0]
    later = world.step(state[None], np.zeros((1, 1)))[0][0]
    assert not np.array_equal(picture(world, state), picture(world, later))
    gone = world.step(state[None], np.array([[2000.0]]))[0][0]
    assert not np.any(np.all(picture(world, gone) == BLUE, axis=-1))
