"""What passes from one step of ICL to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from icl_core.environments.world import World
from icl_core.learning.engine.costs import ConstraintFunction, fresh_constraints
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.settings import COUNT, LAYERS, WEIGHT, setting


@dataclass(frozen=True)
class ConstraintSettings:
    """The constraint network: ReLU between layers, c = sigmoid(output)."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the network", **LAYERS)
    initial: float = setting(
        0.5, "c everywhere, before anything has been learned", above=0, below=1
    )


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop."""

    iterations: int = setting(10, "iterations at most (n)", at_least=1, at_most=99)
    unconstrained_first_policy: bool = setting(
        True, "the first policy is trained without a constraint; false: with the initial c"
    )
    tolerance: float | str | None = setting(
        "demonstrations",
        "epsilon: a run stops at a NAD of at most this; demonstrations: as close as two samples "
        "of the expert would be, measured between halves of the demonstrations; null: never",
        **WEIGHT,
        choices=("demonstrations",),
    )
    patience: int | None = setting(
        3, "iterations without a closer policy after which a run stops; null: never", **COUNT
    )
    keep: str = setting(
        "closest",
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
    stopped: np.ndarray  # (runs,) 1 where NAD reached the tolerance
    multipliers: np.ndarray  # (runs,) lambda of a Lagrangian adjustment, which outlives it too

    def function(self) -> ConstraintFunction:
        """The function c on (runs, n, inputs)."""
        return lambda inputs: sigmoid(self.networks(inputs)[..., 0])

    def pick(self, runs: Sequence[int]) -> ConstraintState:
        """Copies of some of the runs."""
        rest = (self.first, self.second, self.steps, self.weights, self.stopped, self.multipliers)
        return ConstraintState(self.networks.pick(runs), *(part[list(runs)] for part in rest))

    def stop(self, runs: np.ndarray) -> ConstraintState:
        """The same, with the runs (runs,) bool stopped besides those that had."""
        stopped = self.stopped.astype(bool) | runs
        return replace(self, stopped=stopped.astype(np.uint8))

    def with_room(self, policies: int) -> ConstraintState:
        """A copy with room for the weights of so many policies."""
        runs, known = self.weights.shape
        weights = np.zeros((runs, policies))
        weights[:, :known] = self.weights
        moments = (self.first.copy(), self.second.copy(), self.steps.copy())
        rest = (weights, self.stopped.copy(), self.multipliers.copy())
        return ConstraintState(self.networks.copy(), *moments, *rest)

    def tensors(self) -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint."""
        return self.networks.tensors("constraint.") | {
            "adam.first": self.first,
            "adam.second": self.second,
            "adam.steps": self.steps,
            "weights": self.weights,
            "stopped": self.stopped,
            "multipliers": self.multipliers,
        }

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray]) -> ConstraintState:
        """The inverse of `tensors`."""
        networks = Networks.from_tensors(named, "constraint.")
        parts = ("adam.first", "adam.second", "adam.steps", "weights", "stopped", "multipliers")
        return cls(networks, *(named[part] for part in parts))


@dataclass(frozen=True)
class PolicyState:
    """The policies of one iteration; a run that has stopped leaves blank ones."""

    halfway: Networks
    final: Networks
    nad: np.ndarray  # (runs,) of the final policy to the demonstrations; inf where blank
    log: pa.Table | None = None  # the training log

    def tensors(self) -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint."""
        networks = self.halfway.tensors("halfway.") | self.final.tensors("policy.")
        return networks | {"nad": self.nad}

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray]) -> PolicyState:
        """The inverse of `tensors`, without the log."""
        halfway = Networks.from_tensors(named, "halfway.")
        return cls(halfway, Networks.from_tensors(named, "policy."), named["nad"])


def closest(nad: np.ndarray, loop: LoopSettings) -> np.ndarray:
    """The iteration of the policy nearest to the demonstrations, (runs,) from 1.

    `nad` is (iterations, runs). A policy that was trained without a constraint
    speaks for none, so an unconstrained first policy is no candidate where there is another.
    """
    nad = np.where(np.isnan(nad), np.inf, nad)
    if loop.unconstrained_first_policy:
        nad[0] = np.inf
    return np.argmin(nad, axis=0) + 1


def initial_constraint(
    world: World, seeds: Sequence[int], settings: ConstraintSettings
) -> ConstraintState:
    """A fresh constraint network per run, c of about `initial` everywhere."""
    networks = fresh_constraints(world, seeds, settings.hidden)
    _, biases = networks.layers[-1]
    biases += np.float32(np.log(settings.initial / (1.0 - settings.initial)))
    blank, runs = np.zeros_like(networks.parameters), len(seeds)
    counters = np.zeros(runs, np.int64), np.zeros((runs, 0)), np.zeros(runs, np.uint8)
    return ConstraintState(networks, blank, blank.copy(), *counters, np.zeros(runs))
