"""Proximal policy optimisation on a stack of runs (paper, App. B.1; Schulman et al., 2017).

Losses are given by their gradients in the networks' outputs; see `networks`.
All of them are means over a run's own minibatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.learning.networks import Adam, Networks, log_softmax


@dataclass(frozen=True)
class PPOSettings:
    """The update's settings; defaults are the paper's (Table 7)."""

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 5e-4  # eta_2
    clip: float = 0.1  # epsilon_PPO
    entropy: float = 0.01  # lambda_ent
    updates: int = 25  # minibatches per epoch
    batch: int = 64
    buffer: int = 10_000  # steps kept, per run; 0 keeps only the current epoch's
    normalise: bool = False  # advantages to mean 0 and deviation 1 in each minibatch


@dataclass(frozen=True)
class Batch:
    """Steps that an update learns from; leading axes (runs, steps)."""

    states: np.ndarray  # (runs, steps, state_size) float32
    actions: np.ndarray  # (runs, steps) int64
    old_log_probabilities: np.ndarray  # (runs, steps) float32, of the policy that acted
    targets: np.ndarray  # (runs, steps, critics) float32: rewards-to-go, and costs-to-go


class ActorCritic:
    """Policies and their critics: one value network per signal (reward, and cost if needed)."""

    def __init__(
        self,
        rngs: Sequence[np.random.Generator],
        state_size: int,
        n_actions: int,
        settings: PPOSettings,
        critics: int = 1,
    ):
        self.settings = settings
        shapes = [(state_size, *settings.hidden, n_actions)]
        shapes += [(state_size, *settings.hidden, 1)] * critics
        networks = [Networks.initialise(rngs, sizes) for sizes in shapes]
        # All parameters of a run lie in one row, so that one Adam step moves them together.
        self.parameters = np.concatenate([net.parameters for net in networks], axis=1)
        self.gradients = np.empty_like(self.parameters)
        ends = np.cumsum([net.parameters.shape[1] for net in networks])
        self.slots = [
            slice(end - net.parameters.shape[1], end)
            for net, end in zip(networks, ends, strict=True)
        ]
        self.policy, *self.values = (
            Networks(sizes, self.parameters[:, slot])
            for sizes, slot in zip(shapes, self.slots, strict=True)
        )
        self.optimiser = Adam(self.parameters, settings.learning_rate)

    def update(self, batch: Batch, multiplier: np.ndarray | None = None) -> None:
        """One value step and one policy step.

        `multiplier` (runs,) weighs the cost's advantage against the reward's.
        """
        advantages = [
            self._value_error(k, batch.states, batch.targets[..., k])
            for k in range(len(self.values))
        ]
        if self.settings.normalise:
            advantages = [_standardise(advantage) for advantage in advantages]
        combined = advantages[0]
        if multiplier is not None:
            weight = multiplier[:, None].astype(np.float32)
            combined = (advantages[0] - weight * advantages[1]) / (1.0 + weight)
        logits, trace = self.policy.trace(batch.states)
        slope = surrogate_gradient(
            logits,
            batch.actions,
            batch.old_log_probabilities,
            combined,
            self.settings.clip,
            self.settings.entropy,
        )
        self.policy.gradient(trace, slope, out=self.gradients[:, self.slots[0]])
        self.optimiser.step(self.parameters, self.gradients)

    def _value_error(self, critic: int, states: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Advantages G - V; leaves the gradient of mean (G - V)^2 in its slot."""
        value = self.values[critic]
        estimate, trace = value.trace(states)
        error = targets - estimate[..., 0]
        slope = (-2.0 / error.shape[1]) * error[..., None]
        value.gradient(trace, slope, out=self.gradients[:, self.slots[1 + critic]])
        return error


def surrogate_gradient(
    logits: np.ndarray,
    actions: np.ndarray,
    old_log_probabilities: np.ndarray,
    advantages: np.ndarray,
    clip: float,
    entropy: float,
) -> np.ndarray:
    """Gradient of the PPO loss in the logits (runs, steps, n).

    Loss = -mean[min(r A, clip(r) A)] - entropy * mean[H], r = pi / pi_old. Where the
    clipped branch is the smaller one, the surrogate is flat.
    """
    log_pi = log_softmax(logits)
    pi = np.exp(log_pi)
    runs, steps = actions.shape
    chosen = (np.arange(runs)[:, None], np.arange(steps), actions)
    ratio = np.exp(log_pi[chosen] - old_log_probabilities)
    moving = np.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
    push = ratio * advantages * moving
    # d log pi(a) / d logits = onehot(a) - pi;  dH / d logits = -pi (log pi + H)
    entropies = -np.matmul(pi * log_pi, np.ones((logits.shape[-1], 1), np.float32))
    slope = pi * (push[..., None] + entropy * (log_pi + entropies))
    slope[chosen] -= push
    slope /= steps
    return slope


def mean_entropy(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(runs,) mean entropy of the policies over the masked steps (runs, steps)."""
    log_pi = log_softmax(logits)
    entropies = -(np.exp(log_pi) * log_pi).sum(axis=-1)
    return (entropies * mask).sum(axis=1) / mask.sum(axis=1)


def _standardise(advantage: np.ndarray) -> np.ndarray:
    centred = advantage - advantage.mean(axis=1, keepdims=True)
    return centred / (centred.std(axis=1, keepdims=True) + 1e-8)
