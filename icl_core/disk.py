"""Files that are written whole or not at all, and what their content is called."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from icl_core.runs import check_current

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def atomic(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary sibling to write to; it becomes `path` only if the block succeeds.

    The sibling keeps the suffix (matplotlib chooses a format by it) and bears the
    process's number: a job that outlived its killed workflow may write the same file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    temporary = path.with_name(f".{path.stem}.partial-{os.getpid()}{path.suffix}")
    try:
        yield temporary
        _flush(temporary)
        check_current()
        temporary.replace(path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike, content: str | bytes) -> None:
    """Write a text or bytes to a file, atomically."""
    with atomic(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def _sweep(path: Path) -> None:
    """Remove what killed processes left of this file."""
    for left in path.parent.glob(f".{glob.escape(path.stem)}.partial-*{path.suffix}"):
        number = left.name.removesuffix(path.suffix).rpartition("-")[2]
        if number.isdecimal() and not Path("/proc", number).exists() and Path("/proc").exists():
            left.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Ask the disk to keep it: without this a rename can survive a power cut and the data not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(content: bytes | str | os.PathLike) -> str:
    """Hex digest of some bytes, or of a file's."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with open(content, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_json(content: Mapping) -> str:
    """A mapping as text for people and programs; equal mappings give equal text."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def to_parquet(table: pa.Table) -> bytes:
    """A table as Parquet. Numbers are split by bytes, so that their like parts stand together: what
    is published gets a third smaller.
    """
    import pyarrow as pa  # not everybody who writes files writes tables
    import pyarrow.parquet as pq

    empty, content = pa.BufferOutputStream(), pa.BufferOutputStream()
    pq.write_table(table.schema.empty_table(), empty)
    schema = pq.ParquetFile(pa.BufferReader(empty.getvalue())).schema
    columns = [schema.column(k) for k in range(len(schema))]
    floats = [one.path for one in columns if one.physical_type in ("FLOAT", "DOUBLE")]
    pq.write_table(
        table,
        content,
        compression="zstd",
        compression_level=9,
        use_dictionary=False,
        use_byte_stream_split=floats,
        write_page_checksum=True,
    )
    return content.getvalue().to_pybytes()
