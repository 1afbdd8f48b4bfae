"""Gridworlds: 7x7 cells, eight moves, one constrained block (paper, App. C.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, ExpectedSteps, World, stepped
from icl_core.settings import setting

SIZE = 7
MOVES = np.array(
    [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=np.int64
)


def block(rows: range, columns: range) -> np.ndarray:
    """Mask of the cells in the given rows and columns, (SIZE, SIZE) bool."""
    mask = np.zeros((SIZE, SIZE), dtype=bool)
    mask[np.ix_(list(rows), list(columns))] = True
    return mask


class Gridworld(World):
    """State (i, j): row from the top, column from the left.

    The reward belongs to the state that is left: any action in the goal pays 1
    and ends the episode, so a path of n moves has n + 1 recorded steps. A move
    that would leave the grid leaves the state unchanged. With `slip` > 0 the
    intended move happens with probability 1 - slip, and each of the other seven
    with probability slip / 7 (`slip_over_all`: each of all eight with slip / 8).
    """

    @dataclass(frozen=True)
    class Settings(World.Settings):
        """Of both grids."""

        slip: float = setting(
            0.0,
            "probability that another move happens than the intended one",
            at_least=0,
            at_most=1,
        )
        slip_over_all: bool = setting(
            False, "true: a slip is a draw from all eight moves; false: from the other seven"
        )

    drawing = "icl_core.environments.pictures.synthetic"
    discount = 1.0
    threshold = 0.99
    n_actions = len(MOVES)
    input_resolution = np.ones(2)
    observation_low = np.zeros(2, dtype=np.float32)
    observation_high = np.full(2, SIZE - 1, dtype=np.float32)
    grid = EvaluationGrid(
        (
            Axis("row i", np.arange(SIZE, dtype=np.float64)),
            Axis("column j", np.arange(SIZE, dtype=np.float64)),
        )
    )
    starts: np.ndarray  # (SIZE, SIZE) bool
    constrained: np.ndarray  # (SIZE, SIZE) bool
    goal: tuple[int, int]

    def __init__(self, settings: Settings | None = None):
        given = settings or self.Settings()
        super().__init__(given)
        self.slip = given.slip
        self.slip_over_all = given.slip_over_all
        self.noise_size = 1 if self.slip > 0 else 0
        self.start_cells = np.argwhere(self.starts)

    def initial_states(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return self.start_cells[rng.integers(len(self.start_cells), size=n)].astype(np.float32)

    def step(self, states, actions, noise=None):
        cells = states.astype(np.int64)
        if self.noise_size:
            actions = self._slipped(np.asarray(actions), noise[:, 0])
        moved = cells + MOVES[actions]
        inside = np.all((moved >= 0) & (moved < SIZE), axis=1)
        at_goal = (cells[:, 0] == self.goal[0]) & (cells[:, 1] == self.goal[1])
        stays = at_goal | ~inside
        next_states = np.where(stays[:, None], cells, moved).astype(np.float32)
        return next_states, at_goal.astype(np.float32), at_goal

    def off_start(self, observations):
        apart = np.abs(observations[:, None] - self.start_cells)  # (n, starts, 2)
        nearest = apart.max(axis=2).argmin(axis=1)
        return apart[np.arange(len(observations)), nearest]

    def expected_steps(self, observations, actions) -> ExpectedSteps:
        """With `slip`, any of the moves that are possible."""
        draws = None
        if self.noise_size:
            parts = 8 if self.slip_over_all else 7
            slips = self.slip * (np.arange(parts) + 0.5) / parts
            draws = np.append(slips, [1.0] * (self.slip < 1))[:, None]  # 1: no slip
        return stepped(self, np.rint(observations), actions, draws)

    def _slipped(self, actions: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Replace actions by another move where the uniform draw falls below `slip`."""
        share = np.minimum(uniform / self.slip, 1.0)  # uniform again, given that it slips
        if self.slip_over_all:
            other = np.minimum((share * 8).astype(np.int64), 7)
        else:
            other = (actions + 1 + np.minimum((share * 7).astype(np.int64), 6)) % 8
        return np.where(uniform < self.slip, other, actions)

    def constraint_inputs(self, states, actions):
        return np.asarray(states, dtype=np.float32)

    def true_constraint(self, inputs):
        cells = np.rint(inputs).astype(np.int64)
        return self.constrained[cells[..., 0], cells[..., 1]].astype(np.float32)

    def transition_matrix(self) -> np.ndarray:
        """P[s, a, s'] over the flat cells, without the goal's ending (for the linear program)."""
        cells = np.argwhere(np.ones((SIZE, SIZE), dtype=bool))
        intended = np.zeros((SIZE * SIZE, len(MOVES), SIZE * SIZE))
        for action, move in enumerate(MOVES):
            moved = cells + move
            inside = np.all((moved >= 0) & (moved < SIZE), axis=1)
            target = np.where(inside[:, None], moved, cells) @ (SIZE, 1)
            intended[np.arange(SIZE * SIZE), action, target] = 1.0
        total = intended.sum(axis=1, keepdims=True)
        if self.slip_over_all:
            return (1 - self.slip) * intended + self.slip / 8 * total
        return (1 - self.slip) * intended + self.slip / 7 * (total - intended)
