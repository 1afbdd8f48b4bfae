"""Random gridworlds: size, walls, starts, goal, constraint, slip and budget come from a seed."""

from __future__ import annotations

import numpy as np

from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.learning.exact_policies import Cells
from icl_core.randomness import generator

SMALLEST = 5  # cells along a side
SLIPS = (0.0, 0.0, 0.1)
DISCOUNTS = (1.0, 0.95)  # below 1 a way round costs reward, and experts spend their budget
BUDGETS = (0.5, 0.99, 1.5, 2.5)
HURRY = 0.9  # the discount of an agent that takes the shortest way
MATTERS = 1.2  # times beta: what the shortest way costs at least
REACHED = 0.8  # of the unconstrained return: what the constrained optimum earns at least


class RandomGrid(Gridworld):
    """The gridworld of a seed; the first draw that is worth learning from."""

    title = "Random gridworld"
    horizon = 30

    def __init__(self, seed: int):
        self.name = f"grid-{seed:02d}"
        rng = generator(seed, "development-grid")
        while True:
            self._draw(rng)
            super().__init__(self.Settings(slip=float(rng.choice(SLIPS))))
            if worth_learning(self):
                return

    def _draw(self, rng: np.random.Generator) -> None:
        rows, columns = rng.integers(SMALLEST, SIZE + 1, size=2).tolist()
        self.discount = float(rng.choice(DISCOUNTS))
        self.threshold = float(rng.choice(BUDGETS))
        axes = (("row i", rows), ("column j", columns))
        self.grid = EvaluationGrid(tuple(Axis(name, np.arange(n) * 1.0) for name, n in axes))
        self.constrained = self._block(rng, rows, columns)
        if rng.random() < 0.3:
            self.constrained |= self._block(rng, rows, columns)
        # Goal, starts and walls lie on other cells, all different.
        rest = np.argwhere(~self.constrained[:rows, :columns])
        order = rng.permutation(len(rest))
        starts, walls = int(rng.integers(1, 5)), int(rng.integers(0, 5))
        self.goal = (int(rest[order[0], 0]), int(rest[order[0], 1]))
        self.starts = _mask(rest[order[1 : 1 + starts]])
        inside = np.zeros((SIZE, SIZE), bool)
        inside[:rows, :columns] = True
        # Cells that cannot be entered: walls, and all beyond the grid's own size.
        self.blocked = ~inside | _mask(rest[order[1 + starts : 1 + starts + walls]])

    @staticmethod
    def _block(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        """A bar or a block of constrained cells."""
        height, width = rng.integers(1, 5, size=2).tolist()
        top, left = rng.integers(0, rows - 1), rng.integers(0, columns - 1)
        mask = np.zeros((SIZE, SIZE), bool)
        mask[top : min(top + height, rows), left : min(left + width, columns)] = True
        return mask

    def step(self, states, actions, noise=None):
        moved, rewards, over = super().step(states, actions, noise)
        cells = moved.astype(np.int64)
        walled = self.blocked[cells[:, 0], cells[:, 1]]
        return np.where(walled[:, None], states, moved).astype(np.float32), rewards, over

    def transition_matrix(self) -> np.ndarray:
        """P[s, a, s']; who would enter a blocked cell stays."""
        moves = super().transition_matrix()
        blocked = self.blocked.ravel()
        stays = moves[:, :, blocked].sum(axis=2)
        moves[:, :, blocked] = 0.0
        every = np.arange(SIZE * SIZE)
        moves[every, :, every] += stays
        return moves


def worth_learning(world: RandomGrid) -> bool:
    """Whether the goal can be reached within the budget, and the shortest way breaks it.

    This looks at the true constraint: it makes worlds, and learns nothing.
    """
    cells, constraint = Cells(world), world.constrained.ravel().astype(np.float64)
    free = cells.best(cells.rewards)
    kept = cells.constrained_optimum(constraint, world.threshold)
    if not kept.feasible or kept.visits[cells.goal] < REACHED * free.visits[cells.goal]:
        return False
    cells.discount = HURRY
    shortest = cells.best(cells.rewards)
    reached = shortest.visits[cells.goal] > HURRY ** (world.horizon / 2)
    return bool(reached and shortest.visits @ constraint > MATTERS * world.threshold)


def _mask(cells: np.ndarray) -> np.ndarray:
    mask = np.zeros((SIZE, SIZE), bool)
    mask[cells[:, 0], cells[:, 1]] = True
    return mask
