"""The files that a figure or table is made from, found by the layout of results/."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from icl_core.environments.world import World
from icl_core.showing.naming import in_order

_FINAL = re.compile(
    r"runs/(?P<experiment>[^/]+)/(?P<method>[^/]+)/seeds-(?P<first>\d+)-\d+/final/(?P<name>[^/]+)$"
)
_DEMONSTRATIONS = re.compile(r"demonstrations/(?P<experiment>[^/]+)/(?P<name>[^/]+)$")


@dataclass(frozen=True)
class Sources:
    """An item's input files. What is not among them is not drawn."""

    scale: str  # named on every picture, lest a quick run pass for the paper's
    worlds: Mapping[str, World]  # by experiment
    paths: tuple[str, ...]
    settings: Mapping[str, Mapping] = field(default_factory=dict)  # by experiment, if told

    def final(self, experiment: str, name: str) -> dict[str, list[Path]]:
        """Files `final/{name}` of each method, the paper's order; groups by their first seed."""
        found: dict[str, dict[int, Path]] = {}
        for path in self.paths:
            match = _FINAL.search(Path(path).as_posix())
            if match and (match["experiment"], match["name"]) == (experiment, name):
                found.setdefault(match["method"], {})[int(match["first"])] = Path(path)
        return {
            method: [found[method][first] for first in sorted(found[method])]
            for method in in_order(found)
        }

    def demonstrations(self, experiment: str, name: str) -> Path | None:
        """A file of the experiment's demonstrations, or None where there is none."""
        for path in self.paths:
            match = _DEMONSTRATIONS.search(Path(path).as_posix())
            if match and (match["experiment"], match["name"]) == (experiment, name):
                return Path(path)
        return None

    def find(self, pattern: str, **known: str) -> list[tuple[dict[str, str], Path]]:
        """Files of one of the catalogue's patterns, with what its wildcards stand for.

        `known` fixes some of them, e.g. find(ADJUSTMENTS, experiment="gridworld-a"). Ordered by
        the wildcards' values, numbers in them as numbers.
        """
        for name, value in known.items():
            pattern = pattern.replace(f"{{{name}}}", value)
        parts = re.split(r"\{(\w+)\}", pattern)
        parts[::2] = map(re.escape, parts[::2])
        parts[1::2] = (f"(?P<{name}>[^/]+)" for name in parts[1::2])
        wanted = re.compile(rf"(?:^|/){''.join(parts)}$")
        matches = ((wanted.search(Path(path).as_posix()), Path(path)) for path in self.paths)
        found = [(match.groupdict(), path) for match, path in matches if match]
        return sorted(found, key=lambda one: [_natural(value) for value in one[0].values()])

    def metrics(self) -> Path:
        """The table of metrics."""
        return next(Path(path) for path in self.paths if Path(path).name == "metrics.parquet")

    def footer(self, runs: Mapping[str, int]) -> str:
        """What every picture says of its own size; `runs` are the seeds of each method."""
        counts = sorted(set(runs.values()))
        if len(counts) == 1:
            return f"scale: {self.scale}, {seeds(counts[0])}"
        told = ", ".join(f"{method} {seeds(n)}" for method, n in runs.items())
        return f"scale: {self.scale}" + (f"; {told}" if told else "")


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """A key by which 9 comes before 10."""
    parts = re.findall(r"\d+|\D+", text)
    return [(p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]


def seeds(n: int) -> str:
    """ "1 seed", "5 seeds"."""
    return f"{n} seed" if n == 1 else f"{n} seeds"
