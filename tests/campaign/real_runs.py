"""Real runs of small targets in copies of a finished run: how they are ended and compared."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil

from tests.campaign.cases import BAD, LOST, WRONG, Seen
from tests.workflow.conftest import PARTS, Checkout, environment

GONE = 3.0  # seconds after which nobody may be left
# Who was killed while its Snakemake still started is noticed once that has started: on a busy
# machine this takes a while.
STARTING = 30.0
LONGEST = 300.0  # seconds of any run here
SEALED = (".parquet", ".safetensors")


def copy_of(finished: Checkout, folder: Path) -> Checkout:
    """The code and the configuration of a finished run, without its results."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source, target = finished.path / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
    return Checkout(folder)


def take(finished: Checkout, place: Checkout, *paths: str) -> None:
    """Copy some of the results."""
    for path in paths:
        shutil.copytree(finished.path / path, place.path / path, dirs_exist_ok=True)


def by_wrapper(target: str) -> list[str]:
    """`icl run`."""
    command = [sys.executable, "-m", "icl_core.program", "run", "--scale", "smoke"]
    return [*command, "--cores", "2", target]


def by_snakemake(target: str) -> list[str]:
    """Snakemake alone."""
    command = [sys.executable, "-m", "snakemake", "--config", "scale=smoke", "--cores", "2"]
    return [*command, "--quiet", "rules", "--", target]


def start(place: Checkout, command: list[str]) -> subprocess.Popen:
    """Begin a run in a group of its own."""
    with (place.path / "said").open("a") as said:
        return subprocess.Popen(
            command,
            cwd=place.path,
            env=environment(),
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def run(place: Checkout, command: list[str]) -> subprocess.CompletedProcess:
    """A run to its end."""
    return subprocess.run(
        command,
        cwd=place.path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def at_work(place: Checkout) -> list[psutil.Process]:
    """All processes in a copy, the oldest first."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            inside = Path(process.cwd()).is_relative_to(place.path)
            if inside and process.status() != psutil.STATUS_ZOMBIE:
                found.append((process.create_time(), process.pid, process))
    return [process for *_, process in sorted(found, key=lambda one: one[:2])]


def is_main(process: psutil.Process) -> bool:
    """Whether it is the Snakemake that runs the workflow, not one of its jobs."""
    with suppress(psutil.Error):
        words = process.cmdline()
        return "snakemake" in words and "--mode" not in words
    return False


def until(condition: Callable[[], object], seconds: float) -> bool:
    """Wait for something to become true, and say whether it has."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def send(processes: Iterable[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def end_all(place: Checkout) -> None:
    """Whatever a case has left at work."""
    send(at_work(place), signal.SIGKILL)


def artifacts(place: Checkout, parts: Iterable[str]) -> list[Path]:
    return sorted(
        path.relative_to(place.path)
        for part in parts
        for path in (place.path / part).rglob("*")
        if path.suffix in SEALED
    )


def unlike(place: Checkout, finished: Checkout, parts: Iterable[str]) -> list[str]:
    """The files that are missing, too many, or differ from those of an undisturbed run."""
    paths = {*artifacts(place, parts), *artifacts(finished, parts)}
    assert paths
    return sorted(
        path.as_posix()
        for path in paths
        if not ((place.path / path).is_file() and (finished.path / path).is_file())
        or (place.path / path).read_bytes() != (finished.path / path).read_bytes()
    )


def again(
    drawn: str, place: Checkout, finished: Checkout, command: list[str], parts: Iterable[str]
) -> Seen | None:
    """The same command must end well with the same bytes; what is wrong, if anything is."""
    done = run(place, command)
    if done.returncode:
        said = " | ".join((done.stdout + done.stderr).splitlines()[-6:])
        return Seen(LOST, f"{drawn}: then exit {done.returncode}: {said}")
    others = unlike(place, finished, parts)
    if others:
        return Seen(WRONG, f"{drawn}: then other bytes in {', '.join(others[:3])}")
    left = [path for path in (place.path / "results").rglob("*") if ".partial" in path.name]
    if left:
        return Seen(BAD, f"{drawn}: left {left[0].name}")
    return None


def wait(rng: np.random.Generator, longest: float) -> None:
    time.sleep(float(rng.uniform(0, longest)))
