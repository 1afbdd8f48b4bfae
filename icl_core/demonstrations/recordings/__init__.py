"""Traffic recordings in the formats of HighD and ExiD: simulated, and read with every check."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from icl_core.artifacts import write_table

MARK = "SIMULATED.json"  # beside the CSV files of a simulated recording: how it came about
SOURCE = b"source"  # key of the schema's metadata: where the numbers of a table come from
SIMULATED, RECORDED = "simulated", "recorded"


def source_of(folder: str | os.PathLike) -> str:
    """Whether a folder's recordings are simulated, as their mark says, or recorded."""
    return SIMULATED if (Path(folder) / MARK).is_file() else RECORDED


def write_recordings(
    folder: str | os.PathLike, tables: Mapping[str, pa.Table], source: str, provenance: Mapping
) -> None:
    """Write each table as `<name>.parquet`, with its source in the schema's metadata."""
    for name, table in tables.items():
        described = table.replace_schema_metadata({SOURCE: source.encode()})
        write_table(Path(folder) / f"{name}.parquet", described, provenance)
