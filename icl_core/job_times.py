"""What jobs took, as each records it for itself: the tables of times and the forecasts read it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import NamedTuple

from icl_core.artifacts import ARTIFACT, SEAL, check_place, read_content
from icl_core.disk import write_whole
from icl_core.layout import identity
from icl_core.seals import BLANK, sealed


class Record(NamedTuple):
    """What a job took, in seconds and megabytes, and what it had to say in the end."""

    cpu: float
    wall: float
    numbers: str
    memory: float = 0.0  # at its peak; 0 in records of earlier versions


def read_time(path: Path) -> Record:
    """The record of a job."""
    content = read_content(path)
    row = next(csv.DictReader(content.decode().splitlines(), delimiter="\t", quotechar="'"))
    check_place(path, {ARTIFACT: json.loads(row.get(ARTIFACT) or "null")})
    memory = float(row.get("max_rss") or 0)
    return Record(float(row["cpu_time"]), float(row["s"]), row.get("numbers", ""), memory)


def write_time(path: str | os.PathLike, record: Record) -> None:
    """Write what a job took."""
    columns = {
        "s": f"{record.wall:.2f}",
        "cpu_time": f"{record.cpu:.2f}",
        "max_rss": f"{record.memory:.0f}",
        "numbers": record.numbers,
        ARTIFACT: json.dumps(identity(path)),
        SEAL: BLANK,
    }
    text = "\t".join(columns) + "\n" + "\t".join(columns.values()) + "\n"
    write_whole(path, sealed(text.encode()))
