"""Environments that go on from one rollout to the next, for learners of fixed-length rollouts.

`rollouts.roll_out` plays complete episodes. The baselines' PPO takes segments of a fixed
number of steps instead, which may begin and end in the middle of an episode: several
environments per run step side by side, and an episode that ends is followed by the next
one at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import choose, draw_uniform, step_all


@dataclass(frozen=True)
class Segment:
    """A rollout; axes (runs, steps, environments)."""

    states: np.ndarray  # (runs, steps, environments, observation_size) float32
    actions: np.ndarray  # int64, or float32 with an axis more
    rewards: np.ndarray  # float32
    ended: np.ndarray  # bool: the episode's last step, by its own end or by the horizon
    cut: np.ndarray  # bool: by the horizon alone
    ages: np.ndarray  # int64: steps since the episode's start, 0 for its first
    moved: np.ndarray  # like states: where each step led, also where the episode was over there


class ParallelEnvs:
    """`count` environments for each run."""

    def __init__(self, world: World, rngs: Sequence[np.random.Generator], count: int):
        self.world = world
        self.states = np.stack([world.initial_states(rng, count) for rng in rngs])
        self.ages: np.ndarray = np.zeros(self.states.shape[:2], np.int64)
        # Return, discounted cost and length so far of the episodes that are under way.
        self.sums = np.zeros((3, *self.ages.shape))

    def roll(self, policies: Networks, rngs: Sequence[np.random.Generator], steps: int) -> Segment:
        """Take `steps` steps with the stochastic policies.

        Every draw that may be needed is made beforehand from the run's own generator,
        a start state for each step included: it is used where an episode ends.
        """
        world, shape, actions = self.world, self.ages.shape, actions_of(self.world)
        count = shape[-1]
        choosing, noise = draw_uniform(world, rngs, steps, count)
        each = (steps, count, world.state_size)
        starts = np.stack(
            [world.initial_states(rng, steps * count).reshape(each) for rng in rngs], axis=1
        )
        seen, led = np.empty((2, steps, *shape, world.observation_size), np.float32)
        chosen = np.empty((steps, *shape, *actions.shape), actions.dtype)
        paid, ages = np.empty((steps, *shape), np.float32), np.empty((steps, *shape), np.int64)
        over, cut = np.empty((2, steps, *shape), bool)
        for t in range(steps):
            seen[t], ages[t] = world.observe(self.states), self.ages
            chosen[t] = choose(world, policies, seen[t], choosing[t])
            moved, paid[t], ended = step_all(world, self.states, chosen[t], noise[t])
            led[t] = world.observe(moved)
            cut[t] = (self.ages + 1 >= world.horizon) & ~ended
            over[t] = ended | cut[t]
            self.states = np.where(over[t][..., None], starts[t], moved)
            self.ages = np.where(over[t], 0, self.ages + 1)
        parts = (seen, chosen, paid, over, cut, ages, led)
        return Segment(*(np.ascontiguousarray(np.moveaxis(part, 0, 1)) for part in parts))

    def tally(self, segment: Segment, costs: np.ndarray, beta: float) -> dict[str, np.ndarray]:
        """How the episodes that ended in this segment went: column of the log -> (runs,).

        `costs` are c of the segment's steps. Where no episode ended there is no value: nan.
        """
        discounted = costs * self.world.discount**segment.ages
        totals = np.empty((3, *segment.rewards.shape))
        for t in range(segment.rewards.shape[1]):
            self.sums += np.stack(
                [segment.rewards[:, t], discounted[:, t], np.ones_like(self.sums[0])]
            )
            totals[:, :, t] = self.sums
            self.sums *= ~segment.ended[:, t]
        ended = self._whole(segment).reshape(len(segment.ended), -1)
        totals = totals.reshape(3, *ended.shape)
        violating = totals[1] >= beta
        columns = np.stack([totals[0], totals[1], violating, totals[2]]) * ended
        count = ended.sum(axis=-1)
        means = np.where(count > 0, columns.sum(axis=-1) / np.maximum(count, 1), np.nan)
        return dict(zip(("return", "constraint_value", "violations", "length"), means, strict=True))

    def _whole(self, segment: Segment) -> np.ndarray:
        """Like `ended`: the ends of episodes all of whose steps were counted."""
        return segment.ended

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        return {
            "environments.states": self.states,
            "environments.ages": self.ages,
            "environments.sums": self.sums,
        }

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.states, self.ages = named["environments.states"], named["environments.ages"]
        self.sums = named["environments.sums"]
