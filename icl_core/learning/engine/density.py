"""The expert's density: RealNVP flows on the constraint inputs (paper, Section 4.3).

The flow measures how unlike the demonstrations a trajectory is: w(tau) is the share
of its steps whose negative log-likelihood exceeds the expert's mean by more than
one deviation (Algorithm 3, lines 1 to 3).

Cells and actions are discrete, and the likelihood of a continuous density on
discrete points has no bound: a flow fitted to them as they are ends in spikes,
worse between them than a uniform density. Each epoch therefore sees the inputs
with fresh uniform noise of the width of one cell (dequantisation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from icl_core.learning.engine.costs import visited_inputs
from icl_core.learning.problem import Problem
from icl_core.randomness import generator
from icl_core.settings import setting

if TYPE_CHECKING:  # torch takes seconds to import: whoever only plans a run must not wait for it
    import torch
    import zuko


@dataclass(frozen=True)
class DensitySettings:
    """Settings of the flows."""

    epochs: int = setting(20, "passes over the demonstrations", at_least=1)
    batch: int = setting(64, "steps of a minibatch", at_least=1)
    learning_rate: float = setting(5e-4, "step size", above=0)
    blocks: int = setting(5, "affine, linear and coupling layers", at_least=1)
    hidden: tuple[int, ...] = setting((64, 64), "layers of the coupling networks", at_least=1)


@dataclass(frozen=True)
class Density:
    """One flow per run, the scaling of their inputs, and the expert's statistics under each."""

    flows: list[zuko.flows.RealNVP]
    low: np.ndarray  # (inputs,) smallest demonstrated
    high: np.ndarray  # (inputs,) largest
    mean: np.ndarray  # (runs,) mu_E
    deviation: np.ndarray  # (runs,) sigma_E

    def negative_log_likelihood(self, run: int, inputs: np.ndarray) -> np.ndarray:
        """-log p of constraint inputs (n, k) in scaled coordinates, (n,)."""
        torch = _torch()
        with torch.no_grad():
            return -self.flows[run]().log_prob(_scaled(inputs, self.low, self.high)).numpy()

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
            named |= {f"run{run}.{name}": t.numpy() for name, t in flow.state_dict().items()}
        return named

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray]) -> Density:
        """The inverse of `tensors`; the flows' shape is read off their weights."""
        torch, flows = _torch(), []
        for run in range(len(named["mean"])):
            start = f"run{run}."
            state = {
                k[len(start) :]: torch.tensor(v) for k, v in named.items() if k.startswith(start)
            }
            blocks = 1 + max(int(k.split(".")[2]) for k in state if k.startswith("transform."))
            layers = sorted(
                (int(k.split(".")[4]), len(v))
                for k, v in state.items()
                if k.startswith("transform.transforms.0.hyper.") and k.endswith(".bias")
            )
            hidden = tuple(width for _, width in layers[:-1])
            flow = _build(len(named["low"]), blocks, hidden, torch_seed=0)
            flow.load_state_dict(state)
            flows.append(flow)
        return cls(flows, named["low"], named["high"], named["mean"], named["deviation"])


def fit_density(problem: Problem, settings: DensitySettings) -> Density:
    """Maximise the likelihood of the demonstrated inputs, once per seed (Algorithm 1, line 2)."""
    world, seeds = problem.world, problem.seeds
    inputs = visited_inputs(world, problem.demonstrations)
    low, high = inputs.min(axis=0), inputs.max(axis=0)

    def noisy(rng: np.random.Generator) -> torch.Tensor:
        noise = rng.uniform(-0.5, 0.5, size=inputs.shape) * world.input_resolution
        return _scaled(inputs + noise, low, high)

    flows = [_fit(noisy, seed, settings) for seed in seeds]
    blank = Density(flows, low, high, np.zeros(len(seeds)), np.zeros(len(seeds)))
    surprise = [blank.negative_log_likelihood(run, inputs) for run in range(len(seeds))]
    mean = np.array([s.mean(dtype=np.float64) for s in surprise])
    deviation = np.array([s.std(ddof=1, dtype=np.float64) for s in surprise])
    return Density(flows, low, high, mean, deviation)


def normal_surprise(density: Density, inputs: np.ndarray) -> float:
    """Mean -log p of inputs (n, k) under one normal distribution fitted to them, scaled alike.

    A flow that has learned enough is no worse; of one input it is exactly that: its couplings
    have nothing to depend on.
    """
    scaled = _scaled(inputs, density.low, density.high).numpy().astype(np.float64)
    covariance = np.atleast_2d(np.cov(scaled.T, ddof=0))
    return 0.5 * float(np.linalg.slogdet(2.0 * np.pi * np.e * covariance)[1])


def _fit(
    noisy: Callable[[np.random.Generator], torch.Tensor], seed: int, settings: DensitySettings
) -> zuko.flows.RealNVP:
    """One run's flow; `noisy` gives the data of an epoch."""
    torch, rng = _torch(), generator(seed, "density")
    torch_seed, features = int(rng.integers(2**31)), noisy(rng).shape[1]
    flow = _build(features, settings.blocks, settings.hidden, torch_seed)
    optimiser = torch.optim.Adam(flow.parameters(), settings.learning_rate)
    for _ in range(settings.epochs):
        data = noisy(rng)
        order = torch.as_tensor(rng.permutation(len(data)))
        for batch in data[order].split(settings.batch):
            loss = -flow().log_prob(batch).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return flow


def _build(
    features: int, blocks: int, hidden: Sequence[int], torch_seed: int
) -> zuko.flows.RealNVP:
    """A flow whose initial weights derive from the given seed and leave torch's own untouched."""
    import zuko

    torch = _torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed)
        return zuko.flows.RealNVP(features, transforms=blocks, hidden_features=tuple(hidden))


def _scaled(inputs: np.ndarray, low: np.ndarray, high: np.ndarray) -> torch.Tensor:
    """To [-1, 1] over the demonstrations' range; an input that never varies maps to 0."""
    span = np.where(high > low, high - low, 1.0)
    start = np.where(high > low, low, low - 0.5)
    return _torch().as_tensor((2.0 * (inputs - start) / span - 1.0).astype(np.float32))


def _torch():
    """PyTorch, on one thread: the flows are small, and sums must not depend on the cores."""
    import torch

    torch.set_num_threads(1)
    return torch
