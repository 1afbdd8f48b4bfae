"""Demonstrations that a user brings: read, and compared with the physics of their world.

Besides what `files` checks of every file: numbers have a sane size, an episode starts where the
world can start, every row follows from the one before by a step of the world, rewards are the
world's, and nothing comes after the end of an episode. A row may lie as far from the expected one
as the world declares (`World.step_room`, `World.reward_room`), times a tolerance.

How much of this is possible depends on what is observed. In the gridworlds and the cart poles it
is the whole state; with slip, a row must be one of those that may follow. Of a robot the contact
solver's warm start is missing: a step is simulated without it. The rows of HighD and ExiD do not
name the recorded vehicle: it is found by the first row, and where two lane changes of ExiD start
alike, one of them must agree. How a HighD ego changes lane or accelerates is believed, and its last
reward is compared only where a little more or less of the way would not change it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from icl_core.demonstrations.files import DemonstrationsFile
from icl_core.demonstrations.minari_rows import MinariRows
from icl_core.demonstrations.minari_sets import is_minari
from icl_core.demonstrations.rows import Rows, shown
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import ExpectedSteps, World

MOST_STEPS = 1_000_000  # ten times the paper's most: what all jobs can hold in memory
LARGEST = 1e6  # of states, actions and rewards, in whatever units: far beyond any world's
CLIPPED = 100  # widths of the bounds that an action may lie beyond them: worlds clip it
AT_ONCE = 50_000  # steps that are compared at a time; the robots take 3 to 10 s for so many
MOST_AT_ONCE = 1000  # trajectories, however short
FEW = 4  # numbers of a state that are all shown in an error
RELAX = "correct the row, or relax demonstrations.tolerance (data/README.md)"


def read_brought(
    path: str | os.PathLike, world: World, tolerance: float | None, whole: bool = True
) -> Trajectories:
    """The episodes of a user's file, or of a Minari data set; InputError where they are faulty.

    With a tolerance of None rows are not compared with the world. Not `whole`: only the first are,
    up to 50,000 steps, for who must not wait.
    """
    kind = MinariRows if is_minari(path) else DemonstrationsFile
    file: Rows = kind(path, MOST_STEPS)
    file.check_steps(file.amount(world))
    found = file.trajectories(world)
    _check_sizes(file, world, found)
    if tolerance is not None:
        for first, part in _slices(found):
            _Comparison(file, world, tolerance, first).check(part)
            if not whole:
                break
    return found


def _check_sizes(file: Rows, world: World, found: Trajectories) -> None:
    """Sane sizes of all numbers, and actions that are not absurdly far beyond their bounds."""
    parts = {"state": found.states, "action": found.actions, "reward": found.rewards}
    limits: dict[str, tuple] = {name: (-LARGEST, LARGEST) for name in parts}
    if not world.discrete:
        low, high = world.action_low.astype(float), world.action_high.astype(float)
        room = CLIPPED * (high - low)
        limits["action"] = np.maximum(low - room, -LARGEST), np.minimum(high + room, LARGEST)
    for name, values in parts.items():
        low, high = limits[name]
        wrong = (values <= low) | (values >= high)
        wrong = wrong.reshape(*found.mask.shape, -1).any(axis=2) & found.mask
        if wrong.any():
            at = _first(wrong)
            expected = f"numbers between {_each(low)} and {_each(high)} in {name!r}"
            advice = "check the units or leave the trajectory out"
            raise file.fault(expected, shown(values[at]), advice, file.row(*at))


def _slices(found: Trajectories) -> Iterator[tuple[int, Trajectories]]:
    """Some trajectories at a time, with the place of the first of them."""
    size = min(max(1, AT_ONCE // found.rewards.shape[1]), MOST_AT_ONCE)
    for first in range(0, len(found), size):
        yield first, found[first : first + size]


class _Comparison:
    """Trajectories beside what the world makes of them; `first` is the place of their first."""

    def __init__(self, file: Rows, world: World, tolerance: float, first: int):
        self.file, self.world, self.tolerance, self.first = file, world, tolerance, first

    def check(self, found: Trajectories) -> None:
        """Raise an InputError at the first row that cannot be."""
        off = self.world.off_start(found.states[:, 0])
        if off is not None:
            wrong = (off > self.tolerance * self.world.step_room).any(axis=1)
            if wrong.any():
                at = int(wrong.argmax()), 0
                expected = f"a state in which {self.world.name} can start"
                raise self._fault(expected, shown(found.states[at]), at)
        expected_steps = self.world.expected_steps(found.states, found.actions)
        if expected_steps is not None:
            self._check_steps(found, expected_steps)

    def _check_steps(self, found: Trajectories, expected: ExpectedSteps) -> None:
        follows = found.mask[:, 1:]  # whether there is a next row
        room = self.tolerance * self.world.step_room
        apart = np.abs(expected.observations[:, :, :-1] - found.states[:, 1:])
        unlike = np.zeros(expected.over.shape, bool)
        # Not `<=`: NaN, where nothing is expected, is never beyond.
        unlike[:, :, :-1] = (apart > room).any(axis=3) & follows
        too_late = expected.over.copy()
        too_late[:, :, :-1] &= follows
        too_late[:, :, -1] = False
        paid = np.maximum(1, np.abs(found.rewards)) * self.tolerance * self.world.reward_room
        unpaid = (np.abs(expected.rewards - found.rewards) > paid) & found.mask
        wrong = unlike | too_late | unpaid
        if not wrong.all(axis=0).any():
            return
        at = _first(wrong.all(axis=0))
        case = int(np.argmin(apart[:, *at].max(axis=1))) if at[1] < apart.shape[2] else 0
        self._raise(found, ExpectedSteps(*(part[case] for part in expected)), at, unpaid[case][at])

    def _raise(
        self, found: Trajectories, expected: ExpectedSteps, at: tuple[int, int], unpaid: bool
    ) -> None:
        """Say what is wrong at a step or, if its reward is right, after it."""
        few = found.states.shape[2] <= FEW
        done = "this step"
        if few:
            done = f"action {shown(found.actions[at])} in {shown(found.states[at])}"
        if unpaid:
            reward = shown(expected.rewards[at])
            raise self._fault(f"a reward of {reward} for {done}", shown(found.rewards[at]), at)
        after = at[0], at[1] + 1
        if expected.over[at]:
            raise self._fault(f"the end of the episode after {done}", "another step", after)
        wanted, given = expected.observations[at], found.states[after]
        if few:
            raise self._fault(f"the state {shown(wanted)} after {done}", shown(given), after)
        k = int(np.nanargmax(np.abs(wanted - given) / self.world.step_room))
        text = (
            f"{shown(wanted[k])} as number {k} of the state (from 0), by a step from the row before"
        )
        raise self._fault(text, shown(given[k]), after)

    def _fault(self, expected: str, what: str, at: tuple[int, int]):
        row = self.file.row(self.first + at[0], at[1])
        return self.file.fault(expected, what, RELAX, row)


def _first(wrong: np.ndarray) -> tuple[int, int]:
    """Episode and step of the first that is True."""
    episode, step = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return int(episode), int(step)


def _each(limits) -> str:
    """One number where all are the same."""
    different = np.unique(limits)
    return shown(different[0] if len(different) == 1 else limits)
