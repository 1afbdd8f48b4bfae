"""Worlds: constrained environments, each found by its name and imported only when asked for.

A world is one file in `worlds/` with one class in it (see `world.World`); `gymnasium` offers them
all as Gymnasium environments.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.settings import build

if TYPE_CHECKING:
    from icl_core.environments.world import World


def make_world(name: str, *, scene: str | os.PathLike | None = None, **settings: Any) -> World:
    """The world of that name, e.g. `make_world("gridworld-a", slip=0.1)`.

    `scene` is the file of recorded traffic, for worlds that replay it.
    """
    kind = world_type(name)
    given = build(kind.Settings, settings, f"environments.{name}")
    make: Callable[..., World] = kind
    if kind.recorded:
        return make(given, scene=scene)
    if scene is not None:
        raise InputError(
            f"environment {name}: expected no scene, for it replays no recordings, found {scene}; "
            "leave it out"
        )
    return make(given)


def world_type(name: str) -> type[World]:
    """The class of the world of that name."""
    from icl_core.environments.world import World

    module = discovery.load(discovery.WORLDS, name)
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, World)
        if value.__module__ == module.__name__
    ]
    if len(found) != 1 or found[0].name != name:
        classes = ", ".join(f"{one.__name__} of the name {one.name!r}" for one in found)
        raise InputError(
            f"module {module.__name__}: expected one subclass of World, of the name {name!r}, "
            f"found {classes or 'none'}; leave the others out or set its `name`"
        )
    return found[0]


def gymnasium_id(name: str) -> str:
    """How Gymnasium calls a world: icl/<name>-v0, unless it has a `GYMNASIUM_ID`."""
    module = discovery.module_name(discovery.WORLDS, name)
    return discovery.literal(module, "GYMNASIUM_ID", f"icl/{name}-v0")


__all__ = ["gymnasium_id", "make_world", "world_type"]
