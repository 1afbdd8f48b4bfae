"""Demonstrations as Parquet: one row per step, written by the expert or brought by the user.

The columns are those of `SCHEMA`; the environment's name stands in the schema's
metadata. A user's own file may keep its rows in any order (they are sorted by
trajectory and step), use wider number types, leave out the metadata and have more
columns. All else is checked, and the first fault is named with its row, counted
from 0 as in pandas and Arrow.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from icl_core.artifacts import read_provenance, remedy, write_table
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError, found_at
from icl_core.layout import identity

SCHEMA = pa.schema(
    {
        "trajectory": pa.int32(),
        "step": pa.int32(),
        "state": pa.list_(pa.float32()),
        "action": pa.list_(pa.float32()),
        "reward": pa.float32(),
    }
)
ENVIRONMENT = b"environment"  # key of the schema's metadata


def write_demonstrations(
    path: str | os.PathLike, trajectories: Trajectories, world: World, provenance: Mapping
) -> None:
    """Write one set of episodes, (episodes, steps, ...), with the world's name."""
    if trajectories.lengths.ndim != 1 or np.any(trajectories.lengths < 1):
        raise ValueError("demonstrations are one set of episodes with at least one step each")
    taken = trajectories.mask
    episode, step = np.nonzero(taken)  # in order of episodes, then of steps
    columns = [
        pa.array(episode, pa.int32()),
        pa.array(step, pa.int32()),
        lists(trajectories.states[taken]),
        lists(trajectories.actions[taken].reshape(len(step), -1)),
        pa.array(trajectories.rewards[taken], pa.float32()),
    ]
    schema = SCHEMA.with_metadata({ENVIRONMENT: world.name.encode()})
    write_table(path, pa.Table.from_arrays(columns, schema=schema), provenance)


def read_demonstrations(path: str | os.PathLike, world: World) -> Trajectories:
    """The episodes in the file, in order of their numbers; InputError where it is faulty."""
    return DemonstrationsFile(path).trajectories(world)


class DemonstrationsFile:
    """A file under examination: how it is read, and what its faults are called."""

    def __init__(self, path: str | os.PathLike, most_steps: int | None = None):
        """`most_steps` counts every trajectory as long as the longest: so they lie in memory."""
        self.path = Path(path)
        self.most_steps = most_steps
        self.rows: dict[str, np.ndarray] | None = None  # trajectory and step, once they are known
        # Once they are read: the rows by trajectory and step, and where in these each begins.
        self.order = self.starts = np.zeros(0, np.int64)
        found = found_at(path)
        if found != "a file":
            raise InputError(
                f"{self.path}: expected a Parquet file of demonstrations, found {found}; "
                "correct the path"
            )

    def trajectories(self, world: World) -> Trajectories:
        """The episodes; see `read_demonstrations`."""
        self.check_schema(world)
        table = self.read()
        self.rows = numbers = {name: self.whole(table, name) for name in ("trajectory", "step")}
        states = self.vectors(table, "state", world.observation_size)
        actions = self.vectors(table, "action", world.action_size)
        rewards = self.finite("reward", table["reward"].cast(pa.float64(), safe=False).to_numpy())
        _check_states(self, world, states)
        if world.discrete:
            actions = actions[:, 0]
            _check_actions(self, world, actions)
        self.order = order = np.lexsort((numbers["step"], numbers["trajectory"]))
        lengths = _check_steps(self, world, numbers, order)
        self.starts = np.cumsum(lengths) - lengths
        episode, step = np.repeat(np.arange(len(lengths)), lengths), numbers["step"][order]
        kind = np.int64 if world.discrete else np.float32
        return Trajectories(
            states=_padded(states[order], episode, step, np.float32),
            actions=_padded(actions[order], episode, step, kind),
            rewards=_padded(rewards[order], episode, step, np.float32),
            lengths=lengths,
        )

    def row(self, episode: int, step: int) -> int:
        """The file's row of a step, once the file is read."""
        return int(self.order[self.starts[episode] + step])

    def fault(self, expected: str, found: str, advice: str, row: int | None = None) -> InputError:
        where = ""
        if row is not None:
            where = f" row {row}"
            if self.rows is not None:
                trajectory, step = (self.rows[name][row] for name in ("trajectory", "step"))
                where += f" (trajectory {trajectory}, step {step})"
        return InputError(f"{self.path}:{where} expected {expected}, found {found}; {advice}")

    def check(self, right: np.ndarray, values: np.ndarray, expected: str, advice: str) -> None:
        """Raise an InputError that names the first row that is not right."""
        if not right.all():
            row = int(np.argmin(right))
            raise self.fault(expected, shown(values[row]), advice, row)

    def check_schema(self, world: World) -> None:
        """Columns, their types, and the environment that the file says it is of."""
        if identity(self.path):
            read_provenance(self.path)  # one of our own is sealed, and lies where it belongs
        schema = self.arrow(pq.read_schema, self.path)
        names = self.arrow(lambda: schema.names)
        missing = [name for name in SCHEMA.names if names.count(name) != 1]
        if missing:
            raise self.fault(
                f"each of the columns {', '.join(SCHEMA.names)} once",
                f"{', '.join(names) or 'none'}",
                f"add or rename {', '.join(missing)}",
            )
        for name in SCHEMA.names:
            found = schema.field(name).type
            lists = pa.types.is_list(SCHEMA.field(name).type)
            if not (_is_number_list(found) if lists else _is_number(found)):
                kind = "lists of numbers" if lists else "numbers"
                raise self.fault(f"{kind} in column {name!r}", f"{found}", "convert the column")
        named = (
            (schema.metadata or {}).get(ENVIRONMENT, world.name.encode()).decode(errors="replace")
        )
        if named != world.name:
            raise self.fault(
                f"demonstrations of {world.name!r}",
                f"the environment {named!r} in its metadata",
                "name a file of that environment",
            )

    def check_steps(self, found: int) -> None:
        """Not more of them than `most_steps`."""
        if self.most_steps is not None and found > self.most_steps:
            expected = f"at most {self.most_steps} steps"
            raise self.fault(expected, f"{found}", "leave trajectories out")

    def read(self) -> pa.Table:
        """The wanted columns; at least one row, a value in each."""
        table = self.arrow(
            pq.read_table,
            self.path,
            columns=SCHEMA.names,
            page_checksum_verification=True,
            partitioning=None,
        ).combine_chunks()
        if table.num_rows == 0:
            raise self.fault("at least one trajectory", "no rows", "record some steps")
        for name in SCHEMA.names:
            if table[name].null_count:
                row = int(np.argmax(table[name].is_null().to_numpy()))
                raise self.fault(f"a value of {name!r}", "none", "fill it in", row)
        return table

    def whole(self, table: pa.Table, name: str) -> np.ndarray:
        """A column of whole numbers, int64, whatever number type it is stored in."""
        values = table[name].to_numpy()
        if values.dtype.kind == "f":
            right = (np.abs(values) < 2**53) & (values == np.rint(values))
        else:
            right = values <= np.iinfo(np.int64).max
        self.check(right, values, f"a whole number as {name!r}", "number the rows anew")
        return values.astype(np.int64)

    def vectors(self, table: pa.Table, name: str, size: int) -> np.ndarray:
        """A column of lists as (rows, size) float64, each list of that length and finite."""
        column = table[name].combine_chunks()
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        self.check(
            lengths == size,
            lengths,
            f"{size} number{'s' * (size != 1)} in {name!r}",
            f"give each row the {name} of this environment",
        )
        values = pc.list_flatten(column).cast(pa.float64(), safe=False)
        return self.finite(name, values.to_numpy(zero_copy_only=False).reshape(-1, size))

    def finite(self, name: str, values: np.ndarray) -> np.ndarray:
        """The same values, none undefined nor beyond float32, in which learning computes."""
        right = np.abs(values) <= np.finfo(np.float32).max  # False for NaN too
        advice = "correct the number or leave the trajectory out"
        expected = f"finite numbers in {name!r}" if values.ndim > 1 else f"a finite {name!r}"
        self.check(right.reshape(len(values), -1).all(axis=1), values, expected, advice)
        return values

    def arrow(self, read, *arguments, **options):
        """What one of Arrow's functions reads of the file."""
        try:
            return read(*arguments, **options)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # a damaged name
            reason = " ".join(str(error).split()) or type(error).__name__
            raise self.fault(
                "a complete Parquet file", f"one that cannot be read ({reason})", remedy(self.path)
            ) from error


def _check_states(file: DemonstrationsFile, world: World, states: np.ndarray) -> None:
    # Half a float32 step of room: a bound may have been rounded on its way into the file.
    low, high = (np.float64(b) for b in (world.observation_low, world.observation_high))
    room = 1e-6 * np.maximum(1, np.abs(states))
    inside = ((states >= low - room) & (states <= high + room)).all(axis=1)
    bounds = f"{shown(world.observation_low)} to {shown(world.observation_high)}"
    advice = "check the state's columns and units"
    file.check(inside, states, f"a state of {world.name} from {bounds}", advice)


def _check_actions(file: DemonstrationsFile, world: World, actions: np.ndarray) -> None:
    right = (actions == np.rint(actions)) & (actions >= 0) & (actions < world.n_actions)
    expected = f"an action of {world.name}, a whole number from 0 to {world.n_actions - 1}"
    file.check(right, actions, expected, "number the actions as this environment does")


def _check_steps(
    file: DemonstrationsFile, world: World, numbers: dict, order: np.ndarray
) -> np.ndarray:
    """Each trajectory's steps are 0, 1, 2, ... and within the horizon; their lengths."""
    trajectory, step = numbers["trajectory"][order], numbers["step"][order]
    first = np.flatnonzero(np.diff(trajectory, prepend=trajectory[0] - 1))
    lengths = np.diff(first, append=len(trajectory))
    wanted = np.arange(len(step)) - np.repeat(first, lengths)
    wrong = np.flatnonzero(step != wanted)
    if len(wrong):
        k = wrong[0]
        repeated = wanted[k] > 0 and step[k] == step[k - 1]
        found = f"step {step[k]} " + ("a second time" if repeated else "in its place")
        raise file.fault(
            f"step {wanted[k]} of trajectory {trajectory[k]}",
            found,
            "number the steps of each trajectory 0, 1, 2, ... without gaps",
            int(order[k]),
        )
    beyond = np.flatnonzero(step >= world.horizon)
    if len(beyond):
        k = beyond[0]
        length = lengths[np.searchsorted(first, k, side="right") - 1]
        raise file.fault(
            f"at most {world.horizon} steps in a trajectory of {world.name}",
            f"{length} in trajectory {trajectory[k]}",
            "cut the trajectory at the horizon",
            int(order[k]),
        )
    file.check_steps(len(lengths) * int(lengths.max()))
    return lengths


def _padded(values: np.ndarray, episode: np.ndarray, step: np.ndarray, dtype) -> np.ndarray:
    """Rows laid out as (episodes, longest, ...), zeros where no step was taken."""
    padded = np.zeros((episode[-1] + 1, step.max() + 1, *values.shape[1:]), dtype=dtype)
    padded[episode, step] = values
    return padded


def lists(values: np.ndarray) -> pa.ListArray:
    """The rows of (n, size) as lists of float32."""
    offsets = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(offsets, pa.array(values.ravel(), pa.float32()))


def _is_number_list(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests) and _is_number(kind.value_type)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def shown(values) -> str:
    """Numbers as they stand in an error: of many, the first."""
    if np.ndim(values) == 0:
        return f"{values:.6g}" if np.asarray(values).dtype.kind == "f" else str(values)
    more = ", ..." if len(values) > 6 else ""
    return "(" + ", ".join(f"{value:.6g}" for value in values[:6]) + more + ")"
