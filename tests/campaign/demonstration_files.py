"""What can be wrong with a file of demonstrations as a file. Each gives whether it changed it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from icl_core.demonstrations.files import SCHEMA
from icl_core.environments.world import World
from tests.campaign.cases import choose

Rng = np.random.Generator


def table_of(path: Path) -> pa.Table:
    """The file's table without what we say of its making."""
    return pq.read_table(path).replace_schema_metadata(None)


def missing_column(rng: Rng, path: Path, world: World) -> bool:
    pq.write_table(table_of(path).drop_columns([choose(rng, SCHEMA.names)]), path)
    return True


def renamed_column(rng: Rng, path: Path, world: World) -> bool:
    names = [*SCHEMA.names]
    k = int(rng.integers(len(names)))
    names[k] = choose(rng, [names[k].upper(), names[k] + "s", " " + names[k], "obs", ""])
    pq.write_table(table_of(path).rename_columns(names), path)
    return True


def swapped_columns(rng: Rng, path: Path, world: World) -> bool:
    """Two columns with each other's name; state and action where they differ in size."""
    names = [*SCHEMA.names]
    pairs = [(0, 2), (1, 3), (2, 4)]
    pairs += [(2, 3)] if world.observation_size != world.action_size else []
    a, b = choose(rng, pairs)
    names[a], names[b] = names[b], names[a]
    pq.write_table(table_of(path).rename_columns(names), path)
    return True


def column_twice(rng: Rng, path: Path, world: World) -> bool:
    table, name = table_of(path), choose(rng, SCHEMA.names)
    pq.write_table(table.append_column(name, table[name]), path)
    return True


def wrong_type(rng: Rng, path: Path, world: World) -> bool:
    table, k = table_of(path), int(rng.integers(5))
    count = table.num_rows
    values = [pa.array(["1"] * count), pa.array([True] * count), pa.array([b"1"] * count)]
    values += [pa.array([["a"]] * count), pa.array([{"a": 1.0}] * count)]
    pq.write_table(table.set_column(k, SCHEMA.names[k], choose(rng, values)), path)
    return True


def wrong_size(rng: Rng, path: Path, world: World) -> bool:
    """A list that is too long, too short, empty or missing in one row."""
    table, k, at = table_of(path), int(rng.integers(2, 4)), None
    rows = table.column(k).to_pylist()
    at = int(rng.integers(len(rows)))
    rows[at] = choose(rng, [[*rows[at], 0.0], rows[at][:-1], [], None, [None] * len(rows[at])])
    column = pa.array(rows, pa.list_(pa.float32()))
    pq.write_table(table.set_column(k, SCHEMA.names[k], column), path)
    return True


def missing_value(rng: Rng, path: Path, world: World) -> bool:
    table, k = table_of(path), choose(rng, (0, 1, 4))
    values = table.column(k).to_pylist()
    values[int(rng.integers(len(values)))] = None
    column = pa.array(values, SCHEMA.types[k])
    pq.write_table(table.set_column(k, SCHEMA.names[k], column), path)
    return True


def missing_row(rng: Rng, path: Path, world: World) -> bool:
    """A step that is not the last of its trajectory."""
    table = table_of(path)
    followed = np.flatnonzero(np.diff(table["trajectory"].to_numpy()) == 0)
    if not len(followed):
        return False
    keep = np.ones(table.num_rows, bool)
    keep[choose(rng, followed)] = False
    pq.write_table(table.filter(pa.array(keep)), path)
    return True


def row_twice(rng: Rng, path: Path, world: World) -> bool:
    table = table_of(path)
    at = int(rng.integers(table.num_rows))
    pq.write_table(pa.concat_tables([table, table.slice(at, 1)]), path)
    return True


def other_numbers(rng: Rng, path: Path, world: World) -> bool:
    """Steps that do not count 0, 1, 2, ..."""
    table = table_of(path)
    steps = table["step"].to_numpy().astype(np.float64)
    at = int(rng.integers(len(steps)))
    steps[at] = choose(rng, [steps[at] + 0.5, -1.0, steps[at] + 1000, np.nan, 1e18, np.inf])
    if rng.random() < 0.3:
        steps = table["step"].to_numpy() + 1.0
    pq.write_table(table.set_column(1, "step", pa.array(steps)), path)
    return True


def another_environment(rng: Rng, path: Path, world: World) -> bool:
    """Its name in the metadata, or the sizes of another."""
    table = table_of(path).replace_schema_metadata({"environment": choose(rng, ["ant2", "", "é"])})
    pq.write_table(table, path)
    return True


def cut(rng: Rng, path: Path, world: World) -> bool:
    content = path.read_bytes()
    path.write_bytes(content[: int(rng.integers(len(content)))])
    return True


def flipped(rng: Rng, path: Path, world: World) -> bool:
    content = bytearray(path.read_bytes())
    content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)
    return True


def no_table(rng: Rng, path: Path, world: World) -> bool:
    """No rows, no bytes, text, noise, or a folder."""
    table = table_of(path)
    path.unlink()
    way = int(rng.integers(5))
    if way == 0:
        pq.write_table(table.slice(0, 0), path)
    elif way == 1:
        path.mkdir()
    else:
        noise = rng.bytes(int(rng.integers(1, 2000)))
        path.write_bytes([b"", b"trajectory,step\n0,0\n", b"PAR1" + noise + b"PAR1"][way - 2])
    return True


FILE_FAULTS = (
    *(missing_column, renamed_column, swapped_columns, column_twice, wrong_type, wrong_size),
    *(missing_value, missing_row, row_twice, other_numbers, another_environment),
    *(cut, flipped, flipped, no_table),
)
