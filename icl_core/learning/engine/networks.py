"""Stacks of small networks: the same multilayer perceptron, once per run.

The networks of this paper are tiny (64-64), so a step of one network in an
automatic-differentiation framework is nearly all overhead. Here the weights of
all runs lie side by side, (runs, in, out), one batched product serves them all,
and the backward pass of the one architecture that is needed is written out. A
loss therefore supplies its gradient with respect to the networks' output; the
tests check each of them against PyTorch's autograd. NumPy multiplies each run's
matrices by themselves, so a run's numbers do not depend on its neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

Trace = list[np.ndarray]  # the input and every hidden activation of a forward pass

BIAS = 0.01  # the authors' initial bias
BLOCK = 128  # rows of a large input that pass through the layers together


class Networks:
    """`runs` networks with layers `sizes` and ReLU or tanh between them; linear output."""

    def __init__(self, sizes: Sequence[int], parameters: np.ndarray, activation: str = "relu"):
        self.sizes = tuple(int(size) for size in sizes)
        self.activation = activation
        self.parameters = parameters  # (runs, parameters of one network) float32
        self.layers = self.views(parameters)

    @classmethod
    def initialise(
        cls, rngs: Sequence[np.random.Generator], sizes: Sequence[int], activation: str = "relu"
    ) -> Networks:
        """Xavier-uniform weights and a bias of 0.01, each run from its own generator."""
        stack = cls(sizes, np.empty((len(rngs), count_parameters(sizes)), np.float32), activation)
        for weights, biases in stack.layers:
            limit = np.sqrt(6.0 / sum(weights.shape[1:]))
            for run, rng in enumerate(rngs):
                weights[run] = rng.uniform(-limit, limit, size=weights.shape[1:])
            biases[...] = BIAS
        return stack

    @classmethod
    def orthogonal(
        cls,
        rngs: Sequence[np.random.Generator],
        sizes: Sequence[int],
        gain: float,
        activation: str = "tanh",
    ) -> Networks:
        """Orthogonal weights and no bias; gain sqrt(2) inside, `gain` in the last layer."""
        stack = cls.blank(len(rngs), sizes, activation)
        for depth, (weights, _) in enumerate(stack.layers, start=1):
            scale = gain if depth == len(stack.layers) else np.sqrt(2.0)
            for run, rng in enumerate(rngs):
                weights[run] = scale * _orthogonal(rng, *weights.shape[1:])
        return stack

    @classmethod
    def blank(cls, runs: int, sizes: Sequence[int], activation: str = "relu") -> Networks:
        """Networks of zeros."""
        return cls(sizes, np.zeros((runs, count_parameters(sizes)), np.float32), activation)

    @classmethod
    def gather(cls, stacks: Sequence[Networks], which: np.ndarray) -> Networks:
        """Run k of the stack number `which[k]`, for every k."""
        rows = [stacks[stack].parameters[run] for run, stack in enumerate(which)]
        return stacks[0].like(np.stack(rows))

    def like(self, parameters: np.ndarray) -> Networks:
        """Networks of the same shape with other parameters (runs, parameters of one)."""
        return Networks(self.sizes, parameters, self.activation)

    @property
    def runs(self) -> int:
        return len(self.parameters)

    def views(self, parameters: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """A row of parameters (or of their gradient) per run, as weights and biases of layers."""
        return _views(parameters, self.sizes)

    def trace(self, inputs: np.ndarray) -> tuple[np.ndarray, Trace]:
        """Output (runs, n, out) for inputs (runs, n, in), and what `gradient` needs."""
        hidden = [inputs]
        *inner, (weights, biases) = self.layers
        for inner_weights, inner_biases in inner:
            layer = np.matmul(hidden[-1], inner_weights)
            layer += inner_biases
            hidden.append(self._activate(layer))
        output = np.matmul(hidden[-1], weights)
        output += biases
        return output, hidden

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """(runs, n, in) -> (runs, n, out), in blocks of rows that stay in the cache."""
        if inputs.shape[1] <= BLOCK:
            return self.trace(inputs)[0]
        starts = range(0, inputs.shape[1], BLOCK)
        return np.concatenate([self.trace(inputs[:, k : k + BLOCK])[0] for k in starts], axis=1)

    def gradient(
        self, hidden: Trace, output_gradient: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Gradient in the parameters, (runs, parameters), given the one in the output."""
        result = np.empty_like(self.parameters) if out is None else out
        delta = output_gradient
        ones = np.ones((1, delta.shape[1]), np.float32)  # a product sums faster than `sum`
        slots = self.views(result)
        for depth in range(len(self.layers) - 1, -1, -1):
            below, (weights_slot, biases_slot) = hidden[depth], slots[depth]
            np.matmul(below.transpose(0, 2, 1), delta, out=weights_slot)
            np.matmul(ones, delta, out=biases_slot)
            if depth:
                delta = np.matmul(delta, self.layers[depth][0].transpose(0, 2, 1))
                delta *= self._slope(below)
        return result

    def _activate(self, layer: np.ndarray) -> np.ndarray:
        if self.activation == "tanh":
            return np.tanh(layer, out=layer)
        # NumPy compares two arrays several times faster than an array and a number.
        return np.maximum(layer, np.zeros(layer.shape, layer.dtype), out=layer)

    def _slope(self, activated: np.ndarray) -> np.ndarray:
        return 1.0 - activated**2 if self.activation == "tanh" else activated > 0

    def pick(self, runs: Sequence[int]) -> Networks:
        """A stack of copies of some of the runs."""
        return self.like(self.parameters[list(runs)])

    def copy(self) -> Networks:
        return self.like(self.parameters.copy())

    def negated(self) -> Networks:
        """A copy whose output has the other sign: sigmoid(output) becomes 1 - sigmoid(output)."""
        other = self.copy()
        for part in other.layers[-1]:
            np.negative(part, out=part)
        return other

    def tensors(self, prefix: str = "") -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint: `layer1.weight` (runs, in, out), `layer1.bias`, ..."""
        named = {}
        for depth, (weights, biases) in enumerate(self.layers, start=1):
            named[f"{prefix}layer{depth}.weight"] = np.ascontiguousarray(weights)
            named[f"{prefix}layer{depth}.bias"] = np.ascontiguousarray(biases[:, 0])
        if self.activation != "relu":
            # Its name, as bytes: a file must say by itself which function it holds.
            named[f"{prefix}activation"] = np.frombuffer(self.activation.encode(), np.uint8)
        return named

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray], prefix: str = "") -> Networks:
        """The inverse of `tensors`."""
        stored = named.get(f"{prefix}activation")
        activation = "relu" if stored is None else stored.tobytes().decode()
        depth = sum(
            name.startswith(f"{prefix}layer") and name.endswith(".weight") for name in named
        )
        weights = [named[f"{prefix}layer{d}.weight"] for d in range(1, depth + 1)]
        biases = [named[f"{prefix}layer{d}.bias"] for d in range(1, depth + 1)]
        sizes = [weights[0].shape[1], *(w.shape[2] for w in weights)]
        flat = [a.reshape(len(a), -1) for pair in zip(weights, biases, strict=True) for a in pair]
        return cls(sizes, np.concatenate(flat, axis=1), activation)


def _orthogonal(rng: np.random.Generator, fan_in: int, fan_out: int) -> np.ndarray:
    """(fan_in, fan_out) with orthonormal columns, or rows where there are fewer of them."""
    tall = rng.standard_normal((max(fan_in, fan_out), min(fan_in, fan_out)))
    q, r = np.linalg.qr(tall)
    q *= np.sign(np.diag(r))  # without this the draw would not be uniform
    return q if fan_in >= fan_out else q.T


def count_parameters(sizes: Sequence[int]) -> int:
    """Weights and biases of one network with these layers."""
    return sum((a + 1) * b for a, b in itertools.pairwise(sizes))


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """The logistic function, by tanh: it cannot overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * logits))


def row_maximum(values: np.ndarray) -> np.ndarray:
    """Largest value along the last, short axis: (..., n) -> (..., 1).

    With that axis in front NumPy compares many rows at once, ten times faster.
    """
    columns = values.reshape(-1, values.shape[-1]).T.copy()
    return columns.max(axis=0).reshape(*values.shape[:-1], 1)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logarithm of the softmax over the last axis."""
    shifted = logits - row_maximum(logits)
    total = np.matmul(np.exp(shifted), np.ones((logits.shape[-1], 1), logits.dtype))
    return shifted - np.log(total)


def _views(parameters: np.ndarray, sizes: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights (runs, in, out) and biases (runs, 1, out) of each layer, sharing memory."""
    runs, start, layers = len(parameters), 0, []
    for fan_in, fan_out in itertools.pairwise(sizes):
        middle, end = start + fan_in * fan_out, start + (fan_in + 1) * fan_out
        weights = parameters[:, start:middle].reshape(runs, fan_in, fan_out)
        biases = parameters[:, middle:end].reshape(runs, 1, fan_out)
        layers.append((weights, biases))
        start = end
    return layers
