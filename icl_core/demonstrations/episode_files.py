"""Whole episodes as Parquet: the columns of `files`, and more where more is known.

`terminated` and `truncated` say how an episode ended, in its last row; `last_observation` is what
was seen after it, `cost` what each step cost. Who reads the file with a world
(`read_demonstrations`) does not look at them. Names, and whether actions are choices, stand in the
schema's metadata under `ABOUT`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from icl_core import discovery
from icl_core.artifacts import write_table
from icl_core.demonstrations.episodes import LARGEST_CHOICE, Episode
from icl_core.demonstrations.files import (
    ENVIRONMENT,
    DemonstrationsFile,
    is_number,
    is_number_list,
)
from icl_core.demonstrations.rows import SCHEMA, Values, lists
from icl_core.environments import gymnasium_id
from icl_core.errors import InputError

ABOUT = b"demonstrations"  # key of the schema's metadata
# The columns besides `SCHEMA`, and what each must hold.
MORE = {
    "terminated": (pa.bool_(), pa.types.is_boolean, "true or false"),
    "truncated": (pa.bool_(), pa.types.is_boolean, "true or false"),
    "cost": (pa.float32(), is_number, "numbers"),
    "last_observation": (pa.list_(pa.float32()), is_number_list, "lists of numbers"),
}


def table_of(episodes: Sequence[Episode]) -> pa.Table:
    """The columns of `SCHEMA`, one row for each step."""
    lengths = [len(one) for one in episodes]
    actions = np.concatenate([one.actions.reshape(len(one), -1) for one in episodes])
    columns = [
        pa.array(np.repeat(np.arange(len(episodes)), lengths), pa.int32()),
        pa.array(np.concatenate([np.arange(length) for length in lengths]), pa.int32()),
        lists(np.concatenate([one.states for one in episodes])),
        lists(actions.astype(np.float32)),
        pa.array(np.concatenate([one.rewards for one in episodes]), pa.float32()),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def write_episodes(
    path: str | os.PathLike, episodes: Sequence[Episode], about: Mapping[str, Any]
) -> None:
    """Write all that is known of some episodes; `about` can be written as JSON."""
    table = table_of(episodes)
    for name, values in _more(episodes).items():
        table = table.append_column(name, pa.array(values, MORE[name][0]))
    stated = {**about, "discrete": episodes[0].discrete}
    metadata = {ABOUT: json.dumps(stated, sort_keys=True).encode()}
    world = _world_of(about.get("env_id"))
    if world is not None:
        metadata[ENVIRONMENT] = world.encode()
    write_table(path, table.replace_schema_metadata(metadata), {})


def _more(episodes: Sequence[Episode]) -> dict[str, list]:
    """The columns besides `SCHEMA` that say anything."""
    found: dict[str, list] = {"terminated": [], "truncated": []}
    costs: list = []
    seen: list = []
    for one in episodes:
        blank = [None] * (len(one) - 1)
        found["terminated"] += [*[False] * len(blank), one.terminated]
        found["truncated"] += [*[False] * len(blank), one.truncated]
        costs += [*blank, None] if one.costs is None else one.costs.tolist()
        seen += [*blank, one.last_observation]
    more = {"cost": costs, "last_observation": seen}
    return found | {
        name: values for name, values in more.items() if any(value is not None for value in values)
    }


def _world_of(env_id: str | None) -> str | None:
    """The name of our own world that has this id, or this name."""
    names = discovery.names(discovery.WORLDS)
    return next((name for name in names if env_id in (name, gymnasium_id(name))), None)


def read_episodes(path: str | os.PathLike) -> tuple[list[Episode], dict[str, Any]]:
    """The episodes of a file, without a world to compare them with, and what it says of them."""
    file = DemonstrationsFile(path)
    schema = file.check_columns()
    more = _check_more(file, schema)
    table = file.read(more)
    sizes = [len(table[name][0]) for name in ("state", "action")]
    if 0 in sizes:
        raise file.fault("numbers in 'state' and 'action'", "none", "record some", 0)
    values = file.values(table, *sizes)
    file.arrange()
    about = _about(file, schema)
    discrete = about.pop("discrete", None)
    choices = _are_choices(values.actions)
    if not isinstance(discrete, bool):
        discrete = bool(choices.all())  # whole numbers, one a step: what else would they be
    elif discrete:
        expected = "one whole number from 0 as 'action', for its metadata say that it is a choice"
        file.check(choices, values.actions, expected, "number the actions anew")
    columns = {name: table[name].to_pylist() for name in more}
    return _Episodes(file, values, columns, discrete).all(), about


def _check_more(file: DemonstrationsFile, schema: pa.Schema) -> list[str]:
    names = [name for name in MORE if schema.names.count(name) == 1]
    for name in names:
        _, right, words = MORE[name]
        found = schema.field(name).type
        if not right(found):
            raise file.fault(
                f"{words} in column {name!r}", f"{found}", "convert or rename the column"
            )
    return names


def _about(file: DemonstrationsFile, schema: pa.Schema) -> dict[str, Any]:
    metadata = schema.metadata or {}
    try:
        about = json.loads(metadata.get(ABOUT, b"{}"))
    except ValueError as error:
        raise file.fault(
            f"JSON under {ABOUT.decode()!r} in its metadata", f"none ({error})", "leave it out"
        ) from error
    about = about if isinstance(about, dict) else {}
    if about.get("env_id") is None and ENVIRONMENT in metadata:
        about["env_id"] = metadata[ENVIRONMENT].decode(errors="replace")
    return about


def _are_choices(actions: np.ndarray) -> np.ndarray:
    """(rows,) whether each is a single whole number from 0."""
    right = (actions >= 0) & (actions == np.rint(actions)) & (actions <= LARGEST_CHOICE)
    return right.all(axis=1) & (actions.shape[1] == 1)


class _Episodes:
    """Rows of a file, made episodes."""

    def __init__(
        self, file: DemonstrationsFile, values: Values, more: dict[str, list], discrete: bool
    ):
        self.file, self.values, self.more, self.discrete = file, values, more, discrete

    def all(self) -> list[Episode]:
        return [self._one(rows) for rows in np.split(self.file.order, self.file.starts[1:])]

    def _one(self, rows: np.ndarray) -> Episode:
        states, actions = self.values.states[rows], self.values.actions[rows]
        if self.discrete:
            actions = actions[:, 0].astype(np.int64)
        last = self._of("last_observation", rows)[-1]
        if last is not None:
            if len(last) != states.shape[1]:
                raise self.file.fault(
                    f"{states.shape[1]} numbers in 'last_observation'",
                    f"{len(last)}",
                    "give what is seen after the last step, or nothing",
                    int(rows[-1]),
                )
            states = np.concatenate([states, [last]])
        terminated, truncated = (bool(self._of(name, rows)[-1]) for name in list(MORE)[:2])
        costs, rewards = self._costs(rows), self.values.rewards[rows]
        try:
            return Episode(states, actions, rewards, terminated, truncated, costs)
        except InputError as error:  # of the columns that only episodes have
            assert self.file.rows is not None
            number = self.file.rows["trajectory"][rows[0]]
            raise InputError(f"{self.file.name}: trajectory {number}: {error}") from error

    def _costs(self, rows: np.ndarray) -> np.ndarray | None:
        costs = self._of("cost", rows)
        missing = [cost is None for cost in costs]
        if all(missing):
            return None
        if any(missing):
            row = int(rows[missing.index(True)])
            raise self.file.fault(
                "a 'cost' of every step of the trajectory, or of none",
                "none here",
                "fill it in",
                row,
            )
        return np.array(costs, np.float64)

    def _of(self, name: str, rows: np.ndarray) -> list:
        column = self.more.get(name)
        return [None] * len(rows) if column is None else [column[row] for row in rows]
