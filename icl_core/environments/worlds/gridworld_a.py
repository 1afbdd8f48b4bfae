"""Gridworld A: a bar between the starts and the goal (paper, App. C.1)."""

from __future__ import annotations

from icl_core.environments.gridworld import Gridworld, block

GYMNASIUM_ID = "icl/GridworldA-v0"


class GridworldA(Gridworld):
    """A bar of four cells between the starts and the goal: the way leads round its end."""

    title = "Gridworld (A)"
    horizon = 50
    starts = block(range(0, 3), range(0, 2))
    constrained = block(range(3, 4), range(0, 4))
    goal = (6, 0)
