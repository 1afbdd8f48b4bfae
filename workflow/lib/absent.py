"""Jobs whose files are not there though later ones are: by which settings and code they were made.

What is restored from docs/results comes without what only training reads. Snakemake makes a missing
file if a job that runs needs it, and otherwise compares what it remembers of its job with today's
settings and code. These are in the files themselves (records.py); of those that are missing they
are kept in one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from icl_core.artifacts import read_provenance, write_record
from icl_core.errors import InputError

FILE, KEY = "absent.json", "absent"


class Absent(NamedTuple):
    """A job, as far as Snakemake asks of one whose files are missing."""

    rule: str
    params: list[str]
    output: list[str]


def to_plain(jobs: Iterable[Absent]) -> dict[str, Any]:
    """Many jobs have the same settings and code: each is written once."""
    known: dict[str, int] = {}
    rows = [
        [job.rule, [known.setdefault(one, len(known)) for one in job.params], job.output]
        for job in sorted(jobs, key=lambda job: job.output)
    ]
    return {"jobs": rows, "params": list(known)}


def from_plain(found: Mapping[str, Any]) -> list[Absent]:
    """The inverse of `to_plain`."""
    params = found["params"]
    return [Absent(rule, [params[k] for k in used], out) for rule, used, out in found["jobs"]]


def read_absent(results: Path) -> list[Absent]:
    """The list among results; empty where everything was made here."""
    path = results / FILE
    if not path.is_file():
        return []
    try:
        return from_plain(read_provenance(path)[KEY])
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: expected the list that `icl restore` wrote, found a damaged one; delete it, "
            "and give `icl restore` again"
        ) from error


def write_absent(results: Path, found: Mapping[str, Any]) -> None:
    """Write the list, as `to_plain` gives it."""
    write_record(results / FILE, {KEY: dict(found)}, ())
