"""How a run begins: everything that can be wrong with its inputs is found before the first job."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.lib.configuration import Configuration, resolve
from workflow.lib.plan import Plan
from workflow.lib.shown import Shown, only_finished
from workflow.lib.stale_locks import clear_stale_locks


def begin(config: Mapping, root: Path, main: bool) -> tuple[Plan, Shown]:
    """The plan of a run. `main`: in the process that the user started, not in a job's."""
    wanted = resolve(config)
    results = Path("results", wanted.scale)
    plan = Plan(only_finished(wanted, results) if config.get("only_finished") else wanted, root)
    shown = Shown(plan)
    if main:
        clear_stale_locks(Path(".snakemake"))
        check_demonstrations(wanted)
        check_recordings(plan)
        _ = shown.claims
    return plan, shown


def check_demonstrations(config: Configuration) -> None:
    """Read the user's own demonstrations now: a wrong file must stop the run before it trains."""
    for one in config.experiments.values():
        # The scene that a recorded world needs is not there yet: there, the job checks the file.
        if one.source == "file" and not one.recorded:
            from icl_core.demonstrations.files import read_demonstrations
            from icl_core.environments import make_world

            world = make_world(one.environment, **one.world)
            read_demonstrations(one.demonstrations["file"], world)


def check_recordings(plan: Plan) -> None:
    """Look for the user's own recordings now."""
    for name in plan.recorded:
        plan.recording_files(_Wildcards(name))


class _Wildcards:
    def __init__(self, environment: str):
        self.environment = environment


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that matches these names and no others; nothing if there are none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def job_environment(root: Path) -> dict[str, str]:
    """What jobs inherit: the package from here, and one core each: sums in another order would
    give other last bits.
    """
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    libraries = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        **{f"{library}_NUM_THREADS": "1" for library in libraries},
    }
