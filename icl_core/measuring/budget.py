"""The constraints that the demonstrations can pay for: {c in [0, 1]^cells : d_E . c <= beta}.

It is all that is known where the reward is silent (`identified`), and it contains what is known
where the reward speaks. One row of a linear program: least and greatest values, the constraint
nearest to a target and the one farthest from it are found by sorting, exactly and at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HALF = 0.5  # a cell is told where all its values lie on one side of this


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest c of each cell, over all constraints in a set."""

    least: np.ndarray  # (cells,)
    greatest: np.ndarray  # (cells,)
    corners: np.ndarray  # (programs, cells) constraints of the set at which they were found

    @property
    def free(self) -> np.ndarray:
        """(cells,) bool: certainly not forbidden."""
        return self.greatest < HALF

    @property
    def forbidden(self) -> np.ndarray:
        """(cells,) bool: certainly forbidden."""
        return self.least > HALF

    @property
    def told(self) -> np.ndarray:
        """(cells,) bool: the demonstrations say which of the two it is."""
        return self.free | self.forbidden


@dataclass(frozen=True)
class Budget:
    """What demonstrations with these visits may forbid."""

    expert: np.ndarray  # (cells,) d_E
    beta: float

    @property
    def bounds(self) -> Bounds:
        """No cell must be forbidden; one that is visited often cannot be, or not wholly."""
        greatest = np.minimum(1.0, self.beta / np.maximum(self.expert, 1e-300))
        corners = np.vstack([np.zeros((len(greatest),) * 2), np.diag(greatest)])
        return Bounds(np.zeros(len(greatest)), greatest, corners)

    def excess(self, constraint: np.ndarray) -> float:
        """By how much the demonstrations would spend more than beta; 0: they keep it."""
        return max(0.0, float(self.expert @ constraint) - self.beta)

    def nearest(self, target: np.ndarray) -> np.ndarray:
        """The nearest to a target in [0, 1]^cells: every cell gives way as it is visited."""
        if self.excess(target) == 0:
            return np.asarray(target, dtype=np.float64)
        # c = max(0, target - price d_E); what it costs falls with the price, from cell to cell
        # along a line, until it is beta.
        visited = self.expert > 0
        prices = np.unique(np.append(0.0, target[visited] / self.expert[visited]))
        costs = np.array([self.expert @ self._at(target, price) for price in prices])
        price = np.interp(self.beta, costs[::-1], prices[::-1])
        return self._at(target, price)

    def _at(self, target: np.ndarray, price: float) -> np.ndarray:
        return np.maximum(0.0, target - price * self.expert)

    def farthest(self, target: np.ndarray) -> np.ndarray:
        """The farthest from a target of zeros and ones.

        Where the target forbids, nothing; elsewhere the cells that cost least, for each counts
        alike. A corner of the set has one value between 0 and 1 at most, and none is farther.
        """
        free = np.flatnonzero(target < HALF)
        order = free[np.argsort(self.expert[free], kind="stable")]
        spent = np.cumsum(self.expert[order])
        left = self.beta - (spent - self.expert[order])
        found = np.zeros(len(target))
        found[order] = np.clip(left / np.maximum(self.expert[order], 1e-300), 0.0, 1.0)
        return found
