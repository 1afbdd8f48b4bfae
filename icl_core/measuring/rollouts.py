"""Episodes of the final policies: what the reported NAD, accruals and returns come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from icl_core.demonstrations import files
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.measuring.loading import ROLLOUTS_SCHEMA
from icl_core.randomness import generators
from icl_core.settings import COUNT, setting


@dataclass(frozen=True)
class MeasuringSettings:
    """How runs are measured."""

    report_episodes: int = setting(
        50, "episodes of the final policy behind the reported NAD and the accruals", **COUNT
    )


def report_rollouts(
    world: World, policy: Networks, seeds: Sequence[int], episodes: int
) -> pa.Table:
    """Roll out a stack of policies, one for each seed.

    The draws are of their own purpose: they are not those by which a policy was chosen.
    """
    return rollouts_table(roll_out(world, policy, generators(seeds, "report"), episodes), seeds)


def rollouts_table(trajectories: Trajectories, seeds: Sequence[int]) -> pa.Table:
    """A stack's rollouts (runs, episodes, steps, ...) as rows, by seed, episode and step."""
    taken = trajectories.mask
    run, episode, step = np.nonzero(taken)
    columns = [
        pa.array(np.asarray(seeds)[run], pa.int32()),
        pa.array(episode, pa.int32()),
        pa.array(step, pa.int32()),
        files.lists(trajectories.states[taken]),
        files.lists(trajectories.actions[taken].reshape(len(step), -1)),
        pa.array(trajectories.rewards[taken], pa.float32()),
    ]
    return pa.Table.from_arrays(columns, schema=ROLLOUTS_SCHEMA)
