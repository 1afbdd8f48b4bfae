"""CPU seconds of ICL on Gridworld A at paper scale: estimated from samples, and as measured.

The bar is the issue's 225 s on a machine where stable-baselines3 makes 2,000 steps/s
(`bench/stable_baselines.py`), scaled to this machine.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from bench.timing import Row, in_turn
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.learning.constrained_rl.penalty import PenaltyLearner
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint
from icl_core.learning.methods.icl.algorithm import JOBS, Settings
from icl_core.learning.methods.icl.policy_step import dissimilarities
from icl_core.learning.methods.icl.state import PolicyState, initial_constraint
from icl_core.learning.problem import Problem
from icl_core.randomness import generators
from icl_core.settings import build
from workflow.lib.configuration import Experiment, read_configuration

BAR, BAR_SPEED = 225.0, 2000.0  # seconds, at so many steps/s of stable-baselines3
EPOCHS = 10  # of constrained RL per turn
EXPERT_STEPS = 10  # about as long as an expert's way to the goal


def rows(root: Path, baseline: Callable[[], float]) -> tuple[list[Row], dict[str, float]]:
    """The table's lines, and the CPU seconds of which the estimate consists.

    `baseline` is a turn of stable-baselines3, taken between our epochs, so that
    both see the same machine.
    """
    parts, speed = estimate(root, baseline)
    bar = BAR * BAR_SPEED / speed
    lines = [line("estimate", sum(parts.values()), bar)]
    measured = recorded(root / "results/paper/benchmarks")
    if measured is not None:
        lines.append(line("measured", measured, bar))
    return lines, parts


def line(kind: str, seconds: float, bar: float) -> Row:
    """A line of the table; the ratio is that to the bar."""
    what = f"ICL on Gridworld A, CPU, {kind}"
    reference = f"{BAR:g} s where SB3 makes {BAR_SPEED:,.0f}/s"
    ratio = f"{bar / seconds:.2f}x"
    return Row(what, f"{seconds:.0f} s", reference, ratio, f"{bar:.0f} s", seconds <= bar)


def paper_settings(root: Path) -> tuple[Experiment, list[int]]:
    """Gridworld A's settings at paper scale, and the seeds of its first job."""
    resolved = read_configuration(root, "paper")
    return resolved.experiments["gridworld-a"], list(next(iter(resolved.groups.values())))


def estimate(root: Path, baseline: Callable[[], float]) -> tuple[dict[str, float], float]:
    """CPU seconds of each part, a sample of it run for real and scaled up; and SB3's steps/s."""
    experiment, seeds = paper_settings(root)
    world = make_world(experiment.environment, **experiment.world)
    settings = build(Settings, experiment.learning["icl"], "learning.icl")
    rl, n = settings.constrained_rl, settings.loop.iterations
    constraint = initial_constraint(world, seeds, settings.constraint)

    rngs = generators(seeds, "bench")
    learner = PenaltyLearner(world, constraint.function(), world.threshold, rngs, rl.penalty)
    for _ in range(2 * EPOCHS):
        learner.epoch()
    turn = partial(train, learner)
    per_epoch, per_step = in_turn(7, turn, baseline)
    policy = learner.agents.policy.copy()

    # Stand-ins for demonstrations and earlier policies: the clock does not care how good they are.
    demonstrations = stand_in(roll_out(world, policy, generators(seeds, "bench"), 50)[0])
    policies = [PolicyState(policy, policy, np.ones(len(seeds)))] * ((n + 1) // 2)  # half-way
    problem = Problem(world, demonstrations, seeds, world.threshold)
    rngs, density = generators(seeds, "bench"), settings.density
    choosing, _ = clocked(dissimilarities, problem, policy, rngs, settings.loop.selection_episodes)
    fitting, flows = clocked(fit_density, problem, replace(density, epochs=2))
    # No run has stopped here: all ten iterations, for every seed.
    adjusting, _ = clocked(
        adjust_constraint, problem, flows, policies, constraint, settings.adjustment, Job()
    )
    parts = {
        "constrained RL": (n + 1) * (rl.epochs * per_epoch + choosing),
        "adjustment": n * adjusting,
        "density": fitting * density.epochs / 2,
        "imports": start_up(root, {"icl_policy": n + 1, "icl_adjust": n, "icl_density": 1}),
    }
    return parts, 1 / per_step


def train(learner: PenaltyLearner) -> int:
    """Some epochs; returns how many."""
    for _ in range(EPOCHS):
        learner.epoch()
    return EPOCHS


def stand_in(episodes: Trajectories) -> Trajectories:
    """Episodes cut to the length of an expert's."""
    states, actions, rewards, lengths = episodes.parts()
    cut = slice(None), slice(EXPERT_STEPS)
    return Trajectories(states[cut], actions[cut], rewards[cut], np.minimum(lengths, EXPERT_STEPS))


def clocked(function: Callable, *arguments) -> tuple[float, object]:
    """CPU seconds of a call, and its result."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def start_up(root: Path, jobs: dict[str, int]) -> float:
    """CPU seconds that so many jobs of each script spend on their imports."""
    total = 0.0
    for script, count in jobs.items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = f"import workflow.scripts.{script}"
        subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total += count * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return total


def recorded(folder: Path) -> float | None:
    """Sum of `cpu_time` in Snakemake's benchmark files of ICL on Gridworld A, once it has ended."""
    files = [path for rule in JOBS for path in folder.glob(f"{rule}/gridworld-a/icl/**/*.tsv")]
    if not any(path.is_relative_to(folder / JOBS[-1]) for path in files):
        return None
    times = [row["cpu_time"] for path in files for row in tsv(path)]
    return sum(float(value) for value in times if value not in ("-", "NA"))


def tsv(path: Path) -> list[dict[str, str]]:
    """A file's rows."""
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="\t"))
