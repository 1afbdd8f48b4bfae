"""A constraint as a module of PyTorch, for those who train with gradients through it."""

from __future__ import annotations

import numpy as np
import torch

from icl_core.environments.inputs import Inputs
from icl_core.learning.engine.networks import Networks


class TorchConstraint(torch.nn.Module):
    """forward(obs, act): the mean c over seeds, of the batch's shape."""

    def __init__(self, networks: Networks, inputs: Inputs):
        super().__init__()
        self.tanh = networks.activation == "tanh"
        self.seen_weights = _frozen(inputs.weights.T)
        self.seen_offset = _frozen(inputs.offset)
        self.weights = torch.nn.ParameterList(_frozen(weights) for weights, _ in networks.layers)
        self.biases = torch.nn.ParameterList(_frozen(biases) for _, biases in networks.layers)

    def forward(self, obs: torch.Tensor, act: torch.Tensor) -> torch.Tensor:
        """c(obs, act) for obs (..., size) and act (..., size), or (...) where it is one number."""
        kind = self.seen_weights.dtype
        if act.dim() < obs.dim():
            act = act[..., None]
        joined = torch.cat([obs.to(kind), act.to(kind)], dim=-1)
        seen = joined @ self.seen_weights + self.seen_offset
        hidden = seen.reshape(1, -1, seen.shape[-1])  # the seeds in front
        last = len(self.weights) - 1
        for depth, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            hidden = hidden @ weights + biases
            if depth < last:
                hidden = torch.tanh(hidden) if self.tanh else torch.relu(hidden)
        return torch.sigmoid(hidden[..., 0]).mean(dim=0).reshape(seen.shape[:-1])


def _frozen(values: np.ndarray) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.tensor(np.array(values)), requires_grad=False)
