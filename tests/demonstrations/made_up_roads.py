"""Small roads with known geometry, vehicles on them, and their scenes."""

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_table
from icl_core.demonstrations.recordings.exid.maps import Lanelet
from icl_core.demonstrations.recordings.exid.scene import Settings, scene_of

WIDTH = 3.5


def road(place, lanes=2, length=300.0, spacing=10.0, sections=1):
    """Lanelets of a road; `place(s, r)` gives points at progress s, r metres right of its axis.

    Lane 0 is the leftmost, its left boundary at r = 0; lane j of section k has the id
    100 * (k + 1) + j.
    """
    count = round(length / spacing) + 1
    s = np.linspace(0, length, count)
    borders = [place(s, np.full(count, j * WIDTH)) for j in range(lanes + 1)]
    ends = np.linspace(0, count - 1, sections + 1).astype(int)
    made = []
    for k in range(sections):
        part = slice(ends[k], ends[k + 1] + 1)
        nodes = range(ends[k], ends[k + 1] + 1)
        for j in range(lanes):
            ids = [tuple(10_000 * (side + 1) + i for i in nodes) for side in (j, j + 1)]
            made.append(Lanelet(100 * (k + 1) + j, borders[j][part], borders[j + 1][part], *ids))
    return made


def straight(angle=0.0, origin=(0.0, 0.0)):
    """A straight road in a direction (radians, anticlockwise from x)."""
    e = np.array([np.cos(angle), np.sin(angle)])
    n = np.array([np.sin(angle), -np.cos(angle)])
    return lambda s, r: np.asarray(origin) + np.multiply.outer(s, e) + np.multiply.outer(r, n)


def left_bend(radius):
    """A circle turned to the left: the further right, the further from its centre."""

    def place(s, r):
        angle = np.asarray(s) / radius
        return np.stack([(radius + r) * np.sin(angle), radius - (radius + r) * np.cos(angle)], -1)

    return place


def right_bend(radius):
    def place(s, r):
        angle = np.asarray(s) / radius
        return np.stack([(radius - r) * np.sin(angle), (radius - r) * np.cos(angle) - radius], -1)

    return place


def track_table(vehicles, recording=1):
    """Rows of (track, first frame, positions (n, 2)) as the reader gives them."""
    return pa.concat_tables(
        pa.table(
            {
                "recording": np.full(len(positions), recording, np.int32),
                "track": np.full(len(positions), track, np.int32),
                "frame": np.arange(first, first + len(positions), dtype=np.int32),
                "x": positions[:, 0],
                "y": positions[:, 1],
            }
        )
        for track, first, positions in vehicles
    )


def tables(tracks, rate=25.0):
    """What the reader gives of recording 1."""
    columns = {"recording": pa.array([1], pa.int32()), "frame_rate": pa.array([rate])}
    return {"tracks": tracks, "recordings": pa.table(columns)}


def glide(steps, before, after, at=0.5, over=0.3):
    """(steps,) a smooth way from one lateral place to another, the middle at a share of them."""
    t = np.clip((np.linspace(0, 1, steps) - at) / over + 0.5, 0, 1)
    return before + (after - before) * (3 * t**2 - 2 * t**3)


def drive(place, lateral, begin=-5.0, end=305.0):
    """(n, 2) positions of a vehicle that goes evenly along the road with given lateral places."""
    return place(np.linspace(begin, end, len(lateral)), lateral)


def scene_file(path, place, vehicles, lanelets=None, source="simulated", **options):
    """Write the scene of vehicles (lateral places (n,) each) on a two-lane road; its path."""
    lanelets = road(place, **options) if lanelets is None else lanelets
    tracks = track_table([(k, 0, drive(place, lateral)) for k, lateral in enumerate(vehicles)])
    table = scene_of(tables(tracks), {1: lanelets}, Settings(), source)
    write_table(path, table, {})
    return path
