"""A picture of a gridworld's state."""

from __future__ import annotations

import numpy as np

from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.environments.pictures import BLUE, DARK, GREEN, GREY, RED, WHITE

CELL = 32  # pixels per cell


def picture(world: Gridworld, state: np.ndarray) -> np.ndarray:
    """Constrained cells red, starts grey, goal green, the agent a blue square."""
    cells = np.full((SIZE, SIZE, 3), WHITE, dtype=np.uint8)
    cells[world.starts] = GREY
    cells[world.constrained] = RED
    cells[world.goal] = GREEN
    image = cells.repeat(CELL, axis=0).repeat(CELL, axis=1)
    image[::CELL], image[:, ::CELL] = DARK, DARK
    top, left = (np.rint(state) * CELL + CELL // 4).astype(int)
    image[top : top + CELL // 2, left : left + CELL // 2] = BLUE
    return image
