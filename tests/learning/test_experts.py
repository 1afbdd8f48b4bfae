"""Experts: their demonstrations keep beta in the mean, and are the same every time."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.learning import experts as module
from icl_core.learning.constrained_rl.lagrangian import LagrangianSettings
from icl_core.learning.constrained_rl.penalty import PenaltySettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import TRAINING_SCHEMA, Job
from icl_core.learning.experts import ExpertSettings, _feasible_rollouts, train_experts
from icl_core.randomness import generator, generators
from tests.learning.tiny import Heard, rows_by_seed
from tests.worlds import short_world

TINY = ConstrainedRLSettings(
    epochs=3,
    penalty=PenaltySettings(episodes=4, ppo=PPOSettings(updates=2, batch=16)),
    lagrangian=LagrangianSettings(
        on_policy=OnPolicySettings(steps=60, environments=3, passes=2, batch=30)
    ),
)


def cost(world, episode):
    """Discounted true cost of one episode, one step at a time."""
    total = 0.0
    for t in range(int(episode.lengths)):
        inputs = world.constraint_inputs(episode.states[t], episode.actions[t])
        total += world.discount**t * float(world.true_constraint(inputs))
    return total


def mean_cost(world, episodes):
    return np.mean([cost(world, episodes[k]) for k in range(len(episodes))])


def scripted(costs):
    """Gridworld-A episodes that spend the given number of steps on a constrained cell."""
    n, longest = len(costs), 10
    states = np.zeros((n, longest, 2), np.float32)
    for k, visits in enumerate(costs):
        states[k, :visits] = (3, 1)
    actions = np.tile(np.arange(longest), (n, 1))
    # each episode's name, so that a test knows them apart
    rewards = np.repeat(np.arange(n, dtype=np.float32)[:, None], longest, axis=1)
    return Trajectories(states, actions, rewards, np.full(n, longest))


def names(episodes):
    return episodes.rewards[:, 0].astype(int).tolist()


def scripted_rollouts(monkeypatch, *batches):
    """Let `roll_out` give these costs, call by call; the names count on through the calls."""
    whole = scripted([c for batch in batches for c in batch])
    ends = np.cumsum([len(batch) for batch in batches])
    given = [whole[end - len(b) : end] for end, b in zip(ends, batches, strict=True)]
    asked = []

    def roll_out(world, policy, rngs, episodes):
        asked.append(episodes)
        return given[len(asked) - 1][None]

    monkeypatch.setattr(module, "roll_out", roll_out)
    monkeypatch.setattr(module, "SPARE_SETS", len(batches) - 1)
    return asked


def test_the_costliest_give_way_to_fresh_ones_in_their_order(monkeypatch):
    world = make_world("gridworld-a")  # beta 0.99
    asked = scripted_rollouts(monkeypatch, [0, 5, 2, 0], [7, 1, 0, 0])
    kept = _feasible_rollouts(world, None, generator(1, "x"), 4)
    # costs 0 5 2 0 -> the 5 becomes 7 -> becomes 1 -> mean 0.75 keeps beta
    assert names(kept) == [0, 5, 2, 3]
    assert mean_cost(world, kept) == 0.75
    assert asked == [4, 4]


def test_demonstrations_that_keep_beta_are_taken_as_they_came(monkeypatch):
    world = make_world("gridworld-a")
    asked = scripted_rollouts(monkeypatch, [0, 2, 1, 0], [0] * 4)
    kept = _feasible_rollouts(world, None, generator(1, "x"), 4)
    assert names(kept) == [0, 1, 2, 3]
    assert asked == [4]


def test_a_hopeless_expert_still_gives_its_last_set(monkeypatch):
    world = make_world("gridworld-a")
    asked = scripted_rollouts(monkeypatch, [5, 5], [4, 4], [4, 4])
    kept = _feasible_rollouts(world, None, generator(1, "x"), 2)
    assert len(kept) == 2
    assert mean_cost(world, kept) == 4  # both of the first gave way
    assert asked == [2, 2, 2]


def test_the_last_fresh_one_counts(monkeypatch):
    """The set may keep beta only thanks to the very last replacement."""
    world = make_world("gridworld-a")
    scripted_rollouts(monkeypatch, [3, 0], [3, 3], [4, 1])
    kept = _feasible_rollouts(world, None, generator(1, "x"), 2)
    assert mean_cost(world, kept) == 0.5
    assert names(kept) == [5, 1]


@pytest.mark.parametrize("name", ["gridworld-a", "gridworld-b"])
def test_real_rollouts_that_violate_are_brought_to_beta(name, monkeypatch):
    """An untrained policy on a grid, with beta where some of its episodes are feasible."""
    world = make_world(name)
    monkeypatch.setattr(type(world), "threshold", 2.0)
    policy = Networks.initialise(generators([1], "p"), (2, 16, 8))
    first = roll_out(world, policy, [generator(3, "d")], 12)[0]
    assert mean_cost(world, first) > world.threshold
    kept = _feasible_rollouts(world, policy, generator(3, "d"), 12)
    assert len(kept) == 12
    assert mean_cost(world, kept) <= world.threshold
    # those that stayed are the first rollouts' own
    stayed = [k for k in range(12) if np.array_equal(kept.states[k], first.states[k])]
    assert stayed
    assert len(stayed) < 12


@pytest.mark.parametrize("name", ["gridworld-a", "cartpole-mid"])
def test_an_expert_is_the_same_every_time_and_another_with_another_seed(name):
    world, settings = make_world(name), ExpertSettings(trajectories=6, constrained_rl=TINY)
    once, again, other = (train_experts(world, settings, [seed], Job()) for seed in (4, 4, 5))
    np.testing.assert_array_equal(once.policy.parameters, again.policy.parameters)
    for ours, theirs in zip(once.trajectories.parts(), again.trajectories.parts(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert once.log == again.log
    assert not np.array_equal(once.policy.parameters, other.policy.parameters)
    assert once.log.schema == TRAINING_SCHEMA
    assert once.log["seed"].to_pylist() == [4, 4, 4]
    assert once.log["epoch"].to_pylist() == [1, 2, 3]
    assert once.trajectories.lengths.shape == (1, 6)
    assert once.policy.runs == 1


@pytest.mark.parametrize("name", ["gridworld-b", "cartpole-mid", "halfcheetah"])
@pytest.mark.parametrize("procedure", ["penalty", "lagrangian"])
def test_an_expert_is_the_same_alone_and_in_a_stack(name, procedure):
    world = short_world(name, 20)
    settings = ExpertSettings(trajectories=5, constrained_rl=replace(TINY, procedure=procedure))
    seeds = [4, 9, 1]
    stack = train_experts(world, settings, seeds, Job())
    assert stack.trajectories.lengths.shape == (3, 5)
    logs = rows_by_seed(stack.log)
    for run, seed in enumerate(seeds):
        alone = train_experts(world, settings, [seed], Job())
        np.testing.assert_array_equal(stack.policy.parameters[run], alone.policy.parameters[0])
        np.testing.assert_array_equal(logs[seed], rows_by_seed(alone.log)[seed])
        ours, theirs = stack.trajectories[run].trimmed(), alone.trajectories[0]
        for mine, other in zip(ours.parts(), theirs.parts(), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_progress_hears_of_the_training():
    heard = Heard()
    settings = ExpertSettings(trajectories=2, constrained_rl=TINY)
    train_experts(make_world("gridworld-a"), settings, [1], Job(heard))
    assert heard.epochs == [1, 2, 3]
