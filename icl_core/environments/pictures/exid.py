"""A picture of an ExiD state: start and target lane from above, driving upwards."""

from __future__ import annotations

import numpy as np

from icl_core.environments.pictures import BLUE, DARK, GREEN, GREY, WHITE
from icl_core.environments.worlds.exid import ExiD

SCALE = 20  # pixels per metre
WIDTH, HEIGHT = 20.0, 14.0  # metres in view; the target lane's centre line in the middle
CAR = (1.9, 4.6)  # metres, width and length of a usual car
DASH, CYCLE = 3.0, 9.0  # metres: a marking, and from one to the next
ADVANCE = 1.2  # metres per frame that the markings move, 30 m/s
TARGET_LANE = (214, 232, 210)


def picture(world: ExiD, state: np.ndarray) -> np.ndarray:
    """The vehicle where d says, target lane green with its centre line, start lane grey."""
    distance = float(world.observe(state[None])[0, 0])
    start = _start_lane(world, state)
    spacing = abs(start)
    height, width = round(HEIGHT * SCALE), round(WIDTH * SCALE)
    across = (np.arange(width) + 0.5) / SCALE - WIDTH / 2  # metres right of the target's line
    along = ((height - np.arange(height)) - 0.5) / SCALE
    image = np.full((height, width, 3), WHITE, dtype=np.uint8)
    image[:, np.abs(across - start) <= spacing / 2] = GREY
    image[:, np.abs(across) <= spacing / 2] = TARGET_LANE
    dashed = (along + ADVANCE * state[1]) % CYCLE < DASH
    for place, colour, rows in (
        (-np.copysign(spacing / 2, start), DARK, slice(None)),
        (start + np.copysign(spacing / 2, start), DARK, slice(None)),
        (start / 2, DARK, dashed),
        (0.0, GREEN, slice(None)),
    ):
        columns = np.abs(across - place) <= 0.08
        image[np.ix_(np.arange(height)[rows], columns)] = colour
    inside = np.abs(across - distance) <= CAR[0] / 2
    image[np.ix_(np.abs(along - HEIGHT / 2) <= CAR[1] / 2, inside)] = BLUE
    return image


def _start_lane(world: ExiD, state: np.ndarray) -> float:
    """The start lane's centre line, metres right of the target's, kept in view."""
    change, frame = int(state[0]), int(state[1])
    first, last = world.scene.offsets[change], world.scene.offsets[change + 1] - 1
    start = float(world.scene.frames["distance"][min(first + frame, last)])
    return float(np.copysign(np.clip(abs(start), 2.0, 6.0), start))
