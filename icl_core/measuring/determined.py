"""What demonstrations determine of the constraint, as rows of the metrics.

Rows of the demonstrations themselves have no method; where a learned constraint lies among those
that explain them stands beside its CMSE. Cells that can be enumerated are asked for the set of
`identified`, constraints of one position for the edges of `edges`; other worlds have no such rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories, discounts
from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.exact_policies import cells_refused
from icl_core.learning.problem import Problem
from icl_core.measuring.budget import HALF, Bounds
from icl_core.measuring.edges import allowed_edges, has_edge
from icl_core.measuring.identified import Identified, score
from icl_core.measuring.metrics import Run, concatenate, metric_rows

NOBODY = ""  # the method of what no method has learned
# Of the demonstrations of a gridworld: shares of cells, bounds of CMSE, and 0 or 1.
DETERMINED = "determined"  # of all cells, those told to be free or told to be forbidden
DETERMINED_FORBIDDEN = "determined_forbidden"  # of the truly forbidden ones, those told to be so
LEAST_CMSE, MOST_CMSE = "least_cmse", "most_cmse"  # of a constraint that explains them
TRUTH_INSIDE = "truth_inside"  # whether the true constraint explains them
REWARD_SILENT = "reward_silent"  # whether condition (2) of `identified` says nothing
REWARD_LEFT_OUT = "reward_left_out"  # whether it was not asked though it says something
UNEXPLAINED = "unexplained"  # whether no constraint explains them: then nothing else is said
# Of those of a world of one position: the last edge that beta allows, on the evaluation grid.
EDGE_BELOW, EDGE_ABOVE = "edge_below", "edge_above"
# Of a learned constraint: by how much it misses (1) and (2), and whether it misses neither.
EXCESS_COST, EXCESS_RETURN, INSIDE = "excess_cost", "excess_return", "inside"
EXACT = 1e-4  # exact solutions spend all of beta, and are stored in single precision
EPISODES = 16  # asked of the networks at once


def has_cells(world: World) -> bool:
    """Whether the world's cells can be enumerated."""
    return not cells_refused(world)


def determined(world: World, demonstrations: Trajectories, beta: float) -> dict[str, float]:
    """What the demonstrations determine, by metric; nothing where it cannot be asked."""
    if has_cells(world):
        return _of_cells(world, Identified(world, demonstrations, beta))
    if has_edge(world):
        edges = allowed_edges(world, demonstrations, beta)
        ends = edges.axis.physical[[0, -1]]
        below, above = np.clip([edges.below, edges.above], *ends)
        return {EDGE_BELOW: float(below), EDGE_ABOVE: float(above)}
    return {}


def is_left_out(identified: Identified) -> bool:
    """Whether only the budget is asked: where moves slip the reward's programs take minutes."""
    return not identified.silent and identified.world.slip > 0


def known_bounds(identified: Identified) -> Bounds | None:
    """Least and greatest c of each cell, by all that is asked; None where nothing explains the
    demonstrations.
    """
    if is_left_out(identified):
        return identified.budget.bounds
    return None if identified.empty else identified.bounds


def _of_cells(world: World, identified: Identified) -> dict[str, float]:
    bounds, truth = known_bounds(identified), world.true_on_grid
    found = {
        REWARD_SILENT: float(identified.silent),
        REWARD_LEFT_OUT: float(is_left_out(identified)),
        UNEXPLAINED: float(bounds is None),
    }
    if bounds is None:
        return found
    found[DETERMINED] = float(bounds.told.mean())
    if truth is None:
        return found
    least, most = _cmse(identified, truth)
    forbidden = bounds.forbidden[truth > HALF]
    return found | {
        LEAST_CMSE: least,
        MOST_CMSE: most,
        DETERMINED_FORBIDDEN: float(forbidden.mean()) if len(forbidden) else 1.0,
        TRUTH_INSIDE: float(max(identified.excess(truth)) <= EXACT),
    }


def _cmse(identified: Identified, truth: np.ndarray) -> tuple[float, float]:
    if not is_left_out(identified):
        told = score(identified, truth)
        return told.least_cmse, told.most_cmse
    ends = identified.budget.nearest(truth), identified.budget.farthest(truth)
    least, most = (float(np.mean((c - truth) ** 2)) for c in ends)
    return least, most


def determined_rows(run: Run, demonstrations: Trajectories, beta: float) -> pa.Table:
    """The same as rows of the metrics: of no method, and the expert's seed (0: of no expert)."""
    found = determined(run.world, demonstrations, beta)
    tables = [metric_rows(run, name, [value], 0, True) for name, value in found.items()]
    return concatenate(tables)


def learned_excess(problem: Problem, constraint: Networks) -> Mapping[str, np.ndarray]:
    """Where each run's constraint lies among those that explain what it was shown, by metric and
    each (runs,).
    """
    runs = range(len(problem.seeds))
    found = [
        _excess(problem.world, problem.shown(run), problem.beta, constraint.pick([run]))
        for run in runs
    ]
    return {name: np.array([one[name] for one in found]) for name in (found[0] if found else {})}


def _excess(
    world: World, demonstrations: Trajectories, beta: float, constraint: Networks
) -> dict[str, float]:
    """The same of a stack of one."""
    if has_cells(world):
        (values,) = _values(constraint, world.grid.nodes.astype(np.float32))
        cost, reward = Identified(world, demonstrations, beta).excess(values)
        inside = max(cost, reward) <= EXACT
        return {EXCESS_COST: cost, EXCESS_RETURN: reward, INSIDE: float(inside)}
    if not has_edge(world):
        return {}
    (spent,) = demonstrated_cost(world, demonstrations, constraint)
    excess = max(0.0, spent - beta)
    return {EXCESS_COST: excess, INSIDE: float(excess <= EXACT)}


def demonstrated_cost(
    world: World, demonstrations: Trajectories, constraint: Networks
) -> np.ndarray:
    """(runs,) J_E(c): what the demonstrations spend under each run's constraint."""
    weights = discounts(world.discount, demonstrations.states.shape[1])
    total = np.zeros(constraint.runs)
    for first in range(0, len(demonstrations), EPISODES):
        some = demonstrations[np.arange(first, min(first + EPISODES, len(demonstrations)))]
        inputs = world.constraint_inputs(some.states, some.actions)
        episode, step = np.nonzero(some.mask)
        total += _values(constraint, inputs[episode, step].astype(np.float32)) @ weights[step]
    return total / len(demonstrations)


def _values(constraint: Networks, inputs: np.ndarray) -> np.ndarray:
    """c of every run, (runs, inputs)."""
    logits = constraint(np.broadcast_to(inputs, (constraint.runs, *inputs.shape)))
    return sigmoid(logits[..., 0].astype(np.float64))
