"""Policies of a gridworld by their expected visits, found exactly and in milliseconds.

What a policy costs depends on it through its visits alone: J(pi, c) = d_pi . c, where
d_pi(s) = E sum_t gamma^t [s_t = s]; and its return is d_pi(goal). So the best policy for any gains
of cells comes from backward induction, and the constrained optimum of `linear_program` from its
dual: on g(lambda) = max_pi J(pi, r) - lambda (J(pi, c) - beta), a few backward inductions find the
two policies between which the optimum lies. It is the same optimum, a hundred times as fast, which
is what an alternation of hundreds of policies needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, discounts
from icl_core.environments.gridworld import MOVES, SIZE, Gridworld
from icl_core.environments.world import World
from icl_core.errors import InputError

CELLS = SIZE * SIZE
EXACT = 1e-10  # differences of values below this are rounding
# Among equally good policies the cheapest, among equally cheap ones the best: by this much of the
# other aim.
TIE = 1e-8


@dataclass(frozen=True)
class Behaviour:
    """A policy, as what it does: x_t(s, a) = P(s_t = s, a_t = a, episode still running)."""

    occupancy: np.ndarray  # (horizon, cells, actions)
    visits: np.ndarray  # (cells,) d_pi, discounted
    feasible: bool = True  # False: no policy keeps the threshold, this is the cheapest

    def policy(self) -> np.ndarray:
        """pi_t(a | s), (horizon, cells, actions); uniform where it never comes."""
        return _conditional(self.occupancy)

    def stationary(self, discount: float) -> np.ndarray:
        """pi(a | s), (cells, actions): what it does on average over time in each cell."""
        weights = discounts(discount, len(self.occupancy))
        return _conditional(np.tensordot(weights, self.occupancy, axes=1))

    def mixed(self, other: Behaviour, share: float) -> Behaviour:
        """Itself, or with probability `share` the other: one policy with the mean of the visits."""
        return Behaviour(
            (1 - share) * self.occupancy + share * other.occupancy,
            (1 - share) * self.visits + share * other.visits,
        )


class Cells:
    """The dynamics of a gridworld as arrays."""

    def __init__(self, world: Gridworld):
        self.horizon, self.discount, self.actions = world.horizon, world.discount, world.n_actions
        self.goal = int(np.ravel_multi_index(world.goal, (SIZE, SIZE)))
        self.rewards = np.zeros(CELLS)
        self.rewards[self.goal] = 1.0
        self.starts = world.starts.ravel() / world.starts.sum()
        self.moves = world.transition_matrix()  # (cells, actions, cells)
        self.moves[self.goal] = 0.0  # it ends the episode

    def best(self, gains: np.ndarray) -> Behaviour:
        """The policy of the largest d_pi . gains, by backward induction."""
        chosen = np.empty((self.horizon, CELLS), np.int64)
        to_come, every = np.zeros(CELLS), np.arange(CELLS)
        for t in reversed(range(self.horizon)):
            after = self.discount * (self.moves @ to_come)
            chosen[t] = after.argmax(axis=1)
            to_come = gains + after[every, chosen[t]]
        return self._deterministic(chosen)

    def _deterministic(self, chosen: np.ndarray) -> Behaviour:
        """What the policy does that takes the actions (horizon, cells)."""
        occupancy = np.zeros((self.horizon, CELLS, self.actions))
        visits, present, every = np.zeros(CELLS), self.starts, np.arange(CELLS)
        for t in range(self.horizon):
            occupancy[t, every, chosen[t]] = present
            visits += self.discount**t * present
            present = present @ self.moves[every, chosen[t]]
        return Behaviour(occupancy, visits)

    def constrained_optimum(self, constraint: np.ndarray, threshold: float) -> Behaviour:
        """The policy of Equation 3: max J(r) such that J(c) <= beta; ties go to the cheapest."""
        bold = self.best(self.rewards - TIE * constraint)
        if bold.visits @ constraint <= threshold + EXACT:
            return bold
        cautious = self.best(TIE * self.rewards - constraint)
        if cautious.visits @ constraint > threshold + EXACT:
            return Behaviour(cautious.occupancy, cautious.visits, feasible=False)
        while True:  # each turn finds another of finitely many policies, or ends
            earned = bold.visits[self.goal] - cautious.visits[self.goal]
            saved = (bold.visits - cautious.visits) @ constraint
            if earned <= EXACT:
                return cautious
            gains = self.rewards - earned / saved * constraint  # both are worth the same
            found = self.best(gains)
            if (found.visits - bold.visits) @ gains <= EXACT:
                share = (bold.visits @ constraint - threshold) / saved
                return bold.mixed(cautious, share)
            if found.visits @ constraint > threshold:
                bold = found
            else:
                cautious = found


def cells_refused(world: World | type[World]) -> str:
    """Why a world's cells and moves cannot be enumerated, in words; empty where they can."""
    if not (isinstance(world, Gridworld) or (isinstance(world, type) and _is_grid(world))):
        return f"its states cannot be enumerated, and {world.name} is no gridworld"
    if isinstance(world, Gridworld) and world.grid is not Gridworld.grid:
        return f"the constraint of {world.name} sees other inputs than the cell"
    return ""


def as_gridworld(world: World) -> Gridworld:
    """The same world, where its cells can be enumerated."""
    reason = cells_refused(world)
    if reason or not isinstance(world, Gridworld):
        raise InputError(f"an exact solution needs a gridworld and its own inputs: {reason}")
    return world


def _is_grid(world: type[World]) -> bool:
    return issubclass(world, Gridworld)


def cell_visits(world: Gridworld, episodes: Trajectories, discount: float) -> np.ndarray:
    """(episodes, cells): how often each episode was in each cell, step t counting discount^t.

    With the world's discount the mean over demonstrations is d_E: J_E(c) = d_E . c.
    """
    cells = np.rint(episodes.states).astype(np.int64) @ (SIZE, 1)
    if cells.min() < 0 or cells.max() >= CELLS:
        raise InputError(
            f"demonstrations: expected cells of {world.name}, rows and columns from 0 to "
            f"{SIZE - 1}, found others; give demonstrations of this world"
        )
    episode, step = np.nonzero(episodes.mask)
    weights = discounts(discount, cells.shape[1])[step]
    flat = episode * CELLS + cells[episode, step]
    counts = np.bincount(flat, weights, minlength=len(episodes) * CELLS)
    return counts.reshape(len(episodes), CELLS)


def demonstrated_return(world: Gridworld, episodes: Trajectories) -> np.ndarray:
    """(episodes,) discounted returns; their mean is J_E(r)."""
    return (episodes.rewards * discounts(world.discount, episodes.rewards.shape[1])).sum(axis=1)


def sample_episodes(
    world: Gridworld, policies: np.ndarray, rng: np.random.Generator
) -> Trajectories:
    """One episode of each policy, (episodes, horizon, cells, actions)."""
    count = len(policies)
    states, running = world.initial_states(rng, count), np.ones(count, bool)
    seen = np.zeros((count, world.horizon, 2), np.float32)
    done = np.zeros((count, world.horizon), np.int64)
    paid = np.zeros((count, world.horizon), np.float32)
    lengths = np.zeros(count, np.int64)
    for t in range(world.horizon):
        cells = states.astype(np.int64) @ (SIZE, 1)
        bounds = policies[np.arange(count), t, cells].cumsum(axis=1)
        drawn = (rng.random((count, 1)) * bounds[:, -1:] >= bounds[:, :-1]).sum(axis=1)
        moved, rewards, over = world.step(states, drawn, rng.random((count, world.noise_size)))
        seen[running, t], done[running, t], paid[running, t] = (
            part[running] for part in (states, drawn, rewards)
        )
        lengths += running
        running &= ~over
        states = moved
    return Trajectories(seen, done, paid, lengths)


def _conditional(occupancy: np.ndarray) -> np.ndarray:
    """Action probabilities (..., actions) of what was done; uniform where nothing was."""
    total = occupancy.sum(axis=-1, keepdims=True)
    reached = total > 1e-12
    return np.where(reached, occupancy / np.where(reached, total, 1.0), 1.0 / len(MOVES))
