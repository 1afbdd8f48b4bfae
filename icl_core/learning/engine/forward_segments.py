"""Segments of fixed length in environments that go forward only (see `segments`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import choose, draw_uniform, episode_seeds
from icl_core.learning.engine.segments import ParallelEnvs, Segment

if TYPE_CHECKING:  # it needs Gymnasium
    from icl_core.environments.forward import ForwardWorld


class ForwardEnvs(ParallelEnvs):
    """`count` rows of a vector environment for each run.

    Where somebody else has used the rows since (whole episodes were rolled out), or a saved state
    was taken up, all episodes begin anew: what was under way is lost, and counts nowhere.

    Some environments need a step of their own to begin an episode. Rows then come to differ in how
    many steps they have taken; all go on until the last row has enough. What the others take
    beyond that is not learned from, and an episode with such steps is not in the log.
    """

    def __init__(self, world: World, rngs: Sequence[np.random.Generator], count: int):
        self.world, self._envs = world, cast("ForwardWorld", world)
        runs = len(rngs)
        if runs * count > self._envs.rows:
            raise InputError(
                f"setting on_policy.environments: expected at most {self._envs.rows // runs}, for "
                f"{runs} seeds share {self._envs.rows} environments, found {count}; lower it, give "
                "fewer seeds or more environments"
            )
        self.ages = np.zeros((runs, count), np.int64)
        self.sums = np.zeros((3, runs, count))
        self._now = np.zeros((runs, count, world.observation_size), np.float32)
        self._use = -1  # of the rows, which is ours: none yet
        # (runs, count) bool: the episode under way has steps that were not counted, now and when
        # the last segment began; and it began after the last segment's end.
        self._missed, self._missed_before, self._fresh = np.zeros((3, runs, count), bool)

    def roll(self, policies: Networks, rngs: Sequence[np.random.Generator], steps: int) -> Segment:
        """Take `steps` steps with the stochastic policies in every row."""
        if self._use != self._envs.uses:
            self._begin(rngs)
        self.sums[:, self._fresh] = 0
        self._fresh[...] = False
        self._missed_before = self._missed.copy()
        record = _Record(self.world, self.ages.shape, steps)
        choosing, _ = draw_uniform(self.world, rngs, steps, self.ages.shape[1])
        while not record.full:
            self._advance(record, policies, record.draws(choosing))
        return record.segment()

    def _begin(self, rngs: Sequence[np.random.Generator]) -> None:
        seeds = np.concatenate([episode_seeds(rng, self.ages.shape[1]) for rng in rngs])
        self._now = self._ours(self._envs.begin(np.resize(seeds, self._envs.rows).tolist()))
        self._use = self._envs.uses
        self.ages[...], self.sums[...], self._missed[...] = 0, 0, False

    def _advance(self, record: _Record, policies: Networks, draws: np.ndarray) -> None:
        """One step of all rows."""
        chosen = choose(self.world, policies, self._now, draws)
        flat = chosen.reshape(-1, *chosen.shape[2:])
        moved = self._envs.move(np.resize(flat, (self._envs.rows, *flat.shape[1:])))
        led, rewards, ended, cut, rested, now = map(self._ours, moved)
        steps = (self._now, chosen, rewards, ended, cut, self.ages, led)
        beyond = record.add(steps, ~rested) & ~rested
        self._missed |= beyond
        self._missed &= ~ended
        self._fresh |= beyond & ended
        self.ages = np.where(ended | rested, 0, self.ages + 1)
        self._now = now

    def _ours(self, rows: np.ndarray) -> np.ndarray:
        """(rows, ...) -> (runs, count, ...)."""
        shape = self.ages.shape
        return rows[: shape[0] * shape[1]].reshape(*shape, *rows.shape[1:])

    def _whole(self, segment: Segment) -> np.ndarray:
        first = np.cumsum(segment.ended, axis=1) == 1
        return segment.ended & ~(first & self._missed_before[:, None])

    def tensors(self) -> dict[str, np.ndarray]:
        """Nothing: the environment keeps its state to itself."""
        return {}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """Episodes begin anew."""
        self._use = -1


class _Record:
    """The first `steps` steps of each row."""

    def __init__(self, world: World, shape: tuple[int, ...], steps: int):
        actions, each = actions_of(world), (shape[0], steps, shape[1])
        seen = (*each, world.observation_size)
        self.parts = (
            np.zeros(seen, np.float32),
            np.zeros((*each, *actions.shape), actions.dtype),
            np.zeros(each, np.float32),
            *np.zeros((2, *each), bool),
            np.zeros(each, np.int64),
            np.zeros(seen, np.float32),
        )
        self.steps, self.taken = steps, np.zeros(shape, np.int64)

    @property
    def full(self) -> bool:
        return bool((self.taken >= self.steps).all())

    def draws(self, choosing: np.ndarray) -> np.ndarray:
        """(runs, count, ...) of (steps, runs, count, ...): those of each row's next step."""
        run, row = np.indices(self.taken.shape)
        return choosing[self.taken % self.steps, run, row]

    def add(self, steps: Sequence[np.ndarray], real: np.ndarray) -> np.ndarray:
        """Take the rows `real` (runs, count) bool; which rows had enough already, likewise."""
        beyond = self.taken >= self.steps
        run, row = np.nonzero(real & ~beyond)
        at = self.taken[run, row]
        for part, values in zip(self.parts, steps, strict=True):
            part[run, at, row] = values[run, row]
        self.taken[run, row] += 1
        return beyond

    def segment(self) -> Segment:
        return Segment(*self.parts)
