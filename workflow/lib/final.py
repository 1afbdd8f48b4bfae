"""How a method's result is written: the same files for every method."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.learning.networks import Networks
from icl_core.measuring.loading import rollouts_table
from workflow.lib.stage import Stage


def write_final(
    stage: Stage,
    constraint: Networks,
    policy: Networks,
    log: pa.Table,
    rollouts: Trajectories,
    **more: np.ndarray,
) -> None:
    """Write the constraint (with `more` of it), the policy, its log and its rollouts."""
    provenance = stage.provenance()
    write_tensors(stage.output.constraint, constraint.tensors() | more, provenance)
    write_tensors(stage.output.policy, policy.tensors(), provenance)
    write_table(stage.output.training, log, provenance)
    write_table(stage.output.rollouts, rollouts_table(rollouts, stage.seeds), provenance)
