"""The spaces of Gymnasium in which a constraint can be learned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from icl_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import gymnasium


def check_spaces(where: str, observations: gymnasium.Space, actions: gymnasium.Space) -> None:
    """Raise an InputError unless observations are vectors, and actions vectors or choices."""
    from gymnasium.spaces import Box, Discrete

    if not (isinstance(observations, Box) and len(observations.shape) == 1):
        raise InputError(
            f"{where}: expected a Box of one axis as observation space, for a constraint is "
            f"learned over vectors, found {_short(observations)}; flatten the observations "
            "(gymnasium.wrappers.FlattenObservation) and record again"
        )
    if isinstance(actions, Box) and len(actions.shape) == 1:
        return
    if not isinstance(actions, Discrete):
        raise InputError(
            f"{where}: expected Discrete or a Box of one axis as action space, for policies choose "
            f"one of n actions or a real vector, found {_short(actions)}; wrap the environment and "
            "record again"
        )
    if actions.start != 0:
        raise InputError(
            f"{where}: expected actions numbered from 0, found {_short(actions)}; wrap the "
            "environment and record again"
        )


def _short(space: gymnasium.Space) -> str:
    shape = f" of shape {space.shape}" if space.shape else ""
    text = type(space).__name__ + shape
    return f"{space}" if type(space).__name__ == "Discrete" else text


@contextmanager
def opened(env: str | Callable[[], Any] | Any) -> Iterator[gymnasium.Env]:
    """An environment by its id, made by a factory, or ready; what is made here is closed again."""
    import gymnasium

    if isinstance(env, gymnasium.Env):
        yield env
        return
    # Its import makes our worlds known. Who brings an environment does not need them, and may have
    # an older Gymnasium than they do: that of safety-gymnasium.
    import icl_core.environments.gymnasium  # noqa: F401

    made: Any
    if isinstance(env, str):
        try:
            made = gymnasium.make(env)
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise InputError(
                f"env: expected the id of an environment that can be made, found {env!r} "
                f"({' '.join(str(error).split())}); register it, or give the environment itself"
            ) from error
    else:
        made = env() if callable(env) else None
    if not isinstance(made, gymnasium.Env):
        raise InputError(
            "env: expected an id, a factory or a Gymnasium environment, found "
            f"{type(env).__name__}; give one of them"
        )
    try:
        yield made
    finally:
        made.close()
