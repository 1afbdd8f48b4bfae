"""A lane's centre line: how far along it a point lies, and how far to its side."""

from __future__ import annotations

import numpy as np
import shapely

EXTENSION = 200.0  # metres that a line goes on straight at either end
APART = 0.05  # metres; nodes closer than this give no direction


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
        longer = np.concatenate(
            [[self.nodes[0] - ends[0]], self.nodes, [self.nodes[-1] + ends[1]]]
        )
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

    def signed_distance(self, points: np.ndarray) -> np.ndarray:
        """Perpendicular distance (n,) of (n, 2) points, positive on the line's right."""
        progress = self.project(points)
        away = points - self.at(progress)
        side = np.sum(away * self.normals(progress), axis=1)
        return np.copysign(np.hypot(*away.T), side)

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
