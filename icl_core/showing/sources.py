"""The files that a figure or table is made from, found by the layout of results/."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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


def seeds(n: int) -> str:
    """ "1 seed", "5 seeds"."""
    return f"{n} seed" if n == 1 else f"{n} seeds"
