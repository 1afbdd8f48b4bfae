"""How anything is written and read: atomically, sealed, with its provenance.

Tables are Parquet with a declared Arrow schema, networks are safetensors (data
only: a checkpoint from a stranger cannot run code). Equal inputs give equal
bytes, so nothing in a file depends on the time, the machine's name or the
working directory; how long a stage took stands in its benchmark TSV.

A file says what it is: its kind and experiment by the place that it was written to, the code, the
settings and the inputs that it was made from, and a seal over all of its bytes. Whoever reads it
checks the seal, and that it lies where it was written to.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors
import safetensors.numpy

from icl_core.disk import sha256, to_json, to_parquet, write_whole
from icl_core.errors import InputError
from icl_core.kernels import in_force
from icl_core.layout import identity, scale_of
from icl_core.seals import BLANK, is_whole, sealed

PROVENANCE, SEAL, ARTIFACT, FILES = "provenance", "seal", "artifact", "files"
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
    "stable-baselines3",
)


def write_table(path: str | os.PathLike, table: pa.Table, provenance: Mapping) -> None:
    """Write a table as Parquet, the provenance in its schema's metadata."""
    stated = json.dumps(_stated(path, provenance), sort_keys=True, ensure_ascii=False)
    described = {**(table.schema.metadata or {}), PROVENANCE.encode(): stated.encode()}
    table = table.replace_schema_metadata(described)
    write_whole(path, sealed(to_parquet(table)))


def read_table(path: str | os.PathLike, schema: pa.Schema) -> pa.Table:
    """The table at `path`, its columns exactly those of `schema`, without nulls."""
    path = Path(path)
    content = read_content(path)
    try:
        table = pq.read_table(
            pa.BufferReader(content), page_checksum_verification=True, partitioning=None
        )
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, "Parquet table", error) from error
    check_place(path, _of_schema(path, table.schema))
    _check_columns(path, table, schema)
    return table


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, np.ndarray], provenance: Mapping
) -> None:
    """Write named arrays as safetensors, the provenance in the file's metadata."""
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    stated = json.dumps(_stated(path, provenance), sort_keys=True, ensure_ascii=False)
    write_whole(path, sealed(safetensors.numpy.save(arrays, metadata={PROVENANCE: stated})))


def read_tensors(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The named arrays at `path`."""
    path = Path(path)
    tensors, stated = tensors_in(path, read_content(path))
    check_place(path, stated)
    return tensors


def tensors_in(path: Path, content: bytes) -> tuple[dict[str, np.ndarray], dict]:
    """The named arrays of a file's content, and what it says of its own making."""
    try:
        tensors = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise _unreadable(path, "safetensors file", error) from error
    return tensors, _of_header(path, content)


def write_record(path: str | os.PathLike, provenance: Mapping, files: Iterable) -> None:
    """Write, as JSON, how files were made that have no place for it, and what they hold."""
    stated = _stated(path, {**provenance, **of_files(path, files)})
    write_whole(path, sealed(to_json(stated).encode()))


def of_files(record: str | os.PathLike, files: Iterable) -> dict[str, dict[str, str]]:
    """What a provenance says of other files, in or below the folder of the file that bears it."""
    folder = Path(record).parent
    return {FILES: {Path(file).relative_to(folder).as_posix(): sha256(file) for file in files}}


def read_record(path: str | os.PathLike) -> dict:
    """The provenance at `path`; the files that it describes hold what it says."""
    stated = read_provenance(path)
    for name, digest in stated.get(FILES, {}).items():
        file = Path(path).parent / name
        if sha256(read_content(file, bare=True)) != digest:
            raise InputError(
                f"{file}: expected the content that {Path(path).name} was written for, found "
                f"another; {remedy(file)}"
            )
    return stated


def read_provenance(path: str | os.PathLike) -> dict:
    """What the file at `path` says of its own making; empty where it says nothing."""
    path = Path(path)
    content = read_content(path)
    if path.suffix == ".safetensors":
        stated = _of_header(path, content)
    elif path.suffix == ".json":
        stated = _from_json(path, content)
    else:
        try:
            schema = pq.read_schema(pa.BufferReader(content))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(path, "Parquet table", error) from error
        stated = _of_schema(path, schema)
    check_place(path, stated)
    return stated


def read_content(path: Path, bare: bool = False) -> bytes:
    """The bytes of a file; those of a sealed one are what was written.

    Among results a file must be sealed, but for those that a record describes (`bare`).
    """
    if not path.is_file():
        found = "a directory" if path.is_dir() else "nothing"
        raise InputError(f"{path}: expected a file, found {found}; {remedy(path)}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: expected a readable file, found {error.strerror}; {remedy(path)}"
        ) from error
    whole = is_whole(content)
    if whole is False or (whole is None and not bare and identity(path)):
        found = "without a checksum" if whole is None else "that do not match their checksum"
        raise InputError(
            f"{path}: expected a complete {path.suffix.lstrip('.')} file, found {len(content)} "
            f"bytes {found}; {remedy(path)}"
        )
    return content


def check_place(path: Path, stated: Mapping) -> None:
    """Among results a file must lie where it was written to."""
    here, there = identity(path), stated.get(ARTIFACT)
    if here is not None and there != here:
        raise InputError(f"{path}: expected {words(here)}, found {words(there)}; {remedy(path)}")


def words(artifact: Mapping | None) -> str:
    """What a file is, for people."""
    if not artifact:
        return "a file that does not say what it is"
    names = sorted(name for name in artifact if name not in ("kind", "path"))
    kind = str(artifact.get("kind", artifact.get("path"))).replace("_", " ")
    return f"{kind} ({', '.join(f'{name} {artifact[name]}' for name in names)})"


def _stated(path: str | os.PathLike, provenance: Mapping) -> dict:
    """What a file says of itself. One text: safetensors keeps several in any order."""
    here = identity(path)
    return {**provenance, **({ARTIFACT: here} if here else {}), SEAL: BLANK}


def _of_schema(path: Path, schema: pa.Schema) -> dict:
    return _from_json(path, (schema.metadata or {}).get(PROVENANCE.encode(), b"{}"))


def _of_header(path: Path, content: bytes) -> dict:
    size = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + size])
        text = header.get("__metadata__", {}).get(PROVENANCE, "{}")
    except (ValueError, AttributeError) as error:
        raise _unreadable(path, "safetensors file", error) from error
    return _from_json(path, text.encode())


def _from_json(path: Path, text: bytes) -> dict:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _unreadable(path, "file that says how it was made", error) from error
    return {k: v for k, v in found.items() if k != SEAL} if isinstance(found, dict) else {}


def make_provenance(
    code: str,
    configuration: Mapping,
    inputs: Iterable[str | os.PathLike] = (),
    seeds: Iterable[int] = (),
    job: Mapping = MappingProxyType({}),
) -> dict:
    """The provenance that every artifact of a stage carries.

    `code` is the digest of the source that the stage runs, `configuration` the
    section that it was given, `inputs` the files that it read, `job` what Snakemake calls it.
    """
    return {
        "code": code,
        "configuration": dict(configuration),
        "inputs": {Path(path).as_posix(): sha256(path) for path in inputs},
        "job": dict(job),
        "kernels": in_force(),
        "packages": versions(),
        "seeds": [int(seed) for seed in seeds],
    }


def versions() -> dict[str, str]:
    """Of Python, and of the packages that can change a number."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


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
