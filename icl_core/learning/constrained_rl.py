"""Constrained reinforcement learning on a stack of runs (paper, Equation 3 and Algorithm 2).

Two procedures behind one interface: `penalty` (PPO-penalty) and `lagrangian` (PPO-Lagrange).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.costs import ConstraintFunction
from icl_core.learning.lagrangian import LagrangianLearner, LagrangianSettings
from icl_core.learning.logs import TRAINING_COLUMNS
from icl_core.learning.networks import Networks
from icl_core.learning.penalty import PenaltyLearner
from icl_core.learning.ppo import PPOSettings
from icl_core.learning.resume import Store, run_to_end

PROCEDURES = {"penalty": PenaltyLearner, "lagrangian": LagrangianLearner}


@dataclass(frozen=True)
class ConstrainedRLSettings:
    """Settings of one constrained RL run."""

    epochs: int = 500  # m
    procedure: str = "penalty"  # or "lagrangian"
    # Of the penalty:
    episodes: int = 20  # rolled out per epoch
    truncate: bool = True  # end an episode, for learning, when its cost reaches beta
    feasibility_rate: float = 0.0  # eta_1 of the projection (paper: 2.5e-5); 0 leaves it out
    ppo: PPOSettings = field(default_factory=PPOSettings)
    lagrangian: LagrangianSettings = field(default_factory=LagrangianSettings)


@dataclass(frozen=True)
class TrainedPolicies:
    """What a constrained RL run leaves behind."""

    snapshots: list[Networks]  # the policies half-way and at the end
    log: dict[str, np.ndarray]  # column of the training log -> (epochs, runs)


def train_policies(
    world: World,
    constraint: ConstraintFunction,
    rngs: Sequence[np.random.Generator],
    settings: ConstrainedRLSettings,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> TrainedPolicies:
    """Maximise J(r) subject to J(c) <= beta, once for each generator."""
    learner = PROCEDURES[settings.procedure](world, constraint, rngs, settings)
    training = _Training(learner, settings.epochs)
    run_to_end(training, settings.epochs, progress, store)
    log = dict(zip(TRAINING_COLUMNS, np.stack(training.rows, axis=1), strict=True))
    return TrainedPolicies(training.snapshots, log)


def blank_policies(world: World, settings: ConstrainedRLSettings, runs: int) -> Networks:
    """Policies of the procedure's shape that have learned nothing: all zeros."""
    rngs = [np.random.default_rng(0)] * runs
    policy = PROCEDURES[settings.procedure](world, None, rngs, settings).policy
    return policy.like(np.zeros_like(policy.parameters))


class _Training:
    """A learner with its log and snapshots: what can be interrupted."""

    def __init__(self, learner, epochs: int):
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

    def tensors(self) -> dict[str, np.ndarray]:
        named = {"training.log": np.stack(self.rows)}
        if self.snapshots:
            snapshots = [snapshot.parameters for snapshot in self.snapshots]
            named["training.snapshots"] = np.stack(snapshots)
        return named | self.learner.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        self.rows = list(named["training.log"])
        saved = named.get("training.snapshots", [])
        self.snapshots = [self.learner.policy.like(parameters) for parameters in saved]
        self.learner.restore(named)
