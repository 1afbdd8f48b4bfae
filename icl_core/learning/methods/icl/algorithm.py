"""Inverse constraint learning from top to bottom: the paper's Algorithm 1.

The workflow runs the same steps, each as a job of its own; the rule's name stands beside each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.density import DensitySettings
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import adjust_constraint, last_values, should_stop
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.selection import select_final
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    LoopSettings,
    PolicyState,
    initial_constraint,
)
from icl_core.learning.problem import Outcome, Problem
from icl_core.settings import section

TITLE = "ICL"
PLACE = 3
JOBS = ["icl_density", "icl_initial_constraint", "icl_policy", "icl_adjust", "icl_select"]
ITERATED = ["icl_policy", "icl_adjust"]
ITERATIONS = "loop.iterations"
SIZES = {
    "quick": {
        "density": {"epochs": 5},
        "constrained_rl": {"epochs": 110},
        "adjustment": {"rounds": 5, "steps": 80},
        "loop": {"iterations": 2, "selection_episodes": 100},
    },
    "smoke": {
        "density": {"epochs": 1},
        "constrained_rl": {
            "epochs": 2,
            "penalty": {"episodes": 4, "ppo": {"updates": 2}},
            "lagrangian": {"on_policy": {"steps": 200, "environments": 10, "passes": 2}},
        },
        "adjustment": {"rounds": 2, "steps": 2, "episodes": 4},
        "loop": {"iterations": 2, "selection_episodes": 5},
    },
}


@dataclass(frozen=True)
class Settings:
    """Settings of the method, a section for each step."""

    constraint: ConstraintSettings = section(ConstraintSettings, "the constraint network")
    density: DensitySettings = section(
        DensitySettings, "RealNVP on the constraint inputs, for the dissimilarity w of trajectories"
    )
    constrained_rl: ConstrainedRLSettings = section(
        ConstrainedRLSettings, "the best policy under the current constraint (Algorithm 2)"
    )
    adjustment: AdjustmentSettings = section(
        AdjustmentSettings,
        "a constraint that the demonstrations keep and the policies break (Algorithm 3)",
    )
    loop: LoopSettings = section(LoopSettings, "the loop (Algorithm 1)")


def learn(problem: Problem, settings: Settings, job: Job) -> Outcome:
    """Algorithm 1; the numbers are the paper's lines."""
    rl, loop = settings.constrained_rl, settings.loop
    # 1, 2: the normalising flow f on the demonstrations (rule icl_density)
    density = fit_density(problem, settings.density, job)
    # 3: the constraint c_0 (rule icl_initial_constraint)
    constraints = [initial_constraint(problem, settings.constraint)]
    policies: list[PolicyState] = []
    for i in range(1, loop.iterations + 1):  # 4
        # 5, 6: pi_i, by constrained RL under c_(i-1) (rule icl_policy)
        this = job.part(f"policy-{i}")
        policies.append(train_policy(problem, constraints[-1], i, rl, loop, this))
        # 8: a run stops whose policy behaves like the demonstrations (rule icl_adjust)
        known = constraints[-1].stop(should_stop(problem, policies, loop))
        # 7: c_i, which the policies so far break and the demonstrations keep (rule icl_adjust)
        adjusted, log = adjust_constraint(
            problem, density, policies, known, settings.adjustment, job
        )
        constraints.append(adjusted)
        values = last_values(log, problem.seeds)
        if not job.tell(i, nad=policies[-1].nad, **values):
            constraints[-1] = adjusted.stop(np.ones(len(problem.seeds), bool))
    # output: a last policy on c_n, then the pair that is closest (rule icl_select)
    return select_final(problem, constraints, policies, rl, loop, job.part("last-policy"))
