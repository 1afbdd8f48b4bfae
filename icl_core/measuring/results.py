"""The results that a figure, table or check is made from, by experiment, method and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from icl_core.environments import make_world
from icl_core.environments.world import World
from icl_core.layout import Found, find, seeds_of
from icl_core.tables import counted

Share = tuple[int, int]  # so many of so many


@dataclass(frozen=True)
class Results:
    """The files of a job's input, and what is known of the run that made them.

    What is not among the files is not shown.
    """

    scale: str  # named on every picture, so that a quick run cannot pass for the paper's
    worlds: Mapping[str, World]  # by experiment
    paths: tuple[str, ...]
    methods: Mapping[str, str] = field(default_factory=dict)  # titles, in the order of tables
    settings: Mapping[str, Mapping] = field(default_factory=dict)  # by experiment, where shown
    betas: Mapping[str, float] = field(default_factory=dict)  # by experiment, if not the world's

    @classmethod
    def from_settings(cls, given: Mapping, paths: Iterable[str]) -> Results:
        """Of a job that shows or checks results: its settings, and the files of its input."""
        worlds = given["worlds"]
        thresholds = {name: own["threshold"] for name, own in worlds.items()}
        return cls(
            scale=given["scale"],
            worlds={n: make_world(own["environment"], **own["world"]) for n, own in worlds.items()},
            paths=tuple(paths),
            methods=dict(given["methods"]),
            settings=given.get("experiments", {}),
            betas={name: beta for name, beta in thresholds.items() if beta is not None},
        )

    def find(self, kind: str, **known: str) -> list[Found]:
        """The files of a kind (`icl_core.layout`), ordered by their wildcards."""
        return find(self.paths, kind, **known)

    def by_method(self, kind: str, experiment: str) -> dict[str, list[Path]]:
        """The files of a kind of each method of an experiment, in the order of tables."""
        found: dict[str, list[Path]] = {}
        for fields, path in self.find(kind, experiment=experiment):
            found.setdefault(fields["method"], []).append(path)
        order = list(self.methods)
        return {m: found[m] for m in sorted(found, key=lambda m: _rank(order, m))}

    def one(self, kind: str, **known: str) -> Path | None:
        """The first file of a kind, or None where there is none."""
        found = self.find(kind, **known)
        return found[0].path if found else None

    def title(self, method: str) -> str:
        """How a method is written."""
        return self.methods.get(method, method)

    def beta(self, experiment: str) -> float:
        """The threshold that the experiment's learners were given."""
        return self.betas.get(experiment, self.worlds[experiment].threshold)

    def failed(self, experiment: str, method: str, shown: int) -> Share:
        """How many seeds of a method have failed: all that its final files are named after, but
        those that can be shown.
        """
        known = {"experiment": experiment, "method": method}
        found = [one for kind in ("constraint", "evaluation") for one in self.find(kind, **known)]
        trained = sum(len(seeds_of(group)) for group in {one.fields["group"] for one in found})
        return max(0, trained - shown), trained

    def footer(self, runs: Mapping[str, int], failed: Mapping[str, Share] | None = None) -> str:
        """What every picture says of its own size; `runs` are the seeds of each method.

        `failed` says of whom how many seeds are left out because they have failed.
        """
        lost = [f"{k} of {n} seeds of {name}" for name, (k, n) in (failed or {}).items() if k]
        end = f"; failed and left out: {', '.join(lost)}" if lost else ""
        counts = sorted(set(runs.values()))
        if len(counts) == 1:
            return f"scale: {self.scale}, {counted(counts[0], 'seed')}{end}"
        each = ", ".join(f"{method} {counted(n, 'seed')}" for method, n in runs.items())
        return f"scale: {self.scale}" + (f"; {each}" if each else "") + end


def _rank(order: list[str], method: str) -> tuple[int, str]:
    return (order.index(method) if method in order else len(order), method)
