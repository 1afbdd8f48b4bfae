"""The trajectory type that all rooms share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Trajectories:
    """Complete episodes side by side, padded with zeros to the longest.

    Leading axes (`...`) may hold a stack of runs: `(episodes,)` for one set of
    demonstrations, `(runs, episodes)` for rollouts of a stack.
    """

    states: np.ndarray  # (..., steps, observation_size) float32, what is seen of s_t, before a_t
    actions: np.ndarray  # (..., steps) int64, or (..., steps, action_size) float32, as chosen
    rewards: np.ndarray  # (..., steps) float32, r(s_t, a_t)
    lengths: np.ndarray  # (...) int64, number of recorded steps

    @property
    def mask(self) -> np.ndarray:
        """(..., steps) bool: True where a step was really taken."""
        return np.arange(self.rewards.shape[-1]) < self.lengths[..., None]

    @property
    def returns(self) -> np.ndarray:
        """(...) undiscounted sum of rewards of each episode."""
        return self.rewards.sum(axis=-1)

    def parts(self) -> tuple[np.ndarray, ...]:
        """The four arrays."""
        return self.states, self.actions, self.rewards, self.lengths

    def __getitem__(self, index) -> Trajectories:
        """Pick along the leading axes: a run of a stack, or some of the episodes."""
        return Trajectories(*(part[index] for part in self.parts()))

    def __len__(self) -> int:
        return len(self.lengths)

    def padded_to(self, steps: int) -> Trajectories:
        """The same with room for so many steps: zeros are added, or cut where nobody went on."""
        axis = self.lengths.ndim

        def fitted(part: np.ndarray) -> np.ndarray:
            room = [(0, 0)] * part.ndim
            room[axis] = (0, max(0, steps - part.shape[axis]))
            return np.pad(part, room)[(slice(None),) * axis + (slice(steps),)]

        padded = fitted(self.states), fitted(self.actions), fitted(self.rewards)
        return Trajectories(*padded, self.lengths)

    def trimmed(self) -> Trajectories:
        """The same without padding beyond the longest."""
        return self.padded_to(int(self.lengths.max()))


def side_by_side(sets: Sequence[Trajectories]) -> Trajectories:
    """Equally many episodes of each run as one stack, (runs, episodes)."""
    longest = max(one.rewards.shape[-1] for one in sets)
    parts = zip(*(one.padded_to(longest).parts() for one in sets), strict=True)
    return Trajectories(*map(np.stack, parts))


def zero_after_end(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Zeros where not kept; `kept` (...) bool may have fewer axes than `values`."""
    return values * kept.reshape(*kept.shape, *[1] * (values.ndim - kept.ndim))


def discounts(world_discount: float, steps: int) -> np.ndarray:
    """(steps,) gamma^t, t from 0."""
    return world_discount ** np.arange(steps)


def accumulate(values: np.ndarray, mask: np.ndarray, discount: float) -> np.ndarray:
    """Discounted sum over each episode: (..., steps) -> (...). With c it is c^gamma(tau)."""
    return (values * mask * discounts(discount, values.shape[-1])).sum(axis=-1)
