"""How policies choose: distributions over actions, given by the outputs of their networks.

A distribution supplies what PPO needs of it: samples, log-probabilities, entropies, and
the slope of a loss in the outputs, written out (see `networks`). Samples are a function
of uniform draws that were made beforehand. What a world's actions are (`actions_of`)
says which distribution it is, how many outputs and draws it takes, and how actions are
stored.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.engine.networks import Networks, log_softmax, row_maximum

LOG_DEVIATIONS = (-5.0, 2.0)  # what lies beyond counts as these: a policy keeps a density
HALF_LOG_TAU = np.float32(0.5 * np.log(2 * np.pi))
FARTHEST = np.float32(1e6)  # beyond it a policy has diverged; a world need not stand more, nor nan


class Categorical:
    """One of n actions, with the softmax of n outputs (..., n) as probabilities."""

    def __init__(self, outputs: np.ndarray):
        self.outputs = outputs

    @cached_property
    def log_pi(self) -> np.ndarray:
        """(..., n) log-probabilities of all actions."""
        return log_softmax(self.outputs)

    def sample(self, uniform: np.ndarray) -> np.ndarray:
        """(...,) actions, by inverting the CDF at uniform draws (..., 1)."""
        weights = np.exp(self.outputs - row_maximum(self.outputs))
        cumulative = np.cumsum(weights, axis=-1, dtype=np.float64)
        threshold = uniform * cumulative[..., -1:]
        return (cumulative[..., :-1] <= threshold).sum(axis=-1)

    def mode(self) -> np.ndarray:
        """(...,) the most probable actions."""
        return self.outputs.argmax(axis=-1)

    def log_probabilities(self, actions: np.ndarray) -> np.ndarray:
        """log pi(a|s) of actions (...,)."""
        return self.log_pi[_chosen(actions)]

    def entropies(self) -> np.ndarray:
        """H(pi(.|s)), (...,)."""
        return -(np.exp(self.log_pi) * self.log_pi).sum(axis=-1)

    def slope(self, actions: np.ndarray, push: np.ndarray, entropy: float = 0.0) -> np.ndarray:
        """Slope in the outputs of -f - entropy * H, given push = df / d log pi(a), (...)."""
        # d log pi(a) / d outputs = onehot(a) - pi;  dH / d outputs = -pi (log pi + H)
        pi = np.exp(self.log_pi)
        entropies = -np.matmul(pi * self.log_pi, np.ones((pi.shape[-1], 1), np.float32))
        slope = pi * (push[..., None] + entropy * (self.log_pi + entropies))
        slope[_chosen(actions)] -= push
        return slope


class Gaussian:
    """A real vector, each number normal: outputs (..., 2k) are k means, then k log-deviations."""

    def __init__(self, outputs: np.ndarray):
        k = outputs.shape[-1] // 2
        self.mean, self.raw = outputs[..., :k], outputs[..., k:]
        self.log_deviation = np.clip(self.raw, *LOG_DEVIATIONS)

    def sample(self, uniform: np.ndarray) -> np.ndarray:
        """(..., k) actions, by inverting the CDF at uniform draws (..., k)."""
        from scipy.special import ndtri  # whoever has no real actions need not wait for it

        # 0 is among the draws and its quantile is -inf: a little inwards.
        normal = ndtri(np.maximum(uniform, 1e-12))
        actions = (self.mean + np.exp(self.log_deviation) * normal).astype(np.float32)
        # Not by np.fmin and np.fmax: of these the emulator dies that proves the same bits.
        actions[np.isnan(actions)] = -FARTHEST
        return actions.clip(-FARTHEST, FARTHEST, out=actions)

    def mode(self) -> np.ndarray:
        """(..., k) the most probable actions."""
        return self.mean

    def log_probabilities(self, actions: np.ndarray) -> np.ndarray:
        """log pi(a|s) of actions (..., k)."""
        away = (actions - self.mean) * np.exp(-self.log_deviation)
        return -(0.5 * away**2 + self.log_deviation + HALF_LOG_TAU).sum(axis=-1)

    def entropies(self) -> np.ndarray:
        """H(pi(.|s)), (...,)."""
        return (self.log_deviation + (HALF_LOG_TAU + np.float32(0.5))).sum(axis=-1)

    def slope(self, actions: np.ndarray, push: np.ndarray, entropy: float = 0.0) -> np.ndarray:
        """Slope in the outputs of -f - entropy * H, given push = df / d log pi(a), (...)."""
        push, inverse = push[..., None], np.exp(-self.log_deviation)
        away = (actions - self.mean) * inverse
        free = (self.raw > LOG_DEVIATIONS[0]) & (self.raw < LOG_DEVIATIONS[1])
        deviations = -(push * (away**2 - 1.0) + np.float32(entropy)) * free
        return np.concatenate([-push * away * inverse, deviations], axis=-1)


Distribution = Categorical | Gaussian


class Choices:
    """Actions 0 to n - 1."""

    shape = ()
    dtype = np.int64
    draws = 1  # uniform ones per action

    def __init__(self, n: int):
        self.outputs = n

    def distribution(self, outputs: np.ndarray) -> Categorical:
        """Of the actions in states with these outputs of the policy, (..., n)."""
        return Categorical(outputs)

    def prepare(self, policies: Networks, log_deviation: float) -> None:
        """Fresh policies stay as they are: a softmax has no deviation."""

    def hold(self, policies: Networks, gradient: np.ndarray) -> None:
        """Nothing is held."""


class Vectors:
    """Actions of k real numbers. Their deviations are learned but are the same in all states."""

    dtype = np.float32

    def __init__(self, k: int):
        self.shape, self.draws, self.outputs = (k,), k, 2 * k

    def distribution(self, outputs: np.ndarray) -> Gaussian:
        """Of the actions in states with these outputs of the policy, (..., 2k)."""
        return Gaussian(outputs)

    def prepare(self, policies: Networks, log_deviation: float) -> None:
        """Fresh policies, changed in place: deviations are a bias of the last layer and no more."""
        weights, biases = policies.layers[-1]
        weights[..., self.draws :] = 0.0
        biases[..., self.draws :] = log_deviation

    def hold(self, policies: Networks, gradient: np.ndarray) -> None:
        """Take from a gradient (runs, parameters) what would let deviations differ by state."""
        weights, _ = policies.views(gradient)[-1]
        weights[..., self.draws :] = 0.0


Actions = Choices | Vectors


def actions_of(world: World) -> Actions:
    """What the actions of a world are."""
    return Choices(world.n_actions) if world.discrete else Vectors(world.action_size)


def _chosen(actions: np.ndarray) -> tuple[np.ndarray, ...]:
    """Index that picks actions (...) from an array (..., n)."""
    return (*np.indices(actions.shape, sparse=True), actions)
