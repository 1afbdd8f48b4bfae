"""Long training that can be killed: its state is saved beside its outputs and taken up again.

Also the logs that training leaves: long tables with one row per seed and step.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from icl_core.artifacts import ARTIFACT, read_provenance, read_tensors, write_tensors
from icl_core.errors import InputError
from icl_core.progress import Progress

Tensors = dict[str, np.ndarray]

TRAINING_SCHEMA = pa.schema(
    [
        ("seed", pa.int32()),
        ("epoch", pa.int32()),
        ("return", pa.float64()),  # mean undiscounted reward of the epoch's episodes
        ("constraint_value", pa.float64()),  # J(c), mean discounted cost
        ("violations", pa.float64()),  # share of episodes with a cost of at least beta
        ("length", pa.float64()),
        ("entropy", pa.float64()),
    ]
)

TRAINING_COLUMNS = TRAINING_SCHEMA.names[2:]  # what a learner records, beside seed and epoch

ADJUSTMENT_SCHEMA = pa.schema(
    [
        ("seed", pa.int32()),
        ("step", pa.int32()),
        ("loss", pa.float64()),
        ("agent_value", pa.float64()),  # J_mix(c)
        ("expert_value", pa.float64()),  # J_E(c)
        ("expert_satisfaction", pa.float64()),  # share of demonstrations with a cost <= beta
        ("multiplier", pa.float64()),  # lambda, the weight of the demonstrations' term
    ]
)


def log_table(
    schema: pa.Schema, columns: Mapping[str, np.ndarray], seeds: Sequence[int]
) -> pa.Table:
    """Columns (steps, runs) as rows, ordered by seed and step; steps count from 1."""
    steps, runs = next(iter(columns.values())).shape
    arrays = {
        schema.names[0]: np.repeat(np.asarray(seeds), steps),
        schema.names[1]: np.tile(np.arange(1, steps + 1), runs),
        **{name: values.T.ravel() for name, values in columns.items()},
    }
    return pa.table(
        {name: pa.array(arrays[name], schema.field(name).type) for name in schema.names}
    )


class Store:
    """The saved state of one job: one file, or one for each of its parts.

    Saving is a matter of time and not of progress, so that it can never change a result.
    A state is taken up only by a job with the same code, settings and inputs (`provenance`);
    any other, or a broken file, counts as none.
    """

    def __init__(self, path: str | os.PathLike, provenance: Mapping, seconds: float = 60.0):
        self.path, self.seconds = Path(path), seconds
        self.provenance = json.loads(json.dumps(provenance))
        self._last = time.monotonic()
        self._parts: list[Store] = []

    def load(self) -> Tensors | None:
        """The state, where there is one of this very job."""
        try:
            found = read_provenance(self.path)
            found.pop(ARTIFACT, None)  # where it lies
            return read_tensors(self.path) if found == self.provenance else None
        except InputError:
            return None

    def save_if_due(self, state: Callable[[], Tensors]) -> None:
        """Save the state if the last saving is long enough ago."""
        if time.monotonic() - self._last >= self.seconds:
            write_tensors(self.path, state(), self.provenance)
            self._last = time.monotonic()

    def part(self, name: str) -> Store:
        """The state of one training among several of the job, in a file of its own."""
        path = self.path.with_stem(f"{self.path.stem}-{name}")
        self._parts.append(Store(path, self.provenance, self.seconds))
        return self._parts[-1]

    def clear(self) -> None:
        """The job is done: nothing to take up any more."""
        for part in self._parts:
            part.clear()
        self.path.unlink(missing_ok=True)


class Learner(Protocol):
    """What can be interrupted: all that its next step depends on is in `tensors`."""

    @property
    def done(self) -> int:
        """Steps made."""

    def advance(self) -> dict[str, np.ndarray]:
        """One step more; numbers (runs,) to report of it."""

    def tensors(self) -> Tensors:
        """The state."""

    def restore(self, named: Tensors) -> None:
        """Go back to a state."""


@dataclass(frozen=True)
class Job:
    """What surrounds training: who hears of its progress, and where its state is saved.

    A plain `Job()` is silent and saves nothing, for tests and notebooks.
    """

    progress: Progress = field(default_factory=Progress.silent)
    store: Store | None = None

    def part(self, name: str) -> Job:
        """One training among several: a state of its own is saved for it."""
        return replace(self, store=self.store.part(name) if self.store else None)

    def run(self, learner: Learner, total: int) -> None:
        """Advance until `total` steps are done, from the saved state where there is one."""
        self.progress.total = total
        saved = self.store.load() if self.store else None
        if saved is not None:
            learner.restore(saved)
        while learner.done < total:
            row = learner.advance()
            self.progress(learner.done, **{name: values.mean() for name, values in row.items()})
            if self.store:
                self.store.save_if_due(learner.tensors)
