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
from icl_core.learning.engine.divergence import (
    FAILED,
    AllFailedError,
    Part,
    all_failed,
    hold,
    lost,
    warning,
)
from icl_core.progress import Progress

Tensors = dict[str, np.ndarray]

TRAINING_SCHEMA = pa.schema(
    [
        ("seed", pa.int32()),
        ("epoch", pa.int32()),
        ("return", pa.float32()),  # mean undiscounted reward of the epoch's episodes
        ("constraint_value", pa.float32()),  # J(c), mean discounted cost
        ("violations", pa.float32()),  # share of episodes with a cost of at least beta
        ("length", pa.float32()),
        ("entropy", pa.float32()),
        ("steps", pa.int64()),  # made in the environment in this epoch
    ]
)

TRAINING_COLUMNS = TRAINING_SCHEMA.names[2:]  # what a learner records, beside seed and epoch

ADJUSTMENT_SCHEMA = pa.schema(
    [
        ("seed", pa.int32()),
        ("step", pa.int32()),
        ("loss", pa.float32()),
        ("agent_value", pa.float32()),  # J_mix(c)
        ("expert_value", pa.float32()),  # J_E(c)
        ("expert_satisfaction", pa.float32()),  # share of demonstrations with a cost <= beta
        ("multiplier", pa.float32()),  # lambda, the weight of the demonstrations' term
    ]
)
LOG_EVERY = 25  # steps of an adjustment from one row of its log to the next


def log_table(
    schema: pa.Schema,
    columns: Mapping[str, np.ndarray],
    seeds: Sequence[int],
    failed: np.ndarray | None = None,
    every: int = 1,
) -> pa.Table:
    """Columns (steps, runs) as rows, ordered by seed and step; steps count from 1.

    A run that has failed is not in it. Of the steps the first is kept, each `every`-th after it,
    and the last.
    """
    steps, runs = next(iter(columns.values())).shape
    going = ~lost(failed, runs)
    kept = np.union1d(np.arange(0, steps, every), np.arange(steps)[-1:])
    arrays = {
        schema.names[0]: np.repeat(np.asarray(seeds)[going], len(kept)),
        schema.names[1]: np.tile(kept + 1, going.sum()),
        **{name: values[kept].T[going].ravel() for name, values in columns.items()},
    }
    return pa.table(
        {name: pa.array(arrays[name]).cast(schema.field(name).type) for name in schema.names}
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
        self._last, self._warned = time.monotonic(), False
        self._parts: list[Store] = []

    def load(self) -> Tensors | None:
        """The state, where there is one of this very job."""
        try:
            found = read_provenance(self.path)
            found.pop(ARTIFACT, None)  # where it lies
            return read_tensors(self.path) if found == self.provenance else None
        except InputError:
            return None

    def save_if_due(
        self, state: Callable[[], Tensors], say: Callable[[str], object] = lambda line: None
    ) -> None:
        """Save the state if the last saving is long enough ago.

        Where that fails (a full disk) it is said once: training needs no saved state.
        """
        if time.monotonic() - self._last < self.seconds:
            return
        try:
            write_tensors(self.path, state(), self.provenance)
        except OSError as error:
            if not self._warned:
                say(
                    f"warning: {self.path}: expected to save the state of this job, found "
                    f"{error.strerror or error}; it goes on, and if killed begins anew; make room"
                )
            self._warned = True
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
    def unit(self) -> str:
        """What a step is called: "epoch"."""

    @property
    def done(self) -> int:
        """Steps made."""

    def advance(self) -> dict[str, np.ndarray]:
        """One step more; numbers (runs,) to report of it."""

    def parts(self) -> Sequence[Part]:
        """All weights that it learns: they are looked at after each step."""

    def tensors(self) -> Tensors:
        """The state."""

    def restore(self, named: Tensors) -> None:
        """Go back to a state."""


@dataclass(frozen=True)
class Job:
    """What surrounds training: who hears of its progress, where its state is saved, and whose
    runs they are.

    A plain `Job()` is silent and saves nothing, for tests and notebooks.
    """

    progress: Progress = field(default_factory=Progress.silent)
    store: Store | None = None
    seeds: Sequence[int] = ()  # of the runs, to name one that fails
    section: str = ""  # of the configuration, whose settings the learner was built with
    # Hears how each iteration went, columns of (runs,) each; False ends the learning.
    listener: Callable[[int, Mapping[str, np.ndarray]], bool | None] | None = None

    def of(self, seeds: Sequence[int], section: str) -> Job:
        """The same for the training of these seeds, with the settings of this section."""
        return replace(self, seeds=tuple(seeds), section=section)

    def part(self, name: str) -> Job:
        """One training among several: a state of its own is saved for it."""
        return replace(self, store=self.store.part(name) if self.store else None)

    def tell(self, iteration: int, **columns: np.ndarray) -> bool:
        """Say how an iteration went; whether learning shall go on."""
        return self.listener is None or self.listener(iteration, columns) is not False

    def run(self, learner: Learner, total: int) -> np.ndarray:
        """Advance until `total` steps are done, from the saved state where there is one.

        Returns which runs have failed, (runs,): after how many steps, 0 where they have not.
        """
        self.progress.total = total
        failed = np.zeros(len(learner.parts()[0].parameters), np.int64)
        saved = self.store.load() if self.store else None
        if saved is not None:
            failed = saved[FAILED]
            learner.restore(saved)
            if failed.any():
                hold(learner.parts(), failed > 0)
        while learner.done < total:
            # What overflows in a run that diverges is found in its weights.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                row = learner.advance()
                self._stop_diverged(learner, failed)
            numbers = {name: values[failed == 0].mean() for name, values in row.items()}
            self.progress(learner.done, **numbers)
            if self.store:
                self.store.save_if_due(
                    lambda: learner.tensors() | {FAILED: failed}, self.progress.say
                )
        return failed

    def _stop_diverged(self, learner: Learner, failed: np.ndarray) -> None:
        """Note in `failed` (runs,) who has diverged in this step, and hold them; say so."""
        parts = learner.parts()
        found = [part.diverged() for part in parts]
        new = np.logical_or.reduce(found)
        if not new.any():
            return
        failed[new] = learner.done
        settings = [part.setting for part, bad in zip(parts, found, strict=True) if bad.any()]
        self.report(failed, new, learner.unit, settings)
        hold(parts, new)

    def report(
        self, failed: np.ndarray, new: np.ndarray, unit: str, settings: Sequence[str]
    ) -> None:
        """Say which runs `new` (runs,) bool have just failed; an error where none is left.

        `failed` (runs,) counts in `unit`s; `settings` of the job's section are to be looked at.
        """
        keys = [f"{self.section}.{name}" if self.section else name for name in settings]
        names = [str(seed) for seed in self.seeds or (f"number {k + 1}" for k in range(len(new)))]
        when = [f"after {unit} {step}" for step in failed]
        if failed.all():
            raise AllFailedError(all_failed(zip(names, when, strict=True), keys), failed)
        for run in np.flatnonzero(new).tolist():
            self.progress.say(warning(names[run], when[run], keys))
