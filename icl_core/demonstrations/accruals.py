"""Accruals (visits to the nodes of the evaluation grid) and their dissimilarity, NAD.

Paper, App. C "Metrics": both accruals are normalised to sum 1 and compared by
the exact Wasserstein distance, with the L1 distance between grid *indices* as
ground metric, so that one unit is one node (one cell, or 0.1 m of CartPole).
"""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import Axis, EvaluationGrid, World

CRACK = 0.001  # the authors' windows leave this much between neighbouring nodes


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
    a, b = share_a.ravel(), share_b.ravel()
    return float(_pot_emd2()(a, b, _index_distances(share_a.shape)))


@lru_cache(maxsize=16)
def _index_distances(shape: tuple[int, ...]) -> np.ndarray:
    """(n, n) L1 distances between the grid indices of all pairs of nodes."""
    index = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=-1)
    distances = np.abs(index[:, None] - index[None]).sum(axis=-1).astype(np.float64)
    distances.flags.writeable = False
    return distances


@lru_cache(maxsize=1)
def _pot_emd2():
    """POT's `emd2`, imported at first use.

    POT imports torch wherever it is installed, only to accept torch tensors.
    We pass NumPy arrays, so it need not: 1.4 s instead of 3 s for a figure's job.
    """
    switch = "POT_BACKEND_DISABLE_PYTORCH"
    before = os.environ.get(switch)
    os.environ[switch] = "1"
    try:
        from ot.lp import emd2
    finally:
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
