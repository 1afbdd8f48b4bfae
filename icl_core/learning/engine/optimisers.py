"""Optimisers of a stack: Adam for parameters, and the dual variable of a constrained problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.learning.engine.networks import sigmoid


class Adam:
    """Adam (Kingma & Ba, 2015) on a stack: moments (runs, parameters) and a clock per run."""

    def __init__(self, like: np.ndarray, learning_rate: float, epsilon: float = 1e-8):
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.first = np.zeros_like(like)
        self.second = np.zeros_like(like)
        self.steps = np.zeros(len(like), np.int64)
        self.held: np.ndarray | None = None  # (runs,) bool, where some are not to move

    def step(self, parameters: np.ndarray, gradient: np.ndarray) -> None:
        """Move `parameters` in place against `gradient`, which is used up."""
        if self.held is not None:
            gradient[self.held] = 0.0
        self.steps += 1
        due = self.steps % 32 == 0
        if due.any():
            # Moments of dead units decay for ever; as denormal numbers they would
            # make every later step several times slower.
            self.first[(np.abs(self.first) < 1e-30) & due[:, None]] = 0.0
            self.second[(self.second < 1e-30) & due[:, None]] = 0.0
        self.first *= np.float32(0.9)
        self.first += np.float32(0.1) * gradient
        self.second *= np.float32(0.999)
        np.multiply(gradient, gradient, out=gradient)
        gradient *= np.float32(0.001)
        self.second += gradient
        # The bias corrections are one number per run: fold them into the rate and into epsilon.
        correction = np.sqrt(1.0 - 0.999 ** self.steps[:, None])
        rate = self.learning_rate * correction / (1.0 - 0.9 ** self.steps[:, None])
        np.sqrt(self.second, out=gradient)
        gradient += (self.epsilon * correction).astype(np.float32)
        np.divide(self.first, gradient, out=gradient)
        gradient *= rate.astype(np.float32)
        parameters -= gradient

    def pick(self, runs: Sequence[int]) -> Adam:
        """A copy for some of the runs."""
        some = Adam(self.first[runs], self.learning_rate, self.epsilon)
        some.restore({name: part[runs] for name, part in self.tensors().items()})
        some.held = None if self.held is None else self.held[runs]
        return some

    def put(self, runs: Sequence[int], some: Adam) -> None:
        """Take such a copy back."""
        theirs = some.tensors()
        for name, part in self.tensors().items():
            part[runs] = theirs[name]

    def hold(self, runs: np.ndarray) -> None:
        """Forget the runs (runs,) bool, and never move them again."""
        self.first[runs], self.second[runs], self.steps[runs] = 0.0, 0.0, 0
        self.held = runs if self.held is None else self.held | runs

    def tensors(self, prefix: str = "") -> dict[str, np.ndarray]:
        """What a saved state must hold of it."""
        parts = {"first": self.first, "second": self.second, "steps": self.steps}
        return {f"{prefix}{name}": part for name, part in parts.items()}

    def restore(self, named: dict[str, np.ndarray], prefix: str = "") -> None:
        """The inverse of `tensors`."""
        self.first, self.second = named[f"{prefix}first"], named[f"{prefix}second"]
        self.steps = named[f"{prefix}steps"]


class Multiplier:
    """nu = softplus(kappa) of each run, by Adam on -nu (cost - budget)."""

    def __init__(self, runs: int, initial: float, rate: float):
        self.kappa = np.full((runs, 1), np.log(np.expm1(initial)))
        self.optimiser = Adam(self.kappa, rate)

    @property
    def value(self) -> np.ndarray:
        """nu, (runs,)."""
        return np.logaddexp(0.0, self.kappa[:, 0])

    def step(self, excess: np.ndarray) -> None:
        """Given cost - budget, (runs,)."""
        self.optimiser.step(self.kappa, -sigmoid(self.kappa) * excess[:, None])

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of it."""
        return self.optimiser.tensors("multiplier.") | {"multiplier.kappa": self.kappa}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.optimiser.restore(named, "multiplier.")
        self.kappa = named["multiplier.kappa"]
