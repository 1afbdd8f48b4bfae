"""Speed of training robots, beside the bare simulation, and how seeds are best spread over cores.

    .venv/bin/python -m bench.robot_training

An epoch of PPO-Lagrange at paper scale, rollout, costs, updates and log, for stacks of several
sizes. CPU seconds of this process, in turn with `mj_step` in a loop. The bar is 70 % of bare.
From the times of the stacks follows how long an epoch of five seeds takes on some cores, one job
a core, if jobs do not slow each other down. `make bench` takes one line from here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np

from bench.robots import bare
from bench.timing import Row, in_turn, speed_row, table
from icl_core.environments.robot import Robot
from icl_core.environments.worlds.ant import AntConstrained
from icl_core.environments.worlds.halfcheetah import HalfCheetahConstrained
from icl_core.learning.constrained_rl.lagrangian import LagrangianLearner, LagrangianSettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.costs import fresh_constraints
from icl_core.learning.engine.networks import sigmoid
from icl_core.randomness import generators
from icl_core.settings import build
from workflow.lib.configuration import read_configuration

BAR = 0.7  # of the bare simulation's speed
STACKS = (1, 2, 3, 5)
SPLITS = {2: [(5,), (3, 2), (1, 1, 1, 1, 1)], 8: [(5,), (3, 2), (2, 2, 1), (1, 1, 1, 1, 1)]}
REPEATS = 5


def main() -> None:
    """Print the tables of both robots."""
    for robot in (AntConstrained, HalfCheetahConstrained):
        base, each = timed(robot, STACKS)
        print()
        print(table([line(robot, n, seconds, base) for n, seconds in each.items()]))
        epochs = {n: n * settings_of(robot).on_policy.steps * each[n] for n in STACKS}
        for cores, splits in SPLITS.items():
            seconds = ", ".join(
                f"{'+'.join(map(str, s))}: {clock(s, epochs, cores):.2f}" for s in splits
            )
            print(f"An epoch of five seeds on {cores} cores, seconds by stacks: {seconds}")


def rows() -> list[Row]:
    """What `make bench` prints: the fastest robot, of which learning has the largest share."""
    stack = max(STACKS)
    base, each = timed(HalfCheetahConstrained, (stack,))
    return [line(HalfCheetahConstrained, stack, each[stack], base)]


def timed(robot: type[Robot], stacks: Sequence[int]) -> tuple[float, dict[int, float]]:
    """CPU seconds of a step: of the bare simulation, and of whole epochs by stacked seeds."""
    settings = settings_of(robot)
    jobs = [training(robot(), settings, stack) for stack in stacks]
    base, *each = in_turn(REPEATS, bare(robot), *jobs)
    return base, dict(zip(stacks, each, strict=True))


def settings_of(robot: type[Robot]) -> LagrangianSettings:
    """Those of ICL at paper scale."""
    experiments = read_configuration(Path(__file__).resolve().parent.parent, "paper").experiments
    learning = experiments[robot.name].learning["icl"]["constrained_rl"]
    return build(ConstrainedRLSettings, learning).lagrangian


def line(robot: type[Robot], stack: int, seconds: float, base: float) -> Row:
    """A line of the table."""
    count = f"{stack} stacked seeds" if stack > 1 else "1 seed"
    what = f"PPO-Lagrange on {robot.title.partition('-')[0]}, {count}, makes"
    bar = BAR if stack == max(STACKS) else None
    return speed_row(what, seconds, base, "of MuJoCo alone", bar)


def training(world: Robot, settings: LagrangianSettings, stack: int) -> Callable[[], float]:
    """An epoch of so many seeds under some constraint network; the steps that it took."""
    seeds = range(stack)
    network = fresh_constraints(world, seeds, (64, 64))
    learner = LagrangianLearner(
        world,
        lambda inputs: sigmoid(network(inputs)[..., 0]),
        world.threshold,
        generators(seeds, "p"),
        settings,
    )

    def run() -> float:
        learner.epoch()
        return stack * settings.on_policy.steps

    return run


def clock(split: tuple[int, ...], epochs: dict[int, float], cores: int) -> float:
    """Seconds until all stacks are done, the next one going to the core that is free first."""
    busy = np.zeros(cores)
    for stack in split:
        busy[busy.argmin()] += epochs[stack]
    return float(busy.max())


if __name__ == "__main__":
    main()
