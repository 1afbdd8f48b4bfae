"""What checks may look at: the results, by experiment, method and seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icl_core import layout
from icl_core.artifacts import read_table
from icl_core.environments.world import World
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA
from icl_core.measuring.claims.intervals import Statistic, estimate
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.loading import (
    constraints_on_grid,
    expert_visits,
    rollout_returns,
    rollout_visits,
)
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.measuring.results import Results
from icl_core.randomness import generator

ICL = "icl"  # the method that the paper is about: meant where a check names none

T = TypeVar("T")


class MissingError(Exception):
    """Something that a check needs was not run; says what."""


class Evidence:
    """The results for one claim. All random draws come from its own generator.

    `experiments` are the claim's, of which some may not have been run: asking for their
    results raises MissingError.
    """

    def __init__(self, results: Results, experiments: Sequence[str], claim: str):
        self.results = results
        self.experiments = tuple(experiments)
        self.rng = generator(0, "claim", claim)

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

    def reported(self, metric: str, experiment: str, method: str = ICL) -> dict[int, float]:
        """The values that the tables print, by seed."""
        rows = self._metrics.get((experiment, method, metric), {})
        found = {seed: by[max(by)] for seed, by in rows.items() if max(by)[1]}
        return self._run(found, method, experiment)

    def values(self, metric: str, experiment: str, method: str = ICL) -> list[float]:
        """The same without the seeds."""
        return list(self.reported(metric, experiment, method).values())

    def by_iteration(self, metric: str, experiment: str) -> np.ndarray:
        """A metric after each iteration of ICL from 0 on, (seeds, iterations)."""
        rows = self._metrics.get((experiment, ICL, metric), {})
        found = [[by[key] for key in sorted(by) if not key[1]] for _, by in sorted(rows.items())]
        return np.array(self._run(found, ICL, experiment))

    def constraints(self, experiment: str, method: str = ICL) -> np.ndarray:
        """Recovered constraints on the grid, (seeds, *grid.shape)."""
        world = self.world(experiment)
        return constraints_on_grid(self._paths("constraint", experiment, method), world)

    def visits(self, experiment: str, method: str) -> np.ndarray:
        """Visits of the final policies, (seeds, *grid.shape)."""
        world = self.world(experiment)
        return rollout_visits(self._paths("rollouts", experiment, method), world)

    def returns(self, experiment: str, method: str) -> list[float]:
        """What each seed's final policy earns in an episode, in its reported rollouts."""
        self.world(experiment)
        return list(rollout_returns(self._paths("rollouts", experiment, method)).values())

    def expert_visits(self, experiment: str) -> np.ndarray:
        """Visits of the demonstrations, of the grid's shape."""
        return expert_visits(self.demonstrations(experiment), self.world(experiment))

    def demonstrations(self, experiment: str) -> Path:
        """The file of an experiment's demonstrations."""
        return self._of_expert("demonstrations", experiment)

    def expert_training(self, experiment: str) -> pa.Table:
        """The log of the expert's training."""
        return read_table(self._of_expert("expert_training", experiment), TRAINING_SCHEMA)

    def adjustments(self, experiment: str) -> dict[int, list[pa.Table]]:
        """The logs of ICL's adjustments by seed, one for each iteration."""
        found: dict[int, list[pa.Table]] = {}
        for path in self._paths("adjustment", experiment, ICL):
            for seed, table in by_seed(read_table(path, ADJUSTMENT_SCHEMA)).items():
                found.setdefault(seed, []).append(table)
        return found

    def effect(
        self,
        part: str,
        unit: str,
        statistic: Statistic,
        groups: Sequence[npt.ArrayLike],
        paired: bool = False,
        of: str = "seeds",
    ) -> Effect:
        """An effect with its interval, drawn from this claim's generator.

        `paired` groups hold values of the same seeds. `of` says what a value is one of.
        """
        samples = min(len(np.asarray(group)) for group in groups)
        over = f"{samples} {of}" + (", paired" if paired else "")
        return Effect(part, *estimate(statistic, groups, self.rng, paired), unit, over, samples)

    @cached_property
    def _metrics(self) -> dict:
        """(experiment, method, metric) -> seed -> (iteration, reported) -> value."""
        path = self.results.one("metrics")
        if path is None:
            raise MissingError(f"{layout.path('metrics')} is not among the results")
        found: dict = {}
        columns = read_table(path, METRICS_SCHEMA).to_pydict()
        for row in zip(*columns.values(), strict=True):
            experiment, _, method, seed, iteration, metric, value, reported = row
            of_seed = found.setdefault((experiment, method, metric), {}).setdefault(seed, {})
            of_seed[iteration, reported] = value
        return found

    def _paths(self, kind: str, experiment: str, method: str) -> list[Path]:
        """The files of a kind of all of a method's groups of seeds."""
        self.world(experiment)
        found = self.results.find(kind, experiment=experiment, method=method)
        return self._run([one.path for one in found], method, experiment)

    def _of_expert(self, kind: str, experiment: str) -> Path:
        self.world(experiment)
        path = self.results.one(kind, experiment=experiment)
        if path is None:
            raise MissingError(f"{layout.path(kind, experiment=experiment)} was not run")
        return path

    def _run(self, found: T, method: str, experiment: str) -> T:
        """What was found of a method; raises where that is nothing."""
        if not found:
            raise MissingError(f"{self.method(method)} on {experiment} was not run")
        return found


def by_seed(table: pa.Table) -> dict[int, pa.Table]:
    """The rows of each seed."""
    seeds = table["seed"].to_numpy()
    return {int(seed): table.filter(pa.array(seeds == seed)) for seed in np.unique(seeds)}
