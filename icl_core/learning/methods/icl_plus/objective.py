"""What is added to ICL's objective: some demonstrations are spared; c is smooth, or sparse."""

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
    fading: bool = False  # whether an agent's trajectory pushes the less, the more it costs

    def _expert_slope(self, c: np.ndarray) -> np.ndarray:
        slope = super()._expert_slope(c)
        slope[np.argsort(self.expert @ c, kind="stable")[len(slope) - self.spared :]] = 0.0
        return slope

    def _push(self, costs: np.ndarray) -> np.ndarray:
        """With fading, one that costs beta pushes half as much as one that costs nothing."""
        push = super()._push(costs)
        return push / (1.0 + costs / self.threshold) if self.fading else push

    def _worth(self, costs: np.ndarray) -> np.ndarray:
        worth = super()._worth(costs)
        return self.threshold * np.log1p(worth / self.threshold) if self.fading else worth

    def _excess(self, expert_costs: np.ndarray) -> np.ndarray:
        """The mean over all, with nothing for those that are spared."""
        count = expert_costs.shape[1]
        kept = np.sort(expert_costs, axis=1)[:, : count - self.spared]
        return np.maximum(0.0, kept - self.threshold).sum(axis=1) / count


@dataclass(frozen=True)
class Guidance:
    """What guides a loss beside itself; weights of 0 are off."""

    smoothness: float = 0.0  # of the mean squared difference of c at inputs and at moved ones
    sparseness: float = 0.0  # of the mean of c over inputs that are spread evenly
    watch: Callable[[], object] = lambda: None  # called before each step


@dataclass(frozen=True)
class GuidedLoss(SoftLoss):
    """Another loss with penalties on c, and somebody who watches its steps.

    The inputs are those of `guided`: as they are (n,), then moved a little (n,) if c is to be
    smooth, then spread evenly if it is to be sparse.
    """

    inner: SoftLoss | None = None
    guidance: Guidance = Guidance()

    @classmethod
    def around(cls, inner: SoftLoss, guidance: Guidance) -> GuidedLoss:
        """Guide a loss."""
        parts = (inner.agent, inner.expert, inner.weights, inner.threshold, inner.settings)
        return cls(*parts, inner, guidance)

    @property
    def of(self) -> SoftLoss:
        """The loss inside."""
        assert self.inner is not None
        return self.inner

    @property
    def multiplier(self) -> float:
        return self.of.multiplier

    def gradient(self, c: np.ndarray) -> np.ndarray:
        """Gradient in c at all inputs."""
        n, weights = self.agent.shape[1], self.guidance
        slope = np.zeros_like(c)
        slope[:n] = self.of.gradient(c[:n])
        spread = n
        if weights.smoothness:
            apart = 2.0 * weights.smoothness / n * (c[:n] - c[n : 2 * n])
            slope[:n] += apart
            slope[n : 2 * n] = -apart
            spread = 2 * n
        if weights.sparseness:
            slope[spread:] = weights.sparseness / (len(c) - spread)
        return slope

    def follow(self, c: np.ndarray) -> None:
        """Let the watcher look, before the step, then the loss inside."""
        self.guidance.watch()
        self.of.follow(c[: self.agent.shape[1]])

    def log(self, c: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
        n, weights = self.agent.shape[1], self.guidance
        columns, spread = self.of.log(c[:, :n], multipliers), n
        if weights.smoothness:
            apart = ((c[:, :n] - c[:, n : 2 * n]) ** 2).mean(axis=1)
            columns["loss"] = columns["loss"] + weights.smoothness * apart
            spread = 2 * n
        if weights.sparseness:
            columns["loss"] = columns["loss"] + weights.sparseness * c[:, spread:].mean(axis=1)
        return columns


def guided(visits: Visits, guidance: Guidance, reach: float, rng: np.random.Generator) -> Visits:
    """The same visits, with the further inputs that penalties on c need.

    Moved ones are away by `reach` of the range. Spread ones, as many, are drawn from the box that
    holds all visits and `reach` of the range more on each side: nobody was seen in most of it.
    """
    more, inputs = copy(visits), visits.inputs
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    far, parts = reach * (high - low), [inputs]
    if guidance.smoothness:
        parts.append(inputs + rng.standard_normal(inputs.shape) * far)
    if guidance.sparseness:
        parts.append(rng.uniform(low - far, high + far, inputs.shape))
    more.inputs = np.concatenate([part.astype(np.float32) for part in parts])
    return more
