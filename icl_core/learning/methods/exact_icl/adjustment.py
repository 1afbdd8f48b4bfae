"""Constraint adjustment as linear programs: c has one value in [0, 1] for each cell.

With d_pi and d_E the discounted visits of policies and demonstrations, J is linear in c:

    theorem (Equation 4)    max_c  min_pi d_pi . c              subject to  d_E . c <= beta
    paper   (Equation 5)    max_c  mean_pi d_pi . c             subject to  d_E . c <= beta
    ours    (Equation 7)    max_c  sum_tau w(tau) min(d_tau . c, k beta)
                                   - lambda mean_E hinge(d_E . c - beta)

A program has many solutions: which one is taken is drawn, by a random direction along which the
solution goes as far as it can. So seeds differ in what the objective leaves open, and in no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, linprog

SLACK = 1e-9  # that a drawn solution may lie below the best one


@dataclass(frozen=True)
class Adjusted:
    """A solution, and the prices that prove it."""

    constraint: np.ndarray  # (cells,) c
    value: float  # of the objective
    weights: np.ndarray  # (policies,) of the mixture: prices of d_pi . c >= value, they sum to 1
    multiplier: float  # lambda, the price of d_E . c <= beta

    def bound(self, agents: np.ndarray, expert: np.ndarray, beta: float) -> float:
        """No constraint that the expert keeps can cost the mixture more than this.

        It is the dual of Equation 4, lambda beta + sum_s max(0, d_mix(s) - lambda d_E(s)): at the
        solution it equals `value`.
        """
        excess = self.weights @ agents - self.multiplier * expert
        return float(self.multiplier * beta + np.maximum(0.0, excess).sum())


@dataclass(frozen=True)
class _Program:
    """max gains . x subject to rows x <= limits and bounds; the first unknowns are c."""

    gains: np.ndarray
    rows: np.ndarray
    limits: np.ndarray
    bounds: list[tuple[float | None, float | None]]

    def solve(self) -> OptimizeResult:
        found = linprog(-self.gains, self.rows, self.limits, bounds=self.bounds, method="highs")
        if found.status != 0:
            raise RuntimeError(f"the linear program of an adjustment failed: {found.message}")
        return found

    def drawn(self, best: OptimizeResult, direction: np.ndarray) -> np.ndarray:
        """The c that goes farthest along the direction (cells,), among the solutions."""
        cells = len(direction)
        floor = float(-best.fun) - SLACK * max(1.0, abs(best.fun))
        tied = _Program(
            np.append(direction, np.zeros(len(self.gains) - cells)),
            np.vstack([self.rows, -self.gains]),
            np.append(self.limits, -floor),
            self.bounds,
        )
        found = linprog(-tied.gains, tied.rows, tied.limits, bounds=tied.bounds, method="highs")
        # Where rounding leaves nothing to choose from, the first solution stands.
        chosen = found.x if found.status == 0 else best.x
        return np.clip(chosen[:cells], 0.0, 1.0)


def against_worst(
    agents: np.ndarray, expert: np.ndarray, beta: float, direction: np.ndarray
) -> Adjusted:
    """Equation 4: the cheapest of the policies (policies, cells) is to cost as much as possible."""
    policies, cells = agents.shape
    program = _Program(
        gains=np.append(np.zeros(cells), 1.0),  # the unknowns are c and the least cost v
        rows=np.block([[-agents, np.ones((policies, 1))], [expert, np.zeros((1, 1))]]),
        limits=np.append(np.zeros(policies), beta),
        bounds=[(0.0, 1.0)] * cells + [(None, None)],
    )
    best = program.solve()
    prices = -best.ineqlin.marginals
    return Adjusted(program.drawn(best, direction), float(-best.fun), prices[:-1], prices[-1])


def against_mixture(
    agents: np.ndarray, expert: np.ndarray, beta: float, direction: np.ndarray
) -> Adjusted:
    """Equation 5: the mixture of the policies (policies, cells), all alike, is to cost most."""
    policies, cells = agents.shape
    weights = np.full(policies, 1.0 / policies)
    program = _Program(
        weights @ agents, expert[None], np.array([beta]), bounds=[(0.0, 1.0)] * cells
    )
    best = program.solve()
    price = float(-best.ineqlin.marginals[0])
    return Adjusted(program.drawn(best, direction), float(-best.fun), weights, price)


@dataclass(frozen=True)
class Soft:
    """The objective of `icl`, between trajectories (Equation 7): its minimum in c."""

    agent: np.ndarray  # (agent trajectories, cells) discounted visits
    expert: np.ndarray  # (demonstrations, cells); one row, their mean, for the hinge of the mean
    weights: np.ndarray  # (agent trajectories,) normalised dissimilarities
    beta: float
    penalty: float  # lambda
    ceiling: float  # the cost beyond which an agent's trajectory pushes no further

    def adjusted(self, direction: np.ndarray) -> Adjusted:
        """Unknowns: c, what each agent's trajectory counts, and each demonstration's excess."""
        (agents, cells), shown = self.agent.shape, len(self.expert)
        program = _Program(
            gains=np.concatenate(
                [np.zeros(cells), self.weights, np.full(shown, -self.penalty / shown)]
            ),
            rows=np.block(
                [
                    [-self.agent, np.eye(agents), np.zeros((agents, shown))],
                    [self.expert, np.zeros((shown, agents)), -np.eye(shown)],
                ]
            ),
            limits=np.append(np.zeros(agents), np.full(shown, self.beta)),
            bounds=[(0.0, 1.0)] * cells + [(None, self.ceiling)] * agents + [(0.0, None)] * shown,
        )
        best = program.solve()
        spent = -best.ineqlin.marginals[agents:].sum()
        return Adjusted(program.drawn(best, direction), float(-best.fun), self.weights, spent)
