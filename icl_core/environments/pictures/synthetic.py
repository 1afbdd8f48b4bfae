"""Pictures of gridworlds' and CartPole's states."""

from __future__ import annotations

import numpy as np

from icl_core.environments.cartpole import X_LIMIT, CartPole
from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.environments.pictures import BLUE, DARK, GREEN, GREY, RED, WHITE

CELL = 32  # pixels per cell
SCALE = 100  # pixels per metre


def picture(world: Gridworld | CartPole, state: np.ndarray) -> np.ndarray:
    """The grid from above, or the track from the side."""
    if isinstance(world, Gridworld):
        return _gridworld(world, state)
    return _cartpole(world, state)


def _gridworld(world: Gridworld, state: np.ndarray) -> np.ndarray:
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


def _cartpole(world: CartPole, state: np.ndarray) -> np.ndarray:
    """The track with the true constraint in red (for both actions; half a tone for one)."""
    height, width = 200, int(2 * X_LIMIT * SCALE)
    ground = 150
    image = np.full((height, width, 3), WHITE, dtype=np.uint8)
    x = (np.arange(width) + 0.5) / SCALE - X_LIMIT
    values = [world.true_constraint(np.stack([x, np.full(width, a)], axis=-1)) for a in (0, 1)]
    share = np.mean(values, axis=0)[:, None]
    image[ground:] = np.rint((1 - share) * GREY + share * RED).astype(np.uint8)
    centre, angle = (state[0] + X_LIMIT) * SCALE, state[2]
    rows, columns = np.mgrid[:height, :width]
    image[(np.abs(columns - centre) <= 25) & (np.abs(rows - ground + 10) <= 10)] = DARK
    # The pole: pixels near the segment from the cart's top upwards.
    along = (columns - centre) * np.sin(angle) + (ground - 20 - rows) * np.cos(angle)
    across = (columns - centre) * np.cos(angle) - (ground - 20 - rows) * np.sin(angle)
    image[(along >= 0) & (along <= 2 * world.half_length * SCALE) & (np.abs(across) <= 4)] = BLUE
    return image
