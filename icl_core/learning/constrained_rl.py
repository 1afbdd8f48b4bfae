"""Constrained reinforcement learning on a stack of runs (paper, Algorithm 2).

Two procedures behind one interface: `penalty`, the paper's feasibility
projection followed by PPO, and `lagrangian`, PPO on reward and cost weighed by
a multiplier. Both can end an episode, for learning only, when its running
discounted cost reaches beta (`truncate`); docs/decisions.md tells why this, and
not the projection, is what makes policies feasible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, accumulate, discounts
from icl_core.environments.world import World
from icl_core.learning.buffer import StepBuffer
from icl_core.learning.logs import TRAINING_COLUMNS
from icl_core.learning.networks import Adam, Networks, log_softmax
from icl_core.learning.ppo import ActorCritic, Batch, PPOSettings, mean_entropy
from icl_core.learning.resume import Store, run_to_end
from icl_core.learning.rollouts import log_probabilities, rewards_to_go, roll_out
from icl_core.randomness import generator_state, restore_generators

# c on constraint inputs: (runs, n, inputs) -> (runs, n)
ConstraintFunction = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ConstrainedRLSettings:
    """Settings of one constrained RL run."""

    epochs: int = 500  # m
    episodes: int = 20  # rolled out per epoch
    procedure: str = "penalty"  # or "lagrangian"
    truncate: bool = True  # end an episode, for learning, when its cost reaches beta
    feasibility_rate: float = 0.0  # eta_1 of the projection (paper: 2.5e-5); 0 leaves it out
    multiplier_rate: float = 0.02  # lagrangian: step per epoch, times J - beta
    warm_up: int = 50  # lagrangian: epochs of reward alone
    ppo: PPOSettings = field(default_factory=PPOSettings)


@dataclass(frozen=True)
class TrainedPolicies:
    """What a constrained RL run leaves behind."""

    snapshots: list[Networks]  # the policies half-way and at the end
    log: dict[str, np.ndarray]  # column of the training log -> (epochs, runs)


def train_policies(
    world: World,
    constraint: ConstraintFunction,
    rngs: Sequence[np.random.Generator],
    settings: ConstrainedRLSettings,
    progress: Callable[..., None] | None = None,
    store: Store | None = None,
) -> TrainedPolicies:
    """Maximise J(r) subject to J(c) <= beta, once for each generator (Equation 3)."""
    learner = _Learner(world, constraint, rngs, settings)
    run_to_end(learner, settings.epochs, progress, store)
    log = dict(zip(TRAINING_COLUMNS, np.stack(learner.rows, axis=1), strict=True))
    return TrainedPolicies(learner.snapshots, log)


class _Learner:
    """The state of a constrained RL run between epochs."""

    def __init__(self, world, constraint, rngs, settings):
        self.world, self.constraint = world, constraint
        self.rngs, self.settings = rngs, settings
        self.lagrangian = settings.procedure == "lagrangian"
        critics = 2 if self.lagrangian else 1
        self.agents = ActorCritic(rngs, world.state_size, world.n_actions, settings.ppo, critics)
        capacity = settings.ppo.buffer or settings.episodes * world.horizon
        self.buffer = StepBuffer(len(rngs), capacity, world.state_size, critics)
        self.multiplier = np.zeros(len(rngs))
        self.snapshots: list[Networks] = []
        self.rows: list[np.ndarray] = []  # of the log, (columns, runs) each

    @property
    def done(self) -> int:
        return len(self.rows)

    def advance(self) -> dict[str, np.ndarray]:
        """One epoch more."""
        row = self.epoch(self.done + 1)
        self.rows.append(np.stack([row[name] for name in TRAINING_COLUMNS]))
        if self.done in (self.settings.epochs // 2, self.settings.epochs):
            self.snapshots.append(self.agents.policy.copy())
        return {"reward": row["return"], "J": row["constraint_value"]}

    def tensors(self) -> dict[str, np.ndarray]:
        """All that the next epoch depends on."""
        agents = self.agents
        named = {
            "agents": agents.parameters,
            "generators": generator_state(self.rngs),
            "log": np.stack(self.rows),
            "multiplier": self.multiplier,
        }
        if self.snapshots:
            named["snapshots"] = np.stack([snapshot.parameters for snapshot in self.snapshots])
        return named | agents.optimiser.tensors("adam.") | self.buffer.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.agents.parameters[...] = named["agents"]
        self.agents.optimiser.restore(named, "adam.")
        self.buffer.restore(named)
        restore_generators(self.rngs, named["generators"])
        self.rows, self.multiplier = list(named["log"]), named["multiplier"]
        sizes = self.agents.policy.sizes
        self.snapshots = [Networks(sizes, saved) for saved in named.get("snapshots", [])]

    def epoch(self, epoch: int) -> dict[str, np.ndarray]:
        """Roll out, learn, and tell how the episodes went: column -> (runs,)."""
        world, settings = self.world, self.settings
        episodes = roll_out(world, self.agents.policy, self.rngs, settings.episodes)
        costs = constraint_values(world, self.constraint, episodes)
        totals = accumulate(costs, episodes.mask, world.discount)
        learnt = truncate(episodes, costs, world) if settings.truncate else episodes
        steps, taken, entropy = self._steps(learnt, costs * learnt.mask)
        if not settings.ppo.buffer:
            self.buffer.clear()
        self.buffer.add(steps, taken)
        if not self.lagrangian and settings.feasibility_rate > 0:
            self._project(learnt, costs * learnt.mask)
        if self.lagrangian and epoch > settings.warm_up:
            excess = totals.mean(axis=1) - world.threshold
            self.multiplier = np.maximum(0.0, self.multiplier + settings.multiplier_rate * excess)
        for batch in self.buffer.draw(self.rngs, settings.ppo.updates, settings.ppo.batch):
            self.agents.update(batch, self.multiplier if self.lagrangian else None)
        return {
            "return": episodes.returns.mean(axis=1),
            "constraint_value": totals.mean(axis=1),
            "violations": (totals >= world.threshold).mean(axis=1),
            "length": episodes.lengths.mean(axis=1),
            "entropy": entropy,
        }

    def _steps(
        self, episodes: Trajectories, costs: np.ndarray
    ) -> tuple[Batch, np.ndarray, np.ndarray]:
        """Episodes as steps with their targets, (runs, episodes * steps, ...); which of them
        exist, (runs, episodes * steps); and the policies' mean entropy there, (runs,).
        """
        runs = len(episodes)
        states = episodes.states.reshape(runs, -1, self.world.state_size)
        actions = episodes.actions.reshape(runs, -1)
        signals = [episodes.rewards, costs][: len(self.agents.values)]
        targets = [rewards_to_go(signal, self.world.discount) for signal in signals]
        targets = np.stack(targets, axis=-1).reshape(runs, -1, len(signals))
        logits, taken = self.agents.policy(states), episodes.mask.reshape(runs, -1)
        old = log_probabilities(logits, actions)
        batch = Batch(states, actions, old, targets.astype(np.float32))
        return batch, taken, mean_entropy(logits, taken)

    def _project(self, episodes: Trajectories, costs: np.ndarray) -> None:
        """Feasibility projection: a step on sum_t C_t log pi for each violating episode (App. B.1).

        The optimiser is new in every epoch and its momentum moves the policy through
        episodes that keep the constraint too, as in the authors' code.
        """
        policy = self.agents.policy
        optimiser = Adam(policy.parameters, self.settings.feasibility_rate)
        to_go = rewards_to_go(costs, self.world.discount)
        violating = to_go[..., :1] >= self.world.threshold
        if not violating.any():
            return
        weights = (to_go * episodes.mask * violating).astype(np.float32)[..., None]
        for k in range(weights.shape[1]):
            logits, trace = policy.trace(episodes.states[:, k])
            slope = -weights[:, k] * np.exp(log_softmax(logits))
            chosen = episodes.actions[:, k, :, None]
            taken = np.take_along_axis(slope, chosen, axis=-1) + weights[:, k]
            np.put_along_axis(slope, chosen, taken, axis=-1)
            optimiser.step(policy.parameters, policy.gradient(trace, slope))


def constraint_values(
    world: World, constraint: ConstraintFunction, episodes: Trajectories
) -> np.ndarray:
    """c(s_t, a_t) of a (runs, episodes) stack, (runs, episodes, steps), zero beyond the end."""
    inputs = world.constraint_inputs(episodes.states, episodes.actions)
    flat = inputs.reshape(len(inputs), -1, inputs.shape[-1])
    return constraint(flat).reshape(inputs.shape[:-1]) * episodes.mask


def truncate(episodes: Trajectories, costs: np.ndarray, world: World) -> Trajectories:
    """End each episode with the step at which its running discounted cost reaches beta."""
    running = np.cumsum(costs * discounts(world.discount, costs.shape[-1]), axis=-1)
    reached = (running < world.threshold).sum(axis=-1) + 1  # costs are not negative
    lengths = np.minimum(episodes.lengths, reached)
    kept = np.arange(costs.shape[-1]) < lengths[..., None]
    return Trajectories(
        episodes.states * kept[..., None], episodes.actions * kept, episodes.rewards * kept, lengths
    )
