"""How a run begins: everything that can be wrong with its inputs is found before the first job.

Locks that a killed workflow left behind, and only those, are removed. Snakemake locks its working
directory and cannot distinguish a lock of a running instance from that of a killed one: it asks for
`--unlock`. Here every instance leaves its process's number, start time and host beside the locks.
When the next one starts and all who signed on this host are gone, nobody holds the locks. Who
signed on another host (a shared disk) may still be at work: then the locks stay, and Snakemake says
what to do.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from icl_core import kernels
from icl_core.runs import begin_run, end_with_program, mark_of
from workflow.lib.configuration import Configuration, resolve
from workflow.lib.finished import only_finished
from workflow.lib.places import check_own_files, check_places
from workflow.lib.plan import Plan
from workflow.lib.records import renew
from workflow.lib.shown import Shown

# The workflow that this process has loaded last: the program `icl` looks into its graph of jobs.
LOADED: list[Any] = []


def begin(config: Mapping, root: Path, main: bool) -> tuple[Plan, Shown]:
    """The plan of a run. `main`: in the process that the user started, not in a job's."""
    wanted = resolve(config)
    results = Path("results", wanted.scale)
    plan = Plan(only_finished(wanted, results) if config.get("only_finished") else wanted, root)
    shown = Shown(plan)
    if main:
        check_places(wanted.scale)
        clear_stale_locks(Path(".snakemake"))
        check_own_files(wanted)
        renew(Path(".snakemake"), results)
        check_demonstrations(wanted)
        check_recordings(plan)
        _ = shown.claims
    return plan, shown


def check_demonstrations(config: Configuration) -> None:
    """Read the user's own demonstrations now: a wrong file must stop the run before it trains."""
    for one in config.experiments.values():
        # The scene that a recorded world needs is not there yet: there, the job checks the file.
        if one.source == "file" and not one.recorded:
            from icl_core.demonstrations.brought import read_brought
            from icl_core.environments import make_world

            world, given = make_world(one.environment, **one.world), one.demonstrations
            read_brought(given["file"], world, given["tolerance"], whole=False)


def check_recordings(plan: Plan) -> None:
    """Look for the user's own recordings now."""
    for name in plan.config.recorded:
        plan.recording_files(_Wildcards(name))


class _Wildcards:
    def __init__(self, environment: str):
        self.environment = environment


def sign_run() -> None:
    """A real run begins: what jobs of earlier ones still write does not count any more."""
    begin_run(Path(".snakemake/run"))
    end_with_program()


def lift_rate_limit(workflow: Any) -> None:
    """Jobs on this machine start as soon as a core is free.

    Snakemake's limit of 100 jobs a second (9.0 to 9.27) leaves a timer behind in each round of
    scheduling, which starts another round: hundreds of jobs cost minutes of CPU.
    """
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that matches these names and no others; nothing if there are none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def job_environment(root: Path, same_bits: bool) -> dict[str, str]:
    """What jobs inherit: the package from here, and kernels that give the same bits everywhere.

    Memory that an epoch has used stays with the process for the next one: to give it back and ask
    for it again takes a fifth of the CPU time of training (glibc).
    """
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        **(kernels.variables() if same_bits else kernels.ONE_THREAD),
        **{f"MALLOC_{what}_THRESHOLD_": str(256 * 2**20) for what in ("TRIM", "MMAP")},
    }


def clear_stale_locks(state: Path) -> bool:
    """Sign in at `state` (the .snakemake folder); True if stale locks were removed."""
    signatures = state / "instances"
    signatures.mkdir(parents=True, exist_ok=True)
    others = [path for path in signatures.iterdir() if not _gone(path)]
    mine = signatures / mark_of(os.getpid())
    mine.touch()
    atexit.register(mine.unlink, missing_ok=True)
    locks = state / "locks"
    stale = not others and locks.is_dir() and any(locks.iterdir())
    if stale:
        shutil.rmtree(locks, ignore_errors=True)
    return stale


def _gone(path: Path) -> bool:
    """Whether the signature's process has ended; if so, remove the signature."""
    host, number, _ = path.name.rsplit(" ", 2)
    if host != socket.gethostname():
        return False
    if mark_of(int(number)) == path.name:
        return False
    path.unlink(missing_ok=True)
    return True
