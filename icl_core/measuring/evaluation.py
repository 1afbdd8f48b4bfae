"""What final policies do: the episodes behind NAD, accruals, returns and true costs.

They are played in sets as large as the paper's: the first one is what its tables print, all of them
together decide about claims. Kept is what is counted, not the episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icl_core.demonstrations.accruals import visits
from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.engine.costs import constraint_values
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.randomness import generators
from icl_core.settings import COUNT, setting


@dataclass(frozen=True)
class MeasuringSettings:
    """How runs are measured."""

    report_episodes: int = setting(
        50, "episodes of a set: those behind the NAD that the tables print", **COUNT
    )
    sets: int = setting(
        20, "sets of so many episodes; all of them are behind verdicts and accruals", **COUNT
    )


class Evaluation(NamedTuple):
    """What the policies of some runs do in several sets of episodes."""

    visits: np.ndarray  # (runs, sets, *grid.shape) counts
    returns: np.ndarray  # (runs, sets, episodes), undiscounted
    costs: np.ndarray  # (runs, sets, episodes), true and discounted; nan where nobody knows

    @classmethod
    def of(cls, world: World, sets: Sequence[Trajectories]) -> Evaluation:
        """Of episodes (runs, episodes) each."""
        every = [visits(world, one).astype(np.int32) for one in sets]
        returns = [one.returns.astype(np.float64) for one in sets]
        costs = [_true_costs(world, one) for one in sets]
        return cls(*(np.stack(parts, axis=1) for parts in (every, returns, costs)))

    def run(self, k: int) -> Evaluation:
        """Of one of them, without the axis of runs."""
        return Evaluation(*(part[k] for part in self))

    def tensors(self, prefix: str) -> dict[str, np.ndarray]:
        """Named arrays for a file."""
        return {f"{prefix}.{name}": part for name, part in self._asdict().items()}

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray], prefix: str) -> Evaluation:
        """The inverse of `tensors`."""
        return cls(*(named[f"{prefix}.{name}"] for name in cls._fields))


def evaluate(
    world: World, policy: Networks, seeds: Sequence[int], settings: MeasuringSettings
) -> Evaluation:
    """Play the policies of a stack, one for each seed.

    The draws are of their own purpose: they are not those by which a policy was chosen.
    """
    episodes = (
        roll_out(world, policy, generators(seeds, "report", k), settings.report_episodes)
        for k in range(settings.sets)
    )
    return _joined([Evaluation.of(world, [one]) for one in episodes])


def stored(
    seeds: Sequence[int], reported: str, played: Mapping[str, Evaluation]
) -> dict[str, np.ndarray]:
    """A file's named arrays: whose evaluations they are, by selection, and which is reported."""
    named = {"seeds": np.array(seeds), "reported": np.frombuffer(reported.encode(), np.uint8)}
    return named | {k: v for name, one in played.items() for k, v in one.tensors(name).items()}


def _joined(sets: Sequence[Evaluation]) -> Evaluation:
    """One after the other: episodes of long horizons need not be in memory together."""
    return Evaluation(*(np.concatenate(parts, axis=1) for parts in zip(*sets, strict=True)))


def _true_costs(world: World, episodes: Trajectories) -> np.ndarray:
    if world.true_constraint is None:
        return np.full(episodes.lengths.shape, np.nan)
    values = constraint_values(world, world.true_constraint, episodes)
    return accumulate(values, episodes.mask, world.discount)
