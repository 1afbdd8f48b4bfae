"""What would run again, and why, in words.

The reasons come from the artifacts: each says with which settings and which code it was made, and
results/{scale}/code keeps a digest per file for every digest of code that a job has carried.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from icl_core.artifacts import read_provenance
from icl_core.disk import sha256
from icl_core.errors import InputError
from icl_core.tables import counted
from workflow.lib.records import SEALED
from workflow.program.forecast import duration, expected_costs, read_costs
from workflow.program.jobs import Job, Wanted, dry_run, loaded_codes

SEVERAL = 3  # more files or keys than this are counted, not listed
LONG = 200  # letters of a change, of which its name says enough
FEW = 8  # more followers than this are counted by rule
MISSING = "missing"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `icl status` is given."""
    Wanted.arguments(parser)


def main(given: argparse.Namespace) -> int:
    """Say it."""
    jobs = dry_run(Wanted.of(given))
    if not jobs:
        print("everything is up to date")
        return 0
    costs = expected_costs(jobs, read_costs(given.scale))
    cpu = sum(cost.cpu for cost in costs.values())
    verb = "is" if len(jobs) == 1 else "are"
    print(f"{counted(len(jobs), 'job')} {verb} missing or stale, about {duration(cpu)} of CPU")
    for line in lines(jobs, Path("results", given.scale, "code")):
        print(line)
    return 0


def lines(jobs: Sequence[Job], codes: Path) -> Iterator[str]:
    """One line for each reason: which jobs have it, and what follows."""
    after: dict[str, list[str]] = {}
    for job in jobs:
        for one in job.needs:
            after.setdefault(one, []).append(job.time)
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        why = reason(job, codes)
        if why:
            groups.setdefault((job.rule, why), []).append(job)
    causes = {job.time for group in groups.values() for job in group}
    ordered = in_order(jobs)
    for (_, why), group in groups.items():
        found = _descendants([job.time for job in group], after) - causes
        then = then_words([job for job in ordered if job.time in found])
        yield f"{who(group)}: {why}" + (f" (then: {then})" if then else "")


def _descendants(names: Iterable[str], after: Mapping[str, Sequence[str]]) -> set[str]:
    """All that follow."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        new = [one for one in after.get(waiting.pop(), ()) if one not in found]
        found.update(new)
        waiting.extend(new)
    return found


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """Each after those that it needs."""
    known = {job.time: job for job in jobs}
    needs = {job.time: [one for one in job.needs if one in known] for job in jobs}
    return [known[name] for name in TopologicalSorter(needs).static_order()]


def who(jobs: Sequence[Job]) -> str:
    """The jobs of one rule: by name, or how many of how many experiments."""
    titles = list(dict.fromkeys(job.title for job in jobs))
    if len(titles) <= 2:
        return " and ".join(titles)
    of = list(dict.fromkeys(job.wildcards.get("experiment", "") for job in jobs))
    if len(of) == 1 and of[0]:
        iterations = ", ".join(str(int(job.wildcards["iteration"])) for job in jobs)
        return f"{jobs[0].word} {of[0]}, iterations {iterations}"
    if len(of) == 1:
        return f"{len(jobs)} {jobs[0].word}s"
    return f"{jobs[0].word}, {len(jobs)} jobs of {counted(len(of), 'experiment')}"


def then_words(jobs: Sequence[Job]) -> str:
    """What follows: by name where it is little, else counted by rule."""
    names = list(dict.fromkeys(job.short_title for job in jobs))
    if len(names) <= FEW:
        return ", ".join(names)
    counts = Counter(job.word for job in jobs)
    return ", ".join(f"{count} {rule}" if count > 1 else rule for rule, count in counts.items())


def reason(job: Job, codes: Path) -> str:
    """Why a job runs by itself; nothing where it only follows others."""
    cause = job.cause
    if cause.forced:
        return "asked for"
    if cause.incomplete:
        return "was interrupted"
    # Snakemake looks no further where another job runs before this one: the files say more.
    words = _changes(job, codes)
    if cause.settings and not words:
        words = ["other inputs"]
    if cause.updated:
        words.append(f"newer: {_some(cause.updated)}")
    if not words and cause.missing and not job.needs:
        return MISSING
    return "; ".join(words)


def changed_settings(job: Job) -> list[str]:
    """The settings that a job's files were made with and that are others now, in words."""
    made = _made_with(job.outputs)
    return [] if made is None else _other_settings(made, job)


def _other_settings(made: Mapping[str, Any], job: Job) -> list[str]:
    return differences(made.get("configuration", {}), plain(job.params.get("settings", {})))


def _changes(job: Job, codes: Path) -> list[str]:
    """How what a job is given differs from what its files say that they were made with."""
    made = _made_with(job.outputs)
    if made is None:
        return []
    changed = _other_settings(made, job)
    words = [_some(changed)] if changed else []
    code = str(job.params.get("code", ""))
    if made.get("code") != code:
        old, new = _parts(codes / f"{made.get('code')}.json"), loaded_codes().get(code)
        files = differing(old, new) if old and new else []
        words.append(f"code, {_some(files)}" if files else "code")
    replaced = [
        name
        for name, digest in made.get("inputs", {}).items()
        if Path(name).is_file() and sha256(name) != digest
    ]
    return words + ([f"another content, {_some(replaced)}"] if replaced else [])


def _made_with(outputs: Iterable[str]) -> dict[str, Any] | None:
    """The provenance of the first output that has one."""
    for path in map(Path, outputs):
        if path.suffix in SEALED and path.is_file():
            with suppress(InputError):
                return read_provenance(path)
    return None


def _parts(path: Path) -> dict[str, str] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def plain(value: Any) -> Any:
    """A value as it comes back from JSON."""
    return json.loads(json.dumps(value))


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Files whose content differs, or that only one of the two has.

    >>> differing({"a.py": "1", "b.py": "1"}, {"b.py": "2", "c.py": "1"})
    ['b.py', 'c.py (new)', 'a.py (gone)']
    """
    edited = [name for name in new if name in old and old[name] != new[name]]
    added = [f"{name} (new)" for name in new if name not in old]
    gone = [f"{name} (gone)" for name in old if name not in new]
    return edited + added + gone


def differences(old: Any, new: Any, keys: tuple[str, ...] = ()) -> list[str]:
    """The settings in which two configurations differ.

    >>> differences({"a": {"b": 15, "c": 1}}, {"a": {"b": 16, "c": 1}})
    ['a.b 15 -> 16']
    >>> differences({"a": 0.5}, {"a": None})
    ['a 0.5 -> none']
    >>> differences({"captions": ["x" * 299]}, {"captions": []})
    ['captions (long)']
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = [*old, *(name for name in new if name not in old)]
        return [
            line
            for name in names
            for line in differences(old.get(name), new.get(name), (*keys, str(name)))
        ]
    if old == new:
        return []
    name, change = ".".join(keys), f"{_value(old)} -> {_value(new)}"
    return [f"{name} (long)" if len(change) > LONG else f"{name} {change}"]


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value)


def _some(words: Sequence[str]) -> str:
    shown = ", ".join(words[:SEVERAL])
    more = len(words) - SEVERAL
    return f"{shown} and {more} more" if more > 0 else shown
