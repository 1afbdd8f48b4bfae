"""What final policies do: the episodes behind NAD, accruals, returns and true costs.

They are played in sets as large as the paper's: the first one is what its tables print, all of them
together decide about claims. Kept is what is counted, not the episodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
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
    """What the policies of some runs do in several sets of equally many episodes."""

    visits: np.ndarray  # (runs, *grid.shape) counts, of all sets
    nads: np.ndarray  # (runs, sets)
    returns: np.ndarray  # (runs, sets), means of what is earned, undiscounted
    costs: np.ndarray  # (runs, sets), likewise, true and discounted; nan where nobody knows

    @classmethod
    def of(cls, world: World, sets: Iterable[Trajectories], expert: np.ndarray) -> Evaluation:
        """Of episodes (runs, episodes) each, and of what each run was shown (runs, *grid.shape)."""
        total, columns = np.zeros(expert.shape, np.int64), []
        for one in sets:  # one after the other: long episodes need not be in memory together
            counts = visits(world, one)
            total += counts
            earned = one.returns.mean(axis=-1, dtype=np.float64)
            columns.append((dissimilarities(world, expert, counts), earned, _costs(world, one)))
        return cls(total, *(np.stack(column, axis=1) for column in zip(*columns, strict=True)))

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
    world: World,
    policy: Networks,
    seeds: Sequence[int],
    expert: np.ndarray,
    settings: MeasuringSettings,
) -> Evaluation:
    """Play the policies of a stack, one for each seed; `expert` are visits (runs, *grid.shape).

    The draws are of their own purpose: they are not those by which a policy was chosen.
    """
    episodes = (
        roll_out(world, policy, generators(seeds, "report", k), settings.report_episodes)
        for k in range(settings.sets)
    )
    return Evaluation.of(world, episodes, expert)


def stored(
    seeds: Sequence[int], reported: str, played: Mapping[str, Evaluation]
) -> dict[str, np.ndarray]:
    """A file's named arrays: whose evaluations they are, by selection, and which is reported."""
    named = {"seeds": np.array(seeds), "reported": np.frombuffer(reported.encode(), np.uint8)}
    return named | {k: v for name, one in played.items() for k, v in one.tensors(name).items()}


def dissimilarities(world: World, experts: np.ndarray, agents: np.ndarray) -> np.ndarray:
    """NAD of each run's visits (runs, *grid.shape) to those of its expert, likewise."""
    both = zip(experts, agents, strict=True)
    return np.array([accrual_dissimilarity(world.grid, *pair) for pair in both])


def _costs(world: World, episodes: Trajectories) -> np.ndarray:
    """The mean true cost of an episode, (runs,)."""
    if world.true_constraint is None:
        return np.full(len(episodes), np.nan)
    values = constraint_values(world, world.true_constraint, episodes)
    return accumulate(values, episodes.mask, world.discount).mean(axis=-1)
