"""What tests of learning share: small problems, settings made small, and a job that is killed."""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job, Store
from icl_core.learning.problem import Problem
from icl_core.progress import Progress
from icl_core.randomness import generators
from tests.worlds import short_world, some_policies


def demonstrations_of(world: World, episodes: int = 5) -> Trajectories:
    """Episodes of some fixed policy: what they are does not matter here."""
    policy = some_policies(world, generators([99], "d"))
    return roll_out(world, policy, generators([99], "r"), episodes)[0]


def problem_of(name: str, seeds, demonstrations: Trajectories | None = None) -> Problem:
    """A problem in a world with short episodes."""
    world = short_world(name)
    if demonstrations is None:
        demonstrations = demonstrations_of(world)
    return Problem(world, demonstrations, seeds, world.threshold)


class Killed(Exception):
    """Stands for the end of a process."""


class Heard(Progress):
    """Keeps what it is given; ends the process after so many lines."""

    def __init__(self, survived: float = np.inf):
        super().__init__(None, "", 0)
        self.survived, self.lines = survived, []

    def update(self, epoch: int, **numbers: float) -> None:
        self.lines.append((epoch, numbers))
        if len(self.lines) > self.survived:
            raise Killed

    @property
    def epochs(self) -> list[int]:
        return [epoch for epoch, _ in self.lines]


def killed_job(folder, survived: float = np.inf) -> Job:
    """A job that saves its state after each step and is killed after so many."""
    return Job(Heard(survived), Store(folder / "unfinished.safetensors", {"code": "x"}, 0.0))
