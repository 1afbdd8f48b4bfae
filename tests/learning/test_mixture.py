"""The agents that an adjustment is given, bit for bit, and how many episodes that takes."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.learning.engine.density import Density
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl import adjustment
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings, normalised
from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    PolicyState,
    initial_constraint,
)
from icl_core.randomness import generator, generators
from tests.learning.tiny import problem_of
from tests.worlds import NAMES, some_policies

SEEDS, ITERATIONS = [1, 2], 4
ROUNDS = AdjustmentSettings(rounds=3, steps=1, episodes=5)
MIXTURES = [{}, {"reweight": False}, {"mixture": False}, {"policies_per_iteration": 1}]


class Strange(Density):
    """Half of all inputs are unlike the expert's: members differ in weight, nothing is fitted."""

    failed = np.zeros(len(SEEDS), np.int64)

    def __init__(self):
        pass

    def unusual(self, run, inputs):
        return np.arange(len(inputs)) % 2 == run


def some_policy_states(world):
    """Untrained policies of a few iterations."""
    stacks = [
        some_policies(world, generators(SEEDS, "policy", k), scale=2.0)
        for k in range(2 * ITERATIONS)
    ]
    pairs = zip(stacks[::2], stacks[1::2], strict=True)
    return [
        PolicyState(halfway, final, np.ones(len(SEEDS)), np.zeros(len(SEEDS)))
        for halfway, final in pairs
    ]


def adjusted(problem, settings, monkeypatch):
    """The state after the last iteration's adjustment, and every round's agents in order."""
    agents, exact = [], adjustment.Visits

    def noted(world, episodes, *demonstrations):
        if demonstrations:  # otherwise the newcomers are weighed
            agents.append(episodes)
        return exact(world, episodes, *demonstrations)

    state = initial_constraint(replace(problem, seeds=SEEDS), ConstraintSettings(hidden=(8,)))
    known = state.with_room((ITERATIONS - 1) * settings.policies_per_iteration)
    known.weights[:] = np.linspace(0.0, 1.0, known.weights.shape[1])  # the first is never drawn
    with monkeypatch.context() as patch:
        patch.setattr(adjustment, "Visits", noted)
        policies = some_policy_states(problem.world)
        after, _ = adjustment.adjust_constraint(
            problem, Strange(), policies, known, settings, Job()
        )
    return after, agents


def members_of(policies, run, settings):
    """One run's policies in the order in which the mixture counts them."""
    both = settings.policies_per_iteration == 2
    pairs = [(p.halfway, p.final) if both else (p.final,) for p in policies]
    stacks = [stack for pair in pairs for stack in pair]
    return stacks[0].like(np.stack([stack.parameters[run] for stack in stacks]))


def slow_rounds(world, members, weights, seed, settings):
    """Every member plays as many episodes as the one that is drawn most; most are thrown away."""
    n = members.runs
    probabilities = normalised(weights) if settings.reweight else np.full(n, 1 / n)
    if not settings.mixture:
        probabilities = np.eye(n)[-1]
    shape = (settings.rounds, settings.episodes)
    drawn = generator(seed, "mixture", ITERATIONS).choice(n, size=shape, p=probabilities)
    rngs = [generator(seed, "agents", ITERATIONS, m) for m in range(n)]
    pool = roll_out(world, members, rngs, np.bincount(drawn.ravel()).max())
    taken = [0] * n
    for row in drawn:
        turns = []
        for member in row:
            turns.append(taken[member])
            taken[member] += 1
        yield pool[row, turns]


@pytest.mark.parametrize("options", MIXTURES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_agents_are_those_of_a_pool_in_which_everyone_plays(name, options, monkeypatch):
    problem, settings = problem_of(name, SEEDS, horizon=20), replace(ROUNDS, **options)
    state, agents = adjusted(problem, settings, monkeypatch)
    policies = some_policy_states(problem.world)
    expected = [
        episodes
        for run, seed in enumerate(SEEDS)
        for episodes in slow_rounds(
            problem.world, members_of(policies, run, settings), state.weights[run], seed, settings
        )
    ]
    assert len(agents) == len(expected) == len(SEEDS) * settings.rounds
    for ours, theirs in zip(agents, expected, strict=True):
        for part, whole in zip(ours.parts(), theirs.parts(), strict=True):
            assert part.dtype == whole.dtype
            np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("options", MIXTURES, ids=str)
@pytest.mark.parametrize("name", ["gridworld-a", "halfcheetah"])
def test_only_episodes_that_are_needed_are_played(name, options, monkeypatch):
    problem, settings = problem_of(name, SEEDS), replace(ROUNDS, **options)
    world, played = problem.world, []
    step, world.horizon = world.step, 1  # an episode is a step

    def counted(states, actions, noise):
        played.append(len(states))
        return step(states, actions, noise)

    monkeypatch.setattr(world, "step", counted)
    adjusted(problem, settings, monkeypatch)
    weighed = settings.policies_per_iteration if settings.reweight else 0
    sets = settings.rounds + weighed
    assert sum(played) == len(SEEDS) * sets * settings.episodes
