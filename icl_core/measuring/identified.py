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
finds the one that breaks (2') most, and it is added until none does. The policies that were found
serve all programs of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog, nnls

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

EXACT = 1e-7  # by which a policy may break (2') before it is added
ERRORS = 2.0  # standard errors of J_E(r): the default tolerance
HALF = 0.5  # a cell is told where all its values lie on one side of this
STEEPEST = 1e4  # largest tau: beyond it reward alone would decide


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
        self.weights = self.cells.starts[self.cells.starts > 0]  # mu, of each start
        self._rows: list[sparse.csr_array] = []  # of the policies that (2') was broken by

    @property
    def silent(self) -> bool:
        """Whether reward says nothing: no policy earns more than the expert, constraint or not."""
        return self.best_return <= self.enough + EXACT

    # ------------------------------------------------------------------ programs over the set

    def solve(self, gains: np.ndarray) -> np.ndarray | None:
        """The constraint of the set with the largest gains . c; None where the set is empty."""
        while True:
            found = self._program(gains)
            if found.status == 2:
                return None
            if found.status != 0:
                raise RuntimeError(f"a linear program of {self.world.name} failed: {found.message}")
            constraint = np.clip(found.x[:CELLS], 0.0, 1.0)
            tau, most = float(found.x[CELLS]), found.x[CELLS + 1 :]
            spent = self.beta - tau * self.enough
            if self.silent or not self._add_breaking(constraint, tau, most, spent):
                return constraint

    def _program(self, gains: np.ndarray) -> OptimizeResult:
        """With the policies found so far. Unknowns: c, tau, and of each start the most W that a
        policy from there has of tau J(r) - J(c).
        """
        starts, free = len(self.weights), [(None, None)] * len(self.weights)
        expert = np.concatenate([self.expert, np.zeros(1 + starts)])
        together = np.concatenate([np.zeros(CELLS), [-self.enough], self.weights])
        rows = sparse.vstack([sparse.csr_array(np.vstack([expert, together])), *self._rows])
        limits = np.zeros(rows.shape[0])
        limits[:2] = self.beta, -self.beta
        bounds = [(0.0, 1.0)] * CELLS + [(0.0, STEEPEST)] + free
        if self.silent:
            rows, limits, bounds = expert[None], limits[:1], [(0.0, 1.0)] * CELLS + [(0, 0)] + free
        padded = np.concatenate([gains, np.zeros(1 + starts)])
        return linprog(-padded, rows, limits, bounds=bounds, method="highs")

    def _add_breaking(
        self, constraint: np.ndarray, tau: float, most: np.ndarray, spent: float
    ) -> bool:
        """Add, from each start, the policy that has more than `most` of tau J(r) - J(c).

        False where none has so much that mu . W + `spent` is above 0: then (2') holds.
        """
        chosen = self.cells.best_actions(tau * self.cells.rewards - constraint)
        visits = self.cells.visits_from_starts(chosen)
        has = tau * visits[:, self.cells.goal] - visits @ constraint
        room = EXACT * max(1.0, tau)
        if self.weights @ has + spent <= room:
            return False
        beyond = np.flatnonzero(has > most + room / 2)
        own = -np.eye(len(most))[beyond]
        gained = visits[beyond, self.cells.goal]
        self._rows.append(sparse.csr_array(np.column_stack([-visits[beyond], gained, own])))
        return True

    # ------------------------------------------------------------------ what is asked of it

    @cached_property
    def empty(self) -> bool:
        """Whether no constraint explains the demonstrations."""
        return self.solve(np.zeros(CELLS)) is None

    @cached_property
    def bounds(self) -> Bounds:
        """Two programs for each cell; an InputError where the set is empty."""
        corners = []
        for gains in (*-np.eye(CELLS), *np.eye(CELLS)):
            corner = self.solve(gains)
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
        if self.expert @ constraint > self.beta + EXACT:
            return False
        best = self.cells.constrained_optimum(constraint, self.beta)
        return not best.feasible or bool(best.visits[self.cells.goal] <= self.enough + EXACT)

    def nearest(self, target: np.ndarray) -> np.ndarray:
        """The constraint of the set nearest to a target (cells,), to a mean square of 1e-7.

        The set is convex: the nearest point of the hull of some of its corners, then the corner
        that lies farthest towards the target, and so on until there is none (Frank and Wolfe).
        """
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

        With u = lambda c the dual is linear in (u, lambda) too: the least theta >= 0 with
        J(pi, r) - (d_pi . u - lambda beta) <= J_E(r) + theta for every policy, 0 <= u <= lambda
        and d_E . u <= lambda beta.
        """
        shown, starts = self.enough - self.tolerance, len(self.weights)
        keeps = np.hstack([np.eye(CELLS), np.full((CELLS, 1), -1.0), np.zeros((CELLS, starts + 1))])
        expert = np.concatenate([self.expert, [-self.beta], np.zeros(starts + 1)])
        together = np.concatenate([np.zeros(CELLS), [self.beta], self.weights, [-1.0]])
        bounds = [(0.0, None)] * CELLS + [(0.0, STEEPEST)] + [(None, None)] * starts + [(0.0, None)]
        while True:
            # Those of the other programs with tau = 1, and u for c: (c, tau, W) -> (u, lambda, W).
            cuts = sparse.vstack([sparse.csr_array((0, CELLS + 1 + starts)), *self._rows]).toarray()
            gained = cuts[:, CELLS].copy()
            cuts[:, CELLS] = 0.0
            rows = np.vstack([keeps, expert, together, np.pad(cuts, ((0, 0), (0, 1)))])
            limits = np.concatenate([np.zeros(CELLS + 1), [shown], -gained])
            gains = np.eye(CELLS + starts + 2)[-1]
            found = linprog(gains, rows, limits, bounds=bounds, method="highs")
            if found.status not in (0, 3):
                raise RuntimeError(f"a linear program of {self.world.name} failed: {found.message}")
            u, theta = found.x[:CELLS], float(found.x[-1])
            spent = found.x[CELLS] * self.beta - shown - theta
            if not self._add_breaking(u, 1.0, found.x[CELLS + 1 : -1], spent):
                return theta


def _nearest_mixture(corners: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The mixture of the corners (n, cells) nearest to the target: weights sum to 1."""
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
    # The largest is that of a convex function over a convex set, which is hard to find: it lies
    # between that of the worst corner that was seen and that of the worst value of every cell.
    worst_seen_cmse: float
    most_cmse: float


def score(identified: Identified, truth: np.ndarray) -> Score:
    """What the demonstrations say of a true constraint (cells,), at best and at worst."""
    truth, bounds = np.asarray(truth, dtype=np.float64).ravel(), identified.bounds
    inside = identified.contains(truth)
    best = truth if inside else identified.nearest(truth)
    forbidden = truth > HALF
    farthest = np.maximum(np.abs(bounds.least - truth), np.abs(bounds.greatest - truth))
    return Score(
        told_cells=float(bounds.told.mean()),
        told_forbidden=float(bounds.forbidden[forbidden].mean()) if forbidden.any() else 1.0,
        inside=inside,
        least_cmse=float(np.mean((best - truth) ** 2)),
        worst_seen_cmse=float(np.mean((bounds.corners - truth) ** 2, axis=1).max()),
        most_cmse=float(np.mean(farthest**2)),
    )
