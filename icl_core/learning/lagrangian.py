"""PPO-Lagrange: PPO on reward and cost, weighed by a multiplier (Ray et al., 2019).

The multiplier follows the discounted cost of the episodes that ended in the last rollout,
which is what beta bounds in the paper. The settings' defaults are those of the paper's
robots (Table 11) and of the agents that its authors took the procedure from.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from icl_core.learning.multiplier import Multiplier
from icl_core.learning.on_policy import OnPolicySettings, Samples
from icl_core.learning.walking import WalkingPolicies

ROBOTS = OnPolicySettings(
    learning_rate=5e-4,
    clip=0.2,
    entropy=0.0,
    gae_lambda=0.97,
    gradient_norm=0.0,
    steps=4000,
    environments=8,
    passes=80,
    batch=4000,
    log_deviation=-0.5,
    value_rate=1e-3,
    critics_apart=True,
    bootstrap=True,
)


@dataclass(frozen=True)
class LagrangianSettings:
    """Settings of the procedure."""

    on_policy: OnPolicySettings = field(default_factory=lambda: ROBOTS)
    farthest: float | None = 0.012  # a policy that has moved further makes no further pass
    multiplier: float = 1.0  # nu at the start
    multiplier_rate: float = 0.05
    warm_up: int = 0  # epochs of reward alone
    # Faults of the authors' code: the multiplier follows the reward, not the cost; and the
    # probabilities before the update are those of other actions than the ones taken.
    reward_as_cost: bool = False
    other_actions: bool = False


class LagrangianLearner:
    """The state of a stack of runs between epochs."""

    def __init__(self, world, constraint, rngs, settings):
        self.world, self.constraint = world, constraint
        self.settings = settings.lagrangian
        seeds = [int(rng.integers(2**62)) for rng in rngs]
        on_policy = self.settings.on_policy
        self.policies = WalkingPolicies(world, seeds, on_policy, critics=2, purpose="lagrangian")
        self.multiplier = Multiplier(
            len(rngs), self.settings.multiplier, self.settings.multiplier_rate
        )

    @property
    def policy(self):
        """The policies as they are now."""
        return self.policies.agents.policy

    def epoch(self) -> dict[str, np.ndarray]:
        """Roll out, learn, and tell how the episodes went: column of the log -> (runs,)."""
        settings, agents = self.settings, self.policies.agents
        walk, inputs, rngs = self.policies.walk()
        costs = self.constraint(inputs).reshape(walk.rewards.shape)
        row = self.policies.record(walk, costs)
        samples = agents.samples(walk, [walk.rewards, costs], self.world.discount)
        if settings.other_actions:
            samples = _of_other_actions(samples, agents, rngs)
        nu = np.zeros(len(rngs))
        if len(self.policies.rows) > settings.warm_up:
            measured = row["return" if settings.reward_as_cost else "constraint_value"]
            # Where no episode ended nothing was measured, and nothing moves.
            self.multiplier.step(np.nan_to_num(measured - self.world.threshold))
            nu = self.multiplier.value
        agents.learn(samples, rngs, nu, settings.farthest)
        return row

    def tensors(self) -> dict[str, np.ndarray]:
        """All that the next epoch depends on."""
        return self.policies.tensors() | self.multiplier.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.policies.restore(named)
        self.multiplier.restore(named)


def _of_other_actions(samples: Samples, agents, rngs) -> Samples:
    """The samples with the log-probabilities of a second draw of actions."""
    policy = agents.actions.distribution(agents.policy(samples.states))
    shape = (samples.states.shape[1], agents.actions.draws)
    drawn = policy.sample(np.stack([rng.random(shape) for rng in rngs]))
    return replace(samples, old_log_probabilities=policy.log_probabilities(drawn))
