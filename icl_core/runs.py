"""Which run a job belongs to, and whether that run is still wanted.

A job can outlive its workflow: `kill -9` ends Snakemake and leaves its children, which would
write over what a later run has made. So each run leaves a mark in a file. A job inherits the mark;
it ends soon after the run's process has, and writes nothing once another run has left its own.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

from icl_core.errors import InputError

RUN, FILE = "ICL_RUN", "ICL_RUN_FILE"  # variables of a job's environment
LOOK = 0.5  # seconds between two looks at the run's process


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
    mark = f"{socket.gethostname()} {os.getpid()} {start_of(os.getpid())}"
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
    host, _, rest = os.environ.get(RUN, "").partition(" ")
    if not rest or host != socket.gethostname():
        return
    pid, _, start = rest.partition(" ")

    def watch() -> None:
        while start_of(int(pid)) == start:
            time.sleep(LOOK)
        os._exit(1)  # nobody waits for a word, and a clean end could still write

    threading.Thread(target=watch, daemon=True).start()
