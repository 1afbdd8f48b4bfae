"""Of several moments of one training, the one whose policy is nearest to the demonstrations.

ICL has a policy in each iteration, of which the nearest can be kept. Methods that train one policy
on and on are looked at as often, so that all methods can be selected alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from icl_core.learning.dissimilarity import dissimilarities
from icl_core.learning.engine.divergence import lost
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.problem import BEST, Outcome, Pair, Problem
from icl_core.randomness import generators
from icl_core.settings import COUNT, setting


@dataclass(frozen=True)
class CandidateSettings:
    """How many policies of a training stand for selection; it changes nothing of the training."""

    number: int | None = setting(
        None,
        "policies along the way, evenly spread, of which the nearest to the expert is kept beside "
        "the last; null: as many as ICL has in the experiment",
        **COUNT,
    )
    episodes: int | None = setting(
        None, "episodes behind the distance that chooses; null: as many as ICL takes", **COUNT
    )


def moments(first: int, last: int, number: int) -> list[int]:
    """The steps of training, evenly spread behind `first`, after which it is looked at.

    >>> moments(0, 10, 4), moments(20, 2000, 3), moments(0, 2, 4)
    ([3, 5, 8, 10], [680, 1340, 2000], [1, 2])
    """
    return sorted({first - (first - last) * k // number for k in range(1, number + 1)})


class Candidates:
    """The nearest policy so far of each run, and the constraint of the same moment."""

    def __init__(
        self, problem: Problem, settings: CandidateSettings, purpose: str, first: int, last: int
    ):
        """`first` and `last` steps of training: between them candidates are spread."""
        self.problem, self.purpose = problem, purpose
        self.episodes = settings.episodes or 0
        self.moments = moments(first, last, settings.number) if settings.number else []
        self.nad = np.full(len(problem.seeds), np.inf)
        self.best: Pair | None = None

    def look(self, done: int, constraint: Networks, policy: Networks) -> None:
        """After so many steps of training: keep what is nearer than all before it."""
        if done not in self.moments:
            return
        rngs = generators(self.problem.seeds, self.purpose, "choice", done)
        episodes = roll_out(self.problem.world, policy, rngs, self.episodes)
        nad = dissimilarities(self.problem, range(len(rngs)), episodes)
        place = self.moments.index(done) + 1
        if self.best is None:  # whatever its distance, undefined ones among them
            self.best = Pair(constraint.copy(), policy.copy(), np.full(len(nad), place))
        nearer = nad < self.nad
        self.nad[nearer] = nad[nearer]
        self.best.constraint.parameters[nearer] = constraint.parameters[nearer]
        self.best.policy.parameters[nearer] = policy.parameters[nearer]
        self.best.place[nearer] = place

    def beside(self, last: Outcome) -> Outcome:
        """The outcome of the last policies, with the nearest ones beside it."""
        if self.best is None:
            return last
        bad = lost(last.failed, len(self.nad))
        for part in (self.best.constraint.parameters, self.best.policy.parameters, self.best.place):
            part[bad] = 0
        return replace(last, others={BEST: self.best})

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        if self.best is None:
            return {}
        constraint, policy, place = self.best
        named = constraint.tensors("best.constraint.") | policy.tensors("best.policy.")
        return named | {"best.nad": self.nad, "best.place": place}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        if "best.nad" in named:
            constraint = Networks.from_tensors(named, "best.constraint.")
            policy = Networks.from_tensors(named, "best.policy.")
            self.nad, self.best = named["best.nad"], Pair(constraint, policy, named["best.place"])
