"""Step 2 of an iteration: a constraint that the expert keeps and the agents break (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.adjustment import (
    AdjustmentSettings,
    LagrangianLoss,
    SoftLoss,
    Visits,
    descend,
    normalised,
)
from icl_core.learning.flow import Density
from icl_core.learning.icl.states import ConstraintState, ICLSettings, PolicyState, closest
from icl_core.learning.logs import ADJUSTMENT_SCHEMA, log_table
from icl_core.learning.networks import Adam, Networks
from icl_core.learning.rollouts import roll_out
from icl_core.demonstrations.accruals import self_dissimilarity
from icl_core.randomness import generator


def adjust_constraint(
    world: World,
    demonstrations: Trajectories,
    density: Density,
    policies: Sequence[PolicyState],
    state: ConstraintState,
    seeds: Sequence[int],
    settings: AdjustmentSettings,
    icl: ICLSettings,
    progress: Callable[..., None] | None = None,
) -> tuple[ConstraintState, pa.Table]:
    """c_(i-1) to c_i, given the policies of iterations 1 to i; and the adjustment's log.

    The runs are adjusted one after the other: the batches are large enough here
    that stacking them would gain nothing.
    """
    nad = np.stack([policy.nad for policy in policies])
    stopped = state.stopped.astype(bool) | finished(nad, icl, world, demonstrations)
    new = state.grown(len(policies) * settings.snapshots, stopped)
    logs = []
    active = np.flatnonzero(~stopped)
    for done, run in enumerate(active, start=1):
        one = _Run(world, demonstrations, density, policies, new, int(run), seeds[run], settings)
        logs.append(one.adjust())
        if progress is not None:
            progress(done, **{name: column[-1] for name, column in logs[-1].items()})
    if not logs:
        return new, ADJUSTMENT_SCHEMA.empty_table()
    columns = {name: np.stack([log[name] for log in logs], axis=1) for name in logs[0]}
    return new, log_table(ADJUSTMENT_SCHEMA, columns, [seeds[run] for run in active])


def finished(
    nad: np.ndarray, icl: ICLSettings, world: World, demonstrations: Trajectories
) -> np.ndarray:
    """Which runs stop, (runs,) bool, given the NAD of their policies so far, (iterations, runs).

    A run stops when its policy has come close enough, or when no policy of the
    last few iterations came closer than an earlier one. It never stops at a nominal
    policy: no constraint has been learned by then.
    """
    if icl.nominal_start and len(nad) == 1:
        return np.zeros(nad.shape[1], bool)
    close = np.zeros(nad.shape[1], bool)
    if icl.tolerance == "demonstrations":
        close = nad[-1] <= self_dissimilarity(world, demonstrations, generator(0, "halves"))
    elif icl.tolerance is not None:
        close = nad[-1] <= icl.tolerance
    if icl.patience is None:
        return close
    since_closest = len(nad) - closest(nad, icl)
    return close | (since_closest >= icl.patience)


class _Run:
    """One run's adjustment. Reads and writes its row of `state` in place."""

    def __init__(self, world, demonstrations, density, policies, state, run, seed, settings):
        self.world, self.demonstrations, self.density = world, demonstrations, density
        self.state, self.run, self.seed, self.settings = state, run, seed, settings
        self.iteration = len(policies)
        self.members = _members(policies, run, settings.snapshots)

    def adjust(self) -> dict[str, np.ndarray]:
        """All rounds of one adjustment; returns the log's columns, (steps,) each."""
        self._weigh_newcomers()
        if self.iteration == 1:
            self.state.multipliers[self.run] = self.settings.multiplier_initial
        row = slice(self.run, self.run + 1)
        network = Networks(self.state.networks.sizes, self.state.networks.parameters[row])
        optimiser = Adam(network.parameters, self.settings.learning_rate)
        optimiser.first, optimiser.second = self.state.first[row], self.state.second[row]
        optimiser.steps = self.state.steps[row]
        rounds = []
        for agents in self._sampled_agents():
            visits = Visits(self.world, agents, self.demonstrations)
            loss = self._loss(visits)
            rounds.append(descend(network, optimiser, visits, loss, self.world.true_on_grid))
        return {name: np.concatenate([log[name] for log in rounds]) for name in rounds[0]}

    def _loss(self, visits: Visits) -> SoftLoss:
        """The objective of a round."""
        parts = (*visits.discounted, self._weights(visits), self.world.threshold, self.settings)
        if self.settings.objective == "soft":
            return SoftLoss(*parts)
        return LagrangianLoss(*parts, self.state.multipliers[self.run : self.run + 1])

    def _weigh_newcomers(self) -> None:
        """w of this iteration's policies: mean dissimilarity of fresh rollouts (lines 4 and 5)."""
        for member in range(self.members.runs - self.settings.snapshots, self.members.runs):
            rng = generator(self.seed, "weight", self.iteration, member)
            episodes = roll_out(
                self.world, self.members.pick([member]), [rng], self.settings.episodes
            )
            self.state.weights[self.run, member] = self._dissimilarity(
                Visits(self.world, episodes[0])
            ).mean()

    def _dissimilarity(self, visits: Visits) -> np.ndarray:
        """w(tau) of the first set of trajectories: its share of unusual steps (line 3)."""
        return visits.shares[0] @ self.density.unusual(self.run, visits.inputs)

    def _weights(self, visits: Visits) -> np.ndarray:
        """Normalised trajectory weights (line 8)."""
        if not self.settings.reweight:
            return normalised(np.ones(self.settings.episodes))
        return normalised(self._dissimilarity(visits))

    def _sampled_agents(self):
        """D_A of every round: each episode from a member drawn by its weight (line 6).

        Which member plays which episode is drawn first, so that each member's
        episodes can be rolled out together.
        """
        settings = self.settings
        rng = generator(self.seed, "mixture", self.iteration)
        shape = (settings.rounds, settings.episodes)
        member = rng.choice(self.members.runs, size=shape, p=self._member_probabilities())
        used = np.bincount(member.ravel(), minlength=self.members.runs)
        rngs = [generator(self.seed, "agents", self.iteration, m) for m in range(len(used))]
        pool = roll_out(self.world, self.members, rngs, int(used.max()))
        # The k-th time that a member is drawn, its k-th episode is taken.
        order = np.argsort(member.ravel(), kind="stable")
        turn = np.empty(member.size, np.int64)
        turn[order] = np.arange(member.size) - np.repeat(np.cumsum(used) - used, used)
        for members, turns in zip(member, turn.reshape(shape), strict=True):
            yield pool[members, turns]

    def _member_probabilities(self) -> np.ndarray:
        members = self.members.runs
        if not self.settings.mixture:
            return np.eye(members)[-1]
        if not self.settings.reweight:
            return np.full(members, 1.0 / members)
        return normalised(self.state.weights[self.run])


def _members(policies: Sequence[PolicyState], run: int, snapshots: int) -> Networks:
    """One run's policies of all iterations as a stack: half-way and final, or final only."""
    stacks = [s for p in policies for s in ((p.halfway, p.final) if snapshots == 2 else (p.final,))]
    return stacks[0].like(np.stack([stack.parameters[run] for stack in stacks]))
