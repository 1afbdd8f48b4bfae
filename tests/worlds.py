"""Every world as tests use it: small, and with all that it needs."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from icl_core import discovery
from icl_core.environments import make_world, world_type
from icl_core.environments.robot import Robot
from icl_core.environments.world import World
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from tests.demonstrations.made_up_roads import WIDTH, glide, left_bend, scene_file
from tests.environments.highd_scenes import random_recording, save_scene

NAMES = tuple(discovery.names(discovery.WORLDS))
DRIVING = tuple(name for name in NAMES if world_type(name).recorded)
ROBOTS = tuple(name for name in NAMES if issubclass(world_type(name), Robot))
SYNTHETIC = tuple(name for name in NAMES if name not in (*DRIVING, *ROBOTS))

_FOLDER = tempfile.TemporaryDirectory(prefix="scenes-")  # goes when the tests have ended


@cache
def _scene(name: str) -> str:
    """The file of recorded traffic that a driving world needs, made once."""
    if name not in ("highd", "exid"):
        pytest.skip(f"tests have no recorded traffic for {name}")
    path = Path(_FOLDER.name) / f"{name}.parquet"
    if name == "highd":
        save_scene(path, random_recording(np.random.default_rng(0), 12))
    else:
        left, right = 0.5 * WIDTH, 1.5 * WIDTH
        # Three lane changes, so that a horizon's worth of steps sees many episodes.
        vehicles = [glide(160, right, left), glide(160, left, right), glide(120, right, left)]
        scene_file(path, left_bend(250.0), vehicles, spacing=1.0)
    return str(path)


def settings_of(name: str) -> dict:
    """What `make_world` and `gymnasium.make` want to know of a world besides its name."""
    if name in ROBOTS:
        pytest.importorskip("mujoco", exc_type=ImportError)
    return {"scene": _scene(name)} if name in DRIVING else {}


def small_world(name: str, **settings) -> World:
    """The world of that name; settings of the test's own come on top."""
    return make_world(name, **settings_of(name), **settings)


def short_world(name: str, horizon: int = 50, **settings) -> World:
    """The same with short episodes where the paper's have 500 steps and more: to learn in."""
    world = small_world(name, **settings)
    if name not in SYNTHETIC:
        world.horizon = horizon
    return world


def random_actions(world: World, rng: np.random.Generator, *axes: int) -> np.ndarray:
    """Actions as a policy may draw them: real ones also beyond their bounds."""
    if world.discrete:
        return rng.integers(world.n_actions, size=axes)
    return rng.normal(size=(*axes, world.action_size)).astype(np.float32)


def some_policies(world: World, rngs, hidden=(16,), scale=1.0) -> Networks:
    """Untrained policies, one for each generator; a larger `scale` makes them more decided."""
    kind = actions_of(world)
    policies = Networks.initialise(rngs, (world.observation_size, *hidden, kind.outputs))
    policies.parameters *= scale
    kind.prepare(policies, -0.5)
    return policies
