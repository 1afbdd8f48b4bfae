"""A lane's centre line: how far along it a point lies, and how far to its side."""

from __future__ import annotations

import numpy as np
import shapely

EXTENSION = 200.0  # metres that a line goes on straight at either end
APART = 0.05  # metres; nodes closer than this give no direction
WINDOW = 15.0  # metres (one standard deviation) over which a line's heading is smoothed


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
        is off by up to 1 degree, which at 30 m/s would pass for half a metre a second of lateral
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
        """The second of what `locate` tells."""
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
