"""Where results lie: paths are written and read here and nowhere else.

Every kind of file has one pattern under results/{scale}/. `path` fills it in, `find` recognises
the files of a kind among many and says what its wildcards stand for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

_EXPERT = "demonstrations/{experiment}/seeds-{group}"
_RUN = "runs/{experiment}/{method}/seeds-{group}"
_ITERATION = f"{_RUN}/iteration-{{iteration}}"
_JOB = "benchmarks/{rule}/{experiment}/{method}/seeds-{group}"
ALL = "all"  # in place of a group: demonstrations that all seeds share

PATTERNS = {
    # traffic, by recorded environment
    "recordings": "recordings/{environment}/csv",  # a folder: simulated files
    "recordings_digest": "recordings/{environment}/csv.json",
    "tracks": "recordings/{environment}/tracks.parquet",
    "vehicles": "recordings/{environment}/vehicles.parquet",
    "recording_list": "recordings/{environment}/recordings.parquet",
    "scene": "recordings/{environment}/scene.parquet",
    # demonstrations
    "demonstrations": f"{_EXPERT}/trajectories.parquet",
    "expert_training": f"{_EXPERT}/training.parquet",
    "expert_policy": f"{_EXPERT}/expert.safetensors",
    # what every method ends with
    "constraint": f"{_RUN}/final/constraint.safetensors",
    "policy": f"{_RUN}/final/policy.safetensors",
    "selections": f"{_RUN}/final/selections.safetensors",
    "training": f"{_RUN}/final/training.parquet",
    # the constraint with all that its use needs, for those who have no pipeline
    "portable_constraint": "constraints/{experiment}/{method}/seeds-{group}.safetensors",
    # what methods of several jobs leave on the way
    "density": f"{_RUN}/density.safetensors",
    "iteration_constraint": f"{_ITERATION}/constraint.safetensors",
    "iteration_policy": f"{_ITERATION}/policy.safetensors",
    "iteration_training": f"{_ITERATION}/training.parquet",
    "adjustment": f"{_ITERATION}/adjustment.parquet",
    # measured
    "evaluation": f"{_RUN}/evaluation.safetensors",
    "run_metrics": f"{_RUN}/metrics.parquet",
    "determined": "determined.parquet",
    "metrics": "metrics.parquet",
    "true_fit": "true_fits/{experiment}/{architecture}/seeds-{group}.parquet",
    "transfer": "transfers/{experiment}.parquet",
    "claims": "claims.parquet",
    # shown: what says how an item was made, and what its files hold
    "figure_record": "figures/{item}.json",
    "table_record": "tables/{item}.json",
    "page_record": "report.json",
    # what the jobs of a method took
    "job_time": f"{_JOB}.tsv",
    "iteration_time": f"{_JOB}/iteration-{{iteration}}.tsv",
}


class Need(NamedTuple):
    """What an item or a check reads: a kind of file, and those of its wildcards that are fixed."""

    kind: str
    fixed: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> Need:
        """A need from its text.

        >>> Need.parse("iteration_policy:method=icl,iteration=01")
        Need(kind='iteration_policy', fixed={'method': 'icl', 'iteration': '01'})
        """
        kind, _, rest = text.partition(":")
        if kind not in PATTERNS:
            raise ValueError(f"{kind!r} is no kind of file; choose one of {', '.join(PATTERNS)}")
        return cls(kind, dict(part.split("=", 1) for part in rest.split(",") if part))


def wildcards(kind: str) -> list[str]:
    """The wildcards of a kind's pattern, in their order.

    >>> wildcards("constraint")
    ['experiment', 'method', 'group']
    """
    return re.findall(r"\{(\w+)\}", PATTERNS[kind])


def path(kind: str, **fields: object) -> str:
    """The path of a file under results/{scale}/; `fields` may be Snakemake's wildcards."""
    return PATTERNS[kind].format(**fields)


class Found(NamedTuple):
    """A file of a kind, and what its wildcards stand for."""

    fields: dict[str, str]
    path: Path


def find(paths: Iterable[str | Path], kind: str, **known: str) -> list[Found]:
    """The files of a kind among `paths`, ordered by their wildcards, numbers as numbers.

    >>> paths = ["results/quick/runs/a/icl/seeds-1-5/metrics.parquet"]
    >>> find(paths, "run_metrics", experiment="a")[0].fields
    {'experiment': 'a', 'method': 'icl', 'group': '1-5'}
    """
    parts = re.split(r"\{(\w+)\}", PATTERNS[kind])
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = (
        f"(?P<{name}>{re.escape(known[name]) if name in known else '[^/]+'})"
        for name in parts[1::2]
    )
    wanted, more = re.compile(rf"(?:^|/){''.join(parts)}$"), _more_exact(kind)
    matches = ((wanted.search(Path(one).as_posix()), Path(one)) for one in paths)
    found = [
        Found(match.groupdict(), one)
        for match, one in matches
        if match and not any(other.search(one.as_posix()) for other in more)
    ]
    return sorted(found, key=lambda one: [_natural(value) for value in one.fields.values()])


@cache
def _more_exact(kind: str) -> list[re.Pattern]:
    """Longer patterns with the same end: runs/.../metrics.parquet is not the metrics of all."""
    own = PATTERNS[kind]
    longer = [other for other in PATTERNS.values() if other != own and other.endswith(f"/{own}")]
    return [re.compile(re.sub(r"\{\w+\}", "[^/]+", other) + "$") for other in longer]


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """A key by which 9 comes before 10."""
    parts = re.findall(r"\d+|\D+", text)
    return [(p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]


def group_of(seeds: Sequence[int]) -> str:
    """The name of the seeds that train in one job.

    >>> group_of([1, 2, 3]), group_of([1, 3, 5]), group_of([7])
    ('1-3', '1_3_5', '7-7')
    """
    first, last = seeds[0], seeds[-1]
    if list(seeds) == list(range(first, last + 1)):
        return f"{first}-{last}"
    return "_".join(map(str, seeds))


def seeds_of(group: str) -> tuple[int, ...]:
    """The inverse of `group_of`.

    >>> seeds_of("1-3"), seeds_of("1_3_5")
    ((1, 2, 3), (1, 3, 5))
    """
    if "_" in group:
        return tuple(map(int, group.split("_")))
    first, last = map(int, group.split("-"))
    return tuple(range(first, last + 1))


def groups_of(seeds: Sequence[int], stack: int) -> dict[str, tuple[int, ...]]:
    """Cut the seeds into jobs: {"1-2": (1, 2), "3-4": (3, 4), "5-5": (5,)} for a stack of 2."""

    def cut() -> Iterator[tuple[int, ...]]:
        ordered = sorted(seeds)
        for k in range(0, len(ordered), stack):
            yield tuple(ordered[k : k + stack])

    return {group_of(group): group for group in cut()}


def scale_of(one: str | os.PathLike) -> str | None:
    """The scale under whose results a file lies; None where it lies elsewhere."""
    place = _under_results(one)
    return place[0] if place else None


def identity(one: str | os.PathLike) -> dict[str, str] | None:
    """What a file is by the place where it lies; None where it lies outside of all results.

    The scale is not part of it: a folder of results may be renamed, and settings tell scales apart.

    >>> identity("results/quick/runs/a/icl/seeds-1-5/metrics.parquet")
    {'kind': 'run_metrics', 'experiment': 'a', 'method': 'icl', 'group': '1-5'}
    >>> identity("results/quick/logs/run.json")
    {'path': 'logs/run.json'}
    """
    place = _under_results(one)
    if place is None:
        return None
    _, inside = place
    for kind in PATTERNS:
        found = _whole(kind).fullmatch(inside)
        if found:
            return {"kind": kind, **found.groupdict()}
    return {"path": inside}


def _under_results(one: str | os.PathLike) -> tuple[str, str] | None:
    """The scale, and the path under results/{scale}/."""
    parts = Path(one).parts
    if "results" not in parts[:-2]:
        return None
    at = len(parts) - 1 - parts[::-1].index("results", 2)
    if parts[at - 1 : at] == ("docs",):  # published: copies in a folder of their own
        return None
    return parts[at + 1], "/".join(parts[at + 2 :])


@cache
def _whole(kind: str) -> re.Pattern:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(PATTERNS[kind])))
