"""Checks on the demonstrations themselves."""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.files import read_demonstrations
from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import Evidence, MissingError
from icl_core.measuring.claims.intervals import mean_of
from icl_core.measuring.claims.verdicts import Effect


@reads("demonstrations")
def demonstrations_keep_threshold(evidence: Evidence) -> list[Effect]:
    """Their mean discounted true constraint value is at most beta.

    The interval is over trajectories; all learners share one set of them.
    """
    parts = []
    for name in evidence.experiments:
        world = evidence.world(name)
        if world.true_constraint is None:
            raise MissingError(f"nobody knows the true constraint of {name}")
        taken = read_demonstrations(evidence.demonstrations(name), world)
        values = world.true_constraint(world.constraint_inputs(taken.states, taken.actions))
        weights = world.discount ** np.arange(values.shape[-1])
        costs = np.where(taken.mask, values, 0) @ weights
        room = 1 - costs.ravel() / world.threshold
        unit = "share of beta that is left"
        parts.append(
            evidence.effect(evidence.title(name), unit, mean_of, [room], of="demonstrations")
        )
    return parts
