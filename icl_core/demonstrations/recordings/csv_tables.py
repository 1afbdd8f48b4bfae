"""CSV files of a known format as Arrow tables: streamed, typed, every fault named by its place.

A format is an Arrow schema; a field with `nullable=False` needs a value in every row, and a
floating one a finite value. Columns may stand in any order, and there may be others, which are
not read. How the tables of a folder are used:

    ROWS = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("x", pa.float64())])
    file = CsvFile(folder / "01_rows.csv", ROWS, aliases={"Id": "id"})
    table = file.read()  # or: for batch in file.batches()
    x = table["x"].to_numpy()
    file.check(x > 0, "x", "a positive position", "measure it from the left edge")

The last line raises, for the first row that is not right: "01_rows.csv: line 7, column 'x':
expected a positive position, found '-3.0'; measure it from the left edge". Lines are counted
as a text editor does: from 1, the header and empty lines included.
"""

from __future__ import annotations

import csv
import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike
from pyarrow import csv as arrow_csv

from icl_core.errors import InputError, found_at

BLOCK = 4 << 20  # bytes of text converted at a time


class CsvFile:
    """A CSV file under examination: how it is read, and what its faults are called."""

    def __init__(
        self, path: str | os.PathLike, schema: pa.Schema, aliases: Mapping[str, str] | None = None
    ):
        """Look at the header only; `aliases` are other spellings {in the file: in the schema}."""
        self.path = Path(path)
        self.schema = schema
        there = found_at(path)
        if there != "a file":
            raise self.fault("a CSV file", there, "put the file there or correct its name")
        self.header = self._read_header()
        found = [(aliases or {}).get(name, name) for name in self.header]
        self._check_header(found)
        self.spelling = {name: self.header[found.index(name)] for name in schema.names}

    def read(self) -> pa.Table:
        """All rows, in the order of the file; at least one."""
        table = pa.Table.from_batches(self.batches(), self.schema)
        if table.num_rows == 0:
            raise self.fault(
                "at least one row of data", "none", "restore the file or leave the recording out"
            )
        return table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows some megabytes at a time, with the schema's columns and types, checked."""
        start = 0
        types = {self.spelling[field.name]: field.type for field in self.schema}
        try:
            for batch in self._stream(types):
                batch = batch.rename_columns(self.schema.names)
                self._check_values(batch, start)
                start += batch.num_rows
                yield batch.cast(self.schema)
        except pa.ArrowInvalid as error:
            raise self._explain(error) from error

    def fault(
        self,
        expected: str,
        found: str,
        advice: str,
        row: int | None = None,
        column: str | None = None,
    ) -> InputError:
        """What is wrong, as one sentence; `row` counts from 0 in the order of the file."""
        places = [] if row is None else [f"line {self.line(row)}"]
        if column is not None:
            places.append(f"column {self.spelling.get(column, column)!r}")
        where = f" {', '.join(places)}:" if places else ""
        return InputError(f"{self.path}:{where} expected {expected}, found {found}; {advice}")

    def check(
        self,
        right: ArrayLike,
        column: str,
        expected: str,
        advice: str,
        rows: np.ndarray | None = None,
        found: str | None = None,
    ) -> None:
        """Raise an InputError that names the first row of the file that is not right.

        `right` has one entry per row; where it is about a selection or another order,
        `rows` gives the row of each. `found` may put more than the cell into words.
        """
        wrong = np.flatnonzero(~np.asarray(right, bool))
        if not len(wrong):
            return
        row = int(wrong[0] if rows is None else np.asarray(rows)[wrong].min())
        raise self.fault(expected, found or repr(self.cell(row, column)), advice, row, column)

    def line(self, row: int) -> int:
        """The line on which a row stands in a text editor."""
        return self._row(row)[0]

    def cell(self, row: int, column: str) -> str:
        """The text of one cell as it stands in the file."""
        return self._row(row)[1][self.header.index(self.spelling[column])]

    # Looking for a place costs one pass over the text, and is done for a fault only.

    def _row(self, row: int) -> tuple[int, list[str]]:
        for k, found in enumerate(self._lines()):
            if k == row + 1:
                return found
        raise IndexError(f"{self.path} has no row {row}")

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Number and cells of each line that is not empty, the header among them."""
        with open(self.path, encoding="utf-8-sig", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if line != "\n":
                    yield number, next(csv.reader([line]))

    def _read_header(self) -> list[str]:
        first = next(self._lines(), None)
        if first is None:
            raise self.fault("a header and rows", "an empty file", "restore the file")
        return [name.strip() for name in first[1]]

    def _check_header(self, found: list[str]) -> None:
        for name in self.schema.names:
            if found.count(name) > 1:
                raise self.fault(
                    f"the column {name!r} once", f"it {found.count(name)} times", "delete a copy"
                )
            if name not in found:
                others = [other for other in found if other not in self.schema.names]
                raise self.fault(
                    f"a column {name!r} in the header", ", ".join(found), _renaming(name, others)
                )

    def _stream(self, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        lines = self._lines()
        header = next(lines)[0]
        if next(lines, None) is None:
            return  # Arrow calls a file without rows an error
        read = arrow_csv.ReadOptions(
            block_size=BLOCK,
            use_threads=False,
            # The header as we read it: its cells stripped, its byte-order mark removed.
            column_names=self.header,
            skip_rows=header,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict(types), include_columns=[self.spelling[n] for n in self.schema.names]
        )
        yield from arrow_csv.open_csv(self.path, read, convert_options=convert)

    def _check_values(self, batch: pa.RecordBatch, start: int) -> None:
        """A value where one is needed, and only finite ones; the first row without is named."""
        faults = []
        for field in self.schema:
            column = batch[field.name]
            wrong = column.is_null() if not field.nullable else None
            if pa.types.is_floating(field.type):
                unbounded = pc.fill_null(pc.invert(pc.is_finite(column)), False)
                wrong = unbounded if wrong is None else pc.or_(wrong, unbounded)
            if wrong is not None and pc.any(wrong).as_py():
                faults.append((pc.index(wrong, True).as_py() + start, field))
        if faults:
            raise self._bad_cell(*min(faults, key=lambda fault: fault[0]))

    def _bad_cell(self, row: int, field: pa.Field) -> InputError:
        kind = "text"
        if pa.types.is_integer(field.type):
            kind = "a whole number"
        elif pa.types.is_floating(field.type):
            kind = "a finite number"
        cell = self.cell(row, field.name)
        found = repr(cell) if cell.strip() else "an empty cell"
        return self.fault(kind, found, "correct the cell", row, field.name)

    def _explain(self, error: pa.ArrowInvalid) -> InputError:
        """The place of what Arrow could not parse or convert."""
        for number, cells in self._lines():
            if len(cells) != len(self.header):
                return InputError(
                    f"{self.path}: line {number}: expected {len(self.header)} cells as in the "
                    f"header, found {len(cells)}; restore the line or the file"
                )
            if any("\ufffd" in cell for cell in cells):
                return InputError(
                    f"{self.path}: line {number}: expected text in UTF-8, found bytes that are "
                    "none; save the file in UTF-8"
                )
        start, text = 0, dict.fromkeys(self.spelling.values(), pa.string())
        for batch in self._stream(text):
            faults = [
                (row + start, field)
                for field, column in zip(self.schema, batch.columns, strict=True)
                if (row := _first_unlike(column, field.type)) is not None
            ]
            if faults:
                return self._bad_cell(*min(faults, key=lambda fault: fault[0]))
            start += batch.num_rows
        reason = " ".join(str(error).split())
        return self.fault("a readable CSV file", f"one that is not ({reason})", "restore it")


def needed(**columns: pa.DataType) -> pa.Schema:
    """A schema that needs a value in every row of every column."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def same(kind: pa.DataType, names: str) -> dict[str, pa.DataType]:
    """Columns of one type, their names separated by spaces."""
    return dict.fromkeys(names.split(), kind)


def arrays(table: pa.Table | pa.RecordBatch) -> dict[str, np.ndarray]:
    """The columns of a table, or of a block of one, by name."""
    columns = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    return {name: columns[name].to_numpy() for name in columns.column_names}


def table_of(columns: Mapping, schema: pa.Schema) -> pa.Table:
    """Columns as a table of exactly these types."""
    converted = [pa.array(columns[field.name]).cast(field.type) for field in schema]
    return pa.Table.from_arrays(converted, schema=schema)


def write_csv(path: str | os.PathLike, table: pa.Table) -> None:
    """Write a table as the data sets have theirs: nothing in quotes."""
    options = arrow_csv.WriteOptions(quoting_style="none", quoting_header="none")
    arrow_csv.write_csv(table, path, options)


def _first_unlike(column: pa.Array, kind: pa.DataType) -> int | None:
    """The first cell that is no value of this type; found by halving what does not convert."""
    cells = pc.utf8_trim_whitespace(column)
    if _converts(cells, kind):
        return None
    low, high = 0, len(cells)  # the first `low` cells convert, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _converts(cells[low:middle], kind) else (low, middle)
    return low


def _renaming(name: str, others: list[str]) -> str:
    """Which of the other columns is most likely the missing one."""
    folded = {other.casefold(): other for other in others}
    nearest = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"rename {folded[nearest[0]]!r}" if nearest else "add the column"


def _converts(cells: pa.Array, kind: pa.DataType) -> bool:
    empty = pa.array(arrow_csv.ConvertOptions().null_values)
    try:
        cells.filter(pc.invert(pc.is_in(cells, empty))).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
