"""ICRL: its rollouts, networks and numbers, and the faults of the authors' code."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.errors import InputError
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icrl.algorithm import Settings, learn
from icl_core.learning.methods.icrl.feasibility import BackwardSettings
from tests.learning.tiny import Heard, assert_same_runs, problem_of

PPO = OnPolicySettings(hidden=(16, 16), steps=120, environments=6, passes=3, batch=32)
BACKWARD = BackwardSettings(passes=2, batch=32)
TINY = Settings(
    hidden=(16, 16),
    iterations=3,
    forward_steps=200,
    episodes=6,
    backward=BACKWARD,
    on_policy=PPO,
)


def train(name, seeds, progress=None, **changes):
    job = Job(progress) if progress else Job()
    return learn(problem_of(name, seeds), replace(TINY, **changes), job)


@pytest.mark.parametrize(
    "fault",
    [{"never_reset": True}, {"backward": replace(BACKWARD, ignore_weights=True)}],
    ids=["never_reset", "ignore_weights"],
)
def test_faults_of_the_authors_code_change_the_result_and_keep_runs_apart(fault):
    together = train("cartpole-mid", [1, 2], **fault)
    assert_same_runs(together, train("cartpole-mid", [2], **fault), [1])
    right = train("cartpole-mid", [1, 2])
    assert not np.array_equal(together.constraint.parameters, right.constraint.parameters)


def test_steps_must_fill_the_environments():
    with pytest.raises(InputError, match="expected a multiple of"):
        train("gridworld-a", [1], on_policy=replace(PPO, environments=7))


def test_a_forward_phase_makes_whole_rollouts_and_progress_hears_of_both_phases():
    heard = Heard()
    end = train("gridworld-a", [3, 5], heard)
    assert end.log["seed"].to_pylist() == [3] * 6 + [5] * 6  # 200 steps are two rollouts of 120
    assert heard.epochs == [1, 2, 3]
    assert {"forward reward", "J", "nu", "passes", "backward passes"} <= set(heard.lines[0][1])


def test_steps_are_those_of_rollouts_and_of_the_backward_phases_episodes():
    end = train("cartpole-mr", [1], episodes=6)
    steps = end.log["steps"].to_numpy()
    assert (steps[::2] == 120).all()  # the first of two rollouts
    assert (steps[1::2] >= 120 + 6).all() and (steps[1::2] <= 120 + 6 * 50).all()


def test_the_networks_are_those_of_the_settings():
    end = train("cartpole-mr", [1])
    assert (end.constraint.activation, end.policy.activation) == ("relu", "tanh")
    assert (end.constraint.sizes, end.policy.sizes) == ((2, 16, 16, 1), (4, 16, 16, 2))


def test_the_multiplier_grows_while_there_is_any_cost():
    """The budget is 0 and every step costs something: nu never falls."""
    heard = Heard()
    train("gridworld-a", [1], heard, iterations=5)
    nu = [numbers["nu"] for _, numbers in heard.lines]
    assert (np.diff([0.1, *nu]) > 0).all()
