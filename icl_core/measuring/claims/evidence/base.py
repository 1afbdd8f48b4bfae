"""What all evidence shares: worlds, titles, files that are there or not, seeds that have failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from icl_core import layout
from icl_core.artifacts import read_table
from icl_core.environments.world import World
from icl_core.environments.worlds.highd import HighD
from icl_core.layout import Found
from icl_core.measuring.metrics import FAILED, METRICS_SCHEMA
from icl_core.measuring.results import Results
from icl_core.randomness import generator

OF_EXPERTS = {
    "expert_training": "training of experts",
    "expert_policy": "policies of experts",
}
ICL = "icl"  # the method that the paper is about: meant where a check names none

T = TypeVar("T")
Failures = Mapping[str, Sequence[int]]  # seeds without results, by whose they are, in words


class MissingError(Exception):
    """Something that a check needs was not run; says what."""


class FailedSeedsError(Exception):
    """What a check needs has failed seeds, `whose`, that are not left out yet."""

    def __init__(self, whose: Failures):
        super().__init__()
        self.whose = whose


class Base:
    """The results for one claim. All random draws come from its own generator.

    `experiments` are the claim's, of which some may not have been run: asking for their
    results raises MissingError. `left_out` are the failed seeds that are known by now: they are
    left out of everything, so that groups that are compared have the same seeds. Asking for
    results with other failed seeds raises FailedSeedsError. `notes` are what a reader has to
    know besides: sentences that checks come across.
    """

    def __init__(
        self,
        results: Results,
        experiments: Sequence[str],
        claim: str,
        left_out: Failures | None = None,
    ):
        self.results = results
        self.experiments = tuple(experiments)
        self.rng = generator(0, "claim", claim)
        self.left_out = left_out or {}
        self.without = {seed for seeds in self.left_out.values() for seed in seeds}
        self.notes: list[str] = []

    def world(self, experiment: str) -> World:
        """The environment of an experiment."""
        if experiment not in self.results.worlds:
            raise MissingError(f"{experiment} is not among the experiments of this run")
        return self.results.worlds[experiment]

    def truth(self, experiment: str) -> np.ndarray:
        """The true constraint at the grid's nodes, flat."""
        true = self.world(experiment).true_on_grid
        if true is None:
            raise MissingError(f"nobody knows the true constraint of {experiment}")
        return true

    def best_constant(self, experiment: str) -> float:
        """The CMSE of the constant that comes closest to the truth."""
        return float(self.truth(experiment).var())

    def between_centres(self, experiment: str) -> float:
        """What a gap of this traffic lacks of one from centre to centre, as the paper's are [m]."""
        world = self.world(experiment)
        if not isinstance(world, HighD) or world.centre_gap:
            return 0.0
        return float(2 * world.tracks.half_length.mean())

    def beta(self, experiment: str) -> float:
        """The threshold that the learners were given."""
        self.world(experiment)
        return self.results.beta(experiment)

    def title(self, experiment: str) -> str:
        """The environment's title, and what the experiment makes of it."""
        world = self.world(experiment)
        rest = experiment.removeprefix(world.name).strip("-").replace("-", " ")
        return f"{world.title}, {rest}" if rest else world.title

    def method(self, name: str) -> str:
        """How a method is written."""
        return self.results.title(name)

    def against(self, method: str, other: str) -> str:
        """How a comparison of two methods is written."""
        return f"{self.method(method)} against {self.method(other)}"

    def note(self, sentence: str) -> None:
        """Something that a reader of the verdict has to know; said once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def leave_out(self, whose: str, failed: Sequence[int]) -> None:
        """Raises where these seeds have failed and are not left out yet."""
        if failed and whose not in self.left_out:
            raise FailedSeedsError({whose: failed})

    @cached_property
    def _metrics(self) -> dict[tuple[str, str, str], list[dict]]:
        """The rows of each (experiment, method, metric)."""
        path = self.results.one("metrics")
        if path is None:
            raise MissingError(f"{layout.path('metrics')} is not among the results")
        return _rows_of(path, path.stat().st_mtime_ns)

    def _look_for_failed(self, experiment: str, method: str) -> None:
        if self.results.one("metrics") is not None:
            failed = {row["seed"] for row in self._metrics.get((experiment, method, FAILED), [])}
            self.leave_out(f"{self.method(method)} on {experiment}", sorted(failed))

    def _files(self, kind: str, experiment: str, method: str) -> list[Found]:
        """The files of a kind of all of a method's groups of seeds."""
        self.world(experiment)
        self._look_for_failed(experiment, method)
        found = self.results.find(kind, experiment=experiment, method=method)
        return self._run(found, method, experiment)

    def _of_experts(self, kind: str, experiment: str) -> list[Found]:
        """The files of a kind of all of an experiment's groups of experts."""
        self.world(experiment)
        found = self.results.find(kind, experiment=experiment)
        if not found:
            raise MissingError(f"{OF_EXPERTS.get(kind, kind)} in {experiment}: found none")
        return found

    def _run(self, found: T, method: str, experiment: str) -> T:
        """What was found of a method; raises where that is nothing."""
        if not found:
            why = "has no seed left" if self.left_out else "was not run"
            raise MissingError(f"{self.method(method)} on {experiment} {why}")
        return found


@lru_cache(maxsize=1)
def _rows_of(path: Path, _: int) -> dict[tuple[str, str, str], list[dict]]:
    """The rows of a table of metrics; of a file that has changed, anew."""
    found: dict = {}
    for row in read_table(path, METRICS_SCHEMA).to_pylist():
        key = row["experiment"], row["method"], row["metric"]
        found.setdefault(key, []).append(row)
    return found


def by_seed(table: pa.Table) -> dict[int, pa.Table]:
    """The rows of each seed."""
    seeds = table["seed"].to_numpy()
    return {int(seed): table.filter(pa.array(seeds == seed)) for seed in np.unique(seeds)}
