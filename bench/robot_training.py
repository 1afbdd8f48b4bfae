"""Speed of training robots, beside the bare simulation, and how seeds are best spread over cores.

    .venv/bin/python -m bench.robot_training

An epoch of PPO-Lagrange at paper scale, rollout, costs, updates and log, for stacks of several
sizes. CPU seconds of this process, in turn with `mj_step` in a loop. The bar is 70 % of bare.
From the times of the stacks follows how long an epoch of five seeds takes on some cores, one job
a core, if jobs do not slow each other down.
"""

from __future__ import annotations

import os
from collections.abc import Callable
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
    experiments = read_configuration(Path(__file__).resolve().parent.parent, "paper").experiments
    for robot in (AntConstrained, HalfCheetahConstrained):
        learning = experiments[robot.name].learning["icl"]["constrained_rl"]
        settings = build(ConstrainedRLSettings, learning).lagrangian
        steps = settings.on_policy.steps
        jobs = [training(robot(), settings, stack) for stack in STACKS]
        base, *each = in_turn(REPEATS, bare(robot), *jobs)
        print(f"\n{robot.title}, steps/s of whole epochs")
        print(table([row(n, seconds, base) for n, seconds in zip(STACKS, each, strict=True)]))
        epochs = {n: n * steps * seconds for n, seconds in zip(STACKS, each, strict=True)}
        for cores, splits in SPLITS.items():
            seconds = ", ".join(
                f"{'+'.join(map(str, s))}: {clock(s, epochs, cores):.2f}" for s in splits
            )
            print(f"An epoch of five seeds on {cores} cores, seconds by stacks: {seconds}")


def row(stack: int, seconds: float, base: float) -> Row:
    """A line of the table."""
    what = f"{stack} stacked seed{'s' if stack > 1 else ''}"
    return speed_row(what, seconds, base, BAR if stack == max(STACKS) else None)


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
