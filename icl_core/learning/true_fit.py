"""What a network can hold at best: the true constraint, learned from itself (Tables 13 and 14).

No method is given the true constraint. Fitting a network straight to it bounds
from below the error (CMSE) that any method could reach with that network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.environments.world import World
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.training import Job
from icl_core.randomness import generators
from icl_core.settings import LAYERS, NAME, RATE, setting

FIT_SCHEMA = pa.schema([("seed", pa.int32()), ("step", pa.int32()), ("cmse", pa.float64())])
RECORDS = 100  # rows of a seed's log, the last one after the last step


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the network", **LAYERS)
    learning_rate: float = setting(5e-4, "step size", **RATE)
    steps: int = setting(
        20_000, "steps of Adam, each on all nodes of the grid", at_least=1, at_most=10_000_000
    )


@dataclass(frozen=True)
class TrueFitsSettings:
    """Which networks are fitted to which true constraints, one job for each pair."""

    environments: tuple[str, ...] = setting((), "worlds with a true constraint", each_once=True)
    architectures: dict[str, tuple[int, ...]] = setting(
        {}, "layers by the architecture's name", **LAYERS, **NAME
    )
    learning_rate: float = setting(5e-4, "step size", **RATE)
    steps: int = setting(
        20_000, "steps of Adam, each on all nodes of the grid", at_least=1, at_most=10_000_000
    )


def fit_true_constraint(
    world: World, seeds: Sequence[int], settings: FitSettings, job: Job | None = None
) -> tuple[Networks, pa.Table]:
    """Fit a stack of networks to the true constraint on the grid's nodes; and their errors.

    The loss is the CMSE itself, c = sigmoid(output), and the networks start as the
    methods' do. A run that diverges has no error (nan) from there on.
    """
    fit = _Fit(world, seeds, settings)
    failed = (job or Job()).of(seeds, "true_fits").run(fit, settings.steps)
    return fit.networks, _table(fit.records, seeds, failed)


class _Fit:
    """The state of a fit between two rows of its log."""

    unit = "step"

    def __init__(self, world: World, seeds: Sequence[int], settings: FitSettings):
        nodes, true = world.grid.nodes.astype(np.float32), world.true_on_grid
        assert true is not None
        self.true, self.settings, self.done = true, settings, 0
        self.inputs = np.broadcast_to(nodes, (len(seeds), *nodes.shape))
        sizes = (world.input_size, *settings.hidden, 1)
        self.networks = Networks.initialise(generators(seeds, "supervised"), sizes)
        self.optimiser = Adam(self.networks.parameters, settings.learning_rate)
        self.records = [self._errors()]

    def advance(self) -> dict[str, np.ndarray]:
        """Steps up to the next row of the log."""
        while True:
            self._step()
            self.done += 1
            if _recorded(self.done, self.settings.steps):
                break
        self.records.append(self._errors())
        return {"cmse": self.records[-1][1:]}

    def _step(self) -> None:
        logits, trace = self.networks.trace(self.inputs)
        c = sigmoid(logits[..., 0].astype(np.float64))
        slope = (2.0 / len(self.true)) * (c - self.true) * c * (1.0 - c)
        gradient = self.networks.gradient(trace, slope[..., None].astype(np.float32))
        self.optimiser.step(self.networks.parameters, gradient)

    def _errors(self) -> np.ndarray:
        """(1 + runs,) the step, and the error of each run."""
        c = sigmoid(self.networks.trace(self.inputs)[0][..., 0].astype(np.float64))
        return np.concatenate([[self.done], np.mean((c - self.true) ** 2, axis=1)])

    def parts(self) -> list[Part]:
        """The weights."""
        return [Part("learning_rate", self.networks.parameters, self.optimiser)]

    def tensors(self) -> dict[str, np.ndarray]:
        named = {"networks": self.networks.parameters, "records": np.stack(self.records)}
        return named | self.optimiser.tensors("adam.")

    def restore(self, named: dict[str, np.ndarray]) -> None:
        self.networks.parameters[...] = named["networks"]
        self.optimiser.restore(named, "adam.")
        self.records = list(named["records"])
        self.done = int(self.records[-1][0])


def _recorded(step: int, steps: int) -> bool:
    return step * RECORDS // steps != (step - 1) * RECORDS // steps or step == steps


def _table(records: list[np.ndarray], seeds: Sequence[int], failed: np.ndarray) -> pa.Table:
    """Rows by seed and step."""
    steps, *errors = np.stack(records, axis=1)  # (1 + runs, records)
    of_runs = zip(errors, failed, strict=True)
    errors = [np.where((end > 0) & (steps >= end), np.nan, own) for own, end in of_runs]
    columns = [np.repeat(seeds, len(steps)), np.tile(steps, len(seeds)), np.concatenate(errors)]
    arrays = [pa.array(c).cast(f.type) for c, f in zip(columns, FIT_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=FIT_SCHEMA)


def final_errors(table: pa.Table) -> dict[int, float]:
    """CMSE after the last step, by seed; without those that have failed."""
    last = {row["seed"]: row["cmse"] for row in _rows(table)}  # later rows win
    return {seed: error for seed, error in last.items() if error == error}


def failed_fits(table: pa.Table) -> dict[int, int]:
    """The seeds whose fit has diverged, each with the step after which."""
    undefined = [row for row in _rows(table) if row["cmse"] != row["cmse"]]
    return {row["seed"]: row["step"] for row in reversed(undefined)}  # the first wins


def _rows(table: pa.Table) -> list[dict]:
    return table.sort_by([("seed", "ascending"), ("step", "ascending")]).to_pylist()
