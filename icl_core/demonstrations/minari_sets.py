"""Demonstrations as data sets of Minari, read and written on this machine; nothing is downloaded.

A configuration calls one `minari:nav/careful-v0`. Minari keeps it in a folder of that name under
MINARI_DATASETS_PATH, or in the home folder. Its own `MinariStorage` reads and writes it; the
environment that a data set was recorded in is never made, for that would run code which it names.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from icl_core.demonstrations.episodes import Episode, episode_of
from icl_core.demonstrations.spaces import check_spaces, opened
from icl_core.errors import InputError, found_at

if TYPE_CHECKING:
    import gymnasium
    from minari.data_collector import EpisodeBuffer

    from icl_core.demonstrations.dataset import Demonstrations

PREFIX = "minari:"  # of a data set's name, where a path could stand
DATA, METADATA = "main_data.hdf5", "metadata.json"  # Minari's files, in a folder `data`
MOST_NAMED = 10  # data sets in an error


def installed() -> Any:
    """The package, where it is there."""
    try:
        import minari
        import minari.storage
    except ImportError as error:
        raise InputError(
            f"Minari: expected the package, found none ({error}); install it with "
            "`pip install icl-core[minari]`"
        ) from error
    return minari


def is_minari(source: str | os.PathLike) -> bool:
    """Whether this is a data set's name with its prefix, or its data file."""
    return str(source).startswith(PREFIX) or Path(source).name == DATA


def folder_of(name: str) -> Path:
    """Where a data set of this name lies, or would; an InputError where none can have it."""
    installed()
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

    try:
        parse_dataset_id(name)
    except (ValueError, TypeError) as error:  # TypeError: without a version
        raise InputError(
            f"{PREFIX}{name}: expected the name of a Minari data set, (namespace/)name-v(number), "
            "found another form; correct it, for example nav/careful-v0"
        ) from error
    return get_dataset_path(name)


def data_file(source: str | os.PathLike) -> str:
    """The HDF5 file of a data set by its name with the prefix; a path is what it is."""
    if not str(source).startswith(PREFIX):
        return os.fspath(source)
    path = _found(str(source).removeprefix(PREFIX)) / "data" / DATA
    if found_at(path) != "a file":
        raise InputError(
            f"{source}: expected a Minari data set kept as HDF5, found no {DATA} in "
            f"{path.parent}; create it with data_format='hdf5'"
        )
    return str(path)


def _found(name: str) -> Path:
    """The folder of a data set that is there."""
    folder = folder_of(name)
    if found_at(folder / "data" / METADATA) != "a file":
        root = Path(installed().storage.get_dataset_path())
        pattern = f"**/data/{METADATA}"
        names = sorted(p.parents[1].relative_to(root).as_posix() for p in root.glob(pattern))
        more = ", ..." * (len(names) > MOST_NAMED)
        there = ", ".join(names[:MOST_NAMED]) + more if names else "none at all"
        raise InputError(
            f"{PREFIX}{name}: expected a Minari data set in {root}, found {there}; choose one that "
            f"is there, get it with `minari download {name}`, or set MINARI_DATASETS_PATH"
        )
    return folder


def read_minari(name: str) -> tuple[list[Episode], dict[str, Any]]:
    """The episodes of a data set on this machine, and what it says of them."""
    name = name.removeprefix(PREFIX)
    return read_folder(_found(name) / "data")


def read_folder(folder: Path) -> tuple[list[Episode], dict[str, Any]]:
    """The same by the folder that holds its data."""
    installed()
    from minari.dataset.minari_storage import MinariStorage

    about = read_about(folder)
    name = f"{PREFIX}{about['dataset_id']}"
    try:
        storage = MinariStorage.read(folder)
        check_spaces(name, storage.observation_space, storage.action_space)
        about["n_actions"] = int(getattr(storage.action_space, "n", 0))
        parts = list(storage.get_episodes(range(about["total_episodes"])))
    except InputError:
        raise
    except Exception as error:  # whatever Minari and HDF5 make of a damaged file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{name}: expected a complete Minari data set, found one that cannot be read "
            f"({reason}); get or make it again"
        ) from error
    if not parts:
        raise InputError(f"{name}: expected at least one episode, found none; record some")
    return [_episode(name, number, one) for number, one in enumerate(parts)], about


def _episode(name: str, number: int, parts: Mapping) -> Episode:
    try:
        return episode_of(parts)
    except InputError as error:
        raise InputError(f"{name}: episode {number}: {error}") from error


def read_about(folder: Path) -> dict[str, Any]:
    """A data set's metadata, with what is used of them in place."""
    try:
        about = json.loads((folder / METADATA).read_text("utf-8"))
        wanted = {"dataset_id": str, "total_episodes": int, "total_steps": int}
        wanted |= {"observation_space": str, "action_space": str}
        missing = [key for key, kind in wanted.items() if not isinstance(about.get(key), kind)]
        spec = json.loads(about.get("env_spec") or "{}")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder / METADATA}: expected the metadata of a Minari data set, found none that can "
            f"be read ({' '.join(str(error).split())}); get or make the data set again"
        ) from error
    if missing:
        raise InputError(
            f"{folder / METADATA}: expected {', '.join(missing)} in the metadata of a Minari data "
            "set, found nothing of the kind; make it again with Minari 0.5 or later"
        )
    known = spec.get("id") if isinstance(spec, dict) else None
    return {**about, "env_id": known or about.get("env_id")}


def write_minari(
    name: str, demonstrations: Demonstrations, env: Any, repeat_last: bool, about: Mapping
) -> None:
    """Write a data set; see `Demonstrations.to_minari`."""
    minari, name = installed(), name.removeprefix(PREFIX)
    folder = folder_of(name)
    if not folder.is_absolute():  # Minari 0.5.4 would look for its own file in the wrong place
        raise InputError(
            f"MINARI_DATASETS_PATH: expected an absolute path to write to, found {folder}; write "
            "it out from the root"
        )
    if folder.exists():
        raise InputError(
            f"{PREFIX}{name}: expected a name that is free, found a data set in {folder}; choose "
            "another name or version"
        )
    buffers = [_buffer(one, k, repeat_last) for k, one in enumerate(demonstrations)]
    observations, actions, spec = _spaces(demonstrations, env)
    more = {key: value for key, value in demonstrations.about().items() if value}
    more.pop("n_actions", None)  # which the space says
    with suppress(ValueError, TypeError):  # a spec that holds functions cannot be kept
        more |= {"env_spec": spec.to_json()} if spec is not None else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that author, ... would be welcome
            made = minari.create_dataset_from_buffers(
                name, buffers, observation_space=observations, action_space=actions, **about
            )
        made.storage.update_metadata(more)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # half a data set would stand in the way
        raise


def _buffer(episode: Episode, number: int, repeat_last: bool) -> EpisodeBuffer:
    # Its own `add_step_data` needs jax; whole arrays do without.
    from minari.data_collector import EpisodeBuffer

    observations, steps = episode.observations, len(episode)
    if episode.last_observation is None:
        if not repeat_last:
            raise InputError(
                f"episode {number}: expected an observation after the last step, which Minari "
                "wants, found none; record it, or give repeat_last=True to repeat the one before"
            )
        observations = np.concatenate([observations, observations[-1:]])
    infos = None
    if episode.costs is not None:
        # As Minari's own collector does, with an entry for the reset, before any step.
        infos = {"cost": np.concatenate([np.zeros(1, np.float32), episode.costs])}
    return EpisodeBuffer(
        observations=observations,
        actions=episode.actions,
        rewards=episode.rewards,
        terminations=_at_end(episode.terminated, steps),
        truncations=_at_end(episode.truncated, steps),
        infos=infos,
    )


def _at_end(flag: bool, steps: int) -> np.ndarray:
    return np.arange(steps) == (steps - 1 if flag else -1)


def _spaces(demonstrations: Demonstrations, env: Any) -> Sequence[Any]:
    """Spaces of observations and actions, and the environment's spec where it is known."""
    import gymnasium
    from gymnasium.spaces import Box, Discrete

    if env is not None:
        with opened(env) as world:
            found = world.observation_space, world.action_space, world.spec
        check_spaces("env", *found[:2])
        _check_sizes(demonstrations, *found[:2])
        return found
    actions: gymnasium.Space = Discrete(max(1, demonstrations.n_actions))
    if not demonstrations.discrete:
        actions = Box(-np.inf, np.inf, (demonstrations.action_size,))
    spec = gymnasium.registry.get(demonstrations.env_id or "")
    return Box(-np.inf, np.inf, (demonstrations.observation_size,)), actions, spec


def _check_sizes(
    demonstrations: Demonstrations, observations: gymnasium.Space, actions: gymnasium.Space
) -> None:
    seen = demonstrations.observation_size
    wanted = f"at least {demonstrations.n_actions} choices"
    right = demonstrations.discrete and demonstrations.n_actions <= getattr(actions, "n", 0)
    if not demonstrations.discrete:
        wanted = f"{demonstrations.action_size} real actions"
        right = actions.shape == (demonstrations.action_size,)
    if observations.shape != (seen,) or not right:
        raise InputError(
            f"env: expected an environment with {seen} observed numbers and {wanted}, like the "
            f"demonstrations, found {observations} and {actions}; give theirs"
        )
