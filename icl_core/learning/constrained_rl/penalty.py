"""PPO-penalty: the paper's feasibility projection, then PPO (Algorithm 2, App. B.1).

An episode can end, for learning only, when its running discounted cost reaches beta
(`truncate`); docs/decisions.md says why this, and not the projection, is what makes
policies feasible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments.world import World
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.costs import ConstraintFunction, constraint_values, truncate
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.ppo import (
    ActorCritic,
    Batch,
    PPOSettings,
    StepBuffer,
    mean_entropy,
)
from icl_core.learning.engine.rollouts import rewards_to_go, roll_out
from icl_core.randomness import generator_state, restore_generators
from icl_core.settings import COUNT, WEIGHT, section, setting


@dataclass(frozen=True)
class PenaltySettings:
    """Settings of the procedure."""

    episodes: int = setting(20, "episodes rolled out per epoch", **COUNT)
    truncate: bool = setting(True, "an episode ends, for learning, when its cost reaches beta")
    feasibility_rate: float = setting(
        2.5e-5, "eta_1, step size of the projection; 0: none", at_least=0, at_most=1
    )
    soft_weight: float = setting(
        0.0, "lambda of a penalty inside of PPO's own loss; the paper has none: 0", **WEIGHT
    )
    ppo: PPOSettings = section(PPOSettings, "settings of the update")


class PenaltyLearner:
    """The state of a stack of runs between epochs."""

    def __init__(
        self,
        world: World,
        constraint: ConstraintFunction,
        beta: float,
        rngs: Sequence[np.random.Generator],
        settings: PenaltySettings,
    ):
        self.world, self.constraint, self.beta = world, constraint, beta
        self.rngs, self.settings = rngs, settings
        size, actions = world.observation_size, actions_of(world)
        self.agents = ActorCritic(rngs, size, actions, settings.ppo)
        capacity = settings.ppo.buffer or settings.episodes * world.horizon
        self.buffer = StepBuffer(len(rngs), capacity, size, actions)

    @property
    def policy(self) -> Networks:
        """The policies as they are now."""
        return self.agents.policy

    def epoch(self) -> dict[str, np.ndarray]:
        """Roll out and learn; how the episodes went: column of the log -> (runs,)."""
        world, settings = self.world, self.settings
        episodes = roll_out(world, self.policy, self.rngs, settings.episodes)
        costs = constraint_values(world, self.constraint, episodes)
        totals = accumulate(costs, episodes.mask, world.discount)
        learnt = episodes
        if settings.truncate:
            learnt = truncate(episodes, costs, world.discount, self.beta)
        steps, taken, entropy = self._steps(self._penalised(learnt, costs * learnt.mask))
        if not settings.ppo.buffer:
            self.buffer.clear()
        self.buffer.add(steps, taken)
        if settings.feasibility_rate > 0:
            self._project(learnt, costs * learnt.mask)
        for batch in self.buffer.draw(self.rngs, settings.ppo.updates, settings.ppo.batch):
            self.agents.update(batch)
        return {
            "return": episodes.returns.mean(axis=1),
            "constraint_value": totals.mean(axis=1),
            "violations": (totals >= self.beta).mean(axis=1),
            "length": episodes.lengths.mean(axis=1),
            "entropy": entropy,
            "steps": episodes.lengths.sum(axis=1),
        }

    def _penalised(self, episodes: Trajectories, costs: np.ndarray) -> Trajectories:
        """Episodes with the rewards that PPO's loss has under a penalty inside of it (App. B.1).

        lambda ReLU(J(c) - beta) slopes like the return of -lambda c, while J(c) is above beta.
        """
        if not self.settings.soft_weight:
            return episodes
        over = accumulate(costs, episodes.mask, self.world.discount).mean(axis=1) > self.beta
        penalty = self.settings.soft_weight * over[:, None, None] * costs
        return replace(episodes, rewards=(episodes.rewards - penalty).astype(np.float32))

    def _steps(self, episodes: Trajectories) -> tuple[Batch, np.ndarray, np.ndarray]:
        """Episodes as steps with their targets, (runs, episodes * steps, ...); which of them
        exist, (runs, episodes * steps); and the policies' mean entropy there, (runs,).
        """
        runs, actions = len(episodes), self.agents.actions
        states = self.world.features(episodes.states).reshape(runs, -1, episodes.states.shape[-1])
        chosen = episodes.actions.reshape(runs, -1, *actions.shape)
        targets = rewards_to_go(episodes.rewards, self.world.discount).reshape(runs, -1)
        policy, taken = actions.distribution(self.policy(states)), episodes.mask.reshape(runs, -1)
        old = policy.log_probabilities(chosen)
        batch = Batch(states, chosen, old, targets.astype(np.float32))
        return batch, taken, mean_entropy(policy, taken)

    def _project(self, episodes: Trajectories, costs: np.ndarray) -> None:
        """Feasibility projection: a step on sum_t C_t log pi for each violating episode.

        The optimiser is new in every epoch and its momentum moves the policy through
        episodes that keep the constraint too, as in the authors' code.
        """
        policy, actions = self.policy, self.agents.actions
        optimiser = Adam(policy.parameters, self.settings.feasibility_rate)
        optimiser.held = self.agents.optimiser.held
        to_go = rewards_to_go(costs, self.world.discount)
        violating = to_go[..., :1] >= self.beta
        if not violating.any():
            return
        weights = (to_go * episodes.mask * violating).astype(np.float32)
        for k in range(weights.shape[1]):
            outputs, trace = policy.trace(self.world.features(episodes.states[:, k]))
            slope = actions.distribution(outputs).slope(episodes.actions[:, k], -weights[:, k])
            gradient = policy.gradient(trace, slope)
            actions.hold(policy, gradient)
            optimiser.step(policy.parameters, gradient)

    def parts(self) -> list[Part]:
        """The weights of the policies and of their value networks."""
        agents = self.agents
        return [Part("penalty.ppo.learning_rate", agents.parameters, agents.optimiser)]

    def tensors(self) -> dict[str, np.ndarray]:
        """All that the next epoch depends on."""
        agents = self.agents
        named = {"agents": agents.parameters, "generators": generator_state(self.rngs)}
        return named | agents.optimiser.tensors("adam.") | self.buffer.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.agents.parameters[...] = named["agents"]
        self.agents.optimiser.restore(named, "adam.")
        self.buffer.restore(named)
        restore_generators(self.rngs, named["generators"])
