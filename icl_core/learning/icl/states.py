"""What passes from one step of ICL to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.environments.world import World
from icl_core.learning.costs import ConstraintFunction, fresh_constraints
from icl_core.learning.networks import Networks, sigmoid


@dataclass(frozen=True)
class ICLSettings:
    """Settings of the loop."""

    iterations: int = 10  # n
    nominal_start: bool = True  # the first policy is trained without any constraint
    # epsilon: a run stops at a NAD of at most this. "demonstrations": what two samples of the
    # expert of that size would differ by. None: never.
    tolerance: float | str | None = "demonstrations"
    patience: int | None = 3  # iterations without a closer policy after which a run stops
    keep: str = "closest"  # or "last": the last constraint and the policy trained on it
    choice_rollouts: int = 300  # episodes behind the NAD that stops and chooses


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

    def grown(self, policies: int, stopped: np.ndarray) -> ConstraintState:
        """A copy with room for the weights of so many policies, and the runs that now stop."""
        runs, known = self.weights.shape
        weights = np.zeros((runs, policies))
        weights[:, :known] = self.weights
        moments = (self.first.copy(), self.second.copy(), self.steps.copy())
        rest = (weights, stopped.astype(np.uint8), self.multipliers.copy())
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
        adam = (named[f"adam.{name}"] for name in ("first", "second", "steps"))
        return cls(networks, *adam, named["weights"], named["stopped"], named["multipliers"])


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
        halves = (Networks.from_tensors(named, prefix) for prefix in ("halfway.", "policy."))
        return cls(*halves, named["nad"])


def closest(nad: np.ndarray, icl: ICLSettings) -> np.ndarray:
    """The iteration of the policy nearest to the demonstrations, (runs,) from 1.

    `nad` is (iterations, runs). A policy that was trained without a constraint
    speaks for none, so a nominal first policy is no candidate where there is another.
    """
    nad = np.where(np.isnan(nad), np.inf, nad)
    if icl.nominal_start:
        nad[0] = np.inf
    return np.argmin(nad, axis=0) + 1


def initial_constraint(
    world: World, seeds: Sequence[int], hidden: Sequence[int], initial: float = 0.5
) -> ConstraintState:
    """A fresh constraint network per run, c of about `initial` everywhere."""
    networks = fresh_constraints(world, seeds, hidden)
    _, biases = networks.layers[-1]
    biases += np.float32(np.log(initial / (1.0 - initial)))
    blank, runs = np.zeros_like(networks.parameters), len(seeds)
    counters = np.zeros(runs, np.int64), np.zeros((runs, 0)), np.zeros(runs, np.uint8)
    return ConstraintState(networks, blank, blank.copy(), *counters, np.zeros(runs))
