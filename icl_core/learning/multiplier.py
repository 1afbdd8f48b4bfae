"""The dual variable of a constrained problem."""

from __future__ import annotations

import numpy as np

from icl_core.learning.networks import Adam, sigmoid


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
