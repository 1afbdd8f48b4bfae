"""How flows are fitted to the demonstrations, with PyTorch and zuko.

Cells and actions are discrete, and the likelihood of a continuous density on
discrete points has no bound: a flow fitted to them as they are ends in spikes,
worse between them than a uniform density. Each epoch therefore sees the inputs
with fresh uniform noise of the width of one cell (dequantisation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from icl_core.learning.engine.costs import visited_inputs
from icl_core.learning.engine.density import Density, DensitySettings, Flow, scaled
from icl_core.learning.engine.training import Job
from icl_core.learning.problem import Problem
from icl_core.randomness import generator

if TYPE_CHECKING:  # torch takes seconds to import: whoever only plans a run must not wait for it
    import torch
    import zuko


def fit_density(problem: Problem, settings: DensitySettings, job: Job | None = None) -> Density:
    """Maximise the likelihood of the demonstrated inputs, once per seed (Algorithm 1, line 2).

    A fit that diverges leaves the flow that it began with.
    """
    world, seeds = problem.world, problem.seeds
    shown = problem.of_each(lambda one: visited_inputs(world, one))
    low = np.stack([inputs.min(axis=0) for inputs in shown])
    high = np.stack([inputs.max(axis=0) for inputs in shown])

    def noisy(run: int, rng: np.random.Generator) -> np.ndarray:
        inputs = shown[run]
        noise = rng.uniform(-0.5, 0.5, size=inputs.shape) * world.input_resolution
        return scaled(inputs + noise, low[run], high[run])

    fits = [_fit(partial(noisy, run), seed, settings) for run, seed in enumerate(seeds)]
    flows, epochs = zip(*fits, strict=True)
    failed = np.array(epochs)
    job = (job or Job()).of(seeds, "learning.icl.density")
    job.report(failed, failed > 0, "epoch", ["learning_rate"])
    unknown = np.zeros(len(seeds))
    blank = Density(list(flows), low, high, unknown, unknown, failed)
    surprise = [blank.negative_log_likelihood(run, inputs) for run, inputs in enumerate(shown)]
    mean = np.array([s.mean(dtype=np.float64) for s in surprise])
    deviation = np.array([s.std(ddof=1, dtype=np.float64) for s in surprise])
    return replace(blank, mean=mean, deviation=deviation)


def _fit(
    noisy: Callable[[np.random.Generator], np.ndarray], seed: int, settings: DensitySettings
) -> tuple[Flow, int]:
    """One run's flow, and the epoch in which it diverged (0: it did not).

    `noisy` gives the data of an epoch.
    """
    import torch

    torch.set_num_threads(1)  # the flows are small, and sums must not depend on the cores
    rng = generator(seed, "density")
    torch_seed, features = int(rng.integers(2**31)), noisy(rng).shape[1]
    flow = build_flow(features, settings.blocks, settings.hidden, torch_seed)
    step = adam_of(list(flow.parameters()), settings.learning_rate)
    failed = 0
    for epoch in range(1, settings.epochs + 1):
        data = torch.as_tensor(noisy(rng))
        order = torch.as_tensor(rng.permutation(len(data)))
        for batch in data[order].split(settings.batch):
            loss = -flow().log_prob(batch).mean()
            step(loss)
        if epoch == settings.epochs:
            with torch.no_grad():  # what the last step has made
                loss = -flow().log_prob(data).mean()
        if not torch.isfinite(loss):
            failed = epoch
            flow = build_flow(features, settings.blocks, settings.hidden, torch_seed)
            break
    return Flow({name: tensor.numpy() for name, tensor in flow.state_dict().items()}), failed


def adam_of(parameters: list[torch.Tensor], rate: float) -> Callable[[torch.Tensor], None]:
    """A step of Adam down the gradient of a loss.

    By torch's function: the class `torch.optim.Adam` imports torch's compiler, two seconds in every
    job. Fused: otherwise MKL takes the square roots, which differ from processor to processor.
    """
    import torch
    from torch.optim.adam import adam

    first, second = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
    clocks = [torch.zeros(()) for _ in parameters]
    how: dict[str, Any] = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "lr": rate}
    how |= {"amsgrad": False, "maximize": False, "weight_decay": 0.0, "fused": True}

    def step(loss: torch.Tensor) -> None:
        gradients = list(torch.autograd.grad(loss, parameters))
        with torch.no_grad():
            adam(parameters, gradients, first, second, [], clocks, **how)

    return step


def build_flow(
    features: int, blocks: int, hidden: Sequence[int], torch_seed: int
) -> zuko.flows.RealNVP:
    """A flow whose initial weights derive from the given seed and leave torch's own untouched."""
    import torch
    import zuko

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed)
        return zuko.flows.RealNVP(features, transforms=blocks, hidden_features=tuple(hidden))
