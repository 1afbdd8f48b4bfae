"""Demonstrations as Parquet: one row per step, written by the expert or brought by the user.

The columns are those of `SCHEMA`; the environment's name stands in the schema's
metadata. The demonstrations of several experts have one column more, the `seed` of the expert, and
their trajectories are numbered through: whoever does not look at the seeds reads one set. A user's
own file may keep its rows in any order (they are sorted by
trajectory and step), use wider number types, leave out the metadata and have more
columns. All else is checked, and the first fault is named with its row, counted
from 0 as in pandas and Arrow.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from icl_core.artifacts import read_provenance, remedy, write_table
from icl_core.demonstrations.rows import SCHEMA, SEEDED_SCHEMA, Rows, lists
from icl_core.demonstrations.trajectories import Trajectories, side_by_side
from icl_core.environments.world import World
from icl_core.errors import InputError, found_at
from icl_core.layout import identity

ENVIRONMENT = b"environment"  # key of the schema's metadata


def write_demonstrations(
    path: str | os.PathLike,
    trajectories: Trajectories,
    world: World,
    provenance: Mapping,
    experts: Sequence[int] = (),
) -> None:
    """Write one set of episodes, (episodes, steps, ...), with the world's name.

    Or that of each of several `experts`, (experts, episodes, steps, ...), named by their seeds.
    """
    lengths = trajectories.lengths
    if lengths.ndim != 1 + bool(experts) or np.any(lengths < 1):
        raise ValueError("demonstrations are one set of episodes with at least one step each")
    taken = trajectories.mask
    *at, step = np.nonzero(taken)  # in order of experts, of episodes, then of steps
    episode = np.ravel_multi_index(at, lengths.shape)
    columns = [
        pa.array(episode, pa.int32()),
        pa.array(step, pa.int32()),
        lists(trajectories.states[taken]),
        lists(trajectories.actions[taken].reshape(len(step), -1)),
        pa.array(trajectories.rewards[taken], pa.float32()),
    ]
    if experts:
        columns.insert(0, pa.array(np.asarray(experts)[at[0]], pa.int32()))
    schema = (SEEDED_SCHEMA if experts else SCHEMA).with_metadata(
        {ENVIRONMENT: world.name.encode()}
    )
    write_table(path, pa.Table.from_arrays(columns, schema=schema), provenance)


def read_demonstrations(path: str | os.PathLike, world: World) -> Trajectories:
    """The episodes in the file, in order of their numbers; InputError where it is faulty."""
    return DemonstrationsFile(path).trajectories(world)


def read_sets(path: str | os.PathLike, world: World) -> dict[int | None, Trajectories]:
    """The episodes (episodes,) of each expert, by its seed; under None those of a file without."""
    file = DemonstrationsFile(path)
    whole, experts = file.trajectories(world), file.experts()
    if experts is None:
        return {None: whole}
    return {int(seed): whole[experts == seed].trimmed() for seed in np.unique(experts)}


def read_shown(path: str | os.PathLike, world: World, seeds: Sequence[int]) -> Trajectories:
    """What runs learn from: (episodes,) for all of them, or (runs, episodes), each its expert's."""
    sets = read_sets(path, world)
    if None in sets:
        return sets[None]
    missing = [seed for seed in seeds if seed not in sets]
    if missing:
        raise InputError(
            f"{path}: expected the demonstrations of an expert with seed {missing[0]}, found those "
            f"of {', '.join(map(str, sets))}; {remedy(Path(path))}"
        )
    return side_by_side([sets[seed] for seed in seeds])


class DemonstrationsFile(Rows):
    """A file under examination: how it is read, and what is wrong with it as a file."""

    def __init__(self, path: str | os.PathLike, most_steps: int | None = None):
        super().__init__(str(Path(path)), most_steps)
        self.path = Path(path)
        found = found_at(path)
        if found != "a file":
            raise InputError(
                f"{self.path}: expected a Parquet file of demonstrations, found {found}; "
                "correct the path"
            )

    def check_world(self, world: World) -> None:
        """Columns, their types, and the environment that the file says it is of."""
        schema = self.check_columns()
        named = (
            (schema.metadata or {}).get(ENVIRONMENT, world.name.encode()).decode(errors="replace")
        )
        if named != world.name:
            raise self.fault(
                f"demonstrations of {world.name!r}",
                f"the environment {named!r} in its metadata",
                "name a file of that environment",
            )

    def check_columns(self) -> pa.Schema:
        """Columns and their types; the whole schema."""
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
            if not (is_number_list(found) if lists else is_number(found)):
                kind = "lists of numbers" if lists else "numbers"
                raise self.fault(f"{kind} in column {name!r}", f"{found}", "convert the column")
        return schema

    def amount(self, world: World) -> int:
        """Rows, and numbers in their lists, as the file's own summary counts them.

        A small file may hold a lot of the same: it must not be read to know that.
        """
        summary = self.arrow(pq.read_metadata, self.path)
        counts = self.arrow(_counts, summary)
        sizes = {"state": world.observation_size, "action": world.action_size}
        rows = [-(-counts.get(name, 0) // size) for name, size in sizes.items()]
        return max(summary.num_rows, *rows)

    def read(self, more: Sequence[str] = ()) -> pa.Table:
        """The columns of `SCHEMA` and some more; at least one row, a value in each of `SCHEMA`."""
        table = self.arrow(
            pq.read_table,
            self.path,
            columns=[*SCHEMA.names, *more],
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

    def experts(self) -> np.ndarray | None:
        """The seed of each episode's expert, (episodes,); None where the file does not say it.

        To be asked once the episodes are read.
        """
        name = SEEDED_SCHEMA.names[0]
        if name not in self.arrow(pq.read_schema, self.path).names:
            return None
        table = self.arrow(pq.read_table, self.path, columns=[name], partitioning=None)
        return self.whole(table, name)[self.order[self.starts]]

    def arrow(self, read, *arguments, **options):
        """What one of Arrow's functions reads of the file."""
        try:
            return read(*arguments, **options)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # a damaged name
            reason = " ".join(str(error).split()) or type(error).__name__
            raise self.fault(
                "a complete Parquet file", f"one that cannot be read ({reason})", remedy(self.path)
            ) from error


def is_number_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists of numbers."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests) and is_number(kind.value_type)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _counts(summary: pq.FileMetaData) -> dict[str, int]:
    """How many numbers each column holds."""
    counts: dict[str, int] = {}
    for group in map(summary.row_group, range(summary.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema.partition(".")[0]
            counts[name] = counts.get(name, 0) + column.num_values
    return counts
