"""What tests of learning share: small problems, settings made small, and a job that is killed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories, side_by_side
from icl_core.environments.world import World
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job, Store
from icl_core.learning.problem import Outcome, Problem
from icl_core.progress import Progress
from icl_core.randomness import generators
from tests.worlds import short_world, some_policies


def demonstrations_of(world: World, episodes: int = 5, expert: int = 99) -> Trajectories:
    """Episodes of some fixed policy: what they are does not matter here."""
    policy = some_policies(world, generators([expert], "d"))
    return roll_out(world, policy, generators([expert], "r"), episodes)[0]


def problem_of(name: str, seeds, horizon: int = 50) -> Problem:
    """A problem in a world with short episodes."""
    world = short_world(name, horizon)
    return Problem(world, demonstrations_of(world), seeds, world.threshold)


def problem_with_experts(name: str, seeds, horizon: int = 50) -> Problem:
    """The same with an expert for each seed; some are done sooner than others."""
    world = short_world(name, horizon)
    sets = []
    for seed in seeds:
        whole = demonstrations_of(world, expert=seed)
        lengths = np.minimum(whole.lengths, horizon - seed % 4)
        sets.append(Trajectories(*whole.parts()[:3], lengths).trimmed())
    return Problem(world, side_by_side(sets), seeds, world.threshold)


BAD, PLACE, KEPT = 8, 1, [0, 2]  # of the seeds 3, 8, 5: one that diverges, where the others are


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


class Listening(Heard):
    """Keeps what is said as well."""

    def __init__(self):
        super().__init__()
        self.said = []

    def say(self, line):
        self.said.append(line)


def killed_job(folder, survived: float = np.inf) -> Job:
    """A job that saves its state after each step and is killed after so many."""
    return Job(Heard(survived), Store(folder / "unfinished.safetensors", {"code": "x"}, 0.0))


def assert_same_runs(whole: Outcome, some: Outcome, which: list[int]) -> None:
    """The runs `which` of the first outcome are, bit for bit, the runs of the second."""
    for ours, theirs in [(whole.constraint, some.constraint), (whole.policy, some.policy)]:
        assert (ours.sizes, ours.activation) == (theirs.sizes, theirs.activation)
        np.testing.assert_array_equal(ours.parameters[which], theirs.parameters)
    assert whole.extras.keys() == some.extras.keys()
    assert whole.others.keys() == some.others.keys()
    for name, (constraint, policy, place) in some.others.items():
        there = whole.others[name]
        np.testing.assert_array_equal(there.constraint.parameters[which], constraint.parameters)
        np.testing.assert_array_equal(there.policy.parameters[which], policy.parameters)
        np.testing.assert_array_equal(there.place[which], place)
    for name, part in whole.extras.items():
        np.testing.assert_array_equal(part[which], some.extras[name], err_msg=name)
    ours, theirs = (rows_by_seed(outcome.log) for outcome in (whole, some))
    for seed, rows in theirs.items():
        np.testing.assert_array_equal(ours[seed], rows)


def rows_by_seed(log: pa.Table) -> dict[int, np.ndarray]:
    """The columns of a log but the seed's, (columns, rows) of each seed."""
    columns = np.stack([log[name].to_numpy() for name in log.column_names[1:]])
    seeds = log["seed"].to_numpy()
    return {seed: columns[:, seeds == seed] for seed in np.unique(seeds)}


def assert_only_bad_failed(outcome, healthy):
    """The seed has failed and left nothing; the others are those of a healthy stack."""
    np.testing.assert_array_equal(outcome.failed > 0, [False, True, False])
    for networks in (outcome.constraint, outcome.policy):
        assert not networks.parameters[PLACE].any()
    assert BAD not in outcome.log["seed"].to_pylist()
    for ours, theirs in [
        (outcome.constraint, healthy.constraint),
        (outcome.policy, healthy.policy),
    ]:
        np.testing.assert_array_equal(ours.parameters[KEPT], theirs.parameters[KEPT])
    for name, part in outcome.extras.items():
        np.testing.assert_array_equal(part[KEPT], healthy.extras[name][KEPT])
