"""Demonstrations that are held out judge a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.errors import InputError
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.methods.icl.soft_loss import Visits
from icl_core.learning.methods.icl.state import ConstraintState
from icl_core.randomness import generator


def split(
    demonstrations: Trajectories, share: float, seed: int
) -> tuple[Trajectories, Trajectories | None]:
    """What a run learns from, and what it holds out; each seed draws its own.

    So a mean over seeds has learned from all demonstrations.
    """
    if not share:
        return demonstrations, None
    count = len(demonstrations)
    if count < 2:
        raise InputError(
            f"held_out: expected at least 2 demonstrations to hold some out, found {count}; "
            "give 0, or more demonstrations"
        )
    held = min(max(round(share * count), 1), count - 1)
    order = generator(seed, "held-out").permutation(count)
    return demonstrations[np.sort(order[held:])], demonstrations[np.sort(order[:held])]


@dataclass(frozen=True)
class Judge:
    """Scores constraints by trajectories that do not change meanwhile."""

    inputs: np.ndarray  # (n, inputs)
    agent: np.ndarray  # (agent trajectories, n) discounted visits
    held: np.ndarray  # (demonstrations held out, n)
    weights: np.ndarray  # (agent trajectories,) normalised dissimilarities
    beta: float

    @classmethod
    def of(cls, visits: Visits, weights: np.ndarray, beta: float) -> Judge:
        """Of the visits of agents and of the demonstrations held out."""
        agent, held = visits.discounted
        return cls(visits.inputs, agent, held, weights, beta)

    def values(self, networks: Networks) -> np.ndarray:
        """c of a stack of one at the inputs, (n,)."""
        return sigmoid(networks(self.inputs[None])[0, :, 0].astype(np.float64))

    def score(self, networks: Networks) -> float:
        """The share of demonstrations that keep c and that of agents that break it, less 1."""
        c = self.values(networks)
        satisfied = (self.held @ c <= self.beta).mean()
        infeasible = self.weights @ (self.agent @ c > self.beta)
        return float(satisfied + infeasible - 1.0)


class BestStep:
    """Keeps the state of a run at the step that a judge finds best.

    Of equal ones the latest: it has seen most of the agents, and an adjustment is to stop early
    only where going on makes c worse.
    """

    def __init__(self, judge: Judge, state: ConstraintState, interval: int):
        self.judge, self.state, self.interval = judge, state, interval
        self.steps, self.score, self.kept = 0, -np.inf, state

    def watch(self) -> None:
        """Called before each step: looks at some of them."""
        if self.steps % self.interval == 0:
            self.look()
        self.steps += 1

    def look(self) -> None:
        """Score what the state holds now."""
        score = self.judge.score(self.state.networks)
        if score >= self.score:
            self.score, self.kept = score, self.state.pick([0])


def best_pairs(
    constraints: Sequence[ConstraintState],
    judges: Sequence[Judge | None],
    nad: np.ndarray,
    by_nad: np.ndarray,
    first: int,
) -> np.ndarray:
    """The iteration whose constraint each run's last judge finds best, (runs,) from 1.

    `nad` is (iterations, runs), inf where no policy was trained; of equal scores the least NAD
    decides. Candidates begin with iteration `first`; a run that has none, or no judge, keeps
    `by_nad` (runs,).
    """
    kept = by_nad.copy()
    for run, judge in enumerate(judges):
        trained = np.flatnonzero(~np.isposinf(nad[:, run])) + 1
        known = [int(i) for i in trained if i >= first]
        if judge is None or not known:
            continue
        scores = [judge.score(constraints[i - 1].networks.pick([run])) for i in known]
        near = np.nan_to_num(nad[np.array(known) - 1, run], nan=np.inf)
        kept[run] = known[np.lexsort((near, -np.array(scores)))[0]]
    return kept
