"""PPO as the baselines use it (Stable-Baselines3's): rollouts of a fixed length, each learned
from in several shuffled passes and then thrown away. GAIL-Constraint and ICRL share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.learning.networks import Adam, Networks, log_softmax
from icl_core.learning.ppo import clipped_push, join, logit_slope, standardise, taken
from icl_core.learning.rollouts import log_probabilities
from icl_core.learning.walkers import Walk

ADAM_EPSILON = 1e-5
KL_SLACK = 1.5  # passes end when the divergence exceeds this many targets


@dataclass(frozen=True)
class OnPolicySettings:
    """The learner's settings; defaults are the authors' (paper, Tables 7 to 9)."""

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 5e-4
    clip: float = 0.1  # epsilon_PPO
    entropy: float = 0.01  # lambda_ent
    gae_lambda: float | None = None  # None: the environment's discount, as the authors have it
    value_weight: float = 0.5  # of the critics' squared errors in the loss
    gradient_norm: float = 0.5  # longer gradients are cut to this length
    steps: int = 2000  # per rollout
    environments: int = 20  # that share a rollout's steps
    passes: int = 25  # over a rollout
    batch: int = 64


@dataclass(frozen=True)
class Samples:
    """Steps that passes learn from; leading axes (runs, steps)."""

    states: np.ndarray  # (runs, steps, state_size) float32
    actions: np.ndarray  # (runs, steps) int64
    old_log_probabilities: np.ndarray  # (runs, steps) float32, of the policy that acted
    advantages: np.ndarray  # (runs, steps, critics) float32: of the reward, and of the cost
    targets: np.ndarray  # (runs, steps, critics) float32, of the critics

    def parts(self) -> tuple[np.ndarray, ...]:
        """The five arrays."""
        return (
            self.states,
            self.actions,
            self.old_log_probabilities,
            self.advantages,
            self.targets,
        )

    def shuffled(self, rngs: Sequence[np.random.Generator], size: int) -> list[Samples]:
        """All steps in batches of `size`, the last one smaller; each run in its own order."""
        steps = self.actions.shape[1]
        order = np.stack([rng.permutation(steps) for rng in rngs])
        whole = steps - steps % size
        picks = list(order[:, :whole].reshape(len(order), -1, size).swapaxes(0, 1))
        picks += [order[:, whole:]] if whole < steps else []
        run = np.arange(len(order))[:, None]
        return [Samples(*(part[run, pick] for part in self.parts())) for pick in picks]

    def of_runs(self, runs: np.ndarray) -> Samples:
        """The steps of some of the runs."""
        return Samples(*(part[runs] for part in self.parts()))


class OnPolicyAgents:
    """Policies and critics (reward, and cost if needed) with one optimiser."""

    def __init__(self, networks: Sequence[Networks], settings: OnPolicySettings):
        self.settings = settings
        self.parameters, self.slots, (self.policy, *self.values) = join(networks)
        self.gradients = np.empty_like(self.parameters)
        self.optimiser = Adam(self.parameters, settings.learning_rate, ADAM_EPSILON)

    @classmethod
    def initialise(
        cls,
        rngs: Sequence[np.random.Generator],
        state_size: int,
        n_actions: int,
        settings: OnPolicySettings,
        critics: int = 1,
    ) -> OnPolicyAgents:
        """Tanh networks with orthogonal weights; first policies close to uniform."""
        inner = (state_size, *settings.hidden)
        networks = [Networks.orthogonal(rngs, (*inner, n_actions), gain=0.01)]
        networks += [Networks.orthogonal(rngs, (*inner, 1), gain=1.0) for _ in range(critics)]
        return cls(networks, settings)

    def samples(self, walk: Walk, signals: Sequence[np.ndarray], discount: float) -> Samples:
        """A walk as samples. `signals` (runs, steps, environments): the reward, and the cost."""
        runs, states, trace = len(walk.actions), _flat(walk.states), self.settings.gae_lambda
        trace = discount if trace is None else trace
        advantages, targets = [], []
        for value, signal in zip(self.values, signals, strict=True):
            now = value(states)[..., 0].reshape(walk.rewards.shape)
            after = value(_flat(walk.after))[..., 0][:, None]
            advantage = generalised_advantages(signal, now, after, walk.ended, discount, trace)
            advantages.append(advantage.reshape(runs, -1))
            targets.append((advantage + now).reshape(runs, -1))
        actions = _flat(walk.actions)
        old = log_probabilities(self.policy(states), actions)
        stacked = (np.stack(parts, axis=-1).astype(np.float32) for parts in (advantages, targets))
        return Samples(states, actions, old, *stacked)

    def learn(
        self,
        samples: Samples,
        rngs: Sequence[np.random.Generator],
        multiplier: np.ndarray | None = None,
        target_kl: float | None = None,
    ) -> np.ndarray:
        """All passes over a rollout; how many each run made, (runs,).

        With `target_kl` a run makes no further pass once its policy has moved too far.
        `multiplier` (runs,) weighs the cost against the reward.
        """
        runs = np.arange(len(rngs))
        made = np.zeros(len(rngs), np.int64)
        for _ in range(self.settings.passes):
            some = self if len(runs) == len(rngs) else self._pick(runs)
            weights = None if multiplier is None else multiplier[runs]
            batches = samples.of_runs(runs).shuffled([rngs[r] for r in runs], self.settings.batch)
            moved = np.mean([some.update(batch, weights) for batch in batches], axis=0)
            if some is not self:
                self._put(runs, some)
            made[runs] += 1
            if target_kl is not None:
                runs = runs[moved <= KL_SLACK * target_kl]
                if not len(runs):
                    break
        return made

    def update(self, batch: Samples, multiplier: np.ndarray | None = None) -> np.ndarray:
        """One step on a minibatch; the mean of log pi_old - log pi before it, (runs,)."""
        settings, steps = self.settings, batch.actions.shape[1]
        logits, trace = self.policy.trace(batch.states)
        log_pi, chosen = log_softmax(logits), taken(batch.actions)
        log_ratio = log_pi[chosen] - batch.old_log_probabilities
        push = policy_push(np.exp(log_ratio), batch.advantages, settings.clip, multiplier)
        slope = logit_slope(log_pi, chosen, push, settings.entropy)
        self.policy.gradient(trace, slope, out=self.gradients[:, self.slots[0]])
        for k, value in enumerate(self.values):
            estimate, trace = value.trace(batch.states)
            slope = estimate - batch.targets[..., k : k + 1]
            slope *= np.float32(2.0 * settings.value_weight / steps)
            value.gradient(trace, slope, out=self.gradients[:, self.slots[1 + k]])
        cut_gradients(self.gradients, settings.gradient_norm)
        self.optimiser.step(self.parameters, self.gradients)
        return -log_ratio.mean(axis=1)

    def _pick(self, runs: np.ndarray) -> OnPolicyAgents:
        """Copies of some of the runs, with their optimiser's state."""
        some = OnPolicyAgents(
            [net.pick(runs) for net in (self.policy, *self.values)], self.settings
        )
        ours = self.optimiser
        some.optimiser.first, some.optimiser.second = ours.first[runs], ours.second[runs]
        some.optimiser.steps = ours.steps[runs]
        return some

    def _put(self, runs: np.ndarray, some: OnPolicyAgents) -> None:
        """Take the runs back."""
        self.parameters[runs] = some.parameters
        self.optimiser.first[runs] = some.optimiser.first
        self.optimiser.second[runs] = some.optimiser.second
        self.optimiser.steps[runs] = some.optimiser.steps

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        return {"agents.parameters": self.parameters} | self.optimiser.tensors("agents.adam.")

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.parameters[...] = named["agents.parameters"]
        self.optimiser.restore(named, "agents.adam.")


def policy_push(
    ratio: np.ndarray, advantages: np.ndarray, clip: float, multiplier: np.ndarray | None
) -> np.ndarray:
    """Slope in log pi of what the policy maximises, (runs, steps).

    min(r A, clip(r) A), or with a multiplier nu [min(r A, clip(r) A) - nu r A_c] / (1 + nu):
    the reward's advantages standardised, the cost's only centred.
    """
    push = clipped_push(ratio, standardise(advantages[..., 0]), clip)
    if multiplier is None:
        return push
    weight = multiplier[:, None].astype(np.float32)
    costs = advantages[..., 1] - advantages[..., 1].mean(axis=1, keepdims=True)
    return (push - weight * ratio * costs) / (1.0 + weight)


def generalised_advantages(
    signal: np.ndarray,
    values: np.ndarray,
    after: np.ndarray,
    ended: np.ndarray,
    discount: float,
    trace: float,
) -> np.ndarray:
    """GAE(gamma, lambda) of (runs, steps, environments) signals (Schulman et al., 2016).

    The value of the state behind the last step, `after` (runs, 1, environments), stands for
    what an unfinished episode will still bring; nothing follows an end, the horizon included.
    """
    going = ~ended
    following = np.concatenate([values[:, 1:], after], axis=1)
    errors = signal + discount * following * going - values.astype(np.float64)
    for t in range(errors.shape[1] - 2, -1, -1):
        errors[:, t] += discount * trace * going[:, t] * errors[:, t + 1]
    return errors


def cut_gradients(gradients: np.ndarray, longest: float) -> None:
    """Scale each run's gradient (runs, parameters) in place to a norm of at most `longest`."""
    norms = np.sqrt(np.vecdot(gradients, gradients))
    gradients *= np.minimum(1.0, longest / (norms + np.float32(1e-6)))[:, None]


def _flat(values: np.ndarray) -> np.ndarray:
    """(runs, steps, environments, ...) -> (runs, steps * environments, ...)."""
    return values.reshape(values.shape[0], -1, *values.shape[3:])
