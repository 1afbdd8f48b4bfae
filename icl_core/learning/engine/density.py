"""The expert's density: RealNVP flows on the constraint inputs (paper, Section 4.3).

The flow measures how unlike the demonstrations a trajectory is: w(tau) is the share
of its steps whose negative log-likelihood exceeds the expert's mean by more than
one deviation (Algorithm 3, lines 1 to 3).

Flows are fitted with PyTorch and zuko (`density_fit`). Here they are only evaluated, from their
parameters and in NumPy: whoever adjusts a constraint need not wait for PyTorch to load.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from icl_core.learning.engine.divergence import marked, marks
from icl_core.settings import COUNT, LAYERS, RATE, setting

STEEPEST = abs(math.log(1e-3))  # zuko's bound on the logarithm of a scale
HALF_LOG_TAU = np.float32(0.5 * math.log(2 * math.pi))

Tensors = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class DensitySettings:
    """Settings of the flows."""

    epochs: int = setting(20, "passes over the demonstrations", **COUNT)
    batch: int = setting(64, "steps of a minibatch", **COUNT)
    learning_rate: float = setting(5e-4, "step size", **RATE)
    blocks: int = setting(5, "affine, linear and coupling layers", at_least=1, at_most=100)
    hidden: tuple[int, ...] = setting((64, 64), "layers of the coupling networks", **LAYERS)


@dataclass(frozen=True)
class Flow:
    """A fitted RealNVP: its parameters under the names that zuko gives them."""

    state: Tensors

    def negative_log_likelihood(self, inputs: np.ndarray) -> np.ndarray:
        """-log p of scaled inputs (n, k) float32, (n,)."""
        z, log_slope = inputs, np.zeros(len(inputs), np.float32)
        for block in range(self._blocks()):
            start = f"transform.transforms.{block}."
            step = self._coupling if f"{start}mask" in self.state else self._elementwise
            z, added = step(start, z)
            log_slope += added
        away = (z - self.state["base.loc"]) / self.state["base.scale"]
        log_base = -(0.5 * away**2 + np.log(self.state["base.scale"]) + HALF_LOG_TAU).sum(axis=1)
        return -(log_base + log_slope)

    def _blocks(self) -> int:
        numbers = (name.split(".")[2] for name in self.state if name.startswith("transform."))
        return 1 + max(map(int, numbers))

    def _coupling(self, start: str, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Some inputs stay and say how the others are shifted and scaled."""
        stay = self.state[f"{start}mask"].astype(bool)
        hidden = z[:, stay]
        for weights, biases in self._layers(start):
            hidden = hidden @ weights.T + biases
            hidden = np.maximum(hidden, 0.0, dtype=np.float32)
        weights, biases = self._last(start)
        parameters = (hidden @ weights.T + biases).reshape(len(z), -1, 2)
        moved = z.copy()
        log_scale = _log_scale(parameters[..., 1])
        moved[:, ~stay] = z[:, ~stay] * np.exp(log_scale) + parameters[..., 0]
        return moved, log_scale.sum(axis=1)

    def _elementwise(self, start: str, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A single input has nothing to depend on: a shift and a scale."""
        shift, scale = (self.state[f"{start}phi.{k}"] for k in (0, 1))
        log_scale = _log_scale(scale)
        return z * np.exp(log_scale) + shift, np.full(len(z), log_scale.sum(), np.float32)

    def _depth(self, start: str) -> list[int]:
        inside = f"{start}hyper."
        names = [n for n in self.state if n.startswith(inside) and n.endswith(".weight")]
        return sorted(int(name.removeprefix(inside).split(".")[0]) for name in names)

    def _layers(self, start: str) -> list[tuple[np.ndarray, np.ndarray]]:
        return [self._layer(start, k) for k in self._depth(start)[:-1]]

    def _last(self, start: str) -> tuple[np.ndarray, np.ndarray]:
        return self._layer(start, self._depth(start)[-1])

    def _layer(self, start: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        weight, bias = (self.state[f"{start}hyper.{k}.{part}"] for part in ("weight", "bias"))
        return weight, bias


def _log_scale(raw: np.ndarray) -> np.ndarray:
    """zuko keeps scales within a factor of 1000."""
    return raw / (1 + np.abs(raw / np.float32(STEEPEST)))


@dataclass(frozen=True)
class Density:
    """One flow per run, the scaling of their inputs, and the expert's statistics under each."""

    flows: list[Flow]
    low: np.ndarray  # (runs, inputs) smallest demonstrated
    high: np.ndarray  # (runs, inputs) largest
    mean: np.ndarray  # (runs,) mu_E
    deviation: np.ndarray  # (runs,) sigma_E
    failed: np.ndarray  # (runs,) the epoch after which a fit has diverged, 0 where it has not

    def negative_log_likelihood(self, run: int, inputs: np.ndarray) -> np.ndarray:
        """-log p of constraint inputs (n, k) in scaled coordinates, (n,)."""
        return self.flows[run].negative_log_likelihood(self.scaled(run, inputs))

    def scaled(self, run: int, inputs: np.ndarray) -> np.ndarray:
        """Constraint inputs (n, k) as a run's flow sees them."""
        return scaled(inputs, self.low[run], self.high[run])

    def unusual(self, run: int, inputs: np.ndarray) -> np.ndarray:
        """Which inputs (n, k) are unlike the expert's, (n,) bool."""
        limit = self.mean[run] + self.deviation[run]
        return self.negative_log_likelihood(run, inputs) > limit

    def tensors(self) -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint; flow k's stand under `run{k}.`."""
        named = {
            "low": self.low,
            "high": self.high,
            "mean": self.mean,
            "deviation": self.deviation,
        }
        for run, flow in enumerate(self.flows):
            named |= {f"run{run}.{name}": tensor for name, tensor in flow.state.items()}
        return marked(named, self.failed)

    @classmethod
    def from_tensors(cls, named: Tensors) -> Density:
        """The inverse of `tensors`."""
        flows = []
        for run in range(len(named["mean"])):
            start = f"run{run}."
            own = {k.removeprefix(start): v for k, v in named.items() if k.startswith(start)}
            flows.append(Flow(own))
        mean, deviation = named["mean"], named["deviation"]
        return cls(flows, named["low"], named["high"], mean, deviation, marks(named, len(mean)))


def scaled(inputs: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """To [-1, 1] over the demonstrations' range; an input that never varies maps to 0."""
    span = np.where(high > low, high - low, 1.0)
    start = np.where(high > low, low, low - 0.5)
    return (2.0 * (inputs - start) / span - 1.0).astype(np.float32)


def normal_surprise(density: Density, run: int, inputs: np.ndarray) -> float:
    """Mean -log p of inputs (n, k) under one normal distribution fitted to them, scaled as a run's.

    A flow that has learned enough is no worse; of one input it is exactly that: its couplings
    have nothing to depend on.
    """
    alike = density.scaled(run, inputs).astype(np.float64)
    covariance = np.atleast_2d(np.cov(alike.T, ddof=0))
    return 0.5 * float(np.linalg.slogdet(2.0 * np.pi * np.e * covariance)[1])
