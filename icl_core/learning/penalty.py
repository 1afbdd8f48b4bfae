"""PPO-penalty: the paper's feasibility projection, then PPO (App. B.1).

An episode can end, for learning only, when its running discounted cost reaches beta
(`truncate`); docs/decisions.md tells why this, and not the projection, is what makes
policies feasible.
"""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.learning.actions import actions_of
from icl_core.learning.buffer import StepBuffer
from icl_core.learning.costs import constraint_values, truncate
from icl_core.learning.networks import Adam
from icl_core.learning.ppo import ActorCritic, Batch, mean_entropy
from icl_core.learning.rollouts import rewards_to_go, roll_out
from icl_core.randomness import generator_state, restore_generators


class PenaltyLearner:
    """The state of a stack of runs between epochs."""

    def __init__(self, world, constraint, rngs, settings):
        self.world, self.constraint = world, constraint
        self.rngs, self.settings = rngs, settings
        shape = (world.observation_size, actions_of(world))
        self.agents = ActorCritic(rngs, *shape, settings.ppo)
        capacity = settings.ppo.buffer or settings.episodes * world.horizon
        self.buffer = StepBuffer(len(rngs), capacity, *shape)

    @property
    def policy(self):
        """The policies as they are now."""
        return self.agents.policy

    def epoch(self) -> dict[str, np.ndarray]:
        """Roll out, learn, and tell how the episodes went: column of the log -> (runs,)."""
        world, settings = self.world, self.settings
        episodes = roll_out(world, self.policy, self.rngs, settings.episodes)
        costs = constraint_values(world, self.constraint, episodes)
        totals = accumulate(costs, episodes.mask, world.discount)
        learnt = truncate(episodes, costs, world) if settings.truncate else episodes
        steps, taken, entropy = self._steps(learnt)
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
            "violations": (totals >= world.threshold).mean(axis=1),
            "length": episodes.lengths.mean(axis=1),
            "entropy": entropy,
        }

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
        to_go = rewards_to_go(costs, self.world.discount)
        violating = to_go[..., :1] >= self.world.threshold
        if not violating.any():
            return
        weights = (to_go * episodes.mask * violating).astype(np.float32)
        for k in range(weights.shape[1]):
            outputs, trace = policy.trace(self.world.features(episodes.states[:, k]))
            slope = actions.distribution(outputs).slope(episodes.actions[:, k], -weights[:, k])
            gradient = policy.gradient(trace, slope)
            actions.hold(policy, gradient)
            optimiser.step(policy.parameters, gradient)

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
