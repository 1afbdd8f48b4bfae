"""What passes from one step of ICL to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.learning.engine.costs import ConstraintFunction, fresh_constraints
from icl_core.learning.engine.divergence import marked, marks
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.problem import Problem
from icl_core.settings import COUNT, LAYERS, WEIGHT, setting

HALF = 0.5  # c of a network that knows nothing


@dataclass(frozen=True)
class ConstraintSettings:
    """The constraint network: ReLU between layers, c = sigmoid(output)."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the network", **LAYERS)
    initial: float | str = setting(
        HALF,
        "c everywhere, before anything has been learned; demonstrations: so that they cost beta, "
        "and one half at most",
        above=0,
        below=1,
        choices=("demonstrations",),
    )


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop."""

    iterations: int = setting(10, "iterations at most (n)", at_least=1, at_most=99)
    unconstrained_first_policy: bool = setting(
        False, "the first policy is trained without a constraint; false: with the initial c"
    )
    tolerance: float | str | None = setting(
        None,
        "epsilon: a run stops at a NAD of at most this; demonstrations: as close as two samples "
        "of the expert would be, measured between halves of the demonstrations; null: never",
        **WEIGHT,
        choices=("demonstrations",),
    )
    patience: int | None = setting(
        None, "iterations without a closer policy after which a run stops; null: never", **COUNT
    )
    keep: str = setting(
        "last",
        "closest: the iteration whose policy is nearest to the demonstrations; last: the last one",
        choices=("closest", "last"),
    )
    selection_episodes: int = setting(
        300, "episodes behind the NAD by which runs stop and an iteration is chosen", **COUNT
    )


@dataclass(frozen=True)
class ConstraintState:
    """The constraint after an iteration's adjustment, and what the next one needs."""

    networks: Networks  # c = sigmoid(output)
    first: np.ndarray  # (runs, parameters) Adam's moments, which outlive the iteration
    second: np.ndarray  # (runs, parameters)
    steps: np.ndarray  # (runs,) Adam's clock
    weights: np.ndarray  # (runs, policies so far) dissimilarity of the mixture's members
    stopped: np.ndarray  # (runs,) 1 where NAD reached the tolerance, or training has failed
    multipliers: np.ndarray  # (runs,) lambda of a Lagrangian adjustment, which outlives it too
    failed: np.ndarray  # (runs,) the iteration in which some step of it diverged, 0 for none

    def function(self) -> ConstraintFunction:
        """The function c on (runs, n, inputs)."""
        return lambda inputs: sigmoid(self.networks(inputs)[..., 0])

    def pick(self, runs: Sequence[int]) -> ConstraintState:
        """Copies of some of the runs."""
        return ConstraintState(
            self.networks.pick(runs), *(part[list(runs)] for part in self._rest())
        )

    def stop(self, runs: np.ndarray) -> ConstraintState:
        """The same, with the runs (runs,) bool stopped besides those that had."""
        stopped = self.stopped.astype(bool) | runs
        return replace(self, stopped=stopped.astype(np.uint8))

    def fail(self, runs: np.ndarray, iteration: int) -> ConstraintState:
        """The same, with the runs (runs,) bool failed in this iteration: they stop as well."""
        failed = np.where(runs & (self.failed == 0), iteration, self.failed)
        return replace(self.stop(runs), failed=failed)

    def with_room(self, policies: int) -> ConstraintState:
        """A copy with room for the weights of so many policies."""
        runs, known = self.weights.shape
        weights = np.zeros((runs, policies))
        weights[:, :known] = self.weights
        room = replace(self, weights=weights)
        return ConstraintState(self.networks.copy(), *(part.copy() for part in room._rest()))

    def _rest(self) -> tuple[np.ndarray, ...]:
        """All but the networks, in the order of the fields."""
        return tuple(getattr(self, one.name) for one in fields(self)[1:])

    def tensors(self) -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint."""
        named = self.networks.tensors("constraint.") | {
            "adam.first": self.first,
            "adam.second": self.second,
            "adam.steps": self.steps,
            "weights": self.weights,
            "stopped": self.stopped,
            "multipliers": self.multipliers,
        }
        return marked(named, self.failed)

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray]) -> ConstraintState:
        """The inverse of `tensors`."""
        networks = Networks.from_tensors(named, "constraint.")
        parts = ("adam.first", "adam.second", "adam.steps", "weights", "stopped", "multipliers")
        return cls(networks, *(*(named[part] for part in parts), marks(named, networks.runs)))


@dataclass(frozen=True)
class PolicyState:
    """The policies of one iteration; a run that has stopped or failed leaves blank ones."""

    halfway: Networks
    final: Networks
    nad: np.ndarray  # (runs,) of the final policy to the demonstrations; inf where blank
    failed: np.ndarray  # (runs,) the epoch after which a run has diverged, 0 where it has not
    log: pa.Table | None = None  # the training log

    def tensors(self) -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint."""
        networks = self.halfway.tensors("halfway.") | self.final.tensors("policy.")
        return marked(networks | {"nad": self.nad}, self.failed)

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray]) -> PolicyState:
        """The inverse of `tensors`, without the log."""
        halfway, nad = Networks.from_tensors(named, "halfway."), named["nad"]
        return cls(halfway, Networks.from_tensors(named, "policy."), nad, marks(named, len(nad)))


def closest(nad: np.ndarray, loop: LoopSettings) -> np.ndarray:
    """The iteration of the policy nearest to the demonstrations, (runs,) from 1.

    `nad` is (iterations, runs). A policy that was trained without a constraint
    speaks for none, so an unconstrained first policy is no candidate where there is another.
    """
    nad = np.where(np.isnan(nad), np.inf, nad)
    if loop.unconstrained_first_policy:
        nad[0] = np.inf
    return np.argmin(nad, axis=0) + 1


def initial_constraint(problem: Problem, settings: ConstraintSettings) -> ConstraintState:
    """A fresh constraint network per run, c of about `initial` everywhere."""
    networks = fresh_constraints(problem.world, problem.seeds, settings.hidden)
    c = initial_values(problem, settings)
    _, biases = networks.layers[-1]
    biases += np.log(c / (1.0 - c)).astype(np.float32)[:, None, None]
    blank, runs = np.zeros_like(networks.parameters), len(problem.seeds)
    counters = np.zeros(runs, np.int64), np.zeros((runs, 0)), np.zeros(runs, np.uint8)
    rest = np.zeros(runs), np.zeros(runs, np.int64)
    return ConstraintState(networks, blank, blank.copy(), *counters, *rest)


def initial_values(problem: Problem, settings: ConstraintSettings) -> np.ndarray:
    """c before anything has been learned, (runs,)."""
    if not isinstance(settings.initial, str):
        return np.full(len(problem.seeds), settings.initial)

    def cost_of_ones(shown: Trajectories) -> float:
        """What the demonstrations cost where c is 1: their discounted steps, in the mean."""
        ones = np.ones_like(shown.rewards, dtype=np.float64)
        return float(accumulate(ones, shown.mask, problem.world.discount).mean())

    return np.minimum(HALF, problem.beta / np.array(problem.of_each(cost_of_ones)))
