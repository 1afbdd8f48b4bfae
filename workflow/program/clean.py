"""Remove the files of one experiment, and nothing that others use."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from icl_core.errors import InputError
from icl_core.tables import counted
from workflow.program.forecast import megabytes, size_of
from workflow.program.jobs import Job, Wanted, dry_run

# These show many experiments at once: they are made again, not robbed of an input.
GATHERING = frozenset(
    {"collect_metrics", "claims", "determine", "figure", "report_page", "table", "transfer"}
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `icl clean` is given."""
    parser.add_argument("experiment", metavar="EXPERIMENT", help="e.g. gridworld-a-slip-10")
    parser.add_argument("--method", help="this method only, e.g. icrl")
    Wanted.arguments(parser, targets=False)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")


def main(given: argparse.Namespace) -> int:
    """Find, say, remove."""
    jobs = dry_run(Wanted.of(given), force=True)
    own = jobs_of_experiment(jobs, given.experiment, given.method)
    shared = {job.time: users(job, own, jobs) for job in own}
    results = Path("results", given.scale)
    files = [path for job in own if not shared[job.time] for path in files_of(job)]
    for path in files:
        if given.dry_run:
            print(path)
    size = sum(map(size_of, files))
    if not given.dry_run:
        for path in files:
            remove(path, results)
    verb = "would remove" if given.dry_run else "removed"
    print(f"{verb} {counted(len(files), 'file')} of {given.experiment}, {megabytes(size)}")
    if files and not given.dry_run:
        print(f"make them again with `icl run {given.experiment} --scale {given.scale}`")
    kept = [path for job in own if shared[job.time] for path in files_of(job)]
    if kept:
        by = sorted({name for names in shared.values() for name in names})
        print(f"kept {counted(len(kept), 'file')} that others use: {', '.join(by)}")
    return 0


def jobs_of_experiment(jobs: Iterable[Job], experiment: str, method: str | None) -> list[Job]:
    """The jobs that make an experiment's own files."""
    by_name: dict[str, list[Job]] = {}
    for job in jobs:
        by_name.setdefault(job.wildcards.get("experiment", ""), []).append(job)
    known = sorted(name for name in by_name if name)
    if experiment not in known:
        raise InputError(
            f"icl clean: expected an experiment of the configuration ({', '.join(known)}), "
            f"found {experiment!r}; give one of these names"
        )
    own = by_name[experiment]
    if method is None:
        return own
    chosen = [job for job in own if method_of(job) == method]
    if not chosen:
        names = sorted({name for name in map(method_of, own) if name})
        raise InputError(
            f"icl clean: expected a method of {experiment} ({', '.join(names)}), "
            f"found {method!r}; give one of these names"
        )
    return chosen


def method_of(job: Job) -> str | None:
    """The method for which a job works; None where it works for all."""
    return job.wildcards.get("method") or ("icl" if job.rule.startswith("icl_") else None)


def users(job: Job, own: Sequence[Job], jobs: Iterable[Job]) -> set[str]:
    """The other experiments, or methods of the same one, that read what a job has made."""
    ours = {one.time for one in own}
    return {
        " ".join(filter(None, (one.wildcards.get("experiment"), method_of(one))))
        for one in jobs
        if job.time in one.needs and one.time not in ours and one.rule not in GATHERING
    }


def files_of(job: Job) -> list[Path]:
    """What a job has left: outputs, log, a saved state."""
    beside = {Path(path).with_name("checkpoint.safetensors") for path in job.outputs}
    log = Path(job.log)
    paths = [*map(Path, job.outputs), *sorted(beside), log, log.with_suffix(".modules.json")]
    return [path for path in dict.fromkeys(paths) if path.exists()]


def remove(path: Path, root: Path) -> None:
    """Remove a file, and the folders that it leaves empty."""
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == root or any(folder.iterdir()):
            return
        folder.rmdir()
