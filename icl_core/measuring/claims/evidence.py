"""What checks may look at: the results, by experiment, method and seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.artifacts import read_table
from icl_core.environments.world import World
from icl_core.learning.logs import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA
from icl_core.measuring.claims.intervals import Statistic, measured
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.loading import (
    constraints_on_grid,
    expert_visits,
    rollout_returns,
    rollout_visits,
)
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.randomness import generator
from icl_core.showing.catalogue.item import ADJUSTMENTS, CONSTRAINT, ROLLOUTS
from icl_core.showing.naming import METHODS
from icl_core.showing.sources import Sources


class MissingError(Exception):
    """Something that a check needs was not run; says what."""


class Evidence:
    """The results for one claim. All random draws come from its own generator.

    `experiments` are the claim's, of which some may not have been run: asking for their
    results raises MissingError.
    """

    def __init__(self, sources: Sources, experiments: Sequence[str], claim: str):
        self.sources = sources
        self.experiments = tuple(experiments)
        self.rng = generator(0, "claim", claim)

    def world(self, experiment: str) -> World:
        """The environment of an experiment."""
        if experiment not in self.sources.worlds:
            raise MissingError(f"{experiment} is not among the experiments of this run")
        return self.sources.worlds[experiment]

    def title(self, experiment: str) -> str:
        """The environment's title, and what the experiment makes of it."""
        world = self.world(experiment)
        rest = experiment.removeprefix(world.name).strip("-").replace("-", " ")
        return f"{world.title}, {rest}" if rest else world.title

    def reported(self, metric: str, experiment: str, method: str = "icl") -> dict[int, float]:
        """The values that the tables print, by seed."""
        rows = self._metrics.get((experiment, method, metric), {})
        found = {seed: by[max(by)] for seed, by in rows.items() if max(by)[1]}
        return self._there(found, f"{METHODS.get(method, method)} on {experiment}")

    def by_iteration(self, metric: str, experiment: str) -> np.ndarray:
        """A metric after each iteration of ICL from 0 on, (seeds, iterations)."""
        rows = self._metrics.get((experiment, "icl", metric), {})
        found = [[by[key] for key in sorted(by) if not key[1]] for _, by in sorted(rows.items())]
        return np.array(self._there(found, f"ICL on {experiment}"))

    def constraints(self, experiment: str, method: str = "icl") -> np.ndarray:
        """Recovered constraints on the grid, (seeds, *grid.shape)."""
        world = self.world(experiment)
        return constraints_on_grid(self._paths(CONSTRAINT, experiment, method), world)

    def visits(self, experiment: str, method: str) -> np.ndarray:
        """Visits of the final policies, (seeds, *grid.shape)."""
        world = self.world(experiment)
        return rollout_visits(self._paths(ROLLOUTS, experiment, method), world)

    def expert_visits(self, experiment: str) -> np.ndarray:
        """Visits of the demonstrations, of the grid's shape."""
        return expert_visits(
            self.demonstrations(experiment, "trajectories.parquet"), self.world(experiment)
        )

    def demonstrations(self, experiment: str, name: str) -> Path:
        """A file of an experiment's demonstrations."""
        self.world(experiment)
        path = self.sources.demonstrations(experiment, name)
        return self._there(path, f"demonstrations/{experiment}/{name}")

    def expert_training(self, experiment: str) -> pa.Table:
        """The log of the expert's training."""
        return read_table(self.demonstrations(experiment, "training.parquet"), TRAINING_SCHEMA)

    def returns(self, experiment: str, method: str) -> list[float]:
        """What each seed's final policy earns in an episode, in its reported rollouts."""
        self.world(experiment)
        return list(rollout_returns(self._paths(ROLLOUTS, experiment, method)).values())

    def adjustments(self, experiment: str) -> dict[int, list[pa.Table]]:
        """The logs of ICL's adjustments by seed, one for each iteration."""
        self.world(experiment)
        found: dict[int, list[pa.Table]] = {}
        for _, path in self.sources.find(ADJUSTMENTS, experiment=experiment):
            for seed, table in by_seed([read_table(path, ADJUSTMENT_SCHEMA)]).items():
                found.setdefault(seed, []).append(table)
        return self._there(found, f"ICL on {experiment}")

    def effect(
        self,
        part: str,
        unit: str,
        statistic: Statistic,
        groups: Sequence[Sequence[float]],
        paired: bool = False,
        of: str = "seeds",
    ) -> Effect:
        """An effect with its interval, drawn from this claim's generator."""
        return measured(part, unit, statistic, groups, self.rng, paired, of)

    @cached_property
    def _metrics(self) -> dict:
        """(experiment, method, metric) -> seed -> (iteration, reported) -> value."""
        found: dict = {}
        columns = read_table(self.sources.metrics(), METRICS_SCHEMA).to_pydict()
        for row in zip(*columns.values(), strict=True):
            experiment, _, method, seed, iteration, metric, value, reported = row
            of_seed = found.setdefault((experiment, method, metric), {}).setdefault(seed, {})
            of_seed[iteration, reported] = value
        return found

    def _paths(self, pattern: str, experiment: str, method: str) -> list[Path]:
        found = self.sources.find(pattern, experiment=experiment, method=method)
        return self._there([path for _, path in found], f"{METHODS.get(method)} on {experiment}")

    def _there(self, found, what: str):
        if not found:
            raise MissingError(f"{what} was not run")
        return found


def by_seed(tables: Iterable[pa.Table]) -> dict[int, pa.Table]:
    """The rows of each seed."""
    found = {}
    for table in tables:
        seeds = table["seed"].to_numpy()
        for seed in np.unique(seeds):
            found[int(seed)] = table.filter(pa.array(seeds == seed))
    return dict(sorted(found.items()))


def difference_of_means(groups: Sequence[np.ndarray]) -> np.ndarray:
    """Mean of the second group less that of the first: positive where the first is lower."""
    return groups[1].mean(axis=-1) - groups[0].mean(axis=-1)


def mean_of(groups: Sequence[np.ndarray]) -> np.ndarray:
    """Mean of the only group."""
    return groups[0].mean(axis=-1)
