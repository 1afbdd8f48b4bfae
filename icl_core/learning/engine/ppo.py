"""Proximal policy optimisation on a stack of runs (paper, App. B.1; Schulman et al., 2017).

Losses are given by their gradients in the networks' outputs; see `networks`.
All of them are means over a run's own minibatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.learning.engine.actions import Actions, Distribution
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.settings import COUNT, LAYERS, LOG_DEVIATION, RATE, WEIGHT, setting


@dataclass(frozen=True)
class PPOSettings:
    """The update's settings; defaults are the paper's (Table 7)."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the policy and value networks", **LAYERS)
    learning_rate: float = setting(5e-4, "step size (eta_2)", **RATE)
    clip: float = setting(0.1, "epsilon_PPO", above=0, below=1)
    entropy: float = setting(0.01, "weight of the entropy bonus (lambda_ent)", **WEIGHT)
    updates: int = setting(25, "minibatches per epoch", **COUNT)
    batch: int = setting(64, "steps of a minibatch", **COUNT)
    buffer: int = setting(
        10_000,
        "steps kept per run; 0 keeps only the current epoch's",
        at_least=0,
        at_most=10_000_000,
    )
    normalise: bool = setting(False, "advantages to mean 0, deviation 1 in each minibatch")
    log_deviation: float = setting(
        -0.5, "log-deviation of real-valued actions, at the start", **LOG_DEVIATION
    )


@dataclass(frozen=True)
class Batch:
    """Steps that an update learns from; leading axes (runs, steps)."""

    states: np.ndarray  # (runs, steps, observation_size) float32, as networks see them
    actions: np.ndarray  # (runs, steps) int64, or (runs, steps, action_size) float32
    old_log_probabilities: np.ndarray  # (runs, steps) float32, of the policy that acted
    targets: np.ndarray  # (runs, steps) float32, rewards-to-go


class StepBuffer:
    """Holds up to `capacity` steps per run and draws minibatches from them.

    Samples of earlier epochs keep the log-probabilities of the policy that took
    them: the authors' buffer outlives the epoch.
    """

    def __init__(self, runs: int, capacity: int, state_size: int, actions: Actions):
        self.states = np.zeros((runs, capacity, state_size), np.float32)
        self.actions = np.zeros((runs, capacity, *actions.shape), actions.dtype)
        self.old_log_probabilities = np.zeros((runs, capacity), np.float32)
        self.targets = np.zeros((runs, capacity), np.float32)
        self.written = np.zeros(runs, np.int64)
        self.capacity = capacity

    def clear(self) -> None:
        self.written[:] = 0

    def add(self, steps: Batch, mask: np.ndarray) -> None:
        """Append each run's masked steps; the oldest make room."""
        for run, taken in enumerate(mask):
            rows = np.flatnonzero(taken)[-self.capacity :]
            at = (self.written[run] + np.arange(len(rows))) % self.capacity
            self.states[run, at] = steps.states[run, rows]
            self.actions[run, at] = steps.actions[run, rows]
            self.old_log_probabilities[run, at] = steps.old_log_probabilities[run, rows]
            self.targets[run, at] = steps.targets[run, rows]
            self.written[run] += len(rows)

    def draw(self, rngs: Sequence[np.random.Generator], batches: int, size: int) -> list[Batch]:
        """Minibatches drawn uniformly from each run's steps."""
        held = np.minimum(self.written, self.capacity)
        picks = np.stack(
            [rng.integers(n, size=(batches, size)) for rng, n in zip(rngs, held, strict=True)],
            axis=1,
        )
        run = np.arange(len(rngs))[:, None]
        fields = (self.states, self.actions, self.old_log_probabilities, self.targets)
        gathered = [field[run, picks] for field in fields]
        return [Batch(*(field[k] for field in gathered)) for k in range(batches)]

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of it."""
        parts = ("states", "actions", "old_log_probabilities", "targets", "written")
        return {f"buffer.{part}": getattr(self, part) for part in parts}

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.states, self.actions = named["buffer.states"], named["buffer.actions"]
        self.old_log_probabilities = named["buffer.old_log_probabilities"]
        self.targets, self.written = named["buffer.targets"], named["buffer.written"]


class ActorCritic:
    """Policies and their value networks."""

    def __init__(
        self,
        rngs: Sequence[np.random.Generator],
        state_size: int,
        actions: Actions,
        settings: PPOSettings,
    ):
        self.actions, self.settings = actions, settings
        inner = (state_size, *settings.hidden)
        networks = [Networks.initialise(rngs, (*inner, last)) for last in (actions.outputs, 1)]
        actions.prepare(networks[0], settings.log_deviation)
        self.parameters, self.slots, (self.policy, self.value) = join(networks)
        self.gradients = np.empty_like(self.parameters)
        self.optimiser = Adam(self.parameters, settings.learning_rate)

    def update(self, batch: Batch) -> None:
        """One value step, and one policy step on the advantages before it."""
        policy_row, value_row = (self.gradients[:, slot] for slot in self.slots)
        estimate, trace = self.value.trace(batch.states)
        advantages = batch.targets - estimate[..., 0]
        slope = (-2.0 / advantages.shape[1]) * advantages[..., None]
        self.value.gradient(trace, slope, out=value_row)
        if self.settings.normalise:
            advantages = standardise(advantages)
        outputs, trace = self.policy.trace(batch.states)
        slope = surrogate_gradient(
            self.actions.distribution(outputs),
            batch.actions,
            batch.old_log_probabilities,
            advantages,
            self.settings.clip,
            self.settings.entropy,
        )
        self.policy.gradient(trace, slope, out=policy_row)
        self.actions.hold(self.policy, policy_row)
        self.optimiser.step(self.parameters, self.gradients)


def join(networks: Sequence[Networks]) -> tuple[np.ndarray, list[slice], list[Networks]]:
    """The same networks with all parameters of a run in one row, so that one Adam step moves
    them together: the rows, each network's place in them, and the networks as views of them.
    """
    parameters = np.concatenate([net.parameters for net in networks], axis=1)
    ends = np.cumsum([net.parameters.shape[1] for net in networks])
    slots = [
        slice(end - net.parameters.shape[1], end) for net, end in zip(networks, ends, strict=True)
    ]
    views = [
        Networks(net.sizes, parameters[:, slot], net.activation)
        for net, slot in zip(networks, slots, strict=True)
    ]
    return parameters, slots, views


def surrogate_gradient(
    policy: Distribution,
    actions: np.ndarray,
    old_log_probabilities: np.ndarray,
    advantages: np.ndarray,
    clip: float,
    entropy: float,
) -> np.ndarray:
    """Gradient of the PPO loss in the policy's outputs (runs, steps, n).

    Loss = -mean[min(r A, clip(r) A)] - entropy * mean[H], r = pi / pi_old.
    """
    ratio = np.exp(policy.log_probabilities(actions) - old_log_probabilities)
    slope = policy.slope(actions, clipped_push(ratio, advantages, clip), entropy)
    slope /= advantages.shape[1]
    return slope


def clipped_push(ratio: np.ndarray, advantages: np.ndarray, clip: float) -> np.ndarray:
    """Slope of min(r A, clip(r) A) in log pi: flat where the clipped branch is the smaller one."""
    moving = np.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
    return ratio * advantages * moving


def mean_entropy(policy: Distribution, mask: np.ndarray) -> np.ndarray:
    """(runs,) mean entropy of the policies over the masked steps (runs, steps)."""
    return (policy.entropies() * mask).sum(axis=1) / mask.sum(axis=1)


def standardise(advantage: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1 over a minibatch (runs, steps)."""
    centred = advantage - advantage.mean(axis=1, keepdims=True)
    return centred / (centred.std(axis=1, keepdims=True) + 1e-8)
