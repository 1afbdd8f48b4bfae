"""Environments that go on from one rollout to the next, for learners of fixed-length rollouts.

`rollouts.roll_out` plays complete episodes. The baselines' PPO takes a fixed number
of steps instead, in the middle of an episode where it must be: here several
environments per run walk side by side, and an episode that ends is followed by
the next one at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.networks import Networks
from icl_core.learning.rollouts import sample_actions


@dataclass(frozen=True)
class Walk:
    """A rollout; axes (runs, steps, environments)."""

    states: np.ndarray  # (runs, steps, environments, state_size) float32
    actions: np.ndarray  # int64
    rewards: np.ndarray  # float32
    ended: np.ndarray  # bool: the episode's last step, by its own end or by the horizon
    ages: np.ndarray  # int64: steps since the episode's start, 0 for its first
    after: np.ndarray  # (runs, 1, environments, state_size) float32: where the next walk begins


class Walkers:
    """`count` environments for each run."""

    def __init__(self, world: World, rngs: Sequence[np.random.Generator], count: int):
        self.world = world
        self.states = np.stack([world.initial_states(rng, count) for rng in rngs])
        self.ages = np.zeros(self.states.shape[:2], np.int64)
        # Return, discounted cost and length so far of the episodes that are under way.
        self.sums = np.zeros((3, *self.ages.shape))

    def walk(self, policies: Networks, rngs: Sequence[np.random.Generator], steps: int) -> Walk:
        """Take `steps` steps with the stochastic policies.

        Every draw that may be needed is made beforehand from the run's own generator,
        a start state for each step included: it is used where an episode ends.
        """
        world, shape = self.world, self.ages.shape
        size, count = world.state_size, shape[1]
        draws = np.stack([r.random((steps, count, 1 + world.noise_size)) for r in rngs], axis=1)
        starts = [world.initial_states(r, steps * count).reshape(steps, count, size) for r in rngs]
        starts = np.stack(starts, axis=1)
        seen = np.empty((steps, *shape, size), np.float32)
        chosen, ages = np.empty((2, steps, *shape), np.int64)
        paid, over = np.empty((steps, *shape), np.float32), np.empty((steps, *shape), bool)
        for t in range(steps):
            seen[t], ages[t] = self.states, self.ages
            chosen[t] = sample_actions(policies(seen[t]), draws[t, ..., 0])
            noise = draws[t, ..., 1:].reshape(self.ages.size, world.noise_size)
            moved, rewards, ended = world.step(
                self.states.reshape(-1, size), chosen[t].ravel(), noise
            )
            paid[t] = rewards.reshape(shape)
            over[t] = ended.reshape(shape) | (self.ages + 1 >= world.horizon)
            new = over[t][..., None]
            self.states = np.where(new, starts[t], moved.reshape(self.states.shape))
            self.ages = np.where(over[t], 0, self.ages + 1)
        parts = (
            np.ascontiguousarray(np.moveaxis(p, 0, 1)) for p in (seen, chosen, paid, over, ages)
        )
        return Walk(*parts, self.states[:, None].astype(np.float32))

    def tally(self, walk: Walk, costs: np.ndarray) -> dict[str, np.ndarray]:
        """How the episodes that ended in this walk went: column of the training log -> (runs,).

        `costs` are c of the walk's steps. Where no episode ended there is nothing to tell: nan.
        """
        discounted = costs * self.world.discount**walk.ages
        totals = np.empty((3, *walk.rewards.shape))
        for t in range(walk.rewards.shape[1]):
            self.sums += np.stack(
                [walk.rewards[:, t], discounted[:, t], np.ones_like(self.sums[0])]
            )
            totals[:, :, t] = self.sums
            self.sums *= ~walk.ended[:, t]
        ended = walk.ended.reshape(len(walk.ended), -1)
        totals = totals.reshape(3, *ended.shape)
        violating = totals[1] >= self.world.threshold
        columns = np.stack([totals[0], totals[1], violating, totals[2]]) * ended
        count = ended.sum(axis=-1)
        means = np.where(count > 0, columns.sum(axis=-1) / np.maximum(count, 1), np.nan)
        return dict(zip(("return", "constraint_value", "violations", "length"), means, strict=True))

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        return {"walkers.states": self.states, "walkers.ages": self.ages, "walkers.sums": self.sums}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.states, self.ages = named["walkers.states"], named["walkers.ages"]
        self.sums = named["walkers.sums"]
