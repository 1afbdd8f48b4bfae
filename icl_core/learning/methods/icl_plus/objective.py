"""What is added to ICL's objective: some demonstrations are spared, and c is smooth."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np

from icl_core.learning.methods.icl.soft_loss import SoftLoss, Visits


@dataclass(frozen=True)
class SparingLoss(SoftLoss):
    """L_soft with a hinge on all but the costliest demonstrations, found anew in each step.

    Each hinge keeps the weight that it has among all of them.
    """

    spared: int = 0  # demonstrations that may break the constraint

    def _expert_slope(self, c: np.ndarray) -> np.ndarray:
        slope = super()._expert_slope(c)
        slope[np.argsort(self.expert @ c, kind="stable")[len(slope) - self.spared :]] = 0.0
        return slope

    def _excess(self, expert_costs: np.ndarray) -> np.ndarray:
        """The mean over all, with nothing for those that are spared."""
        count = expert_costs.shape[1]
        kept = np.sort(expert_costs, axis=1)[:, : count - self.spared]
        return np.maximum(0.0, kept - self.threshold).sum(axis=1) / count


@dataclass(frozen=True)
class GuidedLoss(SoftLoss):
    """Another loss with a penalty on the variation of c, and somebody who watches its steps.

    With a smoothness the inputs come twice, as they are and moved a little: c is (2n,). The
    penalty is the mean squared difference of the two.
    """

    inner: SoftLoss | None = None
    smoothness: float = 0.0
    watch: Callable[[], object] = lambda: None

    @classmethod
    def around(cls, inner: SoftLoss, smoothness: float, watch: Callable[[], object]) -> GuidedLoss:
        """Guide a loss."""
        parts = (inner.agent, inner.expert, inner.weights, inner.threshold, inner.settings)
        return cls(*parts, inner, smoothness, watch)

    @property
    def of(self) -> SoftLoss:
        """The loss inside."""
        assert self.inner is not None
        return self.inner

    @property
    def multiplier(self) -> float:
        return self.of.multiplier

    def gradient(self, c: np.ndarray) -> np.ndarray:
        """Gradient in c at the inputs, and at the moved ones if there are any."""
        n = self.agent.shape[1]
        slope = self.of.gradient(c[:n])
        if not self.smoothness:
            return slope
        apart = 2.0 * self.smoothness / n * (c[:n] - c[n:])
        return np.concatenate([slope + apart, -apart])

    def follow(self, c: np.ndarray) -> None:
        """Let the watcher look, before the step, then the loss inside."""
        self.watch()
        self.of.follow(c[: self.agent.shape[1]])

    def log(self, c: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
        n = self.agent.shape[1]
        columns = self.of.log(c[:, :n], multipliers)
        if self.smoothness:
            apart = ((c[:, :n] - c[:, n:]) ** 2).mean(axis=1)
            columns["loss"] = columns["loss"] + self.smoothness * apart
        return columns


def moved(visits: Visits, reach: float, rng: np.random.Generator) -> Visits:
    """The same visits, whose inputs come again, each moved a little: by `reach` of the range."""
    twice, inputs = copy(visits), visits.inputs
    span = inputs.max(axis=0) - inputs.min(axis=0)
    away = rng.standard_normal(inputs.shape) * (reach * span)
    twice.inputs = np.concatenate([inputs, (inputs + away).astype(np.float32)])
    return twice
