"""Gridworld B: a block in the middle of the grid (paper, App. C.1)."""

from __future__ import annotations

from icl_core.environments.gridworld import SIZE, Gridworld, block

GYMNASIUM_ID = "icl/GridworldB-v0"


class GridworldB(Gridworld):
    """A block of nine cells in the middle, on the straight way from two edges to a corner."""

    title = "Gridworld (B)"
    horizon = 50
    starts = block(range(0, 2), range(0, SIZE)) | block(range(0, SIZE), range(0, 2))
    constrained = block(range(2, 5), range(2, 5))
    goal = (6, 6)
