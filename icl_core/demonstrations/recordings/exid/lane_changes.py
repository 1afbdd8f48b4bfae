"""Single lane changes in ExiD recordings, found from the map alone (paper, App. C).

Each frame's centre lies in a lanelet: the first of the map that contains it. Where
a vehicle goes from one lanelet into another, it changed lane if the two lie side by
side, that is, if they share more than two boundary nodes (a lanelet and its successor
share the two at their common end). Vehicles with exactly one lane change are kept,
from their first frame in the lanelet that they leave to the last in the one that they
enter; a vehicle that is never seen to leave that one is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import shapely

from icl_core.demonstrations.recordings.exid.maps import Lanelet

EXTENSION = 200.0  # metres that a line goes on straight at either end
APART = 0.05  # metres; nodes closer than this give no direction
WINDOW = 15.0  # metres (one standard deviation) over which a line's heading is smoothed
SHARED_NODES = 2  # lanelets with more than these in common lie side by side


@dataclass(frozen=True)
class LaneChange:
    """One vehicle's way from a lanelet into the one beside it."""

    recording: int
    track: int
    start: Lanelet
    target: Lanelet
    frames: np.ndarray  # (n,) from the first in the start lanelet to the last in the target
    positions: np.ndarray  # (n, 2) of the centre, metres


def find_lane_changes(
    tracks: pa.Table, maps: Mapping[int, Sequence[Lanelet]], clear_target: bool = False
) -> list[LaneChange]:
    """The lane changes of all recordings, in order of recording and track.

    `tracks` is sorted by recording, track and frame; `maps` holds each recording's
    lanelets. With `clear_target`, changes are left out during which another vehicle
    was in the target lanelet (the paper's text; the authors' code keeps them).
    """
    names = ("recording", "track", "frame", "x", "y")
    columns = {name: tracks[name].to_numpy() for name in names}
    recordings, first = np.unique(columns["recording"], return_index=True)
    found = []
    for recording, begin, end in zip(recordings, first, [*first[1:], tracks.num_rows], strict=True):
        part = {name: column[begin:end] for name, column in columns.items()}
        points = np.stack([part["x"], part["y"]], axis=1)
        lanelets = maps[int(recording)]
        inside = containing_lanelet(points, [lanelet.polygon for lanelet in lanelets])
        pairs = _single_changes(part["track"], inside, side_by_side(lanelets))
        if clear_target:
            pairs = _with_clear_target(part["track"], part["frame"], inside, pairs)
        for begin_row, end_row in pairs:
            rows = slice(begin_row, end_row + 1)
            found.append(
                LaneChange(
                    int(recording),
                    int(part["track"][begin_row]),
                    lanelets[inside[begin_row]],
                    lanelets[inside[end_row]],
                    part["frame"][rows].astype(np.int64),
                    points[rows],
                )
            )
    return found


def containing_lanelet(points: np.ndarray, polygons: Sequence[shapely.Polygon]) -> np.ndarray:
    """Index of the first polygon that contains each of (n, 2) points, -1 where none does."""
    none = len(polygons)
    first = np.full(len(points), none)
    if none:
        tree = shapely.STRtree(polygons)
        point, polygon = tree.query(shapely.points(points), predicate="intersects")
        np.minimum.at(first, point, polygon)
    return np.where(first == none, -1, first)


def side_by_side(lanelets: Sequence[Lanelet]) -> np.ndarray:
    """(n, n) bool: whether two lanelets share more than two boundary nodes."""
    nodes = [set(lanelet.left_nodes) | set(lanelet.right_nodes) for lanelet in lanelets]
    column = {node: k for k, node in enumerate(sorted(set().union(*nodes)))}
    member = np.zeros((len(lanelets), len(column)), np.float32)
    for row, own in enumerate(nodes):
        member[row, [column[node] for node in own]] = 1
    beside = member @ member.T > SHARED_NODES
    np.fill_diagonal(beside, False)
    return beside


def _single_changes(
    track: np.ndarray, inside: np.ndarray, beside: np.ndarray
) -> list[tuple[int, int]]:
    """First and last row of each vehicle's only lane change, where it has one only.

    A frame outside all lanelets counts with the lanelet before it: a gap in the map
    is no lane change.
    """
    if not len(track):
        return []
    row = np.arange(len(track))
    new_track = np.diff(track, prepend=track[0] - 1) != 0
    held = inside[np.maximum.accumulate(np.where((inside >= 0) | new_track, row, 0))]
    first = np.flatnonzero(new_track | (np.diff(held, prepend=held[0]) != 0))  # of each stay
    last = np.append(first[1:], len(track)) - 1
    # The last row of a stay that is really inside: what follows it may be off the map.
    last = np.maximum.accumulate(np.where(inside >= 0, row, -1))[last]
    before, after = held[first[:-1]], held[first[1:]]
    same = track[first[:-1]] == track[first[1:]]
    change = np.flatnonzero(same & (before >= 0) & beside[before, after])
    _, which, times = np.unique(track[first[change]], return_index=True, return_counts=True)
    only = change[which[times == 1]]
    begins, ends = first[only], last[only + 1]
    leaves = (ends + 1 < len(track)) & (track[np.minimum(ends + 1, len(track) - 1)] == track[ends])
    return [(int(a), int(b)) for a, b in zip(begins[leaves], ends[leaves], strict=True)]


def _with_clear_target(
    track: np.ndarray, frame: np.ndarray, inside: np.ndarray, pairs: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Those during which no other vehicle's centre is in the target lanelet."""
    order = np.lexsort((frame, inside))
    span = int(frame.max()) + 2 if len(frame) else 1  # one number for lanelet and frame
    keys = (inside * span + frame)[order]
    kept = []
    for begin, end in pairs:
        target = inside[end] * span
        low = np.searchsorted(keys, target + frame[begin], side="left")
        high = np.searchsorted(keys, target + frame[end], side="right")
        if np.all(track[order[low:high]] == track[begin]):
            kept.append((begin, end))
    return kept


class CentreLine:
    """A polyline in driving direction. Positive to the right, as the paper's d and a are."""

    def __init__(self, nodes: np.ndarray):
        """`nodes` is (k, 2) in metres, k >= 2 of them apart."""
        self.nodes = _apart(np.asarray(nodes, np.float64))
        steps = np.diff(self.nodes, axis=0)
        lengths = np.hypot(*steps.T)
        self.directions = steps / lengths[:, None]  # (k - 1, 2) of each segment
        self.progress = np.concatenate([[0.0], np.cumsum(lengths)])  # (k,) of each node
        ends = EXTENSION * self.directions[[0, -1]]
        longer = np.concatenate([[self.nodes[0] - ends[0]], self.nodes, [self.nodes[-1] + ends[1]]])
        self._line = shapely.LineString(longer)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Progress in metres of the point of the line nearest to each of (n, 2) points."""
        return shapely.line_locate_point(self._line, shapely.points(points)) - EXTENSION

    def at(self, progress: np.ndarray) -> np.ndarray:
        """The points (n, 2) at a progress (n,), straight on beyond the ends."""
        progress = np.asarray(progress, np.float64)
        segment = self._segment(progress)
        beyond = (progress - self.progress[segment])[:, None]
        return self.nodes[segment] + beyond * self.directions[segment]

    def normals(self, progress: np.ndarray) -> np.ndarray:
        """Unit vectors (n, 2) to the right of the line at a progress (n,)."""
        return right_of(self.directions[self._segment(progress)])

    def smooth_normals(self, progress: np.ndarray) -> np.ndarray:
        """Unit vectors to the right of the road that the line's nodes were drawn along.

        A polyline's own normal jumps at its nodes: with nodes 10 m apart on a bend of 300 m it
        is off by up to 1 degree, which at 30 m/s would pass for half a metre per second of lateral
        velocity. Here the heading is fitted, as a line over the segments nearby, at each place.
        """
        heading = np.unwrap(np.arctan2(self.directions[:, 1], self.directions[:, 0]))
        middle = (self.progress[:-1] + self.progress[1:]) / 2
        at = np.clip(progress, 0, self.progress[-1])
        away = middle - at[:, None]  # (n, segments)
        squared = (away / WINDOW) ** 2
        # The nearest segment counts fully, however far its middle is.
        weight = np.exp(0.5 * (squared.min(axis=1, keepdims=True) - squared))
        weight *= np.diff(self.progress)
        weight /= weight.sum(axis=1, keepdims=True)
        centre = np.sum(weight * away, axis=1)
        level = weight @ heading
        spread = np.sum(weight * (away - centre[:, None]) ** 2, axis=1)
        slope = np.sum(weight * (away - centre[:, None]) * heading, axis=1)
        slope /= np.maximum(spread, 1e-9)
        angle = level - slope * centre  # the fitted line at the place itself
        return right_of(np.stack([np.cos(angle), np.sin(angle)], axis=-1))

    def locate(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Progress (n,) and signed distance (n,) of (n, 2) points.

        The distance is perpendicular to the line, positive on its right.
        """
        progress = self.project(points)
        away = points - self.at(progress)
        side = np.sum(away * self.normals(progress), axis=1)
        return progress, np.copysign(np.hypot(*away.T), side)

    def signed_distance(self, points: np.ndarray) -> np.ndarray:
        """The second of what `locate` gives."""
        return self.locate(points)[1]

    def _segment(self, progress: np.ndarray) -> np.ndarray:
        index = np.searchsorted(self.progress, progress, side="right") - 1
        return np.clip(index, 0, len(self.directions) - 1)


def right_of(directions: np.ndarray) -> np.ndarray:
    """Directions (..., 2) turned by a quarter to the right."""
    return np.stack([directions[..., 1], -directions[..., 0]], axis=-1)


def _apart(nodes: np.ndarray) -> np.ndarray:
    """The nodes without those that repeat the one before."""
    step = np.hypot(*np.diff(nodes, axis=0).T)
    return nodes[np.concatenate([[True], step > APART])]
