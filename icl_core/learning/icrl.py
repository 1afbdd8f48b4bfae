"""ICRL: inverse constrained RL by maximum likelihood (Malik et al., 2021; paper, Section 5).

Forward: PPO-Lagrange on the reward and the cost c = 1 - zeta. Backward: zeta learns from
the demonstrations and fresh episodes of the policy (`feasibility`). Policy, multiplier
and zeta live through all iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.learning.baseline import Outcome, constraint_learner, finish
from icl_core.learning.costs import taken_inputs
from icl_core.learning.feasibility import BackwardSettings, backward
from icl_core.learning.multiplier import Multiplier
from icl_core.learning.networks import Networks, sigmoid
from icl_core.learning.on_policy import OnPolicySettings
from icl_core.learning.resume import Store, run_to_end
from icl_core.learning.rollouts import roll_out, roll_out_without_reset
from icl_core.learning.walking import WalkingPolicies
from icl_core.randomness import generators

KL_SLACK = 1.5  # passes end when the policy has moved by more than this many targets


@dataclass(frozen=True)
class ICRLSettings:
    """Settings of the method; defaults are the paper's (Table 9)."""

    iterations: int = 200
    forward_steps: int = 10_000  # of an iteration's forward phase; whole rollouts
    target_kl: float | None = 0.02  # passes end beyond 1.5 times this; None: never early
    multiplier: float = 0.1  # nu at the start
    multiplier_rate: float = 0.01
    budget: float = 0.0  # mean cost of a step that is allowed
    episodes: int = 50  # of the agent, for a backward phase
    backward: BackwardSettings = field(default_factory=BackwardSettings)
    # Fault of the authors' code: the environment is reset before the first of these episodes only.
    never_reset: bool = False


def train_icrl(
    world: World,
    demonstrations: Trajectories,
    seeds: Sequence[int],
    settings: ICRLSettings,
    ppo: OnPolicySettings,
    hidden: Sequence[int],
    rollouts: int,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> Outcome:
    """Train a stack of runs; `rollouts` episodes of the final policies are reported."""
    learner = _Learner(world, demonstrations, seeds, settings, ppo, hidden)
    run_to_end(learner, settings.iterations, progress, store)
    return finish(learner.policies, learner.feasibility.negated(), rollouts)


class _Learner:
    """The state of training between two iterations."""

    def __init__(self, world, demonstrations, seeds, settings, ppo, hidden):
        self.world, self.seeds, self.settings, self.done = world, seeds, settings, 0
        self.policies = WalkingPolicies(world, seeds, ppo, critics=2, purpose="icrl")
        self.multiplier = Multiplier(len(seeds), settings.multiplier, settings.multiplier_rate)
        self.expert = taken_inputs(world, demonstrations)
        self.feasibility, self.optimiser = constraint_learner(
            world, seeds, hidden, settings.backward.learning_rate
        )

    def advance(self) -> dict[str, np.ndarray]:
        """One iteration; numbers of both phases."""
        told = {}
        for _ in range(-(-self.settings.forward_steps // self.policies.settings.steps)):
            told = self._forward()
        told |= self._backward()
        self.done += 1
        return told

    def _forward(self) -> dict[str, np.ndarray]:
        """One rollout and what is learned from it."""
        walk, inputs, rngs = self.policies.walk()
        costs = sigmoid(-self.feasibility(inputs)[..., 0])
        row = self.policies.record(walk, costs.reshape(walk.rewards.shape))
        agents = self.policies.agents
        signals = [walk.rewards, costs.reshape(walk.rewards.shape)]
        samples = agents.samples(walk, signals, self.world.discount)
        nu = self.multiplier.value
        target = self.settings.target_kl
        farthest = None if target is None else KL_SLACK * target
        passes = agents.learn(samples, rngs, nu, farthest)
        self.multiplier.step(costs.mean(axis=1) - self.settings.budget)
        return {
            "forward reward": row["return"],
            "J": row["constraint_value"],
            "nu": nu,
            "passes": passes,
        }

    def _backward(self) -> dict[str, np.ndarray]:
        """Fresh episodes of the policies, then each run's zeta."""
        play = roll_out_without_reset if self.settings.never_reset else roll_out
        rngs = generators(self.seeds, "icrl", "backward", self.done)
        policy = self.policies.agents.policy
        episodes = play(self.world, policy, rngs, self.settings.episodes)
        made, moved = backward(
            self.feasibility,
            self.optimiser,
            self.expert,
            [taken_inputs(self.world, episodes[run]) for run in range(len(rngs))],
            [episodes[run].lengths for run in range(len(rngs))],
            rngs,
            self.settings.backward,
        )
        forth, back = np.array([(m.kl_old_new, m.kl_new_old) for m in moved]).T
        return {"backward passes": made, "KL old-new": forth, "KL new-old": back}

    def tensors(self) -> dict[str, np.ndarray]:
        own = self.feasibility.tensors("feasibility.") | self.optimiser.tensors("adam.")
        own |= self.multiplier.tensors() | {"done": np.array([self.done])}
        return own | self.policies.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        saved = Networks.from_tensors(named, "feasibility.")
        self.feasibility.parameters[...] = saved.parameters
        self.optimiser.restore(named, "adam.")
        self.multiplier.restore(named)
        self.done = int(named["done"][0])
        self.policies.restore(named)
