"""A PPO update: of our stack of five, per seed, against one seed in plain PyTorch."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from bench.timing import Row, in_turn, time_row
from icl_core.learning.engine.actions import Choices
from icl_core.learning.engine.networks import log_softmax
from icl_core.learning.engine.ppo import ActorCritic, Batch, PPOSettings, StepBuffer
from icl_core.randomness import generators

SEEDS = [1, 2, 3, 4, 5]
STATE_SIZE, N_ACTIONS = 2, 8  # a gridworld's
HELD = 10_000  # steps in the buffer
UPDATES = 50  # per turn
BAR = 8.0


def row() -> Row:
    """Time both, each with its drawing of minibatches from 10,000 steps held in memory."""
    settings = PPOSettings(updates=UPDATES)
    steps = random_steps(settings)
    ours, plain = in_turn(15, stacked(settings, steps), one_seed(settings, steps))
    what = f"A PPO update takes each of {len(SEEDS)} stacked seeds"
    return time_row(what, ours, plain, "in plain PyTorch", BAR)


def random_steps(settings: PPOSettings) -> Batch:
    """Steps of a gridworld's kind; their content does not matter to the clock."""
    rng = np.random.default_rng(0)
    shape = (len(SEEDS), HELD)
    states = rng.integers(7, size=(*shape, STATE_SIZE)).astype(np.float32)
    old = log_softmax(rng.normal(size=(*shape, N_ACTIONS)).astype(np.float32))[..., 0]
    targets = rng.random(shape, np.float32)
    return Batch(states, rng.integers(N_ACTIONS, size=shape), old, targets)


def stacked(settings: PPOSettings, steps: Batch):
    """The learner's own loop: draw, then one joint step of policy and value per minibatch."""
    rngs = generators(SEEDS, "bench")
    agents = ActorCritic(rngs, STATE_SIZE, Choices(N_ACTIONS), settings)
    buffer = StepBuffer(len(SEEDS), HELD, STATE_SIZE, Choices(N_ACTIONS))
    buffer.add(steps, np.ones((len(SEEDS), HELD), bool))

    def turn() -> int:
        for batch in buffer.draw(rngs, settings.updates, settings.batch):
            agents.update(batch)
        return settings.updates * len(SEEDS)

    return turn


def one_seed(settings: PPOSettings, steps: Batch):
    """The same update as anyone would write it: two networks, two default Adams."""
    policy, value = network(settings.hidden, N_ACTIONS), network(settings.hidden, 1)
    policy_adam = torch.optim.Adam(policy.parameters(), settings.learning_rate)
    value_adam = torch.optim.Adam(value.parameters(), settings.learning_rate)
    states, actions, old, targets = (
        torch.tensor(field[0])
        for field in (steps.states, steps.actions, steps.old_log_probabilities, steps.targets)
    )

    def update() -> None:
        picks = torch.randint(HELD, (settings.batch,))
        estimate = value(states[picks])[:, 0]
        value_loss = nn.functional.mse_loss(estimate, targets[picks])
        value_adam.zero_grad()
        value_loss.backward()
        value_adam.step()
        advantage = targets[picks] - estimate.detach()
        distribution = Categorical(logits=policy(states[picks]))
        ratio = torch.exp(distribution.log_prob(actions[picks]) - old[picks])
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        surrogate = torch.minimum(ratio * advantage, clipped * advantage).mean()
        policy_loss = -surrogate - settings.entropy * distribution.entropy().mean()
        policy_adam.zero_grad()
        policy_loss.backward()
        policy_adam.step()

    def turn() -> int:
        for _ in range(settings.updates):
            update()
        return settings.updates

    return turn


def network(hidden: tuple[int, ...], outputs: int) -> nn.Sequential:
    """An ordinary multilayer perceptron."""
    sizes = (STATE_SIZE, *hidden)
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(sizes, hidden, strict=False):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(hidden[-1], outputs))
