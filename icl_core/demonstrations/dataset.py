"""Demonstrations as a user brings them to learning: whole episodes, wherever they come from.

>>> import numpy as np
>>> walk = {"observations": np.zeros((3, 2)), "actions": [0, 1], "rewards": [0, 1]}
>>> Demonstrations.from_episodes([walk, walk], observation_names=("x", "y"))
Demonstrations(2 episodes of 2 steps, observations (x, y), 2 choices of action, returns 1 +- 0)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from icl_core.demonstrations.episodes import Episode, Reward, episode_of
from icl_core.demonstrations.trajectories import Trajectories, discounts
from icl_core.errors import InputError

FEW = 6  # names that are all shown


class Demonstrations:
    """Episodes of one environment.

    `env_id` is the environment's id in Gymnasium, or the name of one of our worlds. `n_actions`
    says how many choices there are, where nobody may have made them all.
    """

    def __init__(
        self,
        episodes: Iterable[Episode],
        observation_names: Sequence[str] = (),
        action_names: Sequence[str] = (),
        env_id: str | None = None,
        n_actions: int = 0,
    ):
        self.episodes = tuple(episodes)
        self.observation_names, self.action_names = tuple(observation_names), tuple(action_names)
        self.env_id = env_id
        _check_alike(self.episodes)
        # Those that there are, have a name or were made; 0 of real actions.
        self.n_actions = 0
        if self.discrete:
            made = int(max(one.actions.max() for one in self.episodes)) + 1
            self.n_actions = max(made, n_actions, len(self.action_names))
        _check_names("observation_names", self.observation_names, self.observation_size)
        size = self.n_actions if self.discrete else self.action_size
        _check_names("action_names", self.action_names, size)

    # ------------------------------------------------------------------ where they come from

    @classmethod
    def from_episodes(
        cls, episodes: Iterable[Any], rewards: Reward | None = None, **about: Any
    ) -> Demonstrations:
        """From Episodes, mappings, or the trajectories of Minari and imitation.

        `rewards(observation, action)` gives the rewards of those that lack them; `about` are the
        names and the `env_id`.
        """
        return cls(list(_numbered(episodes, rewards)), **about)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike) -> Demonstrations:
        """From a file of `to_parquet`, of the pipeline, or of the user's own (data/README.md)."""
        from icl_core.demonstrations.episode_files import read_episodes

        episodes, about = read_episodes(path)
        return cls(episodes, **_known(about))

    @classmethod
    def from_minari(cls, name: str) -> Demonstrations:
        """From a Minari data set on this machine, e.g. "nav/careful-v0"; never downloads it."""
        from icl_core.demonstrations.minari_sets import read_minari

        episodes, about = read_minari(name)
        return cls(episodes, **_known(about))

    @classmethod
    def record(
        cls, env: Any, policy: Any, episodes: int, seed: int, deterministic: bool = True
    ) -> Demonstrations:
        """Let a policy act for some whole episodes; the same seed gives the same starts and moves.

        `env` is an id, a factory or an environment; `policy` a function of the observation, or has
        the method `predict(observation, deterministic=...)` of Stable-Baselines3.
        """
        from icl_core.demonstrations.recorder import record_episodes

        made, about = record_episodes(env, _acting(policy, deterministic), episodes, seed)
        return cls(made, **_known(about))

    # ------------------------------------------------------------------ what they are

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self.episodes)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> Demonstrations: ...
    def __getitem__(
        self, index: int | slice | Sequence[int] | np.ndarray
    ) -> Episode | Demonstrations:
        """One episode by its number; by a slice, numbers or a mask, some of them."""
        if isinstance(index, int | np.integer):
            return self.episodes[index]
        chosen = np.arange(len(self))[index]
        some = [self.episodes[k] for k in chosen]
        return Demonstrations(some, **self.about())

    @property
    def discrete(self) -> bool:
        """Whether actions are choices, numbered from 0."""
        return self.episodes[0].discrete

    @property
    def observation_size(self) -> int:
        """How many numbers an observation has."""
        return self.episodes[0].observations.shape[1]

    @property
    def action_size(self) -> int:
        """How many numbers an action has; a choice is one."""
        return 1 if self.discrete else self.episodes[0].actions.shape[1]

    @property
    def lengths(self) -> np.ndarray:
        """(episodes,) int64, how many steps each has."""
        return np.array([len(one) for one in self.episodes], np.int64)

    @property
    def returns(self) -> np.ndarray:
        """(episodes,) undiscounted sums of rewards."""
        return np.array([one.rewards.sum(dtype=np.float64) for one in self.episodes])

    def mean_cost(self, discount: float = 1.0) -> float | None:
        """The mean discounted cost of an episode; None where some costs were not recorded."""
        costs = [one.costs for one in self.episodes]
        known = [c for c in costs if c is not None]
        if len(known) < len(costs):
            return None
        return float(np.mean([(c * discounts(discount, len(c))).sum() for c in known]))

    def trajectories(self) -> Trajectories:
        """The same padded with zeros, side by side, as learning wants them."""
        lengths = self.lengths
        at = np.nonzero(np.arange(lengths.max()) < lengths[:, None])

        def padded(parts: list[np.ndarray]) -> np.ndarray:
            rows = np.concatenate(parts)
            room = np.zeros((len(lengths), lengths.max(), *rows.shape[1:]), rows.dtype)
            room[at] = rows
            return room

        return Trajectories(
            states=padded([one.states for one in self.episodes]),
            actions=padded([one.actions for one in self.episodes]),
            rewards=padded([one.rewards for one in self.episodes]),
            lengths=lengths,
        )

    def __repr__(self) -> str:
        costs, (least, most) = self.mean_cost(), (f(len(e) for e in self) for f in (min, max))
        steps = f"{least}" + f" to {most}" * (least < most)
        actions = f"{self.action_size} real action{'s' * (self.action_size > 1)}"
        if self.discrete:
            actions = f"{self.n_actions} choices of action"
        parts = [
            f"{len(self)} episode{'s' * (len(self) > 1)} of {steps} steps",
            f"observations {_shown(self.observation_names) or self.observation_size}",
            actions,
            f"returns {self.returns.mean():.4g} +- {self.returns.std():.2g}",
        ]
        parts += [f"mean cost {costs:.4g}"] if costs is not None else []
        parts += [f"env_id {self.env_id!r}"] if self.env_id else []
        return f"Demonstrations({', '.join(parts)})"

    # ------------------------------------------------------------------ where they go

    def about(self) -> dict[str, Any]:
        """All but the episodes, as keyword arguments of the constructor."""
        return {
            "observation_names": self.observation_names,
            "action_names": self.action_names,
            "env_id": self.env_id,
            "n_actions": self.n_actions,
        }

    def to_parquet(self, path: str | os.PathLike) -> None:
        """Write everything that is known to one file."""
        from icl_core.demonstrations.episode_files import write_episodes

        write_episodes(path, self.episodes, self.about())

    def to_minari(
        self, name: str, env: Any = None, repeat_last: bool = False, **about: Any
    ) -> None:
        """Write a Minari data set, e.g. "nav/careful-v0", on this machine.

        `env` (an id, a factory or an environment) says what the spaces are; without it they are
        as large as what was seen. `about` is what Minari asks of a data set: author, description,
        algorithm_name, code_permalink, ... Minari wants an observation after the last step: where
        it is not known, `repeat_last` repeats the one before.
        """
        from icl_core.demonstrations.minari_sets import write_minari

        write_minari(name, self, env, repeat_last, about)


def _acting(policy: Any, deterministic: bool) -> Callable[[np.ndarray], Any]:
    """What is done in view of an observation."""
    if hasattr(policy, "predict"):
        return lambda seen: policy.predict(seen, deterministic=deterministic)[0]
    if not callable(policy):
        raise InputError(
            "policy: expected a function of the observation or an object with predict, found "
            f"{type(policy).__name__}; give one of them"
        )
    return policy


def _numbered(episodes: Iterable[Any], rewards: Reward | None) -> Iterator[Episode]:
    for number, one in enumerate(episodes):
        try:
            yield episode_of(one, rewards)
        except InputError as error:
            raise InputError(f"episode {number}: {error}") from error


def _check_alike(episodes: Sequence[Episode]) -> None:
    if not episodes:
        raise InputError(
            "demonstrations: expected at least one episode, found none; record or name some"
        )
    shapes = [(one.observations.shape[1:], one.actions.shape[1:]) for one in episodes]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise InputError(
                f"episode {number}: expected observations and actions like those of episode 0, "
                f"{_sizes(shapes[0])}, found {_sizes(shape)}; keep episodes of one environment"
            )


def _sizes(shape: tuple[tuple[int, ...], tuple[int, ...]]) -> str:
    (size,), actions = shape
    return f"{size} numbers and {f'{actions[0]} real actions' if actions else 'choices'}"


def _check_names(what: str, names: tuple[str, ...], size: int) -> None:
    right = len(names) in (0, size) and len(set(names)) == len(names)
    if not (right and all(isinstance(name, str) and name for name in names)):
        raise InputError(
            f"{what}: expected {size} different texts, or none, found {_shown(names)}; name each "
            "number once"
        )


def _shown(names: Sequence[Any]) -> str:
    if not names:
        return ""
    return f"({', '.join(map(str, names[:FEW]))}{', ...' * (len(names) > FEW)})"


def _known(about: Mapping[str, Any]) -> dict[str, Any]:
    """What the constructor takes, of all that a file says, where it is of the right kind."""
    kinds = {
        "observation_names": list | tuple,
        "action_names": list | tuple,
        "env_id": str,
        "n_actions": int,
    }
    return {key: about[key] for key, kind in kinds.items() if isinstance(about.get(key), kind)}
