"""Whether results are whole, where they belong, and of today's code and configuration.

Of results/{scale} everything is checked, and what is quickly made is made again and compared. Of
published results (docs/results) the list of their files is, and the code of their runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from icl_core import kernels
from icl_core.artifacts import read_record
from icl_core.errors import InputError
from icl_core.job_times import read_time
from icl_core.layout import find, scale_of
from icl_core.measuring.results import Results
from icl_core.showing.item import Item
from icl_core.showing.save import show
from icl_core.tables import counted
from workflow.lib.absent import read_absent
from workflow.lib.configuration import read_configuration
from workflow.lib.plan import Plan
from workflow.lib.publish import BY_HAND, MANIFEST
from workflow.lib.publishing.run import Run, read_run
from workflow.lib.records import artifacts
from workflow.lib.shown import Shown
from workflow.program import status
from workflow.program.jobs import Wanted, dry_run


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `icl verify` is given."""
    Wanted.arguments(parser, targets=False)
    text = "published results, e.g. docs/results (default: results/SCALE)"
    parser.add_argument("folder", nargs="?", type=Path, help=text)


def main(given: argparse.Namespace) -> int:
    """Say what is wrong, a line each, and how much is right; 1 where anything is wrong."""
    if given.folder and scale_of(given.folder / MANIFEST) is None:
        return _published(given.folder)
    results = Path("results", given.scale)
    if not results.is_dir():
        raise InputError(
            f"{results}: expected the results of a run, found none; make them with "
            f"`icl run --scale {given.scale}`"
        )
    damages = list(damaged(results))
    for line in damages:
        print(line)
    print(f"{counted(count(results), 'file')}, {len(damages)} damaged or not where they belong")
    jobs = dry_run(Wanted.of(given))
    for line in status.lines(jobs, results / "code"):
        print(line)
    print(f"{counted(len(jobs), 'job')} missing or stale")
    if jobs or damages:
        return 1
    command = [sys.executable, "-m", "workflow.program.verify", given.scale]
    return subprocess.run(command, env={**os.environ, **kernels.variables()}).returncode


def damaged(results: Path) -> Iterator[str]:
    """What is wrong with the files that are there, each in one sentence."""
    for path in artifacts(results):
        try:
            read_record(path)
        except InputError as error:
            yield str(error)
    for path in times(results):
        try:
            read_time(path)
        except InputError as error:
            yield str(error)
    try:
        read_absent(results)
    except InputError as error:
        yield str(error)


def times(results: Path) -> list[Path]:
    """The records of what jobs took."""
    return sorted((results / "benchmarks").rglob("*.tsv"))


def count(results: Path) -> int:
    """How many files are checked."""
    return len(list(artifacts(results))) + len(times(results))


def rebuild(root: Path, scale: str) -> int:
    """Make every figure and table again, and compare; 1 where one differs."""
    run = read_run(root, scale)
    shown = Shown(Plan(run.done, root))
    with tempfile.TemporaryDirectory() as folder:
        others = [item.label for item in run.items if differs(item, run, shown, Path(folder))]
    for label in others:
        print(f"{label}: made again from the same files, it differs")
    print(f"{counted(len(run.items), 'item')} made again, {len(others)} differ")
    return int(bool(others))


def differs(item: Item, run: Run, shown: Shown, folder: Path) -> bool:
    """Whether an item comes out otherwise than it lies there."""
    job = {item.kind: item.name}
    settings = shown.settings(job)
    files = [folder / name for name in item.outputs]
    results = Results.from_settings(settings, shown.inputs(job))
    show(item, results, files, **settings["showing"])
    pairs = zip(files, item.outputs, strict=True)
    return any(new.read_bytes() != (run.results / old).read_bytes() for new, old in pairs)


def _published(folder: Path) -> int:
    stated = read_record(folder / MANIFEST)
    described = {*stated["files"], MANIFEST, *BY_HAND}
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    unknown = sorted(there - described)
    for name in unknown:
        print(f"{folder / name}: expected no such file, for {MANIFEST} does not name it")
    print(f"{counted(len(stated['files']), 'file')} as published, {len(unknown)} others")
    plan = Plan(read_configuration(Path.cwd(), stated["scale"]), Path.cwd())
    runs = find(stated["runs"], "constraint")
    same = [one for one in runs if _is_todays(stated["runs"][str(one.path)], plan, one.fields)]
    print(f"{counted(len(runs), 'run')}, {len(same)} of today's code")
    return int(bool(unknown))


def _is_todays(code: str, plan: Plan, run: Mapping[str, str]) -> bool:
    known = plan.config.experiments.get(run["experiment"])
    if known is None or run["method"] not in known.methods:
        return False
    return plan.code_of_method(run["method"], run["experiment"]).startswith(code)


if __name__ == "__main__":
    sys.exit(rebuild(Path.cwd(), sys.argv[1]))
