"""PPO on CartPole: our stack against Stable-Baselines3, at equal settings.

Both roll out 20 environments and make 0.16 updates of batch 64 per collected step
(10 passes over 2,000 steps are 320). Stable-Baselines3 cuts its rollouts at 100
steps; our learner rolls out complete episodes, so its updates of each epoch are set
to keep the same number per step that it really took.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from bench.timing import Row, in_turn, speed_row
from icl_core.environments import make_world
from icl_core.learning.constrained_rl.penalty import PenaltyLearner, PenaltySettings
from icl_core.learning.engine.costs import no_constraint
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.randomness import generators

ENVIRONMENTS, STEPS, BATCH, PASSES = 20, 100, 64, 10
MINIBATCHES = -(-ENVIRONMENTS * STEPS // BATCH)  # per pass; the last one is not full
UPDATES_PER_STEP = PASSES * MINIBATCHES / (ENVIRONMENTS * STEPS)
WARM_UP = 20  # epochs until episodes last about 100 steps
BAR = 8.0


def rows(theirs: Callable[[], float]) -> list[Row]:
    """Stacks of one and of five seeds against `theirs`, a turn of Stable-Baselines3."""
    return [row([1], theirs), row([1, 2, 3, 4, 5], theirs)]


def row(seeds: list[int], theirs: Callable[[], float]) -> Row:
    """Steps of all seeds of the stack per second; Stable-Baselines3 trains seeds one by one."""
    ours = OurPPO(seeds)
    while ours.epochs < WARM_UP:
        ours.epoch()
    before = ours.steps, ours.updates
    mine, baseline = in_turn(7, ours.turn, theirs)
    made = (ours.updates - before[1]) / (ours.steps - before[0])
    assert abs(made / UPDATES_PER_STEP - 1) < 0.05, f"unequal settings: {made:.3f} updates a step"
    count = "1 seed" if len(seeds) == 1 else f"{len(seeds)} stacked seeds"
    what = f"PPO on CartPole, {count}, makes"
    return speed_row(what, mine, baseline, "of Stable-Baselines3", BAR)


class OurPPO:
    """The learner without a constraint."""

    def __init__(self, seeds: list[int]):
        ppo = PPOSettings(batch=BATCH, buffer=0, normalise=True)  # theirs normalises too
        settings = PenaltySettings(episodes=ENVIRONMENTS, truncate=False, ppo=ppo)
        world, rngs = make_world("cartpole-mr"), generators(seeds, "bench")
        self.learner = PenaltyLearner(world, no_constraint, world.threshold, rngs, settings)
        self.seeds = seeds
        self.epochs, self.steps, self.updates = 0, 0.0, 0
        self.latest = ENVIRONMENTS * 20.0  # steps of the newest epoch; at first a guess

    def turn(self) -> float:
        """Three epochs; returns the steps that all seeds took together."""
        return sum(self.epoch() for _ in range(3))

    def epoch(self) -> float:
        """Roll out 20 episodes per seed and learn."""
        # As many updates as the steps so far and those to be expected now call for.
        due = round(UPDATES_PER_STEP * (self.steps + self.latest)) - self.updates
        settings = self.learner.settings
        ppo = replace(settings.ppo, updates=max(due, 1))
        self.learner.settings = replace(settings, ppo=ppo)
        self.epochs += 1
        self.latest = float(self.learner.epoch()["length"].mean()) * ENVIRONMENTS
        self.steps += self.latest
        self.updates += ppo.updates
        return self.latest * len(self.seeds)


def their_turn():
    """2,000 steps of Stable-Baselines3 and the learning from them."""
    environments = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * ENVIRONMENTS)
    settings = dict(n_steps=STEPS, batch_size=BATCH, n_epochs=PASSES, device="cpu", seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 2,000 steps are no multiple of the batch: so asked
        model = PPO("MlpPolicy", environments, **settings)

    def turn() -> int:
        model.learn(ENVIRONMENTS * STEPS, reset_num_timesteps=False)
        return ENVIRONMENTS * STEPS

    turn()  # the first one is slower
    return turn
