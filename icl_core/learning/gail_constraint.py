"""GAIL-Constraint: imitation whose discriminator, turned round, is read as a constraint.

The discriminator D tells the expert's constraint inputs (1) from the agent's (0). The
agent maximises r + log D, which is r + log(1 - c) with the recovered constraint
c = 1 - D: what only the agent does is taken to be forbidden (paper, Section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.baseline import Outcome, constraint_learner, finish
from icl_core.learning.costs import taken_inputs
from icl_core.learning.networks import Adam, Networks, sigmoid
from icl_core.learning.on_policy import OnPolicySettings
from icl_core.learning.resume import Store, run_to_end
from icl_core.learning.walking import WalkingPolicies

EPSILON = 1e-5  # keeps the shaped reward above -11.5


@dataclass(frozen=True)
class GAILSettings:
    """Settings of the method; defaults are the paper's (Table 8)."""

    total_steps: int = 2_000_000  # of all rollouts together
    warm_up: int = 20  # rollouts of reward alone, before there is a discriminator (authors: 0)
    learning_rate: float = 5e-4  # of the discriminator
    batch: int = 64
    # Fault of the authors' code: of both sides only the first min(N_A, N_E) steps are ever seen.
    first_pairs_only: bool = False


def train_gail_constraint(
    world: World,
    demonstrations: Trajectories,
    seeds: Sequence[int],
    settings: GAILSettings,
    ppo: OnPolicySettings,
    hidden: Sequence[int],
    rollouts: int,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> Outcome:
    """Train a stack of runs; `rollouts` episodes of the final policies are reported."""
    learner = _Learner(world, demonstrations, seeds, settings, ppo, hidden)
    run_to_end(learner, rollouts_of(settings, ppo), progress, store)
    return finish(learner.policies, learner.discriminator.negated(), rollouts)


def rollouts_of(settings: GAILSettings, ppo: OnPolicySettings) -> int:
    """How many rollouts reach the total number of steps."""
    return -(-settings.total_steps // ppo.steps)


class _Learner:
    """The state of training between two rollouts."""

    def __init__(self, world, demonstrations, seeds, settings, ppo, hidden):
        self.world, self.settings = world, settings
        self.policies = WalkingPolicies(world, seeds, ppo, critics=1, purpose="gail-constraint")
        self.expert = taken_inputs(world, demonstrations)  # (N_E, inputs)
        self.discriminator, self.optimiser = constraint_learner(
            world, seeds, hidden, settings.learning_rate
        )

    @property
    def done(self) -> int:
        return len(self.policies.rows)

    def advance(self) -> dict[str, np.ndarray]:
        """One rollout: the discriminator learns from it, then the policy from both."""
        walk, inputs, rngs = self.policies.walk()
        warm = self.done >= self.settings.warm_up
        if warm:
            self._discriminate(inputs, rngs)
        likeness = sigmoid(self.discriminator(inputs)[..., 0]).reshape(walk.rewards.shape)
        row = self.policies.record(walk, 1.0 - likeness)
        shaped = walk.rewards + np.log(likeness + EPSILON) if warm else walk.rewards
        agents = self.policies.agents
        samples = agents.samples(walk, [shaped], self.world.discount)
        agents.learn(samples, rngs)
        return {"reward": row["return"], "J": row["constraint_value"], "entropy": row["entropy"]}

    def _discriminate(self, inputs: np.ndarray, rngs: list[np.random.Generator]) -> None:
        """One pass of the discriminator over a rollout and the demonstrations."""
        settings = self.settings
        sides = (self.expert, inputs)
        for expert, agent in pairs(*sides, rngs, settings.batch, settings.first_pairs_only):
            discriminate(self.discriminator, self.optimiser, expert, agent)

    def tensors(self) -> dict[str, np.ndarray]:
        own = self.discriminator.tensors("discriminator.") | self.optimiser.tensors("adam.")
        return own | self.policies.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        saved = Networks.from_tensors(named, "discriminator.")
        self.discriminator.parameters[...] = saved.parameters
        self.optimiser.restore(named, "adam.")
        self.policies.restore(named)


def pairs(
    expert: np.ndarray,
    agent: np.ndarray,
    rngs: Sequence[np.random.Generator],
    size: int,
    first_only: bool = False,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One pass over min(N_E, N_A) inputs of either side, in batches of (runs, size, inputs).

    `expert` (N_E, inputs) serves all runs, `agent` is (runs, N_A, inputs). Each side is drawn
    from all it has, without replacement.
    """
    n_expert, n_agent = len(expert), agent.shape[1]
    n = min(n_expert, n_agent)
    if first_only:
        theirs = ours = np.stack([rng.permutation(n) for rng in rngs])
    else:
        theirs = np.stack([rng.permutation(n_expert)[:n] for rng in rngs])
        ours = np.stack([rng.permutation(n_agent)[:n] for rng in rngs])
    run = np.arange(len(rngs))[:, None]
    for start in range(0, n, size):
        batch = slice(start, start + size)
        yield expert[theirs[:, batch]], agent[run, ours[:, batch]]


def discriminate(
    discriminator: Networks, optimiser: Adam, expert: np.ndarray, agent: np.ndarray
) -> None:
    """One step on BCE(D(expert), 1) + BCE(D(agent), 0), for batches (runs, n, inputs)."""
    n = expert.shape[1]
    logits, trace = discriminator.trace(np.concatenate([expert, agent], axis=1))
    slope = sigmoid(logits)
    slope[:, :n] -= 1.0
    slope /= np.float32(n)
    optimiser.step(discriminator.parameters, discriminator.gradient(trace, slope))
