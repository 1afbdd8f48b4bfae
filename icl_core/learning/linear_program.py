"""The constrained optimum of a gridworld, exactly, as a linear program.

With few states the paper's constrained problem, max J(pi, r) subject to
J(pi, c) <= beta, needs no learning. Its unknowns are the occupancies
x_t(s, a) = P(s_t = s, a_t = a, episode still running), t < horizon:

    maximise    sum_t gamma^t x_t(goal, .)
    subject to  sum_a x_0(s, a)  = mu(s)
                sum_a x_t(s', a) = sum_{s, a} x_{t-1}(s, a) P(s' | s, a)   (goal excluded: it ends)
                sum_t gamma^t sum_{s, a} x_t(s, a) c(s) <= beta,   x >= 0

The policy pi_t(a | s) = x_t(s, a) / sum_a x_t(s, a) attains it; it depends on time
and may be random. Constrained RL is measured against this (Altman 1999, ch. 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.errors import InputError

CELLS = SIZE * SIZE
TOLERANCE = 1e-9  # by which J may pass beta before a problem counts as infeasible


@dataclass(frozen=True)
class Optimum:
    """The best policy within the threshold.

    Where no policy keeps the threshold, `feasible` is False and the rest describes
    the policy of least constraint value.
    """

    return_value: float  # J(pi, r)
    constraint_value: float  # J(pi, c)
    policy: np.ndarray  # (horizon, cells, actions), uniform where it never comes
    feasible: bool


def solve_constrained_optimum(
    world: Gridworld, constraint: np.ndarray, threshold: float
) -> Optimum:
    """The exact optimum under the constraint values (cells,) and the threshold beta."""
    constraint = _checked_constraint(constraint)
    if not np.isfinite(threshold):
        raise InputError(f"threshold must be a finite number, found {threshold}")
    cautious = _least_constraint(world, constraint)
    expected_return, least = evaluate_policy(world, cautious, constraint)
    if least > threshold + TOLERANCE:
        return Optimum(expected_return, least, cautious, feasible=False)
    size = world.horizon * CELLS * world.n_actions
    weights = (world.discount ** np.arange(world.horizon))[:, None, None]
    shape = (world.horizon, CELLS, world.n_actions)
    rewards = np.broadcast_to(weights * _goal(world)[None, :, None], shape).reshape(size)
    costs = np.broadcast_to(weights * constraint[None, :, None], shape).reshape(size)
    flow, inflow = _flow(world)
    # The interior-point solver: half the simplex's time here, and nearer to the policy's own value.
    solution = linprog(-rewards, costs[None], [threshold], flow, inflow, method="highs-ipm")
    if solution.status != 0:
        raise RuntimeError(f"the linear program of {world.name} failed: {solution.message}")
    occupancy = np.maximum(solution.x, 0)
    return Optimum(
        return_value=float(rewards @ occupancy),
        constraint_value=float(costs @ occupancy),
        policy=_policy(occupancy.reshape(shape)),
        feasible=True,
    )


def evaluate_policy(
    world: Gridworld, policy: np.ndarray, constraint: np.ndarray
) -> tuple[float, float]:
    """Expected return and constraint value J(pi, c), by following the state distribution.

    The policy holds probabilities, (cells, actions) or (horizon, cells, actions).
    """
    constraint = _checked_constraint(constraint)
    policy = _checked_policy(world, np.asarray(policy, dtype=np.float64))
    goal = _goal(world)
    moves = world.transition_matrix() * (1 - goal)[:, None, None]  # the goal ends the episode
    present = _starts(world)  # P(s_t = s, episode still running)
    expected_return = constraint_value = 0.0
    for t in range(world.horizon):
        weight = world.discount**t
        expected_return += weight * present @ goal
        constraint_value += weight * present @ constraint
        present = np.einsum("s,sa,sat->t", present, policy[t], moves)
    return float(expected_return), float(constraint_value)


def _least_constraint(world: Gridworld, constraint: np.ndarray) -> np.ndarray:
    """The policy of least J(pi, c), by backward induction: one aim needs no program."""
    moves = world.transition_matrix() * (1 - _goal(world))[:, None, None]
    policy = np.zeros((world.horizon, CELLS, world.n_actions))
    to_come = np.zeros(CELLS)
    for t in reversed(range(world.horizon)):
        after = world.discount * moves @ to_come
        best = after.argmin(axis=1)
        policy[t, np.arange(CELLS), best] = 1.0
        to_come = constraint + after[np.arange(CELLS), best]
    return policy


def _flow(world: Gridworld) -> tuple[sparse.csc_array, np.ndarray]:
    """What leaves each (t, s) minus what arrives there from t - 1, and the start at t = 0."""
    ends = _goal(world)[:, None, None]
    arriving = (world.transition_matrix() * (1 - ends)).reshape(CELLS * world.n_actions, CELLS).T
    leaving = np.repeat(np.eye(CELLS), world.n_actions, axis=1)
    earlier = sparse.eye_array(world.horizon, k=-1)
    flow = sparse.kron(sparse.eye_array(world.horizon), leaving) - sparse.kron(earlier, arriving)
    inflow = np.zeros((world.horizon, CELLS))
    inflow[0] = _starts(world)
    return sparse.csc_array(flow), inflow.ravel()


def _policy(occupancy: np.ndarray) -> np.ndarray:
    """Conditional action probabilities; uniform in the cells that are never entered."""
    total = occupancy.sum(axis=-1, keepdims=True)
    reached = total > 1e-12
    uniform = np.full_like(occupancy, 1 / occupancy.shape[-1])
    return np.where(reached, occupancy / np.where(reached, total, 1), uniform)


def _goal(world: Gridworld) -> np.ndarray:
    """1 in the goal's cell, which pays and ends; 0 elsewhere."""
    goal = np.zeros(CELLS)
    goal[np.ravel_multi_index(world.goal, (SIZE, SIZE))] = 1.0
    return goal


def _starts(world: Gridworld) -> np.ndarray:
    """mu: uniform on the start cells."""
    return world.starts.ravel() / world.starts.sum()


def _checked_constraint(constraint: np.ndarray) -> np.ndarray:
    constraint = np.asarray(constraint, dtype=np.float64)
    if constraint.shape != (CELLS,) or not np.isfinite(constraint).all():
        raise InputError(
            f"constraint values must be {CELLS} finite numbers, one a cell, row by row; "
            f"found shape {constraint.shape} with {np.sum(~np.isfinite(constraint))} not finite"
        )
    return constraint


def _checked_policy(world: Gridworld, policy: np.ndarray) -> np.ndarray:
    stationary = (CELLS, world.n_actions)
    if policy.shape not in (stationary, (world.horizon, *stationary)):
        raise InputError(
            f"policy must have shape {stationary} or {(world.horizon, *stationary)}, "
            f"found {policy.shape}"
        )
    if not (np.all(policy >= 0) and np.allclose(policy.sum(axis=-1), 1, atol=1e-5)):
        raise InputError("policy must hold probabilities that sum to 1 over the actions")
    return np.broadcast_to(policy, (world.horizon, *stationary))
