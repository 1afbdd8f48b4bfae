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
        self.parameters, self.slots, (self.policy, *self.values) = join(networks)
        self.gradients = np.empty_like(self.parameters)
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
            advantages = [standardise(advantage) for advantage in advantages]
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
    logits: np.ndarray,
    actions: np.ndarray,
    old_log_probabilities: np.ndarray,
    advantages: np.ndarray,
    clip: float,
    entropy: float,
) -> np.ndarray:
    """Gradient of the PPO loss in the logits (runs, steps, n).

    Loss = -mean[min(r A, clip(r) A)] - entropy * mean[H], r = pi / pi_old.
    """
    log_pi = log_softmax(logits)
    chosen = taken(actions)
    ratio = np.exp(log_pi[chosen] - old_log_probabilities)
    return logit_slope(log_pi, chosen, clipped_push(ratio, advantages, clip), entropy)


def taken(actions: np.ndarray) -> tuple[np.ndarray, ...]:
    """Index that picks the chosen actions (runs, steps) from an array (runs, steps, n)."""
    runs, steps = actions.shape
    return np.arange(runs)[:, None], np.arange(steps), actions


def clipped_push(ratio: np.ndarray, advantages: np.ndarray, clip: float) -> np.ndarray:
    """Slope of min(r A, clip(r) A) in log pi: flat where the clipped branch is the smaller one."""
    moving = np.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
    return ratio * advantages * moving


def logit_slope(
    log_pi: np.ndarray, chosen: tuple[np.ndarray, ...], push: np.ndarray, entropy: float
) -> np.ndarray:
    """Gradient in the logits of -mean[f] - entropy * mean[H], given push = df / d log pi(a)."""
    pi = np.exp(log_pi)
    # d log pi(a) / d logits = onehot(a) - pi;  dH / d logits = -pi (log pi + H)
    entropies = -np.matmul(pi * log_pi, np.ones((log_pi.shape[-1], 1), np.float32))
    slope = pi * (push[..., None] + entropy * (log_pi + entropies))
    slope[chosen] -= push
    slope /= push.shape[1]
    return slope


def mean_entropy(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(runs,) mean entropy of the policies over the masked steps (runs, steps)."""
    log_pi = log_softmax(logits)
    entropies = -(np.exp(log_pi) * log_pi).sum(axis=-1)
    return (entropies * mask).sum(axis=1) / mask.sum(axis=1)


def standardise(advantage: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1 over a minibatch (runs, steps)."""
    centred = advantage - advantage.mean(axis=1, keepdims=True)
    return centred / (centred.std(axis=1, keepdims=True) + 1e-8)
