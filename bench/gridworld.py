"""CPU seconds of ICL on Gridworld A at paper scale: estimated from samples, and as measured.

The bar is 225 s on a machine where Stable-Baselines3 makes 2,000 steps/s
(`bench/stable_baselines.py`), scaled to this machine.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from bench.timing import Row, in_turn, time_row
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.job_times import read_time
from icl_core.learning.constrained_rl.penalty import PenaltyLearner
from icl_core.learning.dissimilarity import dissimilarities
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint
from icl_core.learning.methods.icl.algorithm import JOBS, Settings
from icl_core.learning.methods.icl.state import PolicyState, initial_constraint
from icl_core.learning.problem import Problem
from icl_core.randomness import generators
from icl_core.settings import build
from workflow.lib.configuration import Experiment, read_configuration

BAR, BAR_SPEED = 225.0, 2000.0  # seconds, at so many steps/s of Stable-Baselines3
EPOCHS = 10  # of constrained RL per turn
# What a job loads once it measures or fits, besides what its script imports.
NAD = "import numpy as np; from icl_core.demonstrations.accruals import cost_by_pot as cost; "
NAD += "cost(np.eye(2) / 2, np.eye(2) / 2)"
LATER = {"icl_policy": NAD, "icl_adjust": NAD, "icl_density": "import zuko"}
EXPERT_STEPS = 10  # about as long as an expert's way to the goal


def rows(root: Path, baseline: Callable[[], float]) -> tuple[list[Row], dict[str, float]]:
    """The table's lines, and the CPU seconds of which the estimate consists.

    `baseline` is a turn of Stable-Baselines3, taken between our epochs, so that
    both see the same machine.
    """
    parts, speed = estimate(root, baseline)
    bar = BAR * BAR_SPEED / speed
    lines = [line("estimated", sum(parts.values()), bar)]
    measured = recorded(root / "results/paper/benchmarks")
    if measured is not None:
        lines.append(line("measured", measured, bar))
    return lines, parts


def line(kind: str, seconds: float, bar: float) -> Row:
    """A line of the table."""
    return time_row(f"ICL on Gridworld A takes, {kind}", seconds, bar, "wanted", 1.0)


def paper_settings(root: Path) -> tuple[Experiment, list[int]]:
    """Gridworld A's settings at paper scale, and the seeds of its first job."""
    resolved = read_configuration(root, "paper")
    return resolved.experiments["gridworld-a"], list(next(iter(resolved.groups.values())))


def estimate(root: Path, baseline: Callable[[], float]) -> tuple[dict[str, float], float]:
    """CPU seconds of each part, a sample of it run for real and scaled up; and SB3's steps/s."""
    experiment, seeds = paper_settings(root)
    settings = build(Settings, experiment.learning["icl"], "learning.icl")
    rl, n = settings.constrained_rl, settings.loop.iterations
    learner = learner_of(root, seeds)
    per_epoch, per_step = in_turn(7, partial(train, learner), baseline)
    world, policy = learner.world, learner.policy.copy()
    constraint = initial_constraint(world, seeds, settings.constraint)

    # Stand-ins for demonstrations and earlier policies: the clock does not care how good they are.
    demonstrations = stand_in(roll_out(world, policy, generators(seeds, "bench"), 50)[0])
    policies = [PolicyState(policy, policy, np.ones(len(seeds)), np.zeros(len(seeds)))] * (
        (n + 1) // 2
    )  # half-way
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


def learner_of(root: Path, seeds: Sequence[int]) -> PenaltyLearner:
    """Constrained RL of so many seeds as at paper scale, some epochs on its way."""
    experiment, _ = paper_settings(root)
    world = make_world(experiment.environment, **experiment.world)
    settings = build(Settings, experiment.learning["icl"], "learning.icl")
    constraint = initial_constraint(world, seeds, settings.constraint)
    rngs, penalty = generators(seeds, "bench"), settings.constrained_rl.penalty
    learner = PenaltyLearner(world, constraint.function(), world.threshold, rngs, penalty)
    for _ in range(2 * EPOCHS):
        learner.epoch()
    return learner


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
    """CPU seconds that so many jobs of each script spend on imports."""
    total = 0.0
    for script, count in jobs.items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = f"import workflow.scripts.{script}; {LATER[script]}"
        subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total += count * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return total


def recorded(folder: Path) -> float | None:
    """CPU seconds of all jobs of ICL on Gridworld A by their records, once the last has ended."""
    files = [path for rule in JOBS for path in folder.glob(f"{rule}/gridworld-a/icl/**/*.tsv")]
    if not any(path.is_relative_to(folder / JOBS[-1]) for path in files):
        return None
    return sum(read_time(path).cpu for path in files)
