"""The values of a constraint on its grid, as a table for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from icl_core.disk import atomic
from icl_core.errors import InputError
from icl_core.using.commands import sources
from icl_core.using.constraint import Constraint

WRITERS = {".csv": csv.write_csv, ".parquet": parquet.write_table}


def arguments(parser: argparse.ArgumentParser) -> None:
    """A constraint and a table."""
    sources.constraint_file(parser)
    parser.add_argument("output", metavar="TABLE", help="a file, .csv or .parquet")
    parser.add_argument(
        "--latex", metavar="FOLDER", help="instead: all tables and figures of a run, for a paper"
    )


def main(given: argparse.Namespace) -> int:
    """A row for each node: where it lies, the mean of c, the seeds' spread, and each seed."""
    path = Path(given.output)
    if path.suffix not in WRITERS:
        raise InputError(
            f"{path}: expected a name that ends in {' or '.join(WRITERS)}, found {path.suffix!r}; "
            "choose one of them"
        )
    table = values_on_grid(Constraint.load(given.file))
    with atomic(path) as temporary:
        WRITERS[path.suffix](table, temporary)
    print(f"{path}: {table.num_rows} rows, {', '.join(table.column_names)}")
    return 0


def values_on_grid(constraint: Constraint) -> pa.Table:
    """What the table holds; places are in the axes' own units."""
    inputs = constraint.inputs
    values = constraint.values_at(inputs.grid.nodes)
    places = {
        axis.name: inputs.grid.nodes[:, k] * axis.scale + axis.origin
        for k, axis in enumerate(inputs.axes)
    }
    seeds = {f"seed {seed}": one for seed, one in zip(constraint.seeds, values, strict=True)}
    return pa.table({**places, "c": values.mean(axis=0), "spread": values.std(axis=0), **seeds})
