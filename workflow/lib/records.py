"""What Snakemake remembers of jobs, given back to it by their files.

Snakemake compares a job's settings and inputs with records in .snakemake. Results that were copied
or unpacked come without these, or with those of others. The files themselves carry all that a
record holds, and the digests of their inputs. So where a run begins, a record is written for each
file that is new here: an unchanged copy runs nothing, a changed setting runs its stages, and an
input that was replaced is noticed whatever its date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from icl_core.artifacts import read_provenance
from icl_core.disk import sha256, write_whole
from icl_core.errors import InputError
from icl_core.layout import identity
from workflow.lib.absent import read_absent

CACHE = "files.json"
SEALED = (".parquet", ".safetensors", ".json")
STALE = "another content: "  # in place of a job's params: no job has these


class Made(NamedTuple):
    """What a file says of the job that made it, as far as Snakemake asks."""

    rule: str
    params: list[str]
    input: list[str]
    output: list[str]
    digests: dict[str, str]  # of the inputs

    @classmethod
    def of(cls, path: Path) -> Made | None:
        """None where a file is damaged, or not where it belongs: whoever reads it says so."""
        try:
            stated = read_provenance(path)
        except InputError:
            return None
        job = stated.get("job")
        if not job:
            return None
        params = sorted(map(repr, (stated["configuration"], stated["code"])))
        return cls(job["rule"], params, job["input"], job["output"], stated["inputs"])


class Looked:
    """What was found in files, kept as long as they do not change."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.kept: dict[str, list] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            self.kept = {}
        self.used: dict[str, list] = {}

    def digest(self, path: Path) -> str:
        """Of a file's content."""
        return self._look("sha256", path, sha256)

    def made(self, path: Path) -> Made | None:
        """What a file says of its job."""
        found = self._look("made", path, Made.of)
        return Made(*found) if found else None

    def _look(self, what: str, path: Path, find: Any) -> Any:
        status = path.stat()
        # The time of the last change of the file's entry cannot be set by hand, as its date can.
        state = [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]
        key = f"{what} {path.as_posix()}"
        known = self.used.get(key) or self.kept.get(key)
        if not known or known[0] != state:
            known = [state, find(path)]
        self.used[key] = known
        return known[1]

    def save(self) -> None:
        """Keep it for the next run."""
        if self.used != self.kept:
            write_whole(self.path, json.dumps(self.used))


def renew(state: Path, results: Path) -> int:
    """Write the records that the files of `results` ask for; how many were missing or others.

    `state` is the .snakemake folder.
    """
    if not results.is_dir():
        return 0
    from snakemake.persistence.file import FilePersistence

    kept, looked, changed = FilePersistence(path=state.absolute()), Looked(state / CACHE), 0
    for path, record in _records(results, looked):
        found = kept._read_record(path)
        if found is None or any(found.get(key) != value for key, value in record.items()):
            kept._write_record(path, _complete(found, record))
            changed += 1
    looked.save()
    return changed


def _records(results: Path, looked: Looked) -> Iterator[tuple[str, dict[str, Any]]]:
    """The record of each output of the jobs whose files are there."""
    written: set[str] = set()
    for path in artifacts(results):
        made = looked.made(path)
        if made is None:
            continue
        own = path.as_posix()
        # Those that say nothing of themselves, or are missing, go with the first that does:
        # Snakemake compares the settings of a job only where it remembers all of its files.
        for output in [own, *filter(_is_silent, made.output)]:
            if output == own or output not in written:
                written.add(output)
                yield output, _record(made, looked)
    for job in read_absent(results):
        if all(map(_is_silent, job.output)):  # or else it was made again
            for output in job.output:
                yield output, {"rule": job.rule, "params": job.params}


def _is_silent(output: str) -> bool:
    return Path(output).suffix not in SEALED or not Path(output).exists()


def artifacts(results: Path) -> Iterator[Path]:
    """The files of results that say what they are, and how they were made."""
    for suffix in SEALED:
        for path in sorted(results.rglob(f"*{suffix}")):
            if "kind" in (identity(path) or {}):
                yield path


def _record(made: Made, looked: Looked) -> dict[str, Any]:
    replaced = [
        name
        for name, digest in made.digests.items()
        if Path(name).is_file() and looked.digest(Path(name)) != digest
    ]
    listed = {name: made.digests[name] for name in made.input if name in made.digests}
    return {
        "rule": made.rule,
        "input": made.input,
        "params": [STALE + ", ".join(replaced)] if replaced else made.params,
        "input_checksums": {name: f"sha256:{digest}" for name, digest in listed.items()},
    }


def _complete(found: Mapping | None, record: Mapping[str, Any]) -> Any:
    """A record of Snakemake's: what it does not compare is kept, or left out."""
    from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord

    known = dict(found.items()) if found else {}
    return MetadataRecord(
        **{**known, **record, "incomplete": False, "record_format_version": RECORD_FORMAT_VERSION}
    )
