"""The gap to the vehicle in front at which a recovered constraint ends."""

from __future__ import annotations

import numpy as np

from icl_core.environments.world import World

BOUNDARY = 0.5  # of the constraint function
SMALL = 10.0  # m: the forbidden gaps must begin below this; far ones are no headway


def boundary_gap(world: World, constraint: np.ndarray, speed: float) -> float:
    """The gap [m] up to which a constraint (speeds, gaps) is at least 0.5; nan where none is.

    Read from small gaps upwards, between nodes by straight lines. Gaps that are forbidden
    only beyond `SMALL` do not count; neither does a constraint that never falls below 0.5,
    for which there is no boundary on the grid.
    """
    speeds, gaps = (axis.physical for axis in world.grid.axes)
    curve = np.array([np.interp(speed, speeds, column) for column in constraint.T])
    forbidden = curve >= BOUNDARY
    first = int(forbidden.argmax())
    if not forbidden[first] or gaps[first] > SMALL or forbidden[first:].all():
        return float("nan")
    allowed = first + int((~forbidden[first:]).argmax())
    high, low = curve[allowed - 1], curve[allowed]
    share = (high - BOUNDARY) / (high - low)
    return float(gaps[allowed - 1] + share * (gaps[allowed] - gaps[allowed - 1]))
