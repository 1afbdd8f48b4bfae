"""Traffic recordings in the formats of HighD and ExiD: simulated, and read with every check."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from icl_core.artifacts import RECORDED, SIMULATED, SOURCE, write_table

MARK = "SIMULATED.json"  # beside the CSV files of a simulated recording: how it came about


def source_of(folder: str | os.PathLike) -> str:
    """Whether a folder's recordings are simulated, as their mark says, or recorded."""
    return SIMULATED if (Path(folder) / MARK).is_file() else RECORDED


@dataclass(frozen=True)
class Recordings:
    """What was read of one or several recordings, sorted by their keys."""

    tracks: pa.Table
    vehicles: pa.Table
    recordings: pa.Table
    source: str  # SIMULATED or RECORDED


TABLES = ("tracks", "vehicles", "recordings")


def joined(parts: Sequence[Mapping[str, pa.Table]], folder: str | os.PathLike) -> Recordings:
    """The tables of each of a folder's recordings, one below the other."""
    tables = {
        name: pa.concat_tables([one[name] for one in parts]).combine_chunks() for name in TABLES
    }
    return Recordings(**tables, source=source_of(folder))


def write_recordings(folder: str | os.PathLike, read: Recordings, provenance: Mapping) -> None:
    """Write tracks.parquet, vehicles.parquet and recordings.parquet.

    Their source stands in the schema's metadata.
    """
    for name in TABLES:
        described = getattr(read, name).replace_schema_metadata({SOURCE: read.source.encode()})
        write_table(Path(folder) / f"{name}.parquet", described, provenance)
