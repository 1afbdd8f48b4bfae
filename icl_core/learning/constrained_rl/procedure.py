"""Constrained reinforcement learning on a stack of runs (paper, Equation 3).

Two procedures behind one interface: `penalty` (PPO-penalty, Algorithm 2) and `lagrangian`
(PPO-Lagrange).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.constrained_rl.lagrangian import LagrangianLearner, LagrangianSettings
from icl_core.learning.constrained_rl.penalty import PenaltyLearner, PenaltySettings
from icl_core.learning.engine.costs import ConstraintFunction, no_constraint
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.training import TRAINING_COLUMNS, Job
from icl_core.settings import section, setting


@dataclass(frozen=True)
class ConstrainedRLSettings:
    """Settings of one constrained RL run."""

    procedure: str = setting(
        "penalty",
        "penalty: PPO-penalty (Table 10); lagrangian: PPO-Lagrange (Table 11)",
        choices=("penalty", "lagrangian"),
        selects=True,
    )
    epochs: int = setting(
        500, "rounds of rolling out and learning (m)", at_least=2, at_most=100_000
    )
    penalty: PenaltySettings = section(PenaltySettings, "settings of PPO-penalty")
    lagrangian: LagrangianSettings = section(LagrangianSettings, "settings of PPO-Lagrange")

    def conflict(self) -> str:
        """A policy that was never constrained would pass for a constrained one."""
        if self.procedure != "lagrangian" or self.lagrangian.warm_up < self.epochs:
            return ""
        return (
            f"lagrangian.warm_up: expected fewer than the {self.epochs} epochs, found "
            f"{self.lagrangian.warm_up}; make it smaller or epochs larger"
        )


@dataclass(frozen=True)
class TrainedPolicies:
    """What a constrained RL run leaves behind."""

    snapshots: list[Networks]  # the policies half-way and at the end
    log: dict[str, np.ndarray]  # column of the training log -> (epochs, runs)
    failed: np.ndarray  # (runs,) the epoch after which a run has diverged, 0 where it has not


class ProcedureLearner(Protocol):
    """A procedure between two epochs."""

    @property
    def policy(self) -> Networks:
        """The policies as they are now."""

    def epoch(self) -> dict[str, np.ndarray]:
        """Roll out and learn; how the episodes went: column of the log -> (runs,)."""

    def parts(self) -> Sequence[Part]:
        """All weights that it learns, with the settings of the section `constrained_rl`."""

    def tensors(self) -> dict[str, np.ndarray]:
        """All that the next epoch depends on."""

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""


def train_policies(
    world: World,
    constraint: ConstraintFunction,
    beta: float,
    rngs: Sequence[np.random.Generator],
    settings: ConstrainedRLSettings,
    job: Job | None = None,
) -> TrainedPolicies:
    """Maximise J(r) subject to J(c) <= beta, once for each generator.

    A run that diverges leaves policies of zeros.
    """
    training = _Training(_learner(world, constraint, beta, rngs, settings), settings.epochs)
    failed = (job or Job()).run(training, settings.epochs)
    for snapshot in training.snapshots:  # one may have been taken as the run diverged
        snapshot.parameters[failed > 0] = 0.0
    log = dict(zip(TRAINING_COLUMNS, np.stack(training.rows, axis=1), strict=True))
    return TrainedPolicies(training.snapshots, log, failed)


def blank_policies(world: World, settings: ConstrainedRLSettings, runs: int) -> Networks:
    """Policies of the procedure's shape that have learned nothing: all zeros."""
    rngs = [np.random.default_rng(0)] * runs
    policy = _learner(world, no_constraint, 0.0, rngs, settings).policy
    return policy.like(np.zeros_like(policy.parameters))


def _learner(
    world: World,
    constraint: ConstraintFunction,
    beta: float,
    rngs: Sequence[np.random.Generator],
    settings: ConstrainedRLSettings,
) -> ProcedureLearner:
    if settings.procedure == "penalty":
        return PenaltyLearner(world, constraint, beta, rngs, settings.penalty)
    return LagrangianLearner(world, constraint, beta, rngs, settings.lagrangian)


class _Training:
    """A learner with its log and snapshots: what can be interrupted."""

    unit = "epoch"

    def __init__(self, learner: ProcedureLearner, epochs: int):
        self.learner, self.epochs = learner, epochs
        self.snapshots: list[Networks] = []
        self.rows: list[np.ndarray] = []  # of the log, (columns, runs) each

    @property
    def done(self) -> int:
        return len(self.rows)

    def advance(self) -> dict[str, np.ndarray]:
        """One epoch more."""
        row = self.learner.epoch()
        self.rows.append(np.stack([row[name] for name in TRAINING_COLUMNS]))
        if self.done in (self.epochs // 2, self.epochs):
            self.snapshots.append(self.learner.policy.copy())
        return {"reward": row["return"], "J": row["constraint_value"]}

    def parts(self) -> Sequence[Part]:
        return self.learner.parts()

    def tensors(self) -> dict[str, np.ndarray]:
        named = {"training.log": np.stack(self.rows)}
        if self.snapshots:
            snapshots = [snapshot.parameters for snapshot in self.snapshots]
            named["training.snapshots"] = np.stack(snapshots)
        return named | self.learner.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        self.rows = list(named["training.log"])
        saved = named.get("training.snapshots", np.empty((0, 0)))
        self.snapshots = [self.learner.policy.like(parameters) for parameters in saved]
        self.learner.restore(named)
