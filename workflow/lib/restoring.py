"""What docs/results holds of a run, put back under results/{scale}/ where nothing is yet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from icl_core.artifacts import ARTIFACT, read_provenance
from icl_core.disk import sha256, write_whole
from icl_core.errors import InputError
from icl_core.layout import path
from icl_core.seals import is_whole
from workflow.lib.absent import FILE, KEY, write_absent
from workflow.lib.publish import MANIFEST
from workflow.lib.publishing.kept import RUN

# Published under names of their own, each once: they say themselves where they belong.
NAMED = ("constraints/", "metrics.parquet")


class Restored(NamedTuple):
    """How much was put back."""

    files: int
    size: int  # bytes
    there: int  # files that were left as they are


def restore(folder: Path, results: Path) -> Restored:
    """Put everything back, or nothing where a file is damaged. What is there is never touched."""
    stated = _stated(folder, results.name)
    found = {
        target: _checked(folder / name, stated["files"][name])
        for name, target in _targets(folder, stated["files"])
    }
    new = {target: content for target, content in found.items() if not (results / target).exists()}
    for target, content in new.items():
        write_whole(results / target, content)
        _give_date(results / target, stated["dates"].get(target))
    if new and not (results / FILE).exists():
        write_absent(results, stated[KEY])
    return Restored(len(new), sum(map(len, new.values())), len(found) - len(new))


def _give_date(file: Path, date: int | None) -> None:
    """A file keeps the date of its making, by which the page says when runs were finished.

    Not a record of what a job took: of a job whose other files were not published it is all that
    Snakemake finds, and must not be older than what the job was given.
    """
    if date is not None and file.suffix != ".tsv":
        os.utime(file, (date, date))


def _stated(folder: Path, scale: str) -> dict:
    """What the list of all published files says."""
    stated = read_provenance(folder / MANIFEST)
    if KEY not in stated or not any(name.startswith(f"{RUN}/") for name in stated["files"]):
        raise InputError(
            f"{folder}: expected the files behind its figures in {folder / RUN}, found none: "
            f"nothing was published to restore; look at {folder}/README.md, or train with "
            "`make demo` (minutes) or `make paper` (days)"
        )
    if stated["scale"] != scale:
        raise InputError(
            f"{folder}: expected results of scale {scale}, found those of scale "
            f"{stated['scale']}; give --scale {stated['scale']}"
        )
    return stated


def _targets(folder: Path, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The published names of what is restored, each with its path under results."""
    for name in files:
        if name.startswith(f"{RUN}/") and ".." not in Path(name).parts:
            yield name, name.removeprefix(f"{RUN}/")
        elif name.startswith(NAMED):
            _checked(folder / name, files[name])
            yield name, path(**read_provenance(folder / name)[ARTIFACT])


def _checked(file: Path, digest: str) -> bytes:
    """The content of a published file, which is what was published."""
    content = file.read_bytes() if file.is_file() else b""
    if is_whole(content) is False or sha256(content) != digest:
        found = f"{len(content)} bytes that do not match it" if content else "nothing"
        raise InputError(
            f"{file}: expected the content whose checksum {MANIFEST} names, found {found}; get it "
            f"again with `git checkout -- {file}`"
        )
    return content
