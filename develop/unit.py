"""One unit of work: a choice in a world, learned from each of its experts, then measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from icl_core import discovery
from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.engine.costs import constraint_values as costs_of
from icl_core.learning.engine.divergence import AllFailedError, lost
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job, Store
from icl_core.learning.experts import ExpertSettings, train_experts
from icl_core.learning.problem import Outcome, Problem
from icl_core.measuring.loading import constraint_values
from icl_core.measuring.metrics import constraint_error
from icl_core.randomness import generators
from icl_core.settings import build, merge
from icl_core.settings_schema import plain


class Choice(NamedTuple):
    """A method with some of its settings, and the choice that it is compared with."""

    name: str
    subject: str  # what is being chosen: "bound"
    changes: dict[str, Any]  # of the method's defaults, as a nested mapping
    method: str = "icl"
    against: str = "icl"


@dataclass(frozen=True)
class Sizes:
    """How long everything is trained; the same for all choices."""

    learning: Mapping[str, Any] = field(default_factory=dict)  # settings by method
    expert: Mapping[str, Any] = field(default_factory=dict)  # of the demonstrations
    report_episodes: int = 300
    experts: int = 2


def problem_of(world: World, sizes: Sizes) -> Problem:
    """To learn from experts of one's own: run k from expert k."""
    seeds = range(1, sizes.experts + 1)
    settings = build(ExpertSettings, sizes.expert, "demonstrations")
    shown = train_experts(world, settings, seeds, Job()).trajectories
    return Problem(world, shown, seeds, world.threshold)


def settings_of(choice: Choice, sizes: Sizes) -> Any:
    """The settings of a choice's method: defaults, sizes, then what is changed."""
    kind = discovery.load(discovery.METHODS, choice.method).Settings
    return build(kind, merge(sizes.learning[choice.method], choice.changes), choice.method)


class Beginnings:
    """First policies by their settings: choices that differ later only share them."""

    def __init__(self) -> None:
        self.states: dict[str, Callable[[], dict[str, np.ndarray]]] = {}

    def store(self, key: str) -> Store:
        """A job's store, which knows how its first policy has ended."""
        return _Shared(self, key)


class _Shared(Store):
    """Keeps the state of the part `policy-1` in memory, and nothing else."""

    def __init__(self, beginnings: Beginnings, key: str, kept: bool = False):
        self.beginnings, self.key, self.kept = beginnings, key, kept

    def load(self):
        state = self.beginnings.states.get(self.key) if self.kept else None
        return state() if state else None

    def save_if_due(self, state, say=lambda line: None):
        if self.kept:
            # The learner is asked when another one needs it: by then it has ended.
            self.beginnings.states[self.key] = state

    def part(self, name):
        return _Shared(self.beginnings, self.key, name == "policy-1")

    def clear(self):
        """Nothing lies on disk."""


def beginning_of(settings: Any) -> str:
    """What the first policy depends on: the initial constraint, where it is trained under one."""
    if not hasattr(settings, "loop"):
        return repr(settings)
    parts = [plain(settings.constrained_rl)]
    if not settings.loop.unconstrained_first_policy:
        parts += [plain(settings.constraint), getattr(settings, "networks", 1)]
    return repr(parts)


def run_unit(
    problem: Problem, choice: Choice, sizes: Sizes, beginnings: Beginnings
) -> tuple[dict[str, Any], float]:
    """What was measured of each run, and the seconds of CPU that all took."""
    method, world = discovery.load(discovery.METHODS, choice.method), problem.world
    settings, started = settings_of(choice, sizes), time.process_time()
    job = Job(store=beginnings.store(beginning_of(settings)))
    runs = len(problem.seeds)
    try:
        values = _measured(problem, method.learn(problem, settings, job), sizes.report_episodes)
    except AllFailedError:
        values = {"cmse": [None] * runs, "nad": [None] * runs}
    values["expert"] = list(problem.seeds)
    values["spent"] = problem.of_each(lambda shown: _spent(world, shown))
    rows = [{name: column[run] for name, column in values.items()} for run in range(runs)]
    return {"runs": rows}, time.process_time() - started


def _measured(problem: Problem, outcome: Outcome, episodes: int) -> dict[str, list]:
    """CMSE and NAD of what was learned: the truth is read here, after learning.

    A run that has failed has neither; a policy that never takes one of the actions has no NAD.
    """
    world, rngs = problem.world, generators(problem.seeds, "report")
    error = constraint_error(world, constraint_values(outcome.constraint, world))
    agents = visits(world, roll_out(world, outcome.policy, rngs, episodes))
    shown = problem.of_each(lambda one: visits(world, one))
    nad = [accrual_dissimilarity(world.grid, *pair) for pair in zip(shown, agents, strict=True)]
    failed = lost(outcome.failed, len(nad))

    def known(column: Iterable[float]) -> list[float | None]:
        both = zip(column, failed, strict=True)
        return [None if bad or not np.isfinite(value) else float(value) for value, bad in both]

    return {"cmse": known(error), "nad": known(nad)}


def _spent(world: World, demonstrations: Trajectories) -> float:
    """The share of its budget that an expert spends."""
    assert world.true_constraint is not None
    values = costs_of(world, world.true_constraint, demonstrations[None])[0]
    costs = accumulate(values, demonstrations.mask, world.discount)
    return float(costs.mean() / world.threshold)
