"""ICL step by step, as the workflow's jobs run it: every state passes through its tensors."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pyarrow as pa

from icl_core.learning.constrained_rl.lagrangian import LagrangianSettings
from icl_core.learning.constrained_rl.penalty import PenaltySettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.density import DensitySettings
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint, should_stop
from icl_core.learning.methods.icl.algorithm import Settings
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.selection import select_final
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    ConstraintState,
    LoopSettings,
    PolicyState,
    initial_constraint,
)
from icl_core.learning.problem import Outcome, Problem
from tests.learning.tiny import problem_of
from tests.worlds import SYNTHETIC

RL = ConstrainedRLSettings(
    epochs=2,
    penalty=PenaltySettings(
        episodes=4, ppo=PPOSettings(hidden=(16,), updates=2, batch=16, buffer=500)
    ),
    lagrangian=LagrangianSettings(
        on_policy=OnPolicySettings(hidden=(16,), steps=60, environments=3, passes=2, batch=30)
    ),
)
TINY = Settings(
    ConstraintSettings(hidden=(16, 16), initial="demonstrations"),
    DensitySettings(blocks=2, hidden=(8,), epochs=1),
    RL,
    AdjustmentSettings(rounds=2, steps=3, episodes=6),
    LoopSettings(iterations=2, tolerance=None, patience=None, selection_episodes=8),
)
# As the paper has it: PPO-Lagrange for ExiD and the robots.
LAGRANGIAN = replace(TINY, constrained_rl=replace(RL, procedure="lagrangian"))
WORLDS = (*SYNTHETIC, "highd", "exid", "halfcheetah")


class Steps(NamedTuple):
    """All that the jobs of a stack of runs leave."""

    constraints: list[ConstraintState]
    policies: list[PolicyState]
    logs: list[pa.Table]  # of training and of the adjustment, in turn
    end: Outcome


def settings_for(name: str) -> Settings:
    """Tiny ones, with the procedure that the paper has for the world."""
    return LAGRANGIAN if name in ("exid", "halfcheetah") else TINY


def through_checkpoint(state):
    """A state as the next job reads it."""
    return type(state).from_tensors({name: part.copy() for name, part in state.tensors().items()})


def take_steps(problem: Problem, settings: Settings) -> Steps:
    """What the scripts icl_*.py call, one job after the other."""
    rl, loop = settings.constrained_rl, settings.loop
    density = fit_density(problem, settings.density)
    constraints = [initial_constraint(problem, settings.constraint)]
    policies: list[PolicyState] = []
    logs: list[pa.Table] = []
    for iteration in range(1, loop.iterations + 1):
        known = through_checkpoint(constraints[-1])
        policies.append(train_policy(problem, known, iteration, rl, loop, Job()))
        so_far = [through_checkpoint(policy) for policy in policies]
        known = through_checkpoint(constraints[-1]).stop(should_stop(problem, so_far, loop))
        flows = through_checkpoint(density)
        state, log = adjust_constraint(problem, flows, so_far, known, settings.adjustment, Job())
        constraints.append(state)
        logs += [policies[-1].log, log]
    read = [[through_checkpoint(state) for state in states] for states in (constraints, policies)]
    return Steps(constraints, policies, logs, select_final(problem, *read, rl, loop, Job()))


@cache
def steps_of(name: str, seeds: tuple[int, ...], settings: Settings) -> Steps:
    """The same in a world, taken once for all tests."""
    return take_steps(problem_of(name, list(seeds)), settings)
