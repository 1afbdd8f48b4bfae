"""The policy of an iteration: what the first one is trained under, and how close one came."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.learning.dissimilarity import dissimilarities
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.state import ConstraintSettings, initial_constraint
from icl_core.randomness import generators
from tests.learning.icl_steps import RL, TINY
from tests.learning.tiny import problem_of


def test_a_nominal_start_ignores_the_constraint():
    problem, loop = problem_of("gridworld-a", [1]), TINY.loop
    states = [
        initial_constraint(replace(problem, seeds=[seed]), ConstraintSettings((16,)))
        for seed in (1, 7)
    ]
    for same in (True, False):
        chosen = replace(loop, unconstrained_first_policy=same)
        rl = replace(RL, epochs=3)
        first = [train_policy(problem, state, 1, rl, chosen, Job()) for state in states]
        values = [policy.log["constraint_value"].to_numpy() for policy in first]
        assert np.array_equal(*values) == same
        assert not same or not values[0].any()
    later = train_policy(problem, states[0], 2, RL, loop, Job())
    assert later.log["constraint_value"].to_numpy().all()


def test_dissimilarity_is_zero_to_oneself_and_large_to_a_policy_elsewhere():
    problem = problem_of("cartpole-mr", [1, 2])
    policies = Networks.initialise(generators([1, 2], "p"), (4, 16, 2))
    episodes = roll_out(problem.world, policies, generators([1, 1], "same"), 30)
    distances = dissimilarities(replace(problem, demonstrations=episodes[0]), [0, 1], episodes)
    assert distances[0] == pytest.approx(0, abs=1e-12)
    assert distances[1] > 0
    own = replace(problem, demonstrations=episodes)  # each run's expert is itself
    assert dissimilarities(own, [0, 1], episodes) == pytest.approx([0, 0], abs=1e-12)
    assert dissimilarities(own, [1], episodes[:1]) == pytest.approx(distances[1:])
