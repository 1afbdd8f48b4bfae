"""What lies around a run: full and read-only disks, the clock, copies, things in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from icl_core import runs as processes
from tests.campaign import real_runs as runs
from tests.campaign.cases import LOST, RIGHT, SKIPPED, WRONG, Kind, Place, Seen, choose, sentence

TARGET = "results/smoke/demonstrations/gridworld-a/seeds-1-2/trajectories.parquet"
ROOT = Path(__file__).parents[2]
OPTIONS = {"read-only": "ro", "full": "size=200k"}


@contextmanager
def mounted(folder: Path, option: str) -> Iterator[bool]:
    """A small file system of its own at a folder; False where none may be mounted."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", option, "campaign", str(folder)]
    done = os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "--lazy", str(folder)], capture_output=True)


def disk(rng: np.random.Generator, place: Place) -> Seen:
    """Results or Snakemake's folder on a disk that is full or read-only: one sentence, exit 1."""
    assert place.finished
    checkout = runs.copy_of(place.finished, place.folder / "copy")
    state, where = choose(rng, list(OPTIONS)), choose(rng, ("results", ".snakemake"))
    drawn = f"{where} on a {state} disk"
    with mounted(checkout.path / where, OPTIONS[state]) as there:
        if not there:
            return Seen(SKIPPED, "no file system may be mounted here")
        if state == "full":
            room = 200_000 - int(rng.integers(0, 60_000))  # some start, and fail on the way
            (checkout.path / where / "filling").write_bytes(b"x" * room)
        done = runs.run(checkout, runs.by_wrapper(TARGET))
        said = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode == 0:
            whole = runs.unlike(
                checkout, place.finished, ["results/smoke/demonstrations/gridworld-a"]
            )
            return Seen(WRONG, f"{drawn}: {whole}") if whole else Seen(RIGHT, drawn)
        traced = [line for line in said if line.startswith("Traceback")]
        return sentence(drawn, "".join(traced[:1]) + "\n" if traced else said[-1])


def in_the_way(rng: np.random.Generator, place: Place) -> Seen:
    """A file in place of a folder, or a folder in place of a file."""
    assert place.finished
    checkout = runs.copy_of(place.finished, place.folder / "copy")
    what = choose(rng, ("results", ".snakemake", "results/smoke", TARGET))
    path = checkout.path / what
    if what == TARGET:
        path.mkdir(parents=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("in the way")
    done = runs.run(checkout, runs.by_wrapper(TARGET))
    said = (done.stdout + done.stderr).strip().splitlines()
    drawn = f"{what} is {'a folder' if what == TARGET else 'a file'}"
    if done.returncode == 0:
        return Seen(WRONG, f"{drawn}: went through")
    return sentence(drawn, "\n".join(line for line in said if line), "")


def clock(rng: np.random.Generator, place: Place) -> Seen:
    """A step of the clock: who signed a lock is still known by it."""
    before = processes.mark_of(os.getpid())
    library = shutil.which("faketime")
    step = int(rng.integers(-100_000, 100_000))
    if library is None:
        return Seen(SKIPPED, "no faketime at hand to step the clock with")
    code = f"from icl_core.runs import mark_of; print(mark_of({os.getpid()}))"
    command = [library, "-f", f"{step:+d}s", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    same = done.stdout.strip() == before
    return Seen(RIGHT if same else LOST, f"a clock that steps by {step} s: {done.stdout!r}")


def copy(rng: np.random.Generator, place: Place) -> Seen:
    """A copy without Snakemake's records, dates in any order: nothing runs, or just the change."""
    assert place.finished
    original = place.finished.copy(place.folder / "original")
    copied = place.finished.copy(place.folder / "copied")
    shutil.rmtree(copied.path / ".snakemake")
    for path in sorted((copied.path / "results").rglob("*")):
        when = float(rng.uniform(0, 2e9))
        os.utime(path, (when, when))
    change = choose(rng, (None, {"penalty": 16.0}, {"steps": 7}, {"learning_rate": 0.001}))
    drawn = f"a copy with {change or 'nothing'} changed"
    if change:
        overlay = {"icl": {"adjustment": change}}
        for one in (original, copied):
            one.configure(lambda c: c["scales"]["smoke"].update(learning=overlay))
    ours, theirs = copied.planned(), original.planned()
    if ours != theirs or bool(ours) != bool(change):
        return Seen(WRONG if len(ours) < len(theirs) else LOST, f"{drawn}: {ours}, not {theirs}")
    return Seen(RIGHT, drawn)


KINDS = (
    Kind("disks", 12, disk, runs=True, alone=True),
    Kind("in-the-way", 8, in_the_way, runs=True, alone=True),
    Kind("clock", 5, clock),
    Kind("copies", 8, copy, runs=True, alone=True),
)
