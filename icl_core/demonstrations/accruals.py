"""Accruals (visits to the nodes of the evaluation grid) and their dissimilarity, NAD.

Paper, App. C "Metrics": both accruals are normalised to sum 1 and compared by
the exact Wasserstein distance, with the L1 distance between grid *indices* as
ground metric, so that one unit is one node (one cell, or 0.1 m of CartPole).

Three ways lead to that distance: in one dimension a sum, on grids of the paper's sizes POT, which
the authors use, on larger ones a flow. They agree but for rounding; which one is taken depends on
the sizes alone, so that the paper's numbers keep their last bits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import Axis, EvaluationGrid, World

if TYPE_CHECKING:  # where no flow is computed, nobody waits for SciPy
    from scipy import sparse

CRACK = 0.001  # the authors' windows leave this much between neighbouring nodes
# Where POT measures: on grids up to HighD's, the paper's largest, as long as one side is no fuller
# than demonstrations are there (593 of 3,321 nodes). Beyond, a flow is faster.
POT_NODES, POT_PAIRS = 41 * 81, 2_000_000


def visits(world: World, trajectories: Trajectories, exact_windows: bool = False) -> np.ndarray:
    """How often each grid node was visited: leading run axes, then the grid's shape.

    Every recorded (s_t, a_t) counts for its nearest node; samples outside the
    grid are dropped, not clipped. With `exact_windows` a node collects only
    g - (h/2 - 0.001) <= x <= g + h/2, as the authors' code does for spacing h.
    """
    grid = world.grid
    inputs = world.constraint_inputs(trajectories.states, trajectories.actions)
    node = _locate_exactly(grid, inputs) if exact_windows else grid.locate(inputs)
    runs = trajectories.lengths.shape[:-1]
    n_runs, n_nodes = int(np.prod(runs)), int(np.prod(grid.shape))
    counted = (trajectories.mask & (node >= 0)).reshape(n_runs, -1)
    flat = node.reshape(n_runs, -1) + n_nodes * np.arange(n_runs)[:, None]
    counts = np.bincount(flat[counted], minlength=n_runs * n_nodes)
    return counts.reshape(*runs, *grid.shape)


def normalised(grid: EvaluationGrid, counts: np.ndarray) -> np.ndarray:
    """Accruals as shares: they sum to 1, or to 1 in each slice of a sliced grid.

    `counts` may carry leading run axes. What was never visited is nan, not 0:
    an empty histogram has no distribution.
    """
    counts = np.asarray(counts, dtype=np.float64)
    dims = len(grid.shape)
    summed = tuple(k - dims for k in range(dims) if k != grid.sliced_by)
    total = counts.sum(axis=summed, keepdims=True)
    return np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)


def accrual_dissimilarity(
    grid: EvaluationGrid, visits_a: np.ndarray, visits_b: np.ndarray
) -> float:
    """NAD between two accruals given as counts of the grid's shape.

    On a sliced grid (CartPole, by action) the slices are normalised separately
    and their distances *added*. The result is nan where either histogram, or
    either's slice, is empty: the distance is undefined there and 0 would flatter.
    """
    share_a, share_b = normalised(grid, visits_a), normalised(grid, visits_b)
    if np.isnan(share_a).any() or np.isnan(share_b).any():
        return float("nan")
    if grid.sliced_by is None:
        return _distance(share_a, share_b)
    slices = (np.moveaxis(share, grid.sliced_by, 0) for share in (share_a, share_b))
    return sum(_distance(a, b) for a, b in zip(*slices, strict=True))


def self_dissimilarity(
    world: World, trajectories: Trajectories, rng: np.random.Generator, splits: int = 100
) -> float:
    """NAD to be expected between these trajectories and as many new ones of the same policy.

    Measured between random halves. A histogram's error falls with the square root
    of the sample, so twice as many trajectories on either side are closer by
    sqrt(2). An agent that is closer than this cannot be distinguished from the expert. The
    result is nan where a half leaves a slice empty.
    """
    half = len(trajectories) // 2
    orders = [rng.permutation(len(trajectories)) for _ in range(splits)]
    halves = [
        [visits(world, trajectories[part]) for part in (order[:half], order[half:])]
        for order in orders
    ]
    distances = [accrual_dissimilarity(world.grid, a, b) for a, b in halves]
    return float(np.mean(distances) / np.sqrt(2.0))


def _distance(share_a: np.ndarray, share_b: np.ndarray) -> float:
    """Exact optimal-transport cost between two histograms that sum to 1."""
    if share_a.ndim == 1:
        # In one dimension emd2 equals the area between the distribution functions.
        return float(np.abs(np.cumsum(share_a - share_b)[:-1]).sum())
    pairs = np.count_nonzero(share_a) * np.count_nonzero(share_b)
    by_pot = share_a.size <= POT_NODES and pairs <= POT_PAIRS
    return (cost_by_pot if by_pot else cost_by_flow)(share_a, share_b)


def cost_by_pot(share_a: np.ndarray, share_b: np.ndarray) -> float:
    """The cost by POT's network simplex, with an unknown for every pair of visited nodes."""
    a, b = share_a.ravel(), share_b.ravel()
    return float(_pot_emd2()(a, b, _index_distances(share_a.shape)))


def cost_by_flow(share_a: np.ndarray, share_b: np.ndarray) -> float:
    """The same cost as a flow between neighbours, with two unknowns for every such pair.

    A way of L1 length d passes d times from a node to the next, so what is sent along it costs
    one for each passage. Only what differs is sent, and no way needs to leave the box around it.
    """
    from scipy.optimize import linprog  # half a second, for which small grids need not wait

    surplus = share_a - share_b
    where = np.nonzero(surplus)
    if len(where[0]) < 2:
        return 0.0
    surplus = surplus[tuple(slice(w.min(), w.max() + 1) for w in where)]
    # In this unit the flow's cost is at least half the number of nodes. A solution may be wrong by
    # two tolerances a node: the cost is exact to 4e-10 of itself, and in practice to rounding.
    unit = np.abs(surplus).mean()
    flow = _outflow(surplus.shape)
    solution = linprog(
        np.ones(flow.shape[1]),
        A_eq=flow[:-1],  # the last node takes what remains: but for rounding, what it should
        b_eq=surplus.ravel()[:-1] / unit,
        method="highs-ipm",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    if solution.status != 0:
        raise RuntimeError(f"the flow between {surplus.shape} nodes failed: {solution.message}")
    return float(solution.fun * unit)


def _outflow(shape: tuple[int, ...]) -> sparse.csr_array:
    """(nodes, arcs): 1 where an arc between neighbours begins, -1 where it ends."""
    from scipy import sparse

    node = np.arange(np.prod(shape)).reshape(shape)
    axes = range(node.ndim)
    low = np.concatenate([np.delete(node, -1, axis).ravel() for axis in axes])
    high = np.concatenate([np.delete(node, 0, axis).ravel() for axis in axes])
    arc, ones = np.arange(len(low)), np.ones(len(low))
    places = np.concatenate([low, high]), np.concatenate([arc, arc])
    forth = sparse.coo_array((np.concatenate([ones, -ones]), places), shape=(node.size, len(low)))
    return sparse.hstack([forth, -forth], format="csr")


@lru_cache(maxsize=16)
def _index_distances(shape: tuple[int, ...]) -> np.ndarray:
    """(n, n) L1 distances between the grid indices of all pairs of nodes."""
    distances = np.zeros((*shape, *shape))
    for axis, count in enumerate(shape):
        apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
        others = [k for k in range(2 * len(shape)) if k not in (axis, axis + len(shape))]
        distances += np.expand_dims(apart, others)
    distances = distances.reshape(np.prod(shape), -1)
    distances.flags.writeable = False
    return distances


@lru_cache(maxsize=1)
def _pot_emd2() -> Callable[..., float]:
    """POT's `emd2`, imported at first use, and little else of POT.

    The whole package takes 1.2 s: it imports all of its solvers, SciPy's statistics, networkx and
    wherever it is installed torch. The module of `emd2` by itself takes 0.4 s: it is imported
    under a package that is there in name only, and gone afterwards.
    """
    switch = "POT_BACKEND_DISABLE_PYTORCH"
    before = os.environ.get(switch)
    os.environ[switch] = "1"
    spec = None if "ot" in sys.modules else find_spec("ot")
    if spec is not None:
        sys.modules["ot"] = module_from_spec(spec)
    try:
        from ot.lp import emd2
    finally:
        if spec is not None:
            del sys.modules["ot"]
        if before is None:
            del os.environ[switch]
        else:
            os.environ[switch] = before
    return emd2


def _locate_exactly(grid: EvaluationGrid, inputs: np.ndarray) -> np.ndarray:
    """Like `grid.locate`, but -1 also in the cracks between the authors' windows."""
    inside = [_in_window(axis, inputs[..., k]) for k, axis in enumerate(grid.axes)]
    return np.where(np.all(inside, axis=0), grid.locate(inputs), -1)


def _in_window(axis: Axis, values: np.ndarray) -> np.ndarray:
    half = (axis.nodes[1] - axis.nodes[0]) / 2
    offset = values - axis.nodes[axis.nearest(values)]
    return (offset >= CRACK - half) & (offset <= half)
