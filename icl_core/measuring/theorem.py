"""Theorem 1 on made-up problems that keep its assumptions: finitely many policies, rewards that are
not negative, and one policy alone with the expert's return.

A policy is its expected visits of states, drawn at random; the constraint that the expert keeps is
drawn as well. Equations 3 and 4 alternate, solved exactly, until no constraint that the expert
keeps makes all policies so far infeasible.
"""

from __future__ import annotations

import numpy as np

POLICIES, STATES, STEPS = 30, 10, 20.0
EXACT = 1e-7


def ends_at_the_expert(rng: np.random.Generator) -> bool:
    """Whether the alternation ends with the expert's policy."""
    from icl_core.learning.methods.exact_icl.adjustment import against_worst

    visits, returns, expert, beta = problem(rng)
    constraint, found = np.zeros(STATES), list[int]()
    while len(found) < POLICIES:
        allowed = np.flatnonzero(visits @ constraint <= beta + EXACT)
        found.append(int(allowed[np.argmax(returns[allowed])]))
        direction = rng.standard_normal(STATES)
        adjusted = against_worst(visits[found], visits[expert], beta, direction)
        if adjusted.value <= beta + EXACT:
            break
        constraint = adjusted.constraint
    return found[-1] == expert


def problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Visits (policies, states), returns, which policy is the expert's, and beta.

    Some policies earn more than the expert, and the constraint of the proof, r beta / J_E(r), lies
    in [0, 1].
    """
    while True:
        visits = STEPS * rng.dirichlet(np.full(STATES, 0.5), POLICIES)
        rewards, truth = rng.random(STATES), rng.random(STATES) ** 2
        returns, costs = visits @ rewards, visits @ truth
        beta = float(np.quantile(costs, 0.3))
        allowed = np.flatnonzero(costs <= beta)
        expert = int(allowed[np.argmax(returns[allowed])])
        tempted = returns.max() > returns[expert] + EXACT
        if tempted and rewards.max() * beta <= returns[expert]:
            return visits, returns, expert, beta
