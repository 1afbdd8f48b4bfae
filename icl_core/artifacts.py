"""How anything is written and read: atomically, checked, with its provenance.

Tables are Parquet with a declared Arrow schema, networks are safetensors (data
only: a checkpoint from a stranger cannot run code). Equal inputs give equal
bytes, so nothing in a file depends on the time, the machine's name or the
working directory; how long a stage took stands in its benchmark TSV.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors
import safetensors.numpy

from icl_core.errors import InputError
from icl_core.layout import scale_of

PROVENANCE = "provenance"
# Of tables made from traffic recordings: the key of their schema's metadata that says which.
SOURCE = b"source"
SIMULATED, RECORDED = "simulated", "recorded"
# The packages whose version can change a number.
PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "zuko",
    "POT",
    "gymnasium",
    "pyarrow",
    "safetensors",
    "highway-env",
    "mujoco",
    "shapely",
)


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
        temporary.replace(path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


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


def write_table(path: str | os.PathLike, table: pa.Table, provenance: Mapping) -> None:
    """Write a table as Parquet, the provenance in its schema's metadata."""
    described = {**(table.schema.metadata or {}), PROVENANCE.encode(): _encode(provenance)}
    table = table.replace_schema_metadata(described)
    with atomic(path) as temporary:
        # Checksums per page: a flipped bit is an error instead of a number.
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read_table(path: str | os.PathLike, schema: pa.Schema) -> pa.Table:
    """The table at `path`, its columns exactly those of `schema`, without nulls."""
    path = _existing(path)
    try:
        table = pq.read_table(path, page_checksum_verification=True, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, "Parquet table", error) from error
    _check_columns(path, table, schema)
    return table


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, np.ndarray], provenance: Mapping
) -> None:
    """Write named arrays as safetensors, the provenance in the file's metadata."""
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    content = safetensors.numpy.save(arrays, metadata={PROVENANCE: _encode(provenance).decode()})
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def read_tensors(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The named arrays at `path`."""
    path = _existing(path)
    try:
        return safetensors.numpy.load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError, KeyError) as error:
        raise _unreadable(path, "safetensors file", error) from error


def read_provenance(path: str | os.PathLike) -> dict:
    """What the file at `path` says of its own making; empty where it says nothing."""
    path = _existing(path)
    try:
        if path.suffix == ".safetensors":
            with safetensors.safe_open(path, framework="numpy") as file:
                text = (file.metadata() or {}).get(PROVENANCE, "{}")
        else:
            text = (pq.read_schema(path).metadata or {}).get(PROVENANCE.encode(), b"{}")
        return json.loads(text)
    except (safetensors.SafetensorError, pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, f"{path.suffix.lstrip('.')} file", error) from error


def make_provenance(
    code: str, configuration: Mapping, inputs: Iterable[str | os.PathLike] = (), seeds=()
) -> dict:
    """The provenance that every artifact of a stage carries.

    `code` is the digest of the source that the stage runs, `configuration` the
    section that it was given, `inputs` the files that it read.
    """
    return {
        "code": code,
        "configuration": dict(configuration),
        "inputs": {Path(path).as_posix(): sha256(path) for path in inputs},
        "packages": {"python": platform.python_version(), **_versions()},
        "seeds": [int(seed) for seed in seeds],
    }


def sha256(path: str | os.PathLike) -> str:
    """Hex digest of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def to_json(content: Mapping) -> str:
    """A mapping as text for people and programs; equal mappings give equal text."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _encode(provenance: Mapping) -> bytes:
    return json.dumps(provenance, sort_keys=True, ensure_ascii=False).encode()


def _existing(path: str | os.PathLike) -> Path:
    path = Path(path)
    if not path.is_file():
        found = "a directory" if path.is_dir() else "nothing"
        raise InputError(f"{path}: expected a file, found {found}; {remedy(path)}")
    return path


def _unreadable(path: Path, expected: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split()) or type(error).__name__
    size = path.stat().st_size
    return InputError(
        f"{path}: expected a complete {expected}, found {size} bytes that do not read as one "
        f"({reason}); {remedy(path)}"
    )


def _check_columns(path: Path, table: pa.Table, schema: pa.Schema) -> None:
    if table.column_names != schema.names:
        raise InputError(
            f"{path}: expected the columns {', '.join(schema.names)}, "
            f"found {', '.join(table.column_names) or 'none'}; {remedy(path)}"
        )
    for field, found, column in zip(schema, table.schema, table.columns, strict=True):
        # Names inside a list type ("item" or "element") depend on the writer and mean nothing.
        if not _alike(found.type, field.type):
            raise InputError(
                f"{path}: expected column {field.name!r} of type {field.type}, "
                f"found {found.type}; {remedy(path)}"
            )
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise InputError(
                f"{path}: expected a value in every row of column {field.name!r}, "
                f"found none in row {row}; {remedy(path)}"
            )


def _alike(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_list(found) and pa.types.is_list(expected):
        return _alike(found.value_type, expected.value_type)
    return found == expected


def remedy(path: str | os.PathLike) -> str:
    """How to make the file again, as the end of an error's sentence."""
    scale = scale_of(path)
    if scale is None:
        return "give a readable file of this kind"
    parts = Path(path).parts
    target = Path(*parts[parts.index("results") :]).as_posix()
    return (
        f"delete it and make it again with `snakemake --cores 1 --config scale={scale} -- {target}`"
    )
