"""Constraint adjustment with several networks, held-out demonstrations and an allowance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.learning.engine.density import Density
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.adjustment import (
    EARLIER,
    RATE,
    RunAdjustment,
    learner_of,
    members_of,
)
from icl_core.learning.methods.icl.soft_loss import LagrangianLoss, SoftLoss, Visits, descend
from icl_core.learning.methods.icl.state import ConstraintState, PolicyState
from icl_core.learning.methods.icl_plus.ensemble import Ensemble
from icl_core.learning.methods.icl_plus.judging import BestStep, Judge
from icl_core.learning.methods.icl_plus.objective import (
    Guidance,
    GuidedLoss,
    SparingLoss,
    guided,
)
from icl_core.learning.problem import Problem
from icl_core.randomness import generator

if TYPE_CHECKING:
    from icl_core.learning.methods.icl_plus.algorithm import Settings

# Shares that the demonstrations held out choose from: what 50 demonstrations may need, and no more.
ALLOWANCES = (0.0, 0.04, 0.08, 0.12)


@dataclass
class Material:
    """What each run learns from and is judged by; without reweighting there are no densities."""

    learned: list[Trajectories]
    held: list[Trajectories | None]
    densities: list[Density | None]
    failed: np.ndarray  # (runs,) bool: whose density has diverged
    judges: list[Judge | None]


def adjust_ensemble(
    problem: Problem,
    material: Material,
    policies: Sequence[PolicyState],
    known: Ensemble,
    settings: Settings,
    job: Job,
) -> tuple[Ensemble, dict[str, np.ndarray]]:
    """c_(i-1) to c_i of all members; and J of agents and expert under their mean, (runs,).

    As `adjust_constraint` of ICL does it: a run that has diverged keeps what it had.
    """
    iteration, runs = len(policies), len(problem.seeds)
    known = known.fail((policies[-1].failed > 0) | material.failed, iteration)
    job = job.of(problem.seeds, "learning.icl")
    job.report(known.joined.failed, np.zeros(runs, bool), "iteration", EARLIER)
    per_iteration = settings.adjustment.policies_per_iteration
    new = known.with_room(iteration * per_iteration)
    active = np.flatnonzero(known.members[0].stopped == 0).tolist()
    job.progress.total = len(active)
    values = {name: np.full(runs, np.nan) for name in ("agent_value", "expert_value")}
    diverged = np.zeros(runs, bool)
    for done, run in enumerate(active, start=1):
        players = members_of(policies, run, per_iteration)
        mine = _Run(problem, material, run, settings)
        found = mine.adjust(new.pick(run), players, iteration)
        if found is None:
            diverged[run] = True
            continue
        new.put(run, found)
        numbers = mine.values(found)
        for name, value in numbers.items():
            values[name][run] = value
        job.progress(done, **numbers)
    if diverged.any():
        new = new.fail(diverged, iteration)
        job.report(new.members[0].failed, diverged, "iteration", [RATE])
    return new, values


class _Run:
    """One run's adjustment: of all members and allowances, on the same trajectories."""

    def __init__(self, problem: Problem, material: Material, run: int, settings: Settings):
        seed, learned = problem.seeds[run], material.learned[run]
        self.problem = replace(problem, seeds=[seed], demonstrations=learned)
        self.material, self.run, self.settings = material, run, settings
        self.seed, self.iteration = seed, 0
        self.rounds: list[tuple[Visits, np.ndarray]] = []  # with the weights of the agents

    def adjust(self, start: Ensemble, players: Networks, iteration: int) -> Ensemble | None:
        """The members after all rounds; None where one of them has diverged."""
        self.iteration = iteration
        self._sample(start, players)
        judge = self.material.judges[self.run]
        chosen = self.settings.allowance
        shares = ALLOWANCES if isinstance(chosen, str) else (chosen,)
        found, best = None, -np.inf
        for share in shares:
            members = [
                self._adjusted(member.pick([0]), k, share) for k, member in enumerate(start.members)
            ]
            kept = [member for member in members if member is not None]
            if len(kept) < len(members):
                return None
            candidate = Ensemble(tuple(kept))
            score = judge.score(candidate.joined.networks) if judge else 0.0
            if score > best:  # of equal ones the smallest allowance
                found, best = candidate, score
        return found

    def values(self, found: Ensemble) -> dict[str, float]:
        """J of agents and expert in the last round, under the mean of the members."""
        visits, weights = self.rounds[-1]
        logits = found.joined.networks(visits.inputs[None])[0, :, 0]
        agent, expert = (part @ sigmoid(logits.astype(np.float64)) for part in visits.discounted)
        return {"agent_value": float(weights @ agent), "expert_value": float(expert.mean())}

    def _sample(self, start: Ensemble, players: Networks) -> None:
        """Weigh the new policies, and draw the agents of every round, once for all members."""
        density, own = self.material.densities[self.run], self.settings.adjustment
        first = start.members[0]
        sampler = RunAdjustment(self.problem, density, players, first, 0, own)
        sampler.weigh_newcomers(self.iteration)
        for member in start.members:
            member.weights[0] = first.weights[0]
            if self.iteration == 1:
                member.multipliers[0] = own.multiplier_initial
        world, agents = self.problem.world, list(sampler.sampled_agents(self.iteration))
        for one in agents:
            visits = Visits(world, one, self.problem.shown(0))
            self.rounds.append((visits, sampler.trajectory_weights(visits)))
        held = self.material.held[self.run]
        if held is not None:
            # One judge for the whole adjustment: scores of different agents do not compare.
            visits = Visits(world, agents[-1], held)
            weights = sampler.trajectory_weights(visits)
            self.material.judges[self.run] = Judge.of(visits, weights, self.problem.beta)

    def _adjusted(
        self, state: ConstraintState, member: int, allowance: float
    ) -> ConstraintState | None:
        """One member after all rounds, or at its best step; None where it has diverged."""
        settings, judge = self.settings, self.material.judges[self.run]
        network, optimiser = learner_of(state, 0, settings.adjustment)
        best = BestStep(judge, state, settings.interval) if judge else None
        rng = generator(self.seed, "guidance", self.iteration, member)
        beta, watch = self.problem.beta, best.watch if best else Guidance.watch
        guidance = Guidance(settings.smoothness * beta, settings.sparseness * beta, watch)
        for visits, weights in self.rounds:
            loss, seen = self._loss(visits, weights, state, allowance), visits
            if guidance != Guidance():
                loss = GuidedLoss.around(loss, guidance)
                seen = guided(visits, guidance, settings.reach, rng)
            # What overflows is found in the weights.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                descend(network, optimiser, seen, loss)
                if Part(RATE, network.parameters, optimiser).diverged().any():
                    return None
        if best is None:
            return state
        best.look()
        return best.kept

    def _loss(
        self, visits: Visits, weights: np.ndarray, state: ConstraintState, allowance: float
    ) -> SoftLoss:
        """ICL's objective of a round, with some demonstrations spared."""
        agent, expert = visits.discounted
        own, beta = self.settings.adjustment, self.problem.beta
        if own.objective == "lagrangian":
            return LagrangianLoss(agent, expert, weights, beta, own, state.multipliers)
        spared = int(allowance * len(expert) + 1e-9)
        return SparingLoss(agent, expert, weights, beta, own, spared, self.settings.fading)
