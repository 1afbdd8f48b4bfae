"""A frame of HighD as a picture, and an episode as a short film."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from icl_core.disk import atomic
from icl_core.environments.pictures import BLUE, DARK, GREY, WHITE
from icl_core.environments.worlds.highd import GAP, TIME, HighD, V, X

SCALE = 3  # pixels per metre
MARGIN = 2.0  # metres beside the road
CAPTION = 16  # pixels below the road in a film
VERGE, ASPHALT, VEHICLE = (214, 228, 206), (150, 150, 150), (200, 70, 50)


def picture(world: HighD, state: np.ndarray) -> np.ndarray:
    """All of the view: start and goal light, the ego blue, others red, a line across the gap."""
    road = world.road_of(state)
    image = _Canvas(road.length, road.width)
    image.box(0, road.length, 0, road.width, ASPHALT)
    image.box(0, world.scene.entry * road.length, 0, road.width, GREY)
    image.box((1 - world.scene.goal) * road.length, road.length, 0, road.width, GREY)
    for k, y in enumerate(road.markings):
        dashed = 0 < k < len(road.markings) - 1
        for x in np.arange(0, road.length, 12.0):
            image.box(x, min(x + (6.0 if dashed else 12.0), road.length), y - 0.2, y + 0.2, WHITE)
    ego, others = world.boxes(state)
    for box in others:
        image.vehicle(box, VEHICLE)
    if state[GAP] > 0:
        front = state[X] if world.centre_gap else state[X] + ego[2] / 2
        image.box(front, front + state[GAP], ego[1] - 0.2, ego[1] + 0.2, DARK)
    image.vehicle(ego, BLUE)
    return image.pixels


class _Canvas:
    """Boxes in metres, painted on pixels; y points to the left of the road, that is up."""

    def __init__(self, length: float, width: float):
        self.top = width + MARGIN
        rows, columns = round((width + 2 * MARGIN) * SCALE), round(length * SCALE)
        self.pixels = np.full((rows, columns, 3), VERGE, dtype=np.uint8)

    def box(self, left: float, right: float, low: float, high: float, colour) -> None:
        columns = slice(max(round(left * SCALE), 0), max(round(right * SCALE), 0))
        rows = slice(max(round((self.top - high) * SCALE), 0), round((self.top - low) * SCALE))
        self.pixels[rows, columns] = colour

    def vehicle(self, box: np.ndarray, colour) -> None:
        x, y, length, width = box
        self.box(x - length / 2, x + length / 2, y - width / 2, y + width / 2, colour)


def animate(
    world: HighD, states: Sequence[np.ndarray], path: str | os.PathLike, every: int = 3
) -> None:
    """Write the states of an episode (steps, 8) as a GIF, in real time, every third of them."""
    from PIL import Image, ImageDraw  # only whoever makes films needs it

    frames = []
    for state in states[::every]:
        drawn = picture(world, state)
        below = np.full((CAPTION, *drawn.shape[1:]), WHITE, dtype=np.uint8)
        frame = Image.fromarray(np.concatenate([drawn, below]))
        ImageDraw.Draw(frame).text((4, len(drawn)), caption(world, state), fill=DARK)
        # Few colours: no dither, so that pictures differ only where something moved.
        frames.append(frame.quantize(32, dither=Image.Dither.NONE))
    with atomic(path) as temporary:
        duration = round(1000 * world.time_step * every)
        frames[0].save(
            temporary, save_all=True, append_images=frames[1:], duration=duration, loop=0
        )


def caption(world: HighD, state: np.ndarray) -> str:
    """Time, speed and gap in words, and where the traffic comes from."""
    gap = f"{state[GAP]:.0f} m" if state[GAP] >= 0 else "nobody ahead"
    time = state[TIME] * world.time_step
    return f"t {time:.1f} s    v {state[V]:.1f} m/s    gap {gap}    {world.source} traffic"
