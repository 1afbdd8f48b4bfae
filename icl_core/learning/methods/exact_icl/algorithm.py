"""The alternation of Theorem 1, solved exactly in each step and followed to its end.

    Equation 3   pi_k = argmax J(pi, r) subject to J(pi, c_(k-1)) <= beta, added to Pi
    Equation 4   c_k = argmax_c min over Pi of J(pi, c) subject to J_E(c) <= beta

from c_0 = 0. Its value v_k falls, for Pi grows. It has ended where v_k <= beta + epsilon: no
constraint that the demonstrations keep makes all policies of Pi infeasible (proof of Theorem 1).
Where not even one policy keeps c_k, pi is the cheapest, and the end is v_k <= J(pi, c_k) + epsilon:
min and max have met. It always comes: a policy that was added costs at most beta under c_k and
more than beta + epsilon under all later constraints, so these lie apart from c_k by a fixed
distance, and [0, 1]^cells has room for finitely many such. The prices of the last program are the
certificate (`adjustment.Adjusted.bound`).

With Equation 5, or our own objective, in place of Equation 4 there is no such promise: then it ends
where a policy comes again, or after `iterations`. A run takes seconds, so nothing is saved on the
way. The true constraint is never read; J_E is the mean over the demonstrations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.engine.training import TRAINING_SCHEMA, Job, log_table
from icl_core.learning.exact_policies import (
    CELLS,
    Behaviour,
    Cells,
    as_gridworld,
    cell_visits,
    cells_refused,
    sample_episodes,
)
from icl_core.learning.methods.exact_icl.tables import constraint_networks, policy_networks
from icl_core.learning.problem import Outcome, Problem
from icl_core.randomness import generator
from icl_core.settings import COUNT, POSITIVE, WEIGHT, setting

if TYPE_CHECKING:
    from icl_core.learning.methods.exact_icl.adjustment import Adjusted

TITLE = "Exact ICL"
PLACE = 4
SIZES = {"quick": {"iterations": 10}, "smoke": {"iterations": 3}}
EPISODES = 50  # behind the log's violations and lengths


@dataclass(frozen=True)
class _Limits:
    iterations: int = setting(1000, "policies at most", **COUNT)
    tolerance: float = setting(0.01, "epsilon: how near to its end an alternation ends", **POSITIVE)

    def conflict_with(self, world: type[World]) -> str:
        """Cells and moves are enumerated."""
        reason = cells_refused(world)
        return f"iterations: expected a gridworld to solve exactly, but {reason}" if reason else ""


@dataclass(frozen=True)
class Settings(_Limits):
    """Settings of exact-icl."""

    objective: str = setting(
        "theorem",
        "theorem: against the cheapest policy (Equation 4); paper: against the mixture (Equation "
        "5)",
        choices=("theorem", "paper"),
    )


@dataclass(frozen=True)
class OursSettings(_Limits):
    """Settings of exact-icl-ours, as learning.icl.adjustment; the flow's density is the share of
    the demonstrations' steps.
    """

    objective = "ours"
    # It draws agents anew, so no policy comes again but by chance: a round number is its end.
    iterations: int = setting(100, "policies at most", **COUNT)
    episodes: int = setting(50, "trajectories of the mixture (|D_A|)", **COUNT)
    penalty: float = setting(15.0, "lambda", **WEIGHT)
    hinge: str = setting(
        "trajectory",
        "trajectory: mean of the demonstrations' hinges; mean: hinge of their mean",
        choices=("trajectory", "mean"),
    )
    mixture: bool = setting(True, "all policies so far; false: the newest one")
    reweight: bool = setting(True, "weigh trajectories by their dissimilarity w")
    max_agent_cost: float = setting(
        0.0, "agents that cost more than this many betas push no further; 0: no limit", **WEIGHT
    )


@dataclass(frozen=True)
class End:
    """Where an alternation has come to: the last constraint, and the policy under it."""

    constraint: np.ndarray  # (cells,)
    policy: Behaviour
    visits: np.ndarray  # (policies, cells) of Pi
    adjustments: list[Adjusted]  # one less than policies
    gap: float  # by which the end was missed: v_k - max(beta, J(pi, c_k)), at most epsilon
    ended: bool
    log: list[dict[str, float]] = field(default_factory=list)


def learn(problem: Problem, settings: Settings | OursSettings, job: Job) -> Outcome:
    """One alternation for each seed: a seed draws among equally good constraints."""
    ends = []
    job.progress.total = len(problem.seeds)
    for run in range(len(problem.seeds)):
        ends.append(alternate(problem, settings, run))
        job.progress(run + 1, policies=len(ends[-1].visits), gap=ends[-1].gap)
    columns = [
        log_table(
            TRAINING_SCHEMA, {key: np.array([[row[key]] for row in end.log]) for key in end.log[0]},
            [seed],
        )
        for seed, end in zip(problem.seeds, ends, strict=True)
    ]  # fmt: skip
    policies = [end.policy.stationary(problem.world.discount) for end in ends]
    return Outcome(
        constraint_networks(np.stack([end.constraint for end in ends])),
        policy_networks(np.stack(policies)),
        pa.concat_tables(columns),
        {
            "policies": np.array([len(end.visits) for end in ends]),
            "gap": np.array([end.gap for end in ends]),
            "ended": np.array([end.ended for end in ends], np.uint8),
        },
    )


def alternate(problem: Problem, settings: Settings | OursSettings, run: int) -> End:
    """One run: Equations 3 and 4 in turns, until the end that the module's docstring names."""
    this = _Run(problem, settings, run)
    constraint, visits = np.zeros(CELLS), np.zeros((0, CELLS))
    adjustments: list[Adjusted] = []
    log = []
    while True:
        found = this.cells.constrained_optimum(constraint, problem.beta)
        log.append(this.row(found, constraint, len(visits)))
        gap, ended = this.distance(found, constraint, visits, adjustments)
        visits = np.vstack([visits, found.visits])
        if ended or len(visits) == settings.iterations + 1:
            return End(constraint, found, visits, adjustments, gap, ended, log)
        adjustments.append(this.adjust(found, visits))
        constraint = adjustments[-1].constraint


class _Run:
    """One seed's alternation: what does not change in it, and the policies so far."""

    def __init__(self, problem: Problem, settings: Settings | OursSettings, run: int):
        self.world, self.beta = as_gridworld(problem.world), problem.beta
        self.settings, self.seed = settings, problem.seeds[run]
        self.cells = Cells(self.world)
        shown = problem.shown(run)
        self.shown = cell_visits(self.world, shown, self.world.discount)
        self.expert = self.shown.mean(axis=0)  # d_E
        self.unusual = unusual_cells(self.world, shown)
        self.policies: list[np.ndarray] = []  # of the objective ours
        if not self.beta > 0:
            raise InputError(f"threshold: expected a number above 0, found {self.beta:g}")

    def distance(
        self,
        found: Behaviour,
        constraint: np.ndarray,
        visits: np.ndarray,
        adjustments: list[Adjusted],
    ) -> tuple[float, bool]:
        """How far the alternation is from its end, and whether this policy ends it."""
        if not adjustments:
            return np.inf, False
        if self.settings.objective == "theorem":
            gap = adjustments[-1].value - max(self.beta, float(found.visits @ constraint))
        else:
            gap = float(np.abs(visits - found.visits).sum(axis=1).min())
        return gap, gap <= self.settings.tolerance

    def adjust(self, found: Behaviour, visits: np.ndarray) -> Adjusted:
        """c_k, given the newest policy and the visits (policies, cells) of all."""
        from icl_core.learning.methods.exact_icl import adjustment  # scipy takes its time

        direction = generator(self.seed, "tie", len(visits)).standard_normal(CELLS)
        if isinstance(self.settings, OursSettings):
            self.policies.append(found.policy())
            return self._soft(self.settings, len(visits)).adjusted(direction)
        if self.settings.objective == "theorem":
            return adjustment.against_worst(visits, self.expert, self.beta, direction)
        return adjustment.against_mixture(visits, self.expert, self.beta, direction)

    def _soft(self, ours: OursSettings, iteration: int):
        """Our objective, between trajectories of the mixture and the demonstrations."""
        from icl_core.learning.methods.exact_icl.adjustment import Soft

        rng = generator(self.seed, "agents", iteration)
        known = self.policies if ours.mixture else self.policies[-1:]
        players = rng.integers(len(known), size=ours.episodes)
        agents = sample_episodes(self.world, np.stack([known[k] for k in players]), rng)
        weights = np.ones(ours.episodes)
        if ours.reweight:
            shares = cell_visits(self.world, agents, 1.0) / agents.lengths[:, None]
            unlike = shares @ self.unusual
            weights = unlike if unlike.any() else weights
        return Soft(
            cell_visits(self.world, agents, self.world.discount),
            self.shown if ours.hinge == "trajectory" else self.expert[None],
            weights / weights.sum(),
            self.beta,
            ours.penalty,
            ours.max_agent_cost * self.beta if ours.max_agent_cost else np.inf,
        )

    def row(self, found: Behaviour, constraint: np.ndarray, number: int) -> dict[str, float]:
        """What the log says of a policy under its constraint; two columns are of a sample."""
        policy, rng = found.policy(), generator(self.seed, "log", number)
        played = sample_episodes(
            self.world, np.broadcast_to(policy, (EPISODES, *policy.shape)), rng
        )
        costs = cell_visits(self.world, played, self.world.discount) @ constraint
        surprise = -np.log(np.where(policy > 0, policy, 1.0))
        present = found.occupancy.sum()
        return {
            "return": float(found.occupancy[:, self.cells.goal].sum()),
            "constraint_value": float(found.visits @ constraint),
            "violations": float((costs >= self.beta).mean()),
            "length": float(played.lengths.mean()),
            "entropy": float((found.occupancy * surprise).sum() / present),
            "steps": 0,  # it is solved, not tried
        }


def unusual_cells(world: World, demonstrations: Trajectories) -> np.ndarray:
    """(cells,) 1 where the demonstrations hardly go: Algorithm 3, with shares for densities."""
    counts = cell_visits(as_gridworld(world), demonstrations, 1.0).sum(axis=0)
    with np.errstate(divide="ignore"):
        surprise = -np.log(counts / counts.sum())
    seen = surprise[counts > 0]
    mean = np.average(seen, weights=counts[counts > 0])
    deviation = np.sqrt(np.average((seen - mean) ** 2, weights=counts[counts > 0]))
    return (surprise > mean + deviation).astype(np.float64)
