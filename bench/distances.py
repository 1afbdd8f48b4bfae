"""NAD on grids that are larger than the paper's: by a flow between neighbours, and by POT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bench.timing import Row, in_turn, time_row
from icl_core.demonstrations.accruals import cost_by_flow, cost_by_pot

SHARED, LARGE = 28, 50  # cells along a side: where both can be timed, and for the flow alone
BAR = 1.0  # seconds, for the large one
REPEATS = 5


def rows() -> list[Row]:
    """Both ways on the smaller grid, and the flow on the larger one; every cell is visited."""
    small, large = visited(SHARED), visited(LARGE)
    jobs = [(cost_by_flow, small), (cost_by_pot, small), (cost_by_flow, large)]
    turns = [partial(once, *job) for job in jobs]
    turns[0](), turns[1]()  # the first time, their libraries are imported
    flow, pot, whole = in_turn(REPEATS, *turns)
    what = "NAD on {0} x {0} cells, as a flow, takes"
    return [
        time_row(what.format(SHARED), flow, pot, "by POT"),
        time_row(what.format(LARGE), whole, BAR, "wanted", 1.0),
    ]


def once(cost: Callable[..., float], accruals: Sequence[np.ndarray]) -> int:
    """One distance."""
    cost(*accruals)
    return 1


def visited(side: int) -> list[np.ndarray]:
    """Two accruals of which no two cells are alike: the hardest case."""
    rng = np.random.default_rng(side)
    counts = rng.random((2, side, side))
    return [each / each.sum() for each in counts]
