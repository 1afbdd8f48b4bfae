"""The worlds: constrained environments, by name; also registered with Gymnasium."""

import gymnasium

from icl_core.environments.cartpole import CartPoleMiddle, CartPoleMoveRight
from icl_core.environments.exid import ExiD
from icl_core.environments.gridworld import GridworldA, GridworldB
from icl_core.environments.highd import HighD
from icl_core.environments.robots import AntConstrained, HalfCheetahConstrained
from icl_core.environments.world import Axis, EvaluationGrid, World
from icl_core.errors import InputError

WORLDS: dict[str, type[World]] = {
    world.name: world
    for world in (
        GridworldA,
        GridworldB,
        CartPoleMoveRight,
        CartPoleMiddle,
        HighD,
        ExiD,
        AntConstrained,
        HalfCheetahConstrained,
    )
}


def make_world(name: str, **settings) -> World:
    """The world of that name, e.g. `make_world("gridworld-a", slip=0.1)`."""
    if name not in WORLDS:
        raise InputError(
            f"environment {name!r} is unknown; choose one of {', '.join(sorted(WORLDS))}"
        )
    return WORLDS[name](**settings)


for _world in WORLDS.values():  # loaded on first use: only the addresses are named here
    if _world.gymnasium_id not in gymnasium.registry:
        gymnasium.register(
            _world.gymnasium_id,
            entry_point="icl_core.environments.gym_adapter:WorldEnv",
            vector_entry_point="icl_core.environments.gym_adapter:WorldVectorEnv",
            max_episode_steps=_world.horizon,
            kwargs={"world": _world.name},
        )

__all__ = ["WORLDS", "Axis", "EvaluationGrid", "World", "make_world"]
