"""What checks may look at: the results, by experiment, method and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icl_core import layout
from icl_core.artifacts import read_table
from icl_core.demonstrations.files import read_sets
from icl_core.demonstrations.trajectories import Trajectories
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
from icl_core.measuring.metrics import FAILED, METRICS_SCHEMA
from icl_core.measuring.results import Results
from icl_core.randomness import generator

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


class Evidence:
    """The results for one claim. All random draws come from its own generator.

    `experiments` are the claim's, of which some may not have been run: asking for their
    results raises MissingError. `left_out` are the failed seeds that are known by now: they are
    left out of everything, so that groups that are compared have the same seeds. Asking for
    results with other failed seeds raises FailedSeedsError.
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
        rows = self._rows(metric, experiment, method)
        found = {seed: by[max(by)] for seed, by in rows.items() if max(by)[1]}
        return self._run(found, method, experiment)

    def values(self, metric: str, experiment: str, method: str = ICL) -> list[float]:
        """The same without the seeds."""
        return list(self.reported(metric, experiment, method).values())

    def by_iteration(self, metric: str, experiment: str) -> np.ndarray:
        """A metric after each iteration of ICL from 0 on, (seeds, iterations)."""
        rows = self._rows(metric, experiment, ICL)
        found = [[by[key] for key in sorted(by) if not key[1]] for _, by in sorted(rows.items())]
        return np.array(self._run(found, ICL, experiment))

    def constraints(self, experiment: str, method: str = ICL) -> np.ndarray:
        """Recovered constraints on the grid, (seeds, *grid.shape)."""
        world, paths = self.world(experiment), self._paths("constraint", experiment, method)
        return self._left(constraints_on_grid(paths, world, self.without), method, experiment)

    def visits(self, experiment: str, method: str) -> np.ndarray:
        """Visits of the final policies, (seeds, *grid.shape)."""
        world, paths = self.world(experiment), self._paths("rollouts", experiment, method)
        return self._left(rollout_visits(paths, world, self.without), method, experiment)

    def returns(self, experiment: str, method: str) -> list[float]:
        """What each seed's final policy earns in an episode, in its reported rollouts."""
        self.world(experiment)
        found = rollout_returns(self._paths("rollouts", experiment, method))
        kept = [value for seed, value in found.items() if seed not in self.without]
        return self._run(kept, method, experiment)

    def expert_visits(self, experiment: str) -> np.ndarray:
        """Visits of all demonstrations together, of the grid's shape."""
        paths = self._of_experts("demonstrations", experiment)
        return expert_visits(paths, self.world(experiment)).experts.sum(axis=0)

    def demonstrations(self, experiment: str) -> list[Trajectories]:
        """Each expert's demonstrations, (episodes,); one set where all runs share it."""
        paths, world = self._of_experts("demonstrations", experiment), self.world(experiment)
        return [one for path in paths for one in read_sets(path, world).values()]

    def expert_training(self, experiment: str) -> pa.Table:
        """The log of the experts' training: of each epoch the mean over experts."""
        paths = self._of_experts("expert_training", experiment)
        logs = pa.concat_tables([read_table(path, TRAINING_SCHEMA) for path in paths])
        names = TRAINING_SCHEMA.names[2:]
        means = logs.group_by("epoch").aggregate([(name, "mean") for name in names])
        named = means.sort_by("epoch").select(["epoch", *(f"{name}_mean" for name in names)])
        return named.rename_columns(["epoch", *names])

    def adjustments(self, experiment: str) -> dict[int, list[pa.Table]]:
        """The logs of ICL's adjustments by seed, one for each iteration."""
        found: dict[int, list[pa.Table]] = {}
        for path in self._paths("adjustment", experiment, ICL):
            for seed, table in by_seed(read_table(path, ADJUSTMENT_SCHEMA)).items():
                if seed not in self.without:
                    found.setdefault(seed, []).append(table)
        return self._run(found, ICL, experiment)

    def leave_out(self, whose: str, failed: Sequence[int]) -> None:
        """Raises where these seeds have failed and are not left out yet."""
        if failed and whose not in self.left_out:
            raise FailedSeedsError({whose: failed})

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

    def _rows(self, metric: str, experiment: str, method: str) -> dict:
        """Of a metric, by seed, without those that are left out."""
        self._look_for_failed(experiment, method)
        found = self._metrics.get((experiment, method, metric), {})
        return {seed: by for seed, by in found.items() if seed not in self.without}

    def _look_for_failed(self, experiment: str, method: str) -> None:
        if self.results.one("metrics") is not None:
            failed = self._metrics.get((experiment, method, FAILED), {})
            self.leave_out(f"{self.method(method)} on {experiment}", sorted(failed))

    def _paths(self, kind: str, experiment: str, method: str) -> list[Path]:
        """The files of a kind of all of a method's groups of seeds."""
        self.world(experiment)
        self._look_for_failed(experiment, method)
        found = self.results.find(kind, experiment=experiment, method=method)
        return self._run([one.path for one in found], method, experiment)

    def _of_experts(self, kind: str, experiment: str) -> list[Path]:
        """The files of a kind of all of an experiment's groups of experts."""
        self.world(experiment)
        found = [one.path for one in self.results.find(kind, experiment=experiment)]
        if not found:
            what = {"expert_training": "training of experts"}.get(kind, kind)
            raise MissingError(f"{what} in {experiment}: found none")
        return found

    def _run(self, found: T, method: str, experiment: str) -> T:
        """What was found of a method; raises where that is nothing."""
        if not found:
            why = "has no seed left" if self.left_out else "was not run"
            raise MissingError(f"{self.method(method)} on {experiment} {why}")
        return found

    def _left(self, runs: np.ndarray, method: str, experiment: str) -> np.ndarray:
        self._run(len(runs), method, experiment)
        return runs


def by_seed(table: pa.Table) -> dict[int, pa.Table]:
    """The rows of each seed."""
    seeds = table["seed"].to_numpy()
    return {int(seed): table.filter(pa.array(seeds == seed)) for seed in np.unique(seeds)}
