"""Long jobs that can be killed: their state is saved beside their outputs and taken up again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from icl_core.artifacts import read_provenance, read_tensors, write_tensors
from icl_core.errors import InputError

Tensors = dict[str, np.ndarray]


class Store:
    """The saved state of one job, at most one file.

    Saving is a matter of time and not of progress, so that it can never change a result.
    A state is taken up only by a job with the same code, settings and inputs (`provenance`);
    any other, or a broken file, counts as none.
    """

    def __init__(self, path: str | os.PathLike, provenance: Mapping, seconds: float = 60.0):
        self.path, self.seconds = Path(path), seconds
        self.provenance = json.loads(json.dumps(provenance))
        self._last = time.monotonic()

    def load(self) -> Tensors | None:
        """The state, where there is one of this very job."""
        try:
            same = read_provenance(self.path) == self.provenance
            return read_tensors(self.path) if same else None
        except InputError:
            return None

    def offer(self, state: Callable[[], Tensors]) -> None:
        """Save the state if the last saving is long enough ago."""
        if time.monotonic() - self._last >= self.seconds:
            write_tensors(self.path, state(), self.provenance)
            self._last = time.monotonic()

    def clear(self) -> None:
        """The job is done: nothing to take up any more."""
        self.path.unlink(missing_ok=True)


class Learner(Protocol):
    """What can be interrupted: all that its next step depends on is in `tensors`."""

    done: int  # steps made

    def advance(self) -> dict[str, np.ndarray]:
        """One step more; numbers (runs,) to tell of it."""

    def tensors(self) -> Tensors:
        """The state."""

    def restore(self, named: Tensors) -> None:
        """Go back to a state."""


def run_to_end(
    learner: Learner,
    total: int,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> None:
    """Advance until `total` steps are done, from the saved state where there is one."""
    saved = store.load() if store else None
    if saved is not None:
        learner.restore(saved)
    while learner.done < total:
        row = learner.advance()
        if progress is not None:
            progress(learner.done, **{name: values.mean() for name, values in row.items()})
        if store:
            store.offer(learner.tensors)
