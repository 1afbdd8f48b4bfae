"""ICL+: Algorithm 1 with held-out demonstrations, a mean of networks, and an allowance.

The density and the constraint learn from what is not held out. Policies are compared with all
demonstrations (NAD): that chooses, and does not learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from icl_core.learning.constrained_rl.penalty import PenaltySettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.density import Density, DensitySettings
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.divergence import AllFailedError
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import should_stop
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.selection import choose, ended
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    ConstraintState,
    LoopSettings,
    PolicyState,
)
from icl_core.learning.methods.icl_plus.adjustment import Material, adjust_ensemble
from icl_core.learning.methods.icl_plus.ensemble import Ensemble
from icl_core.learning.methods.icl_plus.judging import best_pairs, split
from icl_core.learning.problem import Outcome, Problem
from icl_core.settings import COUNT, WEIGHT, section, setting

TITLE = "ICL+"
PLACE = 5
SIZES = {
    "quick": {
        "density": {"epochs": 8},
        "constrained_rl": {"epochs": 100},
        "adjustment": {"rounds": 5},
        "loop": {"iterations": 1, "selection_episodes": 100},
    },
    "smoke": {
        "networks": 2,
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
    """Settings of the method: what is added, then ICL's own sections."""

    held_out: float = setting(
        0.0,
        "share of the demonstrations that is kept from learning and chooses the step of each "
        "adjustment; 0: none, the last step is kept",
        at_least=0,
        below=1,
    )
    interval: int = setting(25, "steps of an adjustment from one score to the next", **COUNT)
    choose: str = setting(
        "nad",
        "which iteration is kept, nad: as loop.keep says; held-out: the one that the held-out "
        "demonstrations score best",
        choices=("nad", "held-out"),
    )
    networks: int = setting(
        1, "constraint networks whose mean logit is the constraint's", at_least=1, at_most=100
    )
    allowance: float | str = setting(
        0.0,
        "share of the demonstrations that may break the constraint; held-out: of 0, 0.04, 0.08 "
        "and 0.12 the one that the held-out demonstrations score best",
        at_least=0,
        below=1,
        choices=("held-out",),
    )
    fading: bool = setting(
        True, "an agent's trajectory pushes c up the less, the more it costs already"
    )
    smoothness: float = setting(
        0.0, "weight, in betas, of the mean squared difference of c at moved inputs", **WEIGHT
    )
    sparseness: float = setting(
        1.0,
        "weight, in betas, of the mean of c over inputs that are spread evenly around all visits",
        **WEIGHT,
    )
    reach: float = setting(
        0.1,
        "as share of their range: how far inputs are moved (a deviation), and how far around the "
        "visits they are spread",
        above=0,
        at_most=1,
    )
    constraint: ConstraintSettings = section(
        lambda: ConstraintSettings(initial="demonstrations"), "each constraint network"
    )
    density: DensitySettings = section(
        DensitySettings,
        "RealNVP on the constraint inputs, for the dissimilarity w of trajectories",
    )
    constrained_rl: ConstrainedRLSettings = section(
        lambda: ConstrainedRLSettings(penalty=PenaltySettings(feasibility_rate=0.0)),
        "the best policy under the current constraint (Algorithm 2)",
    )
    adjustment: AdjustmentSettings = section(
        lambda: AdjustmentSettings(steps=100, learning_rate=2e-3, penalty=1.5, reweight=False),
        "a constraint that the demonstrations keep and the policies break (Algorithm 3)",
    )
    loop: LoopSettings = section(
        lambda: LoopSettings(
            unconstrained_first_policy=True,
            tolerance="demonstrations",
            patience=3,
            keep="closest",
        ),
        "the loop (Algorithm 1)",
    )

    def conflict(self) -> str:
        """Somebody has to judge; and only hinges of single demonstrations can be left out."""
        for name in ("choose", "allowance"):
            if getattr(self, name) == "held-out" and not self.held_out:
                return f"{name}: expected demonstrations held out, found held_out 0; give a share"
        own = self.adjustment
        if self.allowance and (own.objective, own.hinge) != ("soft", "trajectory"):
            return (
                "allowance: expected adjustment.objective soft and adjustment.hinge trajectory, "
                f"found {own.objective} and {own.hinge}; give 0, or change these"
            )
        return ""


@dataclass(frozen=True)
class _OwnJob(Job):
    """A job that names this method's settings where ICL's steps name ICL's."""

    def of(self, seeds: Sequence[int], section: str) -> Job:
        return super().of(seeds, section.replace("learning.icl", "learning.icl-plus", 1))


def learn(problem: Problem, settings: Settings, job: Job) -> Outcome:
    """Algorithm 1, as `icl.algorithm.learn` has it."""
    rl, loop, job = settings.constrained_rl, settings.loop, _OwnJob(**vars(job))
    material = _material(problem, settings, job)
    known = Ensemble.initial(problem, settings.constraint, settings.networks)
    constraints: list[ConstraintState] = [known.joined]
    policies: list[PolicyState] = []
    for i in range(1, loop.iterations + 1):
        this = job.part(f"policy-{i}")
        policies.append(train_policy(problem, constraints[-1], i, rl, loop, this))
        known = known.stop(should_stop(problem, policies, loop))
        known, values = adjust_ensemble(problem, material, policies, known, settings, job)
        if not job.tell(i, nad=policies[-1].nad, **values):
            known = known.stop(np.ones(len(problem.seeds), bool))
        constraints.append(known.joined)
    this = job.part("last-policy")
    last = train_policy(problem, constraints[-1], len(constraints), rl, loop, this)
    job.tell(len(constraints), nad=last.nad)
    return _end(constraints, [*policies, last], material, settings)


def _material(problem: Problem, settings: Settings, job: Job) -> Material:
    """What each run learns from: its share of the demonstrations, and a density on it."""
    held_out = settings.held_out
    parts = [split(problem.shown(run), held_out, seed) for run, seed in enumerate(problem.seeds)]
    learned, held = [part[0] for part in parts], [part[1] for part in parts]
    densities: list[Density | None] = [None] * len(parts)
    failed = np.zeros(len(parts), np.int64)
    for run in range(len(parts) if settings.adjustment.reweight else 0):
        mine = replace(problem, demonstrations=learned[run], seeds=[problem.seeds[run]])
        try:
            densities[run] = fit_density(mine, settings.density)
        except AllFailedError as error:  # of one seed: the others may go on
            failed[run] = error.failed[0]
    job = job.of(problem.seeds, "learning.icl.density")
    job.report(failed, failed > 0, "epoch", ["learning_rate"])
    return Material(learned, held, densities, failed > 0, [None] * len(parts))


def _end(
    constraints: Sequence[ConstraintState],
    policies: Sequence[PolicyState],
    material: Material,
    settings: Settings,
) -> Outcome:
    """The pairs (c_(i-1), pi_i) that are kept, by NAD or by the demonstrations held out."""
    loop, best = settings.loop, None
    if settings.choose == "held-out":
        nad = np.stack([policy.nad for policy in policies])
        first = 2 if loop.unconstrained_first_policy else 1
        best = best_pairs(constraints, material.judges, nad, choose(nad, loop), first)
    return ended(constraints, policies, loop, best)
