"""A first-in first-out memory of steps, one ring per run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.learning.actions import Actions
from icl_core.learning.ppo import Batch


class StepBuffer:
    """Holds up to `capacity` steps per run and draws minibatches from them.

    Samples of earlier epochs keep the log-probabilities of the policy that took
    them (FACTS of the authors' code: the buffer outlives the epoch).
    """

    def __init__(self, runs: int, capacity: int, state_size: int, actions: Actions):
        self.states = np.zeros((runs, capacity, state_size), np.float32)
        self.actions = np.zeros((runs, capacity, *actions.shape), actions.dtype)
        self.old_log_probabilities = np.zeros((runs, capacity), np.float32)
        self.targets = np.zeros((runs, capacity), np.float32)
        self.written = np.zeros(runs, np.int64)
        self.capacity = capacity

    def clear(self) -> None:
        self.written[:] = 0

    def add(self, steps: Batch, mask: np.ndarray) -> None:
        """Append each run's masked steps; the oldest make room."""
        for run, taken in enumerate(mask):
            rows = np.flatnonzero(taken)[-self.capacity :]
            at = (self.written[run] + np.arange(len(rows))) % self.capacity
            self.states[run, at] = steps.states[run, rows]
            self.actions[run, at] = steps.actions[run, rows]
            self.old_log_probabilities[run, at] = steps.old_log_probabilities[run, rows]
            self.targets[run, at] = steps.targets[run, rows]
            self.written[run] += len(rows)

    def draw(self, rngs: Sequence[np.random.Generator], batches: int, size: int) -> list[Batch]:
        """Minibatches drawn uniformly from each run's steps."""
        held = np.minimum(self.written, self.capacity)
        picks = np.stack(
            [rng.integers(n, size=(batches, size)) for rng, n in zip(rngs, held, strict=True)],
            axis=1,
        )
        run = np.arange(len(rngs))[:, None]
        fields = (self.states, self.actions, self.old_log_probabilities, self.targets)
        gathered = [field[run, picks] for field in fields]
        return [Batch(*(field[k] for field in gathered)) for k in range(batches)]

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of it."""
        parts = ("states", "actions", "old_log_probabilities", "targets", "written")
        return {f"buffer.{part}": getattr(self, part) for part in parts}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.states, self.actions = named["buffer.states"], named["buffer.actions"]
        self.old_log_probabilities = named["buffer.old_log_probabilities"]
        self.targets, self.written = named["buffer.targets"], named["buffer.written"]
