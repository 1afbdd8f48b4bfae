"""Locks that a killed workflow left behind, and only those, are removed.

Snakemake locks its working directory and cannot distinguish a lock of a running
instance from that of a killed one: it asks for `--unlock`. Here every instance
leaves its process's number, start time and host beside the locks. When the next
one starts and all who signed on this host are gone, nobody holds the locks.
Who signed on another host (a shared disk) may still be at work: then the locks
stay, and Snakemake says what to do.
"""

from __future__ import annotations

import atexit
import shutil
import socket
from pathlib import Path

import psutil


def clear_stale_locks(state: Path) -> bool:
    """Sign in at `state` (the .snakemake folder); True if stale locks were removed."""
    signatures = state / "instances"
    signatures.mkdir(parents=True, exist_ok=True)
    others = [path for path in signatures.iterdir() if not _gone(path)]
    mine = signatures / _signature(psutil.Process())
    mine.touch()
    atexit.register(mine.unlink, missing_ok=True)
    locks = state / "locks"
    stale = not others and locks.is_dir() and any(locks.iterdir())
    if stale:
        shutil.rmtree(locks, ignore_errors=True)
    return stale


def _signature(process: psutil.Process) -> str:
    # The start time distinguishes a process from a later one with the same number.
    return f"{socket.gethostname()} {process.pid} {process.create_time():.0f}"


def _gone(path: Path) -> bool:
    """Whether the signature's process has ended; if so, remove the signature."""
    host, number, _ = path.name.rsplit(" ", 2)
    if host != socket.gethostname():
        return False
    try:
        if _signature(psutil.Process(int(number))) == path.name:
            return False
    except psutil.NoSuchProcess:
        pass
    path.unlink(missing_ok=True)
    return True
