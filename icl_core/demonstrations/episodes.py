"""One demonstrated episode, and how those of other libraries become one.

`episode_of` takes whatever has observations, actions and rewards by one of their usual names:
mappings, Minari's `EpisodeData`, imitation's `Trajectory`. Neither library is imported for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from icl_core.errors import InputError

# What it is called by others. Ends are told of every step or of the last one.
NAMES = {
    "observations": ("observations", "obs"),
    "actions": ("actions", "acts"),
    "rewards": ("rewards", "rews"),
    "terminated": ("terminated", "terminations", "terminal"),
    "truncated": ("truncated", "truncations"),
    "costs": ("costs", "cost"),
    "infos": ("infos",),
}
LARGEST_CHOICE = 2**24  # whole numbers up to here are exact in float32, in which files keep them

Reward = Callable[[np.ndarray, Any], float]  # of an observation and the action taken there


@dataclass(frozen=True, eq=False)
class Episode:
    """One whole episode; arrays are converted and checked when it is made."""

    observations: np.ndarray  # (T + 1, size) float32; (T, size) where the last one is not known
    actions: np.ndarray  # (T,) int64 where actions are choices, (T, k) float32 where they are real
    rewards: np.ndarray  # (T,) float32
    terminated: bool = False  # whether the last step reached an end of the environment
    truncated: bool = False  # whether the last step was cut off, say by a time limit
    costs: np.ndarray | None = None  # (T,) float32, where they were recorded

    def __post_init__(self) -> None:
        convert: dict[str, Callable[[Any], Any]] = {
            "observations": lambda given: _numbers("observations", given),
            "actions": _actions,
            "rewards": lambda given: _numbers("rewards", given),
            "terminated": bool,
            "truncated": bool,
            "costs": lambda given: None if given is None else _numbers("costs", given),
        }
        for name, converted in convert.items():
            object.__setattr__(self, name, converted(getattr(self, name)))
        self._check_shapes()

    def _check_shapes(self) -> None:
        steps = len(self)
        if self.rewards.ndim != 1 or steps == 0:
            raise _wrong("rewards", "one number for each of one or more steps", self.rewards)
        seen = self.observations
        if seen.ndim != 2 or len(seen) not in (steps, steps + 1) or not seen.shape[1]:
            expected = (
                f"a vector of numbers before each of the {steps} steps, and one after the last "
                "where it is known (no pictures, no dictionaries: flatten them)"
            )
            raise _wrong("observations", expected, seen)
        if len(self.actions) != steps or 0 in self.actions.shape:
            raise _wrong("actions", f"one for each of the {steps} steps", self.actions)
        if self.costs is not None and self.costs.shape != (steps,):
            raise _wrong("costs", f"one number for each of the {steps} steps", self.costs)

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def states(self) -> np.ndarray:
        """(T, size) the observations before each action."""
        return self.observations[: len(self)]

    @property
    def last_observation(self) -> np.ndarray | None:
        """(size,) what was seen after the last action, where it is known."""
        return self.observations[-1] if len(self.observations) > len(self) else None

    @property
    def discrete(self) -> bool:
        """Whether actions are choices."""
        return self.actions.ndim == 1


def episode_of(given: Any, rewards: Reward | None = None) -> Episode:
    """An Episode from what has its parts by name; `rewards` stands in for those that it lacks."""
    if isinstance(given, Episode):
        return given
    parts = {name: _part(given, names) for name, names in NAMES.items()}
    for name in ("observations", "actions"):
        if parts[name] is None:
            raise InputError(
                f"expected an episode with {name}, found {_kind(given)} without; give a mapping "
                "with observations, actions and rewards, or a trajectory of Minari or imitation"
            )
    _check_kind("observations", parts["observations"])
    _check_kind("actions", parts["actions"])
    if parts["rewards"] is None:
        parts["rewards"] = _computed(given, parts, rewards)
    infos, costs = parts.pop("infos"), parts["costs"]
    cut = _at_end(parts["truncated"]) or _cut_by_time(infos)
    parts["costs"] = costs if costs is not None else _costs(infos, len(parts["rewards"]))
    # imitation calls an episode that was cut by time terminal too.
    parts["terminated"] = _at_end(parts["terminated"]) and not _cut_by_time(infos)
    return Episode(**{**parts, "truncated": cut})


def _part(given: Any, names: tuple[str, ...]) -> Any:
    """The first of these that is there and not None."""
    if isinstance(given, Mapping):
        found = (given.get(name) for name in names)
    else:
        found = (getattr(given, name, None) for name in names)
    return next((value for value in found if value is not None), None)


def _kind(given: Any) -> str:
    if isinstance(given, Mapping):
        return f"a mapping with {', '.join(map(str, given)) or 'nothing'}"
    return f"an object of type {type(given).__name__}"


def _check_kind(name: str, given: Any) -> None:
    """Minari keeps those of Dict and Tuple spaces as such, imitation in a DictObs."""
    if isinstance(given, Mapping) or type(given).__name__ == "DictObs":
        found = "a dictionary"
    elif isinstance(given, tuple) and given and np.ndim(given[0]) > 1:
        found = "a tuple of arrays"
    else:
        return
    raise InputError(
        f"{name}: expected one array, found {found}; a constraint is learned over "
        "vectors: flatten them (gymnasium.wrappers.FlattenObservation) and record again"
    )


def _computed(given: Any, parts: Mapping[str, Any], rewards: Reward | None) -> list[float]:
    if rewards is None:
        raise InputError(
            f"rewards: expected one for each step, found {_kind(given)} without, and "
            "without what the expert was after no constraint can be told from a wish; record the "
            "rewards, or give rewards=function(observation, action)"
        )
    actions = parts["actions"]
    steps = zip(parts["observations"][: len(actions)], actions, strict=True)
    return [float(rewards(seen, action)) for seen, action in steps]


def _at_end(given: Any) -> bool:
    """Of one flag for all, or one for each step: the last."""
    flags = np.ravel(np.asarray(False if given is None else given))
    return bool(flags[-1]) if len(flags) else False


def _cut_by_time(infos: Any) -> bool:
    """Whether the info of the last step, as Stable-Baselines3 writes it, says so."""
    last = infos[-1] if infos is not None and not isinstance(infos, Mapping) and len(infos) else {}
    return bool(last.get("TimeLimit.truncated", False))


def _costs(infos: Any, steps: int) -> Any:
    """What infos say of costs: Minari has a mapping of arrays, imitation a mapping for each step.

    Minari may keep a first entry from `reset`, before any step.
    """
    if isinstance(infos, Mapping):
        costs = infos.get("cost")
        return costs[1:] if costs is not None and len(costs) == steps + 1 else costs
    if infos is None or len(infos) == 0 or not all("cost" in one for one in infos):
        return None
    return [one["cost"] for one in infos]


def _actions(given: Any) -> np.ndarray:
    array = np.asarray(given)
    if array.ndim == 1 and array.dtype.kind in "iub":
        if np.any((array < 0) | (array > LARGEST_CHOICE)):
            wrong = array[(array < 0) | (array > LARGEST_CHOICE)][0]
            raise InputError(
                f"actions: expected choices numbered from 0 to {LARGEST_CHOICE}, "
                f"found {wrong}; number them anew"
            )
        return array.astype(np.int64)
    if array.ndim == 1 and array.dtype.kind == "f":
        array = array[:, None]
    if array.ndim != 2:
        raise _wrong("actions", "whole numbers (steps,) or real vectors (steps, size)", array)
    return _numbers("actions", array)


def _numbers(name: str, given: Any) -> np.ndarray:
    """As float32, in which learning computes; a copy, so that nobody changes it from outside."""
    try:
        with np.errstate(over="ignore"):
            array = np.array(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: expected an array of numbers, found what is none "
            f"({' '.join(str(error).split())}); give each step as many numbers"
        ) from error
    if not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"{name}: expected finite numbers, found {array[place]} in step "
            f"{place[0] if place else 0}; correct the number or leave the episode out"
        )
    return array


def _wrong(name: str, expected: str, found: np.ndarray) -> InputError:
    return InputError(
        f"{name}: expected {expected}, found an array of shape {found.shape}; "
        "give arrays that belong together"
    )
