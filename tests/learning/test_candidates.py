"""Of several moments of a training the nearest to the expert: against training anew to each."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.learning.candidates import CandidateSettings, moments
from icl_core.learning.engine.divergence import lost
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.learning.methods import gail_constraint
from icl_core.learning.methods.icrl import algorithm as icrl
from icl_core.learning.methods.icrl.feasibility import BackwardSettings
from icl_core.learning.problem import BEST
from icl_core.randomness import generators
from tests.learning.tiny import Killed, killed_job, problem_of

PPO = OnPolicySettings(hidden=(16, 16), steps=120, environments=6, passes=3, batch=32)
LOOKS = CandidateSettings(number=3, episodes=8)
SEEDS = [3, 8]
GAIL = gail_constraint.Settings(
    hidden=(16, 16), total_steps=720, warm_up=0.17, batch=32, on_policy=PPO, candidates=LOOKS
)
ICRL = icrl.Settings(
    hidden=(16, 16),
    iterations=5,
    forward_steps=120,
    episodes=4,
    backward=BackwardSettings(passes=2),
    on_policy=PPO,
    candidates=LOOKS,
)
CASES = [
    pytest.param(gail_constraint, GAIL, "gail-constraint", [3, 5, 6], id="gail"),
    pytest.param(icrl, ICRL, "icrl", [2, 4, 5], id="icrl"),
]


def up_to(settings, steps):
    """The same training, ended after so many steps, and looked at by nobody."""
    blind = replace(settings, candidates=CandidateSettings())
    if isinstance(settings, icrl.Settings):
        return replace(blind, iterations=steps)
    # One rollout of warm-up, whatever it is a share of.
    return replace(blind, total_steps=steps * PPO.steps, warm_up=1.1 / steps)


@pytest.mark.parametrize(("method", "settings", "purpose", "looked"), CASES)
def test_the_nearest_is_that_of_trainings_that_end_there(method, settings, purpose, looked):
    problem = problem_of("gridworld-a", SEEDS)
    found = method.learn(problem, settings, Job())
    ends = [method.learn(problem, up_to(settings, steps), Job()) for steps in looked]
    nads = []
    for steps, end in zip(looked, ends, strict=True):
        rngs = generators(SEEDS, purpose, "choice", steps)
        agents = visits(problem.world, roll_out(problem.world, end.policy, rngs, 8))
        expert = visits(problem.world, problem.demonstrations)
        nads.append([accrual_dissimilarity(problem.world.grid, expert, one) for one in agents])
    best = found.others[BEST]
    np.testing.assert_array_equal(best.place, np.nanargmin(nads, axis=0) + 1)
    for run, place in enumerate(best.place):
        for mine, theirs in ((best.constraint, "constraint"), (best.policy, "policy")):
            expected = getattr(ends[place - 1], theirs).parameters[run]
            np.testing.assert_array_equal(mine.parameters[run], expected)
    # Looking changes nothing of the training.
    np.testing.assert_array_equal(found.policy.parameters, ends[-1].policy.parameters)
    np.testing.assert_array_equal(found.constraint.parameters, ends[-1].constraint.parameters)
    assert ends[-1].others == {}


@pytest.mark.parametrize(("method", "settings", "purpose", "looked"), CASES)
def test_a_killed_training_keeps_what_was_nearest(method, settings, purpose, looked, tmp_path):
    problem = problem_of("gridworld-a", SEEDS)
    whole = method.learn(problem, settings, Job()).others[BEST]
    for steps in (looked[0], looked[0] + 1):
        folder = tmp_path / str(steps)
        with pytest.raises(Killed):
            method.learn(problem, settings, killed_job(folder, steps))
        found = method.learn(problem, settings, killed_job(folder)).others[BEST]
        np.testing.assert_array_equal(found.place, whole.place)
        np.testing.assert_array_equal(found.policy.parameters, whole.policy.parameters)
        np.testing.assert_array_equal(found.constraint.parameters, whole.constraint.parameters)


def test_who_has_failed_has_no_nearest(monkeypatch):
    problem = problem_of("gridworld-a", SEEDS)
    monkeypatch.setattr(Job, "run", failing(Job.run))
    found = gail_constraint.learn(problem, GAIL, Job())
    best = found.others[BEST]
    np.testing.assert_array_equal(lost(found.failed, 2), [False, True])
    assert best.place[0] > 0 == best.place[1]
    for networks in (best.constraint, best.policy):
        assert networks.parameters[0].any() and not networks.parameters[1].any()


def failing(run):
    """The second run has failed after three steps."""

    def other(job, learner, total):
        run(job, learner, total)
        return np.array([0, 3])

    return other


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ((0, 10, 1), [10]),
        ((0, 10, 10), list(range(1, 11))),
        ((20, 1000, 2), [510, 1000]),
        ((0, 3, 11), [1, 2, 3]),
    ],
)
def test_moments_are_spread_and_the_last_is_the_end(given, steps):
    assert moments(*given) == steps
