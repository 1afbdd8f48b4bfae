"""Experts: constrained RL on the true constraint, rolled out (paper, App. C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.blanked import only_inputs
from icl_core.demonstrations.trajectories import Trajectories, accumulate, side_by_side
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings, train_policies
from icl_core.learning.engine.costs import constraint_values
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import TRAINING_SCHEMA, Job, log_table
from icl_core.randomness import generators
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
    only_inputs: bool = setting(
        False,
        "experts leave what the constraint sees of their trajectories, and zeros elsewhere, which "
        "take no room: learners, visits and costs are the same",
    )
    seed: int = setting(
        1,
        "seed by which recorded drives are chosen, which all runs share; experts have the seeds of "
        "their runs",
        **SEED,
    )
    constrained_rl: ConstrainedRLSettings = section(
        ConstrainedRLSettings, "as learning.icl.constrained_rl, but for what is set here"
    )


@dataclass(frozen=True)
class Experts:
    """An expert for each run: its demonstrations, and how it was trained."""

    trajectories: Trajectories  # (runs, episodes)
    policy: Networks
    log: pa.Table  # the training log


def train_experts(
    world: World, settings: ExpertSettings, seeds: Sequence[int], job: Job
) -> Experts:
    """Train on the true constraint and keep trajectories whose mean cost is at most beta.

    One expert for each seed, as one stack.
    """
    assert world.true_constraint is not None
    rngs, section = generators(seeds, "expert"), "demonstrations.constrained_rl"
    trained = train_policies(
        world,
        world.true_constraint,
        world.threshold,
        rngs,
        settings.constrained_rl,
        job.of(seeds, section),
    )
    _check_healthy(trained.failed, seeds, section)
    policy = trained.snapshots[-1]
    sets = [
        _feasible_rollouts(world, policy.pick([run]), rng, settings.trajectories).trimmed()
        for run, rng in enumerate(generators(seeds, "demonstrations"))
    ]
    shown = side_by_side(sets)
    if settings.only_inputs:
        shown = only_inputs(world, shown)
    return Experts(shown, policy, log_table(TRAINING_SCHEMA, trained.log, seeds))


def _check_healthy(failed: np.ndarray, seeds: Sequence[int], section: str) -> None:
    """Nobody learns from an expert that has diverged."""
    if failed.any():
        run = int(np.flatnonzero(failed)[0])
        raise InputError(
            f"configuration: key {section}: expected experts whose weights stay bounded, found "
            f"that of seed {seeds[run]} diverge after epoch {failed[run]}; give a smaller step "
            "size, or leave the seed out"
        )


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
