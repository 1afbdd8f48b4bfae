"""One unit of work: a choice in a world, learned from each of its experts, then measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from icl_core import discovery
from icl_core.demonstrations.accruals import visits
from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.engine.costs import constraint_values as costs_of
from icl_core.learning.engine.divergence import AllFailedError
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job, Store
from icl_core.learning.experts import ExpertSettings, train_experts
from icl_core.learning.problem import Problem
from icl_core.measuring.loading import constraint_values
from icl_core.measuring.metrics import constraint_error, dissimilarities
from icl_core.randomness import generators
from icl_core.settings import build, merge
from icl_core.settings_schema import plain


class Choice(NamedTuple):
    """What is changed of a method's defaults."""

    name: str
    subject: str  # what is being chosen: "bound"
    changes: dict[str, Any]  # of the method's settings, as a nested mapping
    method: str = "icl"


@dataclass(frozen=True)
class Sizes:
    """How long everything is trained; the same for all choices."""

    learning: Mapping[str, Any] = field(default_factory=dict)  # settings of every method
    expert: Mapping[str, Any] = field(default_factory=dict)  # of the demonstrations
    report_episodes: int = 300
    experts: int = 2


def experts_of(world: World, sizes: Sizes) -> dict[int, Trajectories]:
    """The demonstrations of each expert, by its seed."""
    seeds = range(1, sizes.experts + 1)
    settings = build(ExpertSettings, sizes.expert, "demonstrations")
    stack = train_experts(world, settings, seeds, Job()).trajectories
    return {seed: stack[run].trimmed() for run, seed in enumerate(seeds)}


def settings_of(choice: Choice, sizes: Sizes) -> Any:
    """The settings of a choice's method: defaults, sizes, then what is changed."""
    kind = discovery.load(discovery.METHODS, choice.method).Settings
    return build(kind, merge(sizes.learning, choice.changes), choice.method)


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


def beginning_of(settings: Any, seed: int) -> str:
    """What the first policy depends on. One under a constraint is nobody else's."""
    if not settings.loop.unconstrained_first_policy:
        return repr((seed, plain(settings)))
    return repr((seed, plain(settings.constrained_rl)))


def run_unit(
    world: World,
    choice: Choice,
    experts: Mapping[int, Trajectories],
    sizes: Sizes,
    beginnings: Beginnings,
) -> tuple[dict[str, Any], float]:
    """What was measured, run k learning from expert k; and the seconds of CPU that it took."""
    method = discovery.load(discovery.METHODS, choice.method)
    settings, started = settings_of(choice, sizes), time.process_time()
    rows = []
    for seed, demonstrations in experts.items():
        problem = Problem(world, demonstrations, [seed], world.threshold)
        job = Job(store=beginnings.store(beginning_of(settings, seed)))
        row: dict[str, Any] = {"expert": seed, "spent": _spent(world, demonstrations)}
        try:
            outcome = method.learn(problem, settings, job)
            rows.append(row | _measured(problem, outcome, sizes.report_episodes))
        except AllFailedError:
            rows.append(row | {"cmse": None, "nad": None})
    measured = {"world": world.name, "choice": choice.name, "runs": rows}
    return measured, time.process_time() - started


def _measured(problem: Problem, outcome: Any, episodes: int) -> dict[str, float | None]:
    """CMSE and NAD of what was learned: the truth is read here, after learning."""
    world = problem.world
    error = constraint_error(world, constraint_values(outcome.constraint, world))
    agents = roll_out(world, outcome.policy, generators(problem.seeds, "report"), episodes)
    nad = dissimilarities(world, visits(world, problem.shown(0))[None], visits(world, agents))
    values = {"cmse": float(error[0]), "nad": float(nad[0])}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}


def _spent(world: World, demonstrations: Trajectories) -> float:
    """The share of its budget that an expert spends."""
    assert world.true_constraint is not None
    values = costs_of(world, world.true_constraint, demonstrations[None])[0]
    costs = accumulate(values, demonstrations.mask, world.discount)
    return float(costs.mean() / world.threshold)
