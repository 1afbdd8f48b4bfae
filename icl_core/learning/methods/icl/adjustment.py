"""Step 2 of an iteration: a constraint that the expert keeps and the agents break (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.accruals import self_dissimilarity
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.learning.engine.density import Density
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, LOG_EVERY, Job, log_table
from icl_core.learning.methods.icl.continuing import with_constraints_of
from icl_core.learning.methods.icl.soft_loss import (
    AdjustmentSettings,
    LagrangianLoss,
    SoftLoss,
    Visits,
    descend,
    normalised,
)
from icl_core.learning.methods.icl.state import (
    ConstraintState,
    LoopSettings,
    PolicyState,
    closest,
)
from icl_core.learning.problem import Problem
from icl_core.randomness import generator

LOGGED = ADJUSTMENT_SCHEMA.names[2:]  # beside seed and step
# What is to be looked at where a run fails: of the adjustment, and of what comes before it.
RATE, EARLIER = "adjustment.learning_rate", ("density", "constrained_rl")


def adjust_constraint(
    problem: Problem,
    density: Density,
    policies: Sequence[PolicyState],
    state: ConstraintState,
    settings: AdjustmentSettings,
    job: Job,
) -> tuple[ConstraintState, pa.Table]:
    """c_(i-1) to c_i, given the policies of iterations 1 to i; and the adjustment's log.

    The runs are adjusted one after the other: the batches are large enough here
    that stacking them would gain nothing. A run whose density, policy or constraint has diverged
    keeps the constraint that it had, goes no further and is not in the log.
    """
    iteration = len(policies)
    state = state.fail((policies[-1].failed > 0) | (density.failed > 0), iteration)
    job = job.of(problem.seeds, "learning.icl")
    job.report(state.failed, np.zeros_like(state.stopped), "iteration", EARLIER)
    new = state.with_room(iteration * settings.policies_per_iteration)
    active = np.flatnonzero(state.stopped == 0).tolist()
    job.progress.total = len(active)
    logs: dict[int, dict[str, np.ndarray]] = {}
    for done, run in enumerate(active, start=1):
        members = members_of(policies, run, settings.policies_per_iteration)
        log = RunAdjustment(problem, density, members, new, run, settings).adjust(iteration)
        if log is not None:
            logs[run] = log
            job.progress(done, **{name: column[-1] for name, column in log.items()})
    diverged = [run for run in active if run not in logs]
    if diverged:
        new = _without_diverged(new, state, diverged, iteration, job)
    if not logs:
        return new, ADJUSTMENT_SCHEMA.empty_table()
    columns = {name: np.stack([log[name] for log in logs.values()], axis=1) for name in LOGGED}
    seeds = [problem.seeds[run] for run in logs]
    return new, log_table(ADJUSTMENT_SCHEMA, columns, seeds, every=LOG_EVERY)


def last_values(log: pa.Table, seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """J of agents and expert where an adjustment has ended, (runs,); nan where none was made."""
    ends = {seed: row for row, seed in enumerate(log["seed"].to_pylist())}
    return {
        name: np.array([log[name][ends[s]].as_py() if s in ends else np.nan for s in seeds])
        for name in ("agent_value", "expert_value")
    }


def _without_diverged(
    new: ConstraintState, before: ConstraintState, runs: list[int], iteration: int, job: Job
) -> ConstraintState:
    """The new state, in which these runs have what they had before, and have failed."""
    diverged = np.isin(np.arange(len(new.stopped)), runs)
    known = before.with_room(new.weights.shape[1])
    new = with_constraints_of(new, known, diverged).fail(diverged, iteration)
    job.report(new.failed, diverged, "iteration", [RATE])
    return new


def should_stop(
    problem: Problem, policies: Sequence[PolicyState], loop: LoopSettings
) -> np.ndarray:
    """Which runs stop, (runs,) bool, given their policies so far.

    A run stops when its policy has come close enough, or when no policy of the last few
    iterations came closer than an earlier one. It never stops at an unconstrained first
    policy: no constraint has been learned by then.
    """
    nad = np.stack([policy.nad for policy in policies])  # (iterations, runs)
    close = np.zeros(nad.shape[1], bool)
    if loop.unconstrained_first_policy and len(nad) == 1:
        return close
    if loop.tolerance == "demonstrations":
        limits = problem.of_each(
            lambda shown: self_dissimilarity(problem.world, shown, generator(0, "halves"))
        )
        close = nad[-1] <= np.array(limits)
    elif loop.tolerance is not None:
        close = nad[-1] <= float(loop.tolerance)
    if loop.patience is None:
        return close
    since_closest = len(nad) - closest(nad, loop)
    return close | (since_closest >= loop.patience)


def learner_of(
    state: ConstraintState, run: int, settings: AdjustmentSettings
) -> tuple[Networks, Adam]:
    """A run's network and its optimiser: what they learn is learned in the state, in place."""
    row = slice(run, run + 1)
    network = state.networks.like(state.networks.parameters[row])
    optimiser = Adam(network.parameters, settings.learning_rate)
    optimiser.first, optimiser.second = state.first[row], state.second[row]
    optimiser.steps = state.steps[row]
    return network, optimiser


class RunAdjustment:
    """One run's adjustment. Reads and writes its row of `state` in place."""

    def __init__(
        self,
        problem: Problem,
        density: Density | None,  # None where nothing is reweighed
        members: Networks,
        state: ConstraintState,
        run: int,
        settings: AdjustmentSettings,
    ):
        self.problem, self.world, self.density = problem, problem.world, density
        self.members, self.state, self.settings = members, state, settings
        self.run, self.seed = run, problem.seeds[run]
        self.shown = problem.shown(run)

    def adjust(self, iteration: int) -> dict[str, np.ndarray] | None:
        """All rounds of one adjustment; returns the log's columns, (steps,) each.

        None where the constraint has diverged.
        """
        self.weigh_newcomers(iteration)
        if iteration == 1:
            self.state.multipliers[self.run] = self.settings.multiplier_initial
        network, optimiser = learner_of(self.state, self.run, self.settings)
        rounds = []
        for agents in self.sampled_agents(iteration):
            visits = Visits(self.world, agents, self.shown)
            # What overflows is found in the weights.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                rounds.append(descend(network, optimiser, visits, self._loss(visits)))
                if Part(RATE, network.parameters, optimiser).diverged().any():
                    return None
        return {name: np.concatenate([log[name] for log in rounds]) for name in rounds[0]}

    def _loss(self, visits: Visits) -> SoftLoss:
        """The objective of a round."""
        agent, expert = visits.discounted
        weights, beta = self.trajectory_weights(visits), self.problem.beta
        if self.settings.objective == "soft":
            return SoftLoss(agent, expert, weights, beta, self.settings)
        multiplier = self.state.multipliers[self.run : self.run + 1]
        return LagrangianLoss(agent, expert, weights, beta, self.settings, multiplier)

    def weigh_newcomers(self, iteration: int) -> None:
        """w of this iteration's policies: mean dissimilarity of fresh rollouts (lines 4 and 5)."""
        settings = self.settings
        if not settings.reweight:
            return
        for member in range(self.members.runs - settings.policies_per_iteration, self.members.runs):
            rng = generator(self.seed, "weight", iteration, member)
            episodes = roll_out(self.world, self.members.pick([member]), [rng], settings.episodes)
            dissimilarity = self._dissimilarity(Visits(self.world, episodes[0]))
            self.state.weights[self.run, member] = dissimilarity.mean()

    def _dissimilarity(self, visits: Visits) -> np.ndarray:
        """w(tau) of the first set of trajectories: its share of unusual steps (line 3)."""
        assert self.density is not None
        return visits.shares[0] @ self.density.unusual(self.run, visits.inputs)

    def trajectory_weights(self, visits: Visits) -> np.ndarray:
        """Normalised trajectory weights (line 8)."""
        if not self.settings.reweight:
            return normalised(np.ones(self.settings.episodes))
        return normalised(self._dissimilarity(visits))

    def sampled_agents(self, iteration: int) -> Iterator[Trajectories]:
        """D_A of every round: each episode from a member drawn by its weight (line 6).

        Which member plays which episode is drawn first, so that each member's
        episodes can be rolled out together, and no others.
        """
        settings = self.settings
        rng = generator(self.seed, "mixture", iteration)
        shape = (settings.rounds, settings.episodes)
        member = rng.choice(self.members.runs, size=shape, p=self._member_probabilities())
        drawn, place, used = np.unique(member, return_inverse=True, return_counts=True)
        rngs = [generator(self.seed, "agents", iteration, m) for m in drawn.tolist()]
        players = self.members.pick(drawn.tolist())
        pool = roll_out(self.world, players, rngs, int(used.max()), used.tolist())
        # The k-th time that a member is drawn, its k-th episode is taken.
        order = np.argsort(place.ravel(), kind="stable")
        turn = np.empty(member.size, np.int64)
        turn[order] = np.arange(member.size) - np.repeat(np.cumsum(used) - used, used)
        for places, turns in zip(place.reshape(shape), turn.reshape(shape), strict=True):
            yield pool[places, turns]

    def _member_probabilities(self) -> np.ndarray:
        members = self.members.runs
        if not self.settings.mixture:
            return np.eye(members)[-1]
        if not self.settings.reweight:
            return np.full(members, 1.0 / members)
        return normalised(self.state.weights[self.run])


def members_of(policies: Sequence[PolicyState], run: int, per_iteration: int) -> Networks:
    """One run's policies of all iterations as a stack: half-way and final, or final only."""
    stacks = [
        s for p in policies for s in ((p.halfway, p.final) if per_iteration == 2 else (p.final,))
    ]
    return stacks[0].like(np.stack([stack.parameters[run] for stack in stacks]))
