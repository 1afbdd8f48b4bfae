"""GAIL-Constraint: imitation whose discriminator, turned round, is read as a constraint.

The discriminator D separates the expert's constraint inputs (1) from the agent's (0). The
agent maximises r + log D, which is r + log(1 - c) with the recovered constraint
c = 1 - D: what only the agent does is taken to be forbidden (paper, Section 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.learning.candidates import Candidates, CandidateSettings
from icl_core.learning.engine.costs import fresh_constraints, visited_inputs
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.on_policy_trainer import OnPolicyTrainer
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.training import Job
from icl_core.learning.problem import Outcome, Problem
from icl_core.settings import COUNT, LAYERS, RATE, section, setting

TITLE = "GAIL-Constraint"
PLACE = 1
SIZES = {
    "quick": {"total_steps": 40_000, "on_policy": {"passes": 8}},
    "smoke": {
        "total_steps": 400,
        "on_policy": {"steps": 200, "environments": 10, "passes": 2},
    },
}

EPSILON = 1e-5  # keeps the shaped reward above -11.5


@dataclass(frozen=True)
class Settings:
    """Settings of the method; defaults are the paper's (Table 8)."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the discriminator", **LAYERS)
    total_steps: int = setting(
        2_000_000, "steps of all rollouts together", at_least=1, at_most=10**10
    )
    warm_up: float = setting(
        0.1,
        "share of the rollouts, the first ones, of reward alone: there is no discriminator yet "
        "(the authors: 0)",
        at_least=0,
        below=1,
    )
    learning_rate: float = setting(5e-4, "step size of the discriminator", **RATE)
    batch: int = setting(64, "steps of either side in a minibatch", **COUNT)
    first_pairs_only: bool = setting(
        False, "a fault of the authors' code: of both sides only the first steps are ever seen"
    )
    on_policy: OnPolicySettings = section(OnPolicySettings, "settings of PPO")
    candidates: CandidateSettings = section(CandidateSettings, "what stands for selection")

    @property
    def rollouts(self) -> int:
        """As many as bring `total_steps`."""
        return -(-self.total_steps // self.on_policy.steps)

    @property
    def warm_rollouts(self) -> int:
        """The first of them, of reward alone."""
        return int(self.warm_up * self.rollouts)


def learn(problem: Problem, settings: Settings, job: Job) -> Outcome:
    """Train a stack of runs."""
    learner = _Learner(problem, settings)
    job = job.of(problem.seeds, "learning.gail-constraint")
    failed = job.run(learner, settings.rollouts)
    learner.look()
    last = learner.policies.outcome(learner.discriminator.negated(), failed)
    return learner.candidates.beside(last)


class _Learner:
    """The state of training between two rollouts."""

    unit = "rollout"

    def __init__(self, problem: Problem, settings: Settings):
        self.world, self.settings = problem.world, settings
        self.policies = OnPolicyTrainer(
            problem.world,
            problem.beta,
            problem.seeds,
            settings.on_policy,
            critics=1,
            purpose="gail-constraint",
        )
        # (N_E, inputs) of each run
        self.expert = problem.of_each(lambda shown: visited_inputs(problem.world, shown))
        self.discriminator = fresh_constraints(problem.world, problem.seeds, settings.hidden)
        self.optimiser = Adam(self.discriminator.parameters, settings.learning_rate)
        # A policy without a discriminator speaks for none.
        self.candidates = Candidates(
            problem,
            settings.candidates,
            "gail-constraint",
            settings.warm_rollouts,
            settings.rollouts,
        )

    @property
    def done(self) -> int:
        return len(self.policies.rows)

    def look(self) -> None:
        """Keep what is nearer to the expert than all before."""
        constraint, policy = self.discriminator.negated(), self.policies.agents.policy
        self.candidates.look(self.done, constraint, policy)

    def advance(self) -> dict[str, np.ndarray]:
        """One rollout: the discriminator learns from it, then the policy from both."""
        self.look()
        segment, inputs, rngs = self.policies.roll()
        warm = self.done >= self.settings.warm_rollouts
        if warm:
            self._discriminate(inputs, rngs)
        likeness = sigmoid(self.discriminator(inputs)[..., 0]).reshape(segment.rewards.shape)
        row = self.policies.record(segment, 1.0 - likeness)
        shaped = segment.rewards + np.log(likeness + EPSILON) if warm else segment.rewards
        agents = self.policies.agents
        samples = agents.samples(segment, [shaped], self.world.discount)
        agents.learn(samples, rngs)
        return {"reward": row["return"], "J": row["constraint_value"], "entropy": row["entropy"]}

    def parts(self) -> list[Part]:
        """The discriminator's weights, and the policies'."""
        own = Part("learning_rate", self.discriminator.parameters, self.optimiser)
        return [own, *self.policies.agents.parts("on_policy")]

    def _discriminate(self, inputs: np.ndarray, rngs: list[np.random.Generator]) -> None:
        """One pass of the discriminator over a rollout and the demonstrations."""
        settings = self.settings
        batches = pairs(self.expert, list(inputs), rngs, settings.batch, settings.first_pairs_only)
        for runs, expert, agent in batches:
            discriminate(self.discriminator, self.optimiser, expert, agent, runs)

    def tensors(self) -> dict[str, np.ndarray]:
        own = self.discriminator.tensors("discriminator.") | self.optimiser.tensors("adam.")
        return own | self.policies.tensors() | self.candidates.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        saved = Networks.from_tensors(named, "discriminator.")
        self.discriminator.parameters[...] = saved.parameters
        self.optimiser.restore(named, "adam.")
        self.policies.restore(named)
        self.candidates.restore(named)


def pairs(
    expert: Sequence[np.ndarray],
    agent: Sequence[np.ndarray],
    rngs: Sequence[np.random.Generator],
    size: int,
    first_only: bool = False,
) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
    """One pass over min(N_E, N_A) inputs of either side of each run, in batches: whose it is, and
    (runs, size, inputs) of either side.

    `expert` and `agent` are (N_E, inputs) and (N_A, inputs) of each run. Each side is drawn from
    all it has, without replacement. Runs with more of them go on when the others have ended.
    """
    drawn = []
    for theirs, ours, rng in zip(expert, agent, rngs, strict=True):
        n = min(len(theirs), len(ours))
        first = rng.permutation(n if first_only else len(theirs))[:n]
        second = first if first_only else rng.permutation(len(ours))[:n]
        drawn.append((theirs[first], ours[second]))
    counts = np.array([len(theirs) for theirs, _ in drawn])
    for start in range(0, counts.max(), size):
        left = np.clip(counts - start, 0, size)
        for length in np.unique(left[left > 0])[::-1].tolist():
            runs, batch = np.flatnonzero(left == length).tolist(), slice(start, start + length)
            sides = zip(*(drawn[run] for run in runs), strict=True)
            theirs, ours = (np.stack([part[batch] for part in side]) for side in sides)
            yield runs, theirs, ours


def discriminate(
    discriminator: Networks,
    optimiser: Adam,
    expert: np.ndarray,
    agent: np.ndarray,
    runs: Sequence[int],
) -> None:
    """One step on BCE(D(expert), 1) + BCE(D(agent), 0), for batches (runs, n, inputs) of `runs`."""
    if len(runs) < discriminator.runs:
        some, adam = discriminator.pick(runs), optimiser.pick(runs)
        _descend(some, adam, expert, agent)
        discriminator.parameters[runs] = some.parameters
        optimiser.put(runs, adam)
    else:
        _descend(discriminator, optimiser, expert, agent)


def _descend(
    discriminator: Networks, optimiser: Adam, expert: np.ndarray, agent: np.ndarray
) -> None:
    n = expert.shape[1]
    logits, trace = discriminator.trace(np.concatenate([expert, agent], axis=1))
    slope = sigmoid(logits)
    slope[:, :n] -= 1.0
    slope /= np.float32(n)
    optimiser.step(discriminator.parameters, discriminator.gradient(trace, slope))
