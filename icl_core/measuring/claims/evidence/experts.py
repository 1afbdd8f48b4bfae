"""What lies in the folders of demonstrations: read here and nowhere else, by expert.

Run k learns from expert k. A set that all runs share stands for all of them (`own`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import pyarrow as pa

from icl_core import discovery
from icl_core.artifacts import read_table, read_tensors
from icl_core.demonstrations.accruals import self_dissimilarity, visits
from icl_core.demonstrations.files import read_sets
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.gridworld import Gridworld
from icl_core.layout import seeds_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import TRAINING_SCHEMA
from icl_core.learning.exact_policies import Cells
from icl_core.measuring.claims.evidence.base import Base, MissingError, by_seed
from icl_core.measuring.claims.evidence.episodes import episode_costs
from icl_core.measuring.theorem import ends_at_the_expert
from icl_core.randomness import generator
from icl_core.settings import defaults, used

T = TypeVar("T")
SHARED = -1  # in place of an expert's seed: recorded traffic, or a user's file
PROBLEMS = 40  # that the theorem is tried on
UNFILTERED = 300  # episodes of an expert that are taken as they come


class OfExperts(Base):
    """Experts and their demonstrations."""

    def demonstrations(self, experiment: str) -> dict[int, Trajectories]:
        """The demonstrations of each expert; under `SHARED` a set from which all runs learn."""
        world = self.world(experiment)
        sets = [
            read_sets(one.path, world) for one in self._of_experts("demonstrations", experiment)
        ]
        return {
            SHARED if expert is None else expert: taken
            for found in sets
            for expert, taken in found.items()
        }

    def expert_visits(self, experiment: str) -> dict[int, np.ndarray]:
        """Visits of each expert's demonstrations, of the grid's shape."""
        shown, world = self.demonstrations(experiment), self.world(experiment)
        return {expert: visits(world, taken) for expert, taken in shown.items()}

    def noise_floor(self, experiment: str) -> dict[int, float]:
        """NAD between each expert's demonstrations and a great many new ones of the same expert."""
        shown, world = self.demonstrations(experiment), self.world(experiment)
        return {
            expert: self_dissimilarity(world, taken, generator(0, "halves")) / np.sqrt(2.0)
            for expert, taken in shown.items()
        }

    def expert_training(self, experiment: str) -> dict[int, pa.Table]:
        """The log of each expert's training."""
        found = self._of_experts("expert_training", experiment)
        logs = [by_seed(read_table(one.path, TRAINING_SCHEMA)) for one in found]
        return {expert: log for each in logs for expert, log in each.items()}

    def expert_episodes(self, experiment: str) -> dict[int, Trajectories]:
        """New episodes of each expert, of which none was replaced."""
        world = self.world(experiment)
        found: dict[int, Trajectories] = {}
        for one in self._of_experts("expert_policy", experiment):
            experts = seeds_of(one.fields["group"])
            rngs = [generator(expert, "unfiltered") for expert in experts]
            stack = Networks.from_tensors(read_tensors(one.path))
            taken = roll_out(world, stack, rngs, UNFILTERED)
            found |= {expert: taken[run].trimmed() for run, expert in enumerate(experts)}
        return found

    def best_return(self, experiment: str) -> float:
        """The return of the best policy that keeps the true constraint on average, exactly."""
        world = self.world(experiment)
        if not isinstance(world, Gridworld):
            raise MissingError(f"nobody knows the best return of {experiment}")
        found = Cells(world).constrained_optimum(self.truth(experiment), world.threshold)
        return float(found.occupancy[:, np.ravel_multi_index(world.goal, (7, 7))].sum())

    def nodes_of(self, experiment: str) -> Callable[[Trajectories], np.ndarray]:
        """Which node of the grid each step of episodes is at, (episodes, steps)."""
        world = self.world(experiment)
        return lambda taken: world.grid.locate(world.constraint_inputs(taken.states, taken.actions))

    def alternations(self) -> dict[int, float]:
        """Of made-up problems: 1 where the theorem's alternation ends at the expert, else 0."""
        numbers = range(PROBLEMS)
        return {n: float(ends_at_the_expert(generator(n, "theorem"))) for n in numbers}

    def settings_of(self, method: str) -> int:
        """How many settings a method has, as it is run by default."""
        kind = discovery.load(discovery.METHODS, method).Settings
        return _leaves(used(kind, defaults(kind)))

    def true_costs(self, experiment: str, episodes: Trajectories) -> np.ndarray:
        """The discounted true cost of each episode."""
        world = self.world(experiment)
        if world.true_constraint is None:
            raise MissingError(f"nobody knows the true constraint of {experiment}")
        return episode_costs(world, world.true_constraint, episodes)


def _leaves(given: object) -> int:
    return sum(map(_leaves, given.values())) if isinstance(given, Mapping) else 1


def own(of_experts: Mapping[int, T], run: int) -> T:
    """What belongs to a run's expert; what is shared belongs to all."""
    expert = SHARED if SHARED in of_experts else run
    if expert not in of_experts:
        raise MissingError(f"the expert of seed {run} was not trained")
    return of_experts[expert]
