"""Robots without a screen: which OpenGL, where things lie in the picture, and what is seen."""

import math
import sys

import numpy as np
import pytest

from icl_core.environments.pictures import robot as module
from icl_core.environments.pictures.robot import View, backend, picture, render
from icl_core.environments.robot import capsules, posed
from icl_core.environments.worlds.ant import AntConstrained
from icl_core.environments.worlds.halfcheetah import HalfCheetahConstrained
from icl_core.errors import InputError


@pytest.fixture(params=[AntConstrained, HalfCheetahConstrained], ids=lambda robot: robot.name)
def world(request):
    return request.param()


@pytest.fixture
def opengl(world):
    """Skips where the machine has none."""
    try:
        render(world, world.simulation.start)
    except InputError as error:
        pytest.skip(str(error))


# --- Which OpenGL


@pytest.mark.parametrize(
    ("installed", "variable", "chosen"),
    [
        (("libEGL.so.1", "libOSMesa.so.8"), "", "egl"),
        (("libOSMesa.so.6",), "", "osmesa"),
        (("libEGL.so.1", "libOSMesa.so.8"), "OSMesa", "osmesa"),
    ],
)
def test_the_first_library_or_the_wanted_one(monkeypatch, installed, variable, chosen):
    monkeypatch.setattr(module, "_loads", installed.__contains__)
    monkeypatch.setenv("MUJOCO_GL", variable)
    assert backend() == chosen


@pytest.mark.parametrize(
    ("installed", "variable"), [((), ""), (("libEGL.so.1",), "osmesa"), (("libEGL.so.1",), "off")]
)
def test_no_library_is_told_with_what_to_do(monkeypatch, installed, variable):
    monkeypatch.setattr(module, "_loads", installed.__contains__)
    monkeypatch.setenv("MUJOCO_GL", variable)
    with pytest.raises(InputError, match=r"needs EGL or OSMesa, found neither.*install one"):
        backend()


def test_a_driver_that_fails_is_told_too(monkeypatch, world):
    monkeypatch.setattr(module, "backend", lambda: "osmesa")
    monkeypatch.setitem(sys.modules, "mujoco.osmesa", None)  # importing it now fails
    with pytest.raises(InputError, match=r"working OSMESA, found one that fails.*MUJOCO_GL"):
        render(world, world.simulation.start, size=(32, 20))


# --- Where things lie


def test_points_project_as_through_a_pinhole(world, opengl):
    """MuJoCo's camera opens 45 degrees from top to bottom."""
    view = View(centre=(0.3, 0.0, 0.4), distance=5.0, azimuth=90.0, elevation=0.0)
    rendering = render(world, world.simulation.start, (400, 200), view)
    focal = 100 / math.tan(math.radians(22.5))
    points = np.array([[0.3, 0, 0.4], [1.3, 0, 0.4], [0.3, 0, 0.9], [1.3, 5.0, 0.4]])
    expected = [
        (200, 100),
        (200 + focal / 5, 100),
        (200, 100 - 0.5 * focal / 5),
        (200 + focal / 10, 100),
    ]
    assert np.allclose(rendering.pixels(points), expected, atol=0.01)


def test_the_forbidden_side_is_red_and_the_other_is_not(world, opengl):
    far_off = world.simulation.start
    far_off[0] = 30.0  # nothing stands before the floor
    rendering = render(world, far_off, (400, 250))
    places = np.array([[-1.5, -1.8, 0], [-2.5, -1.0, 0], [-0.5, 0.5, 0], [0.5, 0.5, 0]])
    columns, rows = np.rint(rendering.pixels(places)).astype(int).T
    red, _, blue = rendering.image[rows, columns].astype(int).T
    assert ((red - blue) > 40).tolist() == [True, True, False, False]
    wall = np.rint(rendering.pixels(np.array([[-1, 0, 0.5]]))).astype(int)[0]
    red, _, blue = rendering.image[wall[1], wall[0]].astype(int)
    assert red - blue > 100


def test_the_robot_is_in_the_picture_and_equal_states_look_equal(world, opengl):
    state, away = world.simulation.start, world.simulation.start
    away[0] = 30.0
    here, again, empty = (render(world, s).image for s in (state, state, away))
    assert here.dtype == np.uint8 and here.shape == (400, 640, 3)
    assert np.array_equal(here, again)
    changed = np.any(here != empty, axis=-1)
    assert 0.01 < changed.mean() < 0.3


def test_gymnasiums_picture_follows_the_robot(world, opengl):
    state, moved = world.simulation.start, world.simulation.start
    moved[0] = 3.0  # lines are a metre apart, and the wall is then out of sight
    image = picture(world, state)
    assert image.dtype == np.uint8 and image.shape == (400, 640, 3)
    middle = (slice(180, 260), slice(290, 350))
    assert np.mean(np.any(image[middle] != picture(world, moved)[middle], axis=-1)) < 0.2


# --- The model's parts, which need no OpenGL


def test_parts_of_the_models():
    ant, cheetah = AntConstrained(), HalfCheetahConstrained()
    parts = capsules(ant.simulation.model, posed(ant.simulation.model, ant.simulation.start))
    assert len(parts) == 13  # a torso and four legs of three
    ends, radius = parts[0]
    assert radius == 0.25 and np.allclose(ends, [[0, 0, 0.75]] * 2)
    ends, radius = parts[1]  # from the middle of the torso outwards
    assert radius == 0.08 and np.allclose(sorted(ends.tolist()), [[0, 0, 0.75], [0.2, 0.2, 0.75]])
    state = cheetah.simulation.start
    state[:2] = 2.0, 0.5  # along, and up
    parts = capsules(cheetah.simulation.model, posed(cheetah.simulation.model, state))
    assert len(parts) == 8
    ends, radius = parts[0]
    assert radius == 0.046 and np.allclose(sorted(ends.tolist()), [[1.5, 0, 1.2], [2.5, 0, 1.2]])
