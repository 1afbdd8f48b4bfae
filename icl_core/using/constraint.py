"""A learned constraint, to ask, to draw, to keep: c(s, a) from 0, allowed, to 1, forbidden.

Neither PyTorch nor Matplotlib is needed to load a constraint and to ask it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icl_core.errors import InputError
from icl_core.learning.engine.networks import sigmoid
from icl_core.using.portable import PortableConstraint

if TYPE_CHECKING:
    import torch
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Constraint(PortableConstraint):
    """A learned constraint; its value is the mean over the seeds that it was learned with.

    Observations are (..., size). Actions are (..., size), or (...) where one number is an action.
    """

    def predict(self, obs: Any, act: Any) -> np.ndarray:
        """c(obs, act): float32 from 0 to 1, of the batch's shape; of a single pair a number."""
        return _mean(self.predict_all(obs, act))

    def predict_all(self, obs: Any, act: Any) -> np.ndarray:
        """c of every seed by itself, (seeds, ...) float32."""
        return self.values_at(self.seen(obs, act))

    def disagreement(self, obs: Any, act: Any) -> np.ndarray:
        """The standard deviation of c over the seeds; 0 where there is only one."""
        return _std(self.predict_all(obs, act))

    def predict_with_disagreement(self, obs: Any, act: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both of them for the price of one."""
        values = self.predict_all(obs, act)
        return _mean(values), _std(values)

    def values_at(self, inputs: np.ndarray) -> np.ndarray:
        """c of every seed at what the constraint sees: (..., inputs) -> (seeds, ...) float32."""
        rows = np.asarray(inputs, np.float32).reshape(-1, inputs.shape[-1])
        logits = self.networks(np.broadcast_to(rows, (self.networks.runs, *rows.shape)))
        values = sigmoid(logits[..., 0].astype(np.float64)).astype(np.float32)
        return values.reshape(self.networks.runs, *inputs.shape[:-1])

    def to_torch(self) -> torch.nn.Module:
        """The same function as a module: forward(obs, act) gives the mean c, with gradients.

        Its weights are copies that no optimiser moves, unless `requires_grad_` says so.
        """
        if self.inputs.function is not None:
            raise InputError(
                "inputs: expected a linear function of observation and action, found a Python "
                "function, which PyTorch cannot follow; learn with inputs chosen by name"
            )
        from icl_core.using.torch_copy import TorchConstraint

        return TorchConstraint(self.networks, self.inputs)

    def plot(
        self,
        demonstrations: Any = None,
        path: str | os.PathLike | None = None,
        ax: Axes | None = None,
        inputs: Sequence[str] | None = None,
    ) -> Figure:
        """Draw c over one of its inputs as a curve, or over two as a map.

        `demonstrations` are Trajectories, or have a method `trajectories()` that returns some.
        `inputs` names what is drawn, across and up; other inputs are held at their middle, and
        the title says where. `path` writes the picture, by its ending.
        """
        # By name: the code of a job that only asks a constraint does not count how it is drawn.
        drawing = importlib.import_module("icl_core.using.drawing")
        return drawing.draw(self, demonstrations, path, ax, inputs)

    def __repr__(self) -> str:
        failed = f", {len(self.failed_seeds)} failed" if self.failed_seeds else ""
        return (
            f"Constraint({', '.join(self.inputs.names)}; beta={self.beta:g}, "
            f"discount={self.discount:g}, {len(self.seeds)} seeds{failed})"
        )

    def seen(self, obs: Any, act: Any) -> np.ndarray:
        """What the constraint sees of them, (..., inputs), once they have the right sizes."""
        observations, actions = _numbers("obs", obs), _numbers("act", act)
        size, batch = self.inputs.observation_size, observations.shape[:-1]
        if observations.ndim == 0 or observations.shape[-1] != size:
            raise _wrong("obs", f"(..., {size})", observations)
        own = self.inputs.action_size
        shapes = [(*batch, own), batch] if own == 1 else [(*batch, own)]
        if actions.shape not in shapes:
            raise _wrong("act", " or ".join(map(str, shapes)), actions)
        seen = self.inputs(observations, actions)
        k = len(self.inputs.axes)
        if seen.shape != (*batch, k) or not np.isfinite(seen).all():
            raise InputError(
                f"inputs: expected {k} finite numbers for each observation and action, found "
                f"shape {seen.shape} from the function; correct it"
            )
        return seen


def _numbers(name: str, given: Any) -> np.ndarray:
    found = np.asarray(given)
    if found.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected numbers, found {found.dtype}; give an array of them")
    with np.errstate(over="ignore"):
        finite = np.isfinite(found.astype(np.float32))
    if not finite.all():
        where = tuple(int(k) for k in np.argwhere(~finite)[0])
        raise InputError(
            f"{name}: expected finite numbers, found {found[where]} at index {where}; leave such "
            "steps out"
        )
    return found


def _wrong(name: str, expected: str, found: np.ndarray) -> InputError:
    return InputError(
        f"{name}: expected an array of shape {expected}, found {found.shape}; give what the "
        "environment gives that the constraint was learned in"
    )


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=0, dtype=np.float64).astype(np.float32)


def _std(values: np.ndarray) -> np.ndarray:
    return values.std(axis=0, dtype=np.float64).astype(np.float32)
