"""Steps per second of the robots: bare MuJoCo, Gymnasium's environment, and our worlds.

    .venv/bin/python -m bench.robots

A step is five of MuJoCo's under one action. "Bare" is `mj_step` on one MjData in a loop,
nothing around it, on the model as we load it; "model as shipped" leaves MuJoCo's search
for islands on, with the same results to the last bit. CPU seconds of this process,
contestants in turn, so a busy machine disturbs all alike; only the line with more threads
is by the clock, and says something on an idle machine only. All move the same robots by the
same actions, from states that random actions have led to: a robot still in the air, or
lying on its back, costs differently. The bar is 90 % of bare.
"""

from __future__ import annotations

import os
import sys
import time
import types
from collections.abc import Callable
from functools import cache, partial

import gymnasium
import mujoco
import numpy as np
from mujoco.rollout import Rollout

from bench.timing import Row, in_turn, speed_row, table
from icl_core.environments.robot import FRAME_SKIP, Robot, load_model
from icl_core.environments.worlds.ant import AntConstrained
from icl_core.environments.worlds.halfcheetah import HalfCheetahConstrained

BAR = 0.9  # of the bare simulation's speed
ROBOTS = 200  # that are moved in a turn, in batches
BATCHES = (1, 5, 20, 50, 100, 200)
REPEATS = 9
STEPS = {"ant": 4, "halfcheetah": 20}  # of each robot in a turn, which takes some 0.2 s
WARM_UP = 40  # random steps before the measured ones
GYMNASIUM = {"ant": "Ant-v5", "halfcheetah": "HalfCheetah-v5"}


def main() -> None:
    """Print the tables of both robots."""
    for robot in (AntConstrained, HalfCheetahConstrained):
        print(f"\n{robot.title}, steps/s")
        print(table(rows(robot)))
        print(on_threads(robot))


def rows(robot: type[Robot]) -> list[Row]:
    """The table's lines for one robot."""
    jobs: dict[str, Callable[[], float]] = {
        "bare mj_step": bare(robot),
        "bare, model as shipped": bare(robot, as_shipped=True),
        "Gymnasium's environment": theirs(robot),
    }
    jobs |= {f"mujoco.rollout, no warm start, batch {n}": rolled_out(robot, n) for n in (20, 100)}
    jobs |= {f"World.step, batch {n}": ours(robot, n) for n in BATCHES}
    seconds = dict(zip(jobs, in_turn(REPEATS, *jobs.values()), strict=True))
    base = seconds["bare mj_step"]
    lines = []
    for what, each in seconds.items():
        judged = what.startswith("World.step") and int(what.split()[-1]) >= 20
        lines.append(speed_row(what, each, base, "of bare mj_step", BAR if judged else None))
    return lines


@cache
def starts_of(robot: type[Robot]) -> np.ndarray:
    """States (robots, state_size) in the middle of what robots do."""
    world, rng = robot(), np.random.default_rng(0)
    states = world.initial_states(rng, ROBOTS)
    for _ in range(WARM_UP):
        states, _, _ = world.step(
            states, rng.normal(scale=0.6, size=(len(states), *world.action_shape))
        )
    return states


@cache
def actions_of(robot: type[Robot]) -> np.ndarray:
    """Actions (robots, steps, action_size), about as a fresh policy draws them."""
    rng = np.random.default_rng(1)
    size = (ROBOTS, STEPS[robot.name], len(robot.action_low))
    return np.clip(rng.normal(scale=0.6, size=size), -1, 1)


def bare(robot: type[Robot], as_shipped: bool = False) -> Callable[[], float]:
    """The simulation and nothing else: one robot after the other."""
    model = load_model(robot.model_file)
    if as_shipped:
        model.opt.disableflags = 0
    data = mujoco.MjData(model)
    first, last = model.nq, model.nq + model.nv

    def run() -> float:
        for start, actions in zip(starts_of(robot), actions_of(robot), strict=True):
            data.qpos[:], data.qvel[:] = start[:first], start[first:last]
            data.qacc_warmstart[:] = start[last:]
            for action in actions:
                data.ctrl[:] = action
                mujoco.mj_step(model, data, FRAME_SKIP)
        return ROBOTS * STEPS[robot.name]

    return run


def theirs(robot: type[Robot]) -> Callable[[], float]:
    """Gymnasium's single environment, without wrappers."""
    try:
        import imageio  # noqa: F401 (imported there for videos only)
    except ImportError:
        sys.modules["imageio"] = types.ModuleType("imageio")
    mujoco.set_mju_user_warning(lambda text: None)  # or it leaves a MUJOCO_LOG.TXT here
    env = gymnasium.make(GYMNASIUM[robot.name]).unwrapped
    first, last = env.model.nq, env.model.nq + env.model.nv

    def run() -> float:
        for start, actions in zip(starts_of(robot), actions_of(robot), strict=True):
            env.set_state(start[:first], start[first:last])
            for action in actions:
                env.step(action)
        return ROBOTS * STEPS[robot.name]

    return run


def rolled_out(robot: type[Robot], n: int) -> Callable[[], float]:
    """`mujoco.rollout`, the alternative: one call a batch, but the warm start is lost."""
    model = load_model(robot.model_file)
    data, rollout = mujoco.MjData(model), Rollout(nthread=0)
    starts = np.zeros((ROBOTS, 1 + model.nq + model.nv))  # time, qpos, qvel
    starts[:, 1:] = starts_of(robot)[:, : model.nq + model.nv]

    def run() -> float:
        for k in range(0, ROBOTS, n):
            states = starts[k : k + n]
            for action in actions_of(robot)[k : k + n].swapaxes(0, 1):
                held = np.repeat(action[:, None], FRAME_SKIP, axis=1)
                states = rollout.rollout(model, data, states, held)[0][:, -1]
        return ROBOTS * STEPS[robot.name]

    return run


def ours(robot: type[Robot], n: int, threads: int = 1) -> Callable[[], float]:
    """Steps through the world's interface, observations included."""
    world = robot(threads=threads)

    def run() -> float:
        for k in range(0, ROBOTS, n):
            states = starts_of(robot)[k : k + n]
            for action in actions_of(robot)[k : k + n].swapaxes(0, 1):
                world.observe(states)
                states, _, _ = world.step(states, action)
        return ROBOTS * STEPS[robot.name]

    return run


def on_threads(robot: type[Robot], n: int = 100) -> str:
    """By the clock: a batch on one thread and on as many as there are cores."""
    cores = len(os.sched_getaffinity(0))
    clocks = [partial(clock, ours(robot, n, threads)) for threads in (1, cores)]
    one, many = np.median([[each() for each in clocks] for _ in range(REPEATS)], axis=0)
    return (
        f"World.step, batch {n}, by the clock: {1 / one:,.0f} on 1 thread, "
        f"{1 / many:,.0f} on {cores} ({one / many:.2f}x)"
    )


def clock(job: Callable[[], float]) -> float:
    """Seconds by the clock per unit of the work that the job says it did."""
    start = time.perf_counter()
    units = job()
    return (time.perf_counter() - start) / units


if __name__ == "__main__":
    main()
