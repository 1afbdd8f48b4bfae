"""Where a run reads and writes, looked at before the first job."""

from __future__ import annotations

import os
from pathlib import Path

from icl_core import layout
from icl_core.demonstrations.minari_sets import data_file, is_minari
from icl_core.errors import InputError, found_at
from icl_core.settings_schema import short
from workflow.lib.configuration import Configuration

RESULTS, STATE = Path("results"), Path(".snakemake")
LEAST = 100_000  # bytes of free space
SHOWN = {".html", ".md", ".csv", ".svg", ".pdf", ".png", ".gif"}  # of figures, tables and the page


def check_places(scale: str) -> None:
    """Raise an InputError where nothing can be written, or a folder stands in a file's place."""
    for folder in (RESULTS, RESULTS / scale, STATE):
        _check_writable(folder)
    suffixes = SHOWN | {Path(pattern).suffix for pattern in layout.PATTERNS.values()} - {""}
    for above, folders, _ in os.walk(RESULTS / scale):
        for name in folders:
            if Path(name).suffix in suffixes:
                # Snakemake would take it for the finished file.
                raise InputError(
                    f"{Path(above, name)}: expected a file, found a folder; move it away"
                )


def check_own_files(config: Configuration) -> None:
    """Raise an InputError where the user's own files are not there, or not safe."""
    for one in config.experiments.values():
        if one.source == "file":
            path = one.demonstrations["file"]
            kind = "a Minari data set" if is_minari(path) else "a Parquet file"
            _check_own(data_file(path), "a file", f"{kind} of demonstrations")
    for name in config.recorded:
        folder = config.environments[name]["recordings"]
        if folder is not None:
            _check_own(folder, "a folder", f"a folder with recordings of {name}")


def _check_own(path: str, kind: str, expected: str) -> None:
    found = found_at(path)
    if found != kind:
        raise InputError(f"{short(path)}: expected {expected}, found {found}; correct the path")
    real = Path(path).resolve()
    if real.is_relative_to(RESULTS.resolve()):
        raise InputError(
            f"{short(path)}: expected {expected} outside of {RESULTS}/, where a rerun would delete "
            f"it, found {real} inside; copy it to another place, for example data/"
        )


def _check_writable(folder: Path) -> None:
    found = found_at(folder)
    if found not in ("a folder", "no such file"):
        raise InputError(f"{folder}: expected a folder to write to, found {found}; move it away")
    place = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(
            f"{folder}: expected a folder to write to, found that nothing may be written in "
            f"{place.absolute()}; allow it, or run in another copy of the project"
        )
    disk = os.statvfs(place)
    free = disk.f_bavail * disk.f_frsize
    if free < LEAST:
        raise InputError(
            f"{folder}: expected free space on the disk, found {free} bytes; make room"
        )
