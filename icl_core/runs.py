"""Which run a job belongs to, and whether that run is still wanted.

A job can outlive its workflow: `kill -9` ends Snakemake and leaves its children, which would
write over what a later run has made. So each run leaves a mark in a file. A job inherits the mark;
it ends soon after the run's process has, and writes nothing once another run has left its own.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from icl_core.errors import InputError

RUN, FILE = "ICL_RUN", "ICL_RUN_FILE"  # variables of a job's environment
PROGRAM = "ICL_PROGRAM"  # of a run's, where `icl` started it
LOOK = 0.5  # seconds between two looks at a process
PATIENCE = 1.5  # seconds that jobs have to end


def start_of(pid: int) -> str | None:
    """When a process started, in words that no other process has; None where there is none.

    On Linux from the boot and the ticks since: a step of the clock changes neither.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # The name may hold spaces and brackets; what follows its last bracket does not.
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else f"{boot}-{rest[18]}"  # ended, if not yet buried
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.0f}"
    except psutil.NoSuchProcess:
        return None


def begin_run(file: Path) -> None:
    """This process is now the run whose jobs may write; they inherit its mark."""
    mark = mark_of(os.getpid())
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}-{os.getpid()}")
    temporary.write_text(mark, encoding="utf-8")
    temporary.replace(file)
    os.environ.update({RUN: mark, FILE: str(file.absolute())})


def check_current() -> None:
    """Raise an InputError where another run has begun since this job's."""
    mark, file = os.environ.get(RUN), os.environ.get(FILE)
    if not mark or not file:
        return
    try:
        now = Path(file).read_text(encoding="utf-8")
    except OSError:
        now = "none"
    if now != mark:
        raise InputError(
            f"this job is left over from a run that was killed ({mark}): expected that run to go "
            f"on, found {now}; nothing was written, and nothing needs to be done"
        )


def end_with_run() -> None:
    """Let this process end soon after its run has, where that is a process of this machine."""
    # Nobody waits for a word, and a clean end could still write.
    _when_ended(os.environ.get(RUN, ""), lambda: os._exit(1))


def end_with_program() -> None:
    """Let this run and its jobs end soon after the program `icl` that started it has."""

    def end_all() -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(os.getpgid(0), number)  # the run leads a group of its own
            time.sleep(PATIENCE)

    _when_ended(os.environ.get(PROGRAM, ""), end_all)


def mark_of(pid: int) -> str:
    """A process, in words that no other has."""
    return f"{socket.gethostname()} {pid} {start_of(pid)}"


def _when_ended(mark: str, act: Callable[[], None]) -> None:
    """Do something when a process of this machine has ended; nothing for other marks."""
    host, _, rest = mark.partition(" ")
    if not rest or host != socket.gethostname():
        return
    pid, _, start = rest.partition(" ")

    def watch() -> None:
        while start_of(int(pid)) == start:
            time.sleep(LOOK)
        act()

    threading.Thread(target=watch, daemon=True).start()
