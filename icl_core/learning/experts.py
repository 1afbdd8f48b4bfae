"""Experts: constrained RL on the true constraint, rolled out (paper, App. C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings, train_policies
from icl_core.learning.engine.costs import constraint_values
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import TRAINING_SCHEMA, Job, log_table
from icl_core.randomness import generator
from icl_core.settings import COUNT, PATH, POSITIVE, SEED, section, setting

SPARE_SETS = 20  # of fresh trajectories; an expert that needs more is no expert


@dataclass(frozen=True)
class ExpertSettings:
    """Settings of the demonstrations."""

    file: str | None = setting(
        None,
        "a Parquet file of your own, or a Minari data set as minari:name-v0; then no expert is "
        "trained",
        **PATH,
    )
    tolerance: float | None = setting(
        1.0,
        "how far rows of that file may lie from what the world does, by its own measure "
        "(data/README.md); 10: ten times as far; null: they are not compared",
        **POSITIVE,
    )
    trajectories: int = setting(50, "how many are kept", **COUNT)
    seed: int = setting(
        1, "seed of the expert's training; all learners share its trajectories", **SEED
    )
    # An expert that breaks the constraint in few episodes is what makes the constraint visible.
    constrained_rl: ConstrainedRLSettings = section(
        lambda: ConstrainedRLSettings(epochs=1000),
        "as learning.icl.constrained_rl, but for what is set here: twice as long",
    )


@dataclass(frozen=True)
class Expert:
    """An expert's demonstrations and how it was trained."""

    trajectories: Trajectories  # (episodes,)
    policy: Networks  # a stack of one
    log: pa.Table  # the training log


def train_expert(world: World, settings: ExpertSettings, job: Job) -> Expert:
    """Train on the true constraint and keep trajectories whose mean cost is at most beta."""
    assert world.true_constraint is not None
    rngs = [generator(settings.seed, "expert")]
    job = job.of([settings.seed], "demonstrations.constrained_rl")
    trained = train_policies(
        world, world.true_constraint, world.threshold, rngs, settings.constrained_rl, job
    )
    policy = trained.snapshots[-1]
    log = log_table(TRAINING_SCHEMA, trained.log, [settings.seed])
    rng = generator(settings.seed, "demonstrations")
    return Expert(_feasible_rollouts(world, policy, rng, settings.trajectories), policy, log)


def _feasible_rollouts(
    world: World, policy: Networks, rng: np.random.Generator, count: int
) -> Trajectories:
    """Roll out; while the mean cost exceeds beta, replace the costliest trajectory by a fresh one.

    The fresh ones are taken in the order in which they were rolled out, a set at a time. Where
    even `SPARE_SETS` of them do not help, the last set is returned: at smoke scale the expert has
    hardly learned, and the metrics show it.
    """
    kept = roll_out(world, policy, [rng], count)[0]
    costs = _costs(world, kept)
    for _ in range(SPARE_SETS):
        if costs.mean() <= world.threshold:
            break
        spare = roll_out(world, policy, [rng], count)[0]
        chosen, costs = _replaced(costs, _costs(world, spare), world.threshold)
        both = zip(kept.parts(), spare.parts(), strict=True)
        kept = Trajectories(*(np.concatenate(pair)[chosen] for pair in both))
    return kept


def _replaced(
    costs: np.ndarray, fresh: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which to keep, numbered through kept ones and fresh ones, and what these cost: (n,) each."""
    chosen, pooled = np.arange(len(costs)), np.concatenate([costs, fresh])
    for one in range(len(costs), len(pooled)):
        if pooled[chosen].mean() <= threshold:
            break
        chosen[np.argmax(pooled[chosen])] = one
    return chosen, pooled[chosen]


def _costs(world: World, episodes: Trajectories) -> np.ndarray:
    """True discounted cost of each episode."""
    assert world.true_constraint is not None
    values = constraint_values(world, world.true_constraint, episodes[None])[0]
    return accumulate(values, episodes.mask, world.discount)
