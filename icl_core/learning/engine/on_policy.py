"""PPO on rollouts of a fixed length, each learned from in several shuffled passes and then
thrown away: as Stable-Baselines3 has it for the baselines, and as OpenAI's safety-starter-agents
have it for PPO-Lagrange.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from icl_core.learning.engine.actions import Actions
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.ppo import clipped_push, join, standardise
from icl_core.learning.engine.segments import Segment

ADAM_EPSILON = 1e-5
POLICY, CRITICS = "policy", "critics"
RATES = {POLICY: "learning_rate", CRITICS: "value_rate"}  # the settings that are their step sizes


@dataclass(frozen=True)
class Samples:
    """Steps that passes learn from; leading axes (runs, steps)."""

    states: np.ndarray  # (runs, steps, observation_size) float32, as networks see them
    actions: np.ndarray  # (runs, steps) int64, or (runs, steps, action_size) float32
    old_log_probabilities: np.ndarray  # (runs, steps) float32, of the policy that acted
    advantages: np.ndarray  # (runs, steps, critics) float32: of the reward, and of the cost
    targets: np.ndarray  # (runs, steps, critics) float32, of the critics

    def parts(self) -> tuple[np.ndarray, ...]:
        """The five arrays."""
        return tuple(getattr(self, one.name) for one in fields(self))

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
    """Policies and critics (of the reward, and of the cost if needed)."""

    def __init__(
        self,
        networks: Sequence[Networks],
        actions: Actions,
        settings: OnPolicySettings,
    ):
        self.actions, self.settings = actions, settings
        self.parameters, self.slots, (self.policy, *self.values) = join(networks)
        self.gradients = np.empty_like(self.parameters)
        # A row holds the policy's parameters, then the critics': each part has its optimiser.
        border, end = self.slots[0].stop, self.parameters.shape[1]
        self.places = {POLICY: slice(0, border), CRITICS: slice(border, end)}
        self.optimisers = {
            name: Adam(self.parameters[:, place], getattr(settings, RATES[name]), ADAM_EPSILON)
            for name, place in self.places.items()
        }

    @classmethod
    def initialise(
        cls,
        rngs: Sequence[np.random.Generator],
        state_size: int,
        actions: Actions,
        settings: OnPolicySettings,
        critics: int = 1,
    ) -> OnPolicyAgents:
        """Tanh networks with orthogonal weights; first policies that hardly look at the state."""
        inner = (state_size, *settings.hidden)
        networks = [Networks.orthogonal(rngs, (*inner, actions.outputs), gain=0.01)]
        actions.prepare(networks[0], settings.log_deviation)
        networks += [Networks.orthogonal(rngs, (*inner, 1), gain=1.0) for _ in range(critics)]
        return cls(networks, actions, settings)

    def samples(self, segment: Segment, signals: Sequence[np.ndarray], discount: float) -> Samples:
        """A segment, its states as networks see them, as samples.

        `signals` (runs, steps, environments): the reward, and the cost.
        """
        runs, states, trace = len(segment.actions), _flat(segment.states), self.settings.gae_lambda
        trace = discount if trace is None else trace
        advantages, targets = [], []
        for value, signal in zip(self.values, signals, strict=True):
            now = value(states)[..., 0].reshape(segment.rewards.shape)
            after = value(_flat(segment.moved[:, -1:]))[..., 0][:, None]
            if self.settings.bootstrap:
                led = value(_flat(segment.moved))[..., 0].reshape(segment.rewards.shape)
                signal = signal + discount * led * segment.cut
            advantage = generalised_advantages(signal, now, after, segment.ended, discount, trace)
            advantages.append(advantage.reshape(runs, -1))
            targets.append((advantage + now).reshape(runs, -1))
        actions = _flat(segment.actions)
        old = self.actions.distribution(self.policy(states)).log_probabilities(actions)
        stacked = (np.stack(parts, axis=-1).astype(np.float32) for parts in (advantages, targets))
        return Samples(states, actions, old, *stacked)

    def learn(
        self,
        samples: Samples,
        rngs: Sequence[np.random.Generator],
        multiplier: np.ndarray | None = None,
        max_kl: float | None = None,
    ) -> np.ndarray:
        """All passes over a rollout; how many each run's policy made, (runs,).

        A run that a pass has moved by more than `max_kl` (the mean of log pi_old - log pi)
        makes no further one. `multiplier` (runs,) weighs the cost against the reward.
        """
        if not self.settings.separate_critic_updates:
            return self._pass(samples, rngs, (POLICY, CRITICS), multiplier, max_kl)
        made = self._pass(samples, rngs, (POLICY,), multiplier, max_kl)
        self._pass(samples, rngs, (CRITICS,))
        return made

    def _pass(self, samples, rngs, who, multiplier=None, max_kl=None) -> np.ndarray:
        runs, made = np.arange(len(rngs)), np.zeros(len(rngs), np.int64)
        for _ in range(self.settings.passes):
            some = self if len(runs) == len(rngs) else self._pick(runs)
            weights = None if multiplier is None else multiplier[runs]
            batches = samples.of_runs(runs).shuffled([rngs[r] for r in runs], self.settings.batch)
            moved = np.mean([some.update(batch, weights, who) for batch in batches], axis=0)
            if some is not self:
                self._put(runs, some)
            made[runs] += 1
            if max_kl is not None:
                runs = runs[moved <= max_kl]
                if not len(runs):
                    break
        return made

    def update(
        self,
        batch: Samples,
        multiplier: np.ndarray | None = None,
        who: Sequence[str] = (POLICY, CRITICS),
    ) -> np.ndarray:
        """One step on a minibatch; the mean of log pi_old - log pi before it, (runs,)."""
        moved = np.zeros(len(self.parameters))
        if POLICY in who:
            moved = self._policy_gradient(batch, multiplier)
        if CRITICS in who:
            self._critics_gradient(batch)
        places = [self.places[name] for name in who]
        if self.settings.gradient_norm:
            together = slice(places[0].start, places[-1].stop)
            cut_gradients(self.gradients[:, together], self.settings.gradient_norm)
        for name, place in zip(who, places, strict=True):
            self.optimisers[name].step(self.parameters[:, place], self.gradients[:, place])
        return moved

    def _policy_gradient(self, batch: Samples, multiplier: np.ndarray | None) -> np.ndarray:
        """Leaves the policies' gradient in its place; how far they have moved, (runs,)."""
        outputs, trace = self.policy.trace(batch.states)
        policy = self.actions.distribution(outputs)
        log_ratio = policy.log_probabilities(batch.actions) - batch.old_log_probabilities
        push = policy_push(np.exp(log_ratio), batch.advantages, self.settings.clip, multiplier)
        slope = policy.slope(batch.actions, push, self.settings.entropy)
        slope /= log_ratio.shape[1]
        row = self.gradients[:, self.slots[0]]
        self.policy.gradient(trace, slope, out=row)
        self.actions.hold(self.policy, row)
        return -log_ratio.mean(axis=1)

    def _critics_gradient(self, batch: Samples) -> None:
        """Leaves that of the critics' squared errors in its place."""
        weight = np.float32(2.0 * self.settings.value_weight / batch.targets.shape[1])
        for k, value in enumerate(self.values):
            estimate, trace = value.trace(batch.states)
            slope = estimate - batch.targets[..., k : k + 1]
            slope *= weight
            value.gradient(trace, slope, out=self.gradients[:, self.slots[1 + k]])

    def _pick(self, runs: np.ndarray) -> OnPolicyAgents:
        """Copies of some of the runs, with their optimisers' state."""
        networks = [net.pick(runs.tolist()) for net in (self.policy, *self.values)]
        some = OnPolicyAgents(networks, self.actions, self.settings)
        some.optimisers = {name: ours.pick(runs.tolist()) for name, ours in self.optimisers.items()}
        return some

    def _put(self, runs: np.ndarray, some: OnPolicyAgents) -> None:
        """Take the runs back."""
        self.parameters[runs] = some.parameters
        for name, ours in self.optimisers.items():
            ours.put(runs.tolist(), some.optimisers[name])

    def parts(self, section: str) -> list[Part]:
        """Their weights, with the settings of this section."""
        return [
            Part(f"{section}.{RATES[name]}", self.parameters[:, self.places[name]], optimiser)
            for name, optimiser in self.optimisers.items()
        ]

    def tensors(self) -> dict[str, np.ndarray]:
        """What a saved state must hold of them."""
        named = {"agents.parameters": self.parameters}
        for name, optimiser in self.optimisers.items():
            named |= optimiser.tensors(f"agents.{name}.")
        return named

    def restore(self, named: dict[str, np.ndarray]) -> None:
        """The inverse of `tensors`."""
        self.parameters[...] = named["agents.parameters"]
        for name, optimiser in self.optimisers.items():
            optimiser.restore(named, f"agents.{name}.")


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
    what an unfinished episode will still bring; nothing follows an end, the horizon included
    (`bootstrap` adds to the signal what would have followed there).
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
