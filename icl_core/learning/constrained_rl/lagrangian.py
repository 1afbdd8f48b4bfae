"""PPO-Lagrange: PPO on reward and cost, weighed by a multiplier (Ray et al., 2019).

The multiplier follows the discounted cost of the episodes that ended in the last rollout,
which is what beta bounds in the paper. The settings' defaults are those of the paper's
robots (Table 11) and of the agents that its authors took the procedure from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.engine.costs import ConstraintFunction
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.on_policy import OnPolicyAgents, Samples
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.on_policy_trainer import OnPolicyTrainer
from icl_core.learning.engine.optimisers import Multiplier
from icl_core.settings import POSITIVE, section, setting

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
    separate_critic_updates=True,
    bootstrap=True,
)


@dataclass(frozen=True)
class LagrangianSettings:
    """Settings of the procedure; an epoch is a rollout."""

    multiplier: float = setting(1.0, "nu at the start", **POSITIVE)
    multiplier_rate: float = setting(0.05, "step size of nu", **POSITIVE)
    warm_up: int = setting(0, "epochs of reward alone", at_least=0, at_most=100_000)
    max_kl: float | None = setting(
        0.012, "a policy that has moved further makes no further pass; null: never", **POSITIVE
    )
    reward_as_cost: bool = setting(
        False, "a fault of the authors' code: the multiplier follows the reward"
    )
    other_actions: bool = setting(
        False, "a fault of the authors' code: old probabilities are of other actions"
    )
    on_policy: OnPolicySettings = section(lambda: ROBOTS, "settings of PPO")


class LagrangianLearner:
    """The state of a stack of runs between epochs."""

    def __init__(
        self,
        world: World,
        constraint: ConstraintFunction,
        beta: float,
        rngs: Sequence[np.random.Generator],
        settings: LagrangianSettings,
    ):
        self.world, self.constraint, self.settings = world, constraint, settings
        seeds = [int(rng.integers(2**62)) for rng in rngs]
        self.policies = OnPolicyTrainer(
            world, beta, seeds, settings.on_policy, critics=2, purpose="lagrangian"
        )
        self.multiplier = Multiplier(len(rngs), settings.multiplier, settings.multiplier_rate)

    @property
    def policy(self) -> Networks:
        """The policies as they are now."""
        return self.policies.agents.policy

    def epoch(self) -> dict[str, np.ndarray]:
        """Roll out and learn; how the episodes went: column of the log -> (runs,)."""
        settings, agents = self.settings, self.policies.agents
        segment, inputs, rngs = self.policies.roll()
        costs = self.constraint(inputs).reshape(segment.rewards.shape)
        row = self.policies.record(segment, costs)
        samples = agents.samples(segment, [segment.rewards, costs], self.world.discount)
        if settings.other_actions:
            samples = _of_other_actions(samples, agents, rngs)
        nu = np.zeros(len(rngs))
        if len(self.policies.rows) > settings.warm_up:
            measured = row["return" if settings.reward_as_cost else "constraint_value"]
            # Where no episode ended nothing was measured, and nothing moves.
            self.multiplier.step(np.nan_to_num(measured - self.policies.beta))
            nu = self.multiplier.value
        agents.learn(samples, rngs, nu, settings.max_kl)
        return row

    def parts(self) -> list[Part]:
        """The policies' and critics' weights, and the multipliers."""
        nu = self.multiplier
        agents = self.policies.agents.parts("lagrangian.on_policy")
        return [*agents, Part("lagrangian.multiplier_rate", nu.kappa, nu.optimiser)]

    def tensors(self) -> dict[str, np.ndarray]:
        """All that the next epoch depends on."""
        return self.policies.tensors() | self.multiplier.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.policies.restore(named)
        self.multiplier.restore(named)


def _of_other_actions(
    samples: Samples, agents: OnPolicyAgents, rngs: Sequence[np.random.Generator]
) -> Samples:
    """The samples with the log-probabilities of a second draw of actions."""
    policy = agents.actions.distribution(agents.policy(samples.states))
    shape = (samples.states.shape[1], agents.actions.draws)
    drawn = policy.sample(np.stack([rng.random(shape) for rng in rngs]))
    return replace(samples, old_log_probabilities=policy.log_probabilities(drawn))
