"""The worlds: constrained environments, by name; also registered with Gymnasium."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import gymnasium

from icl_core.environments.world import Axis, EvaluationGrid, World
from icl_core.errors import InputError


class Entry(NamedTuple):
    """Where a world stands, and what Gymnasium must know before it is loaded."""

    module: str  # in this package
    type_name: str
    gymnasium_id: str
    horizon: int


REGISTER = {
    "gridworld-a": Entry("gridworld", "GridworldA", "icl/GridworldA-v0", 50),
    "gridworld-b": Entry("gridworld", "GridworldB", "icl/GridworldB-v0", 50),
    "cartpole-mr": Entry("cartpole", "CartPoleMoveRight", "icl/CartPoleMoveRight-v0", 200),
    "cartpole-mid": Entry("cartpole", "CartPoleMiddle", "icl/CartPoleMiddle-v0", 200),
    "highd": Entry("highd", "HighD", "icl/HighD-v0", 1000),
    "exid": Entry("exid", "ExiD", "icl/ExiD-v0", 1000),
    "ant": Entry("robots", "AntConstrained", "icl/AntConstrained-v0", 500),
    "halfcheetah": Entry("robots", "HalfCheetahConstrained", "icl/HalfCheetahConstrained-v0", 1000),
}


def module_of(name: str) -> str:
    """The module that a world's code stands in."""
    return f"{__name__}.{REGISTER[name].module}"


class _Worlds(Mapping):
    """Each is loaded when it is asked for: an edit to traffic leaves grids as they are."""

    def __getitem__(self, name: str) -> type[World]:
        return getattr(importlib.import_module(module_of(name)), REGISTER[name].type_name)

    def __iter__(self) -> Iterator[str]:
        return iter(REGISTER)

    def __len__(self) -> int:
        return len(REGISTER)


WORLDS: Mapping[str, type[World]] = _Worlds()


def make_world(name: str, **settings) -> World:
    """The world of that name, e.g. `make_world("gridworld-a", slip=0.1)`."""
    if name not in REGISTER:
        raise InputError(
            f"environment {name!r} is unknown; choose one of {', '.join(sorted(REGISTER))}"
        )
    return WORLDS[name](**settings)


for _name, _entry in REGISTER.items():
    if _entry.gymnasium_id not in gymnasium.registry:
        gymnasium.register(
            _entry.gymnasium_id,
            entry_point="icl_core.environments.gym_adapter:WorldEnv",
            vector_entry_point="icl_core.environments.gym_adapter:WorldVectorEnv",
            max_episode_steps=_entry.horizon,
            kwargs={"world": _name},
        )

__all__ = ["WORLDS", "Axis", "EvaluationGrid", "World", "make_world", "module_of"]
