"""Which constraints explain the demonstrations: all of them, not the one that a method finds.

A constraint c in [0, 1] for each cell explains them if the expert keeps it and is optimal under it:

    (1)  J_E(c) <= beta
    (2)  no policy with J(pi, c) <= beta earns more than R = J_E(r) + tolerance

(1) is linear in c. (2) speaks of the optimum of a linear program (`linear_program`), which by
duality is min over lambda >= 0 of max over pi of J(pi, r) - lambda (J(pi, c) - beta). So (2) holds
where for some lambda >= 0 every policy has J(pi, r) - lambda (J(pi, c) - beta) <= R. Where
lambda = 0 does it, no policy at all earns more than R: reward says nothing, and (1) is all there
is. Otherwise lambda > 0, and divided by it, with tau = 1 / lambda:

    (2') there is a tau >= 0 with  J(pi, c) >= beta + tau (J(pi, r) - R)  for every policy pi

In words: whoever earns more than the expert must be made to pay more than beta, at one price. This
is linear in (c, tau), so the constraints that explain the demonstrations are a convex set, and
each bound on it is a linear program. (tau = 0 says that no policy costs less than beta: the limit
of large lambda, so that the set is closed.) Policies are too many to list; a backward induction
finds the one that breaks (2') most, and what it does in each cell at each time is added, as a row
of the dual program, until none breaks it. What was found serves all programs of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.exact_policies import (
    CELLS,
    Cells,
    as_gridworld,
    cell_visits,
    demonstrated_return,
)
from icl_core.measuring.budget import HALF, Bounds, Budget

if TYPE_CHECKING:  # scipy takes its time, and where the reward is silent nobody needs it
    from scipy import sparse
    from scipy.optimize import OptimizeResult

EXACT = 1e-6  # by which a policy may break (2') before it is added
OPTIONS = {"primal_feasibility_tolerance": 1e-9}  # finer than that, or programs would not end
ERRORS = 2.0  # standard errors of J_E(r): the default tolerance
STEEPEST = 1e4  # largest tau: beyond it reward alone would decide


class Identified:
    """All constraints that explain some demonstrations of a gridworld."""

    def __init__(
        self,
        world: World,
        demonstrations: Trajectories,
        beta: float,
        tolerance: float | None = None,
    ):
        self.world, self.beta = as_gridworld(world), beta
        self.cells = Cells(self.world)
        self.expert = cell_visits(self.world, demonstrations, world.discount).mean(axis=0)
        returns = demonstrated_return(self.world, demonstrations)
        if tolerance is None:
            tolerance = ERRORS * float(returns.std()) / np.sqrt(len(returns))
        if not (tolerance >= 0 and beta > 0):
            raise InputError(
                f"expected a tolerance of at least 0 and a threshold above 0, found {tolerance:g} "
                f"and {beta:g}; correct them"
            )
        self.tolerance = tolerance
        self.enough = float(returns.mean()) + tolerance  # R
        self.best_return = float(self.cells.best(self.cells.rewards).visits[self.cells.goal])
        # Which (t, s, a) the policies take by which (2') was broken.
        self._known = np.zeros(self.cells.horizon * CELLS * self.cells.actions, bool)

    @property
    def silent(self) -> bool:
        """Whether reward says nothing: no policy earns more than the expert, constraint or not."""
        return self.best_return <= self.enough + EXACT

    @property
    def budget(self) -> Budget:
        """(1) alone: all of the set where the reward is silent, and more than it elsewhere."""
        return Budget(self.expert, self.beta)

    # ------------------------------------------------------------------ programs over the set

    def solve(self, gains: np.ndarray) -> np.ndarray | None:
        """The constraint of the set with the largest gains . c; None where the set is empty."""
        while True:
            found = self._program(gains)
            if found.status == 2:
                return None
            if found.status != 0:
                raise RuntimeError(f"a linear program of {self.world.name} failed: {found.message}")
            constraint, tau = np.clip(found.x[:CELLS], 0.0, 1.0), float(found.x[CELLS])
            if self.silent or not self._add_breaking(constraint, tau):
                return constraint

    def _program(self, gains: np.ndarray) -> OptimizeResult:
        """With the actions found so far. Unknowns: c, tau, and W_t(s), the most of tau J(r) - J(c)
        that is to come from each cell at each time.
        """
        from scipy import sparse
        from scipy.optimize import linprog

        values = self.cells.horizon * CELLS
        padded = np.concatenate([gains, np.zeros(1 + values)])
        expert = np.concatenate([self.expert, np.zeros(1 + values)])
        bounds = [(0.0, 1.0)] * CELLS + [(0.0, STEEPEST)] + [(None, None)] * values
        rows, limits = sparse.csr_array(expert[None]), np.array([self.beta])
        if not self.silent:
            together = np.zeros(len(padded))
            together[CELLS], together[CELLS + 1 : 2 * CELLS + 1] = -self.enough, self.cells.starts
            known = self._bellman[np.flatnonzero(self._known)]
            rows = sparse.vstack([rows, sparse.csr_array(together[None]), known])
            limits = np.concatenate([limits, [-self.beta], np.zeros(known.shape[0])])
        return linprog(-padded, rows, limits, bounds=bounds, method="highs", options=OPTIONS)

    @cached_property
    def _bellman(self) -> sparse.csr_array:
        """W_t(s) >= tau r(s) - c(s) + gamma sum_s' P(s' | s, a) W_(t+1)(s'), for each (t, s, a):
        rows (c, tau, W) <= 0.
        """
        from scipy import sparse

        steps, actions = self.cells.horizon, self.cells.actions
        here = np.repeat(np.eye(CELLS), actions, axis=0)
        after = self.cells.discount * self.cells.moves.reshape(CELLS * actions, CELLS)
        values = sparse.kron(sparse.eye_array(steps, k=1), after)
        values = values - sparse.kron(sparse.eye_array(steps), here)
        paid = np.column_stack([-here, here @ self.cells.rewards])
        return sparse.csr_array(sparse.hstack([sparse.kron(np.ones((steps, 1)), paid), values]))

    def _add_breaking(self, constraint: np.ndarray, tau: float) -> bool:
        """Add what the policy does that breaks (2') most, wherever it comes; False: none does."""
        found = self.cells.best(tau * self.cells.rewards - constraint)
        has = tau * found.visits[self.cells.goal] - found.visits @ constraint
        does = found.occupancy.ravel() > 0
        if has + self.beta - tau * self.enough <= EXACT * max(1.0, tau) or self._known[does].all():
            return False
        self._known |= does
        return True

    # ------------------------------------------------------------------ what is asked of it

    @property
    def empty(self) -> bool:
        """Whether no constraint explains the demonstrations; c = 0 does where reward is silent."""
        return not self.silent and self.tolerance < self.least_tolerance - EXACT

    @cached_property
    def bounds(self) -> Bounds:
        """Two programs for each cell; an InputError where the set is empty."""
        if self.silent:
            return self.budget.bounds
        corners = []
        for gains in (*-np.eye(CELLS), *np.eye(CELLS)):
            corner = None if self.empty else self.solve(gains)
            if corner is None:
                raise InputError(
                    f"demonstrations: expected ones that some constraint explains within a "
                    f"tolerance of {self.tolerance:.3g}, found none; the least tolerance is "
                    f"{self.least_tolerance:.3g}"
                )
            corners.append(corner)
        found = np.array(corners)
        every = np.arange(CELLS)
        return Bounds(found[every, every], found[CELLS + every, every], found)

    def contains(self, constraint: np.ndarray) -> bool:
        """Whether a constraint (cells,) explains the demonstrations."""
        constraint = np.asarray(constraint, dtype=np.float64).ravel()
        if (constraint < -EXACT).any() or (constraint > 1 + EXACT).any():
            return False
        return max(self.excess(constraint)) <= EXACT

    def excess(self, constraint: np.ndarray) -> tuple[float, float]:
        """By how much a constraint (cells,) misses (1), in cost, and (2), in return; 0: it does
        not.
        """
        spent = self.budget.excess(constraint)
        if self.silent:
            return spent, 0.0
        best = self.cells.constrained_optimum(constraint, self.beta)
        earned = float(best.visits[self.cells.goal]) - self.enough if best.feasible else 0.0
        return spent, max(0.0, earned)

    def nearest(self, target: np.ndarray) -> np.ndarray:
        """The constraint of the set nearest to a target (cells,), to a mean square of 1e-7.

        The set is convex: the nearest point of the hull of some of its corners, then the corner
        that lies farthest towards the target, and so on until there is none (Frank and Wolfe).
        """
        if self.silent:
            return self.budget.nearest(target)
        corners = self.bounds.corners
        while True:
            point = _nearest_mixture(corners, target)
            corner = self.solve(target - point)
            assert corner is not None
            if (corner - point) @ (target - point) <= EXACT * CELLS:
                return point
            corners = np.vstack([corners, corner])

    @cached_property
    def least_tolerance(self) -> float:
        """The smallest tolerance at which the set is not empty.

        With u = lambda c the dual is linear in u, lambda and the values V of cells at each time:
        the least theta >= 0 with mu . V_0 + lambda beta <= J_E(r) + theta, d_E . u <= lambda beta,
        0 <= u <= lambda and V_t(s) >= r(s) - u(s) + gamma sum_s' P(s' | s, a) V_(t+1)(s').
        One program, without a search for policies: these would be many where the set is empty.
        """
        from scipy.optimize import linprog

        rows, limits = self._dual()
        bounds = [(None, None)] * (self.cells.horizon * CELLS) + [(0.0, None)] * (CELLS + 2)
        gains = np.append(np.zeros(rows.shape[1] - 1), 1.0)
        found = linprog(gains, rows, limits, bounds=bounds, method="highs-ipm")
        if found.status != 0:
            raise RuntimeError(f"a linear program of {self.world.name} failed: {found.message}")
        return float(found.fun)

    def _dual(self) -> tuple[sparse.csc_array, np.ndarray]:
        """rows (V, u, lambda, theta) <= limits, of `least_tolerance`."""
        from scipy import sparse

        pad, bellman = sparse.csr_array, self._bellman
        begin = np.zeros((1, self.cells.horizon * CELLS))
        begin[0, :CELLS] = self.cells.starts
        rows = sparse.block_array(
            [
                [bellman[:, CELLS + 1 :], bellman[:, :CELLS], None, None],
                [pad(begin), None, pad([[self.beta]]), pad([[-1.0]])],
                [None, pad(self.expert[None]), pad([[-self.beta]]), None],
                [None, sparse.eye_array(CELLS), pad(np.full((CELLS, 1), -1.0)), None],
            ]
        )
        rewards, shown = bellman[:, [CELLS]].toarray().ravel(), self.enough - self.tolerance
        return sparse.csc_array(rows), np.concatenate([-rewards, [shown], np.zeros(1 + CELLS)])


def _nearest_mixture(corners: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The mixture of the corners (n, cells) nearest to the target: weights sum to 1."""
    from scipy.optimize import nnls

    heavy = 1e3  # the weight of that demand among the squares; what is left of it is divided away
    system = np.vstack([corners.T, np.full(len(corners), heavy)])
    weights, _ = nnls(system, np.append(target, heavy))
    return weights / weights.sum() @ corners


@dataclass(frozen=True)
class Score:
    """A set of constraints beside the true one, which nobody else is told."""

    told_cells: float  # share of all cells that the demonstrations tell
    told_forbidden: float  # share of the forbidden cells that they tell to be forbidden
    inside: bool  # whether the true constraint explains the demonstrations
    least_cmse: float  # of the constraint in the set that is nearest to the truth
    # The largest is that of a convex function over a convex set. Where the reward is silent both
    # numbers are it; elsewhere it is hard to find, and lies between that of the worst corner that
    # was seen and that of the worst value of every cell.
    worst_seen_cmse: float
    most_cmse: float


def score(identified: Identified, truth: np.ndarray) -> Score:
    """What the demonstrations say of a true constraint (cells,), at best and at worst."""
    truth, bounds = np.asarray(truth, dtype=np.float64).ravel(), identified.bounds
    inside = identified.contains(truth)
    best = truth if inside else identified.nearest(truth)
    forbidden = truth > HALF
    corners = bounds.corners
    farthest = np.maximum(np.abs(bounds.least - truth), np.abs(bounds.greatest - truth))
    if identified.silent:
        corners = identified.budget.farthest(truth)[None]
        farthest = np.abs(corners[0] - truth)
    return Score(
        told_cells=float(bounds.told.mean()),
        told_forbidden=float(bounds.forbidden[forbidden].mean()) if forbidden.any() else 1.0,
        inside=inside,
        least_cmse=float(np.mean((best - truth) ** 2)),
        worst_seen_cmse=float(np.mean((corners - truth) ** 2, axis=1).max()),
        most_cmse=float(np.mean(farthest**2)),
    )
