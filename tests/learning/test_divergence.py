"""A run whose weights are no longer finite fails by itself: the others keep every bit."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.constrained_rl.procedure import train_policies
from icl_core.learning.engine import density_fit
from icl_core.learning.engine.actions import Gaussian
from icl_core.learning.engine.costs import no_constraint
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.divergence import FAILED, AllFailedError, Part
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.learning.engine.training import Job
from icl_core.learning.experts import ExpertSettings, train_experts
from icl_core.learning.true_fit import FitSettings, failed_fits, final_errors, fit_true_constraint
from icl_core.randomness import generators
from tests.learning.icl_steps import RL, TINY
from tests.learning.test_methods import SEEDS, TRAINED, learn, learned
from tests.learning.tiny import (
    BAD,
    KEPT,
    PLACE,
    Killed,
    Listening,
    assert_only_bad_failed,
    assert_same_runs,
    killed_job,
    problem_of,
)


@pytest.fixture(autouse=True)
def numpy_is_silent():
    """A run that diverges is said in words, and not by warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


# ------------------------------------- every method that trains: linear programs do not diverge


@pytest.mark.parametrize(("method", "variant"), TRAINED)
def test_the_others_of_the_stack_keep_their_bytes(method, variant, spoil):
    healthy, _ = learned(method, variant, "gridworld-a")
    without = learn(method, variant, "gridworld-a", [3, 5])
    spoil()
    heard = Listening()
    outcome = learn(method, variant, "gridworld-a", SEEDS, Job(heard))
    assert_only_bad_failed(outcome, healthy)
    assert outcome.failed[PLACE] == 1
    assert_same_runs(outcome, without, KEPT)
    (line,) = [line for line in heard.said if line.startswith("warning")]
    assert line.startswith(f"warning: seed {BAD} has failed: its weights have diverged after")
    assert f"look at learning.{method}." in line


@pytest.mark.parametrize(("method", "variant"), TRAINED)
def test_a_killed_stack_with_a_failed_seed_goes_on_to_the_same_bytes(
    method, variant, spoil, tmp_path
):
    spoil()
    whole = learn(method, variant, "gridworld-a", SEEDS)
    with pytest.raises(Killed):
        learn(method, variant, "gridworld-a", SEEDS, killed_job(tmp_path, 1))
    again = learn(method, variant, "gridworld-a", SEEDS, killed_job(tmp_path))
    np.testing.assert_array_equal(again.failed, whole.failed)
    assert_same_runs(whole, again, [0, 1, 2])


@pytest.mark.parametrize(("method", "variant"), TRAINED)
@pytest.mark.parametrize("name", ["gridworld-a", "halfcheetah"])
def test_nan_in_the_middle_of_a_step_harms_nobody_else(method, variant, name, monkeypatch):
    """What follows in the same step computes with it: rollouts, other weights, the multiplier."""
    healthy, _ = learned(method, variant, name)
    real, calls = Adam.step, []

    def poisoned(self, parameters, gradient):
        real(self, parameters, gradient)
        if len(parameters) == len(SEEDS):
            calls.append(1)
            if len(calls) == 2:
                parameters[PLACE] = np.nan

    monkeypatch.setattr(Adam, "step", poisoned)
    assert_only_bad_failed(learn(method, variant, name, SEEDS), healthy)


@pytest.mark.parametrize(("method", "variant"), TRAINED)
def test_where_no_seed_is_left_one_sentence_ends_the_job(method, variant, spoil):
    spoil(SEEDS)
    with pytest.raises(InputError) as error:
        learn(method, variant, "gridworld-a", SEEDS)
    text = str(error.value)
    assert text.startswith(f"configuration: key learning.{method}.")
    assert all(f"seed {seed} after " in text for seed in SEEDS)
    assert text.endswith("no seed is left: give a smaller value")


@pytest.mark.parametrize("part", range(3))
def test_the_setting_to_look_at_is_that_of_the_weights(spoil, part):
    spoil(part=part)
    heard = Listening()
    learn("gail-constraint", 0, "gridworld-a", SEEDS, Job(heard))
    setting = ("learning_rate", "on_policy.learning_rate", "on_policy.value_rate")[part]
    assert heard.said[0].endswith(
        f"after rollout 1; it stops and has no results, the other seeds "
        f"go on; look at learning.gail-constraint.{setting}"
    )


# ------------------------------------------------------------------ what counts as diverged


def test_infinite_moments_count_though_the_weights_are_finite():
    """Found so with learning rates of 1e3 to 1e6: nothing moves any more."""
    weights = np.ones((6, 5), np.float32)
    part = Part("rate", weights, Adam(weights, 1e-3))
    assert not part.diverged().any()
    weights[1, 2], part.optimiser.second[2, 0] = np.nan, np.inf
    weights[3, 0], weights[4, 0], weights[5, 4] = 9e5, -2e6, 3e38
    with np.errstate(invalid="ignore", over="ignore"):
        np.testing.assert_array_equal(part.diverged(), [False, True, True, False, True, True])


@pytest.mark.parametrize(
    ("procedure", "rate"),
    [("penalty", 1e3), ("penalty", 1e30), ("lagrangian", 1e6), ("lagrangian", 1e30)],
)
def test_an_absurd_learning_rate_is_noticed(procedure, rate):
    """By infinite moments, by large weights, and by nan."""
    on_policy = replace(RL.lagrangian.on_policy, learning_rate=rate, value_rate=rate)
    settings = replace(
        RL,
        procedure=procedure,
        penalty=replace(RL.penalty, ppo=PPOSettings(learning_rate=rate)),
        lagrangian=replace(RL.lagrangian, on_policy=on_policy),
    )
    rngs = generators([1, 2], "x")
    with pytest.raises(
        AllFailedError, match=rf"key {procedure}\..*number 2 after epoch 1; no seed"
    ):
        train_policies(make_world("gridworld-a"), no_constraint, 1.0, rngs, settings)


def test_held_weights_stay_and_the_others_move_as_before():
    start = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    gradients = np.random.default_rng(1).normal(size=(40, 3, 4)).astype(np.float32)
    stacks = []
    for held in (False, True):
        weights, adam = start.copy(), Adam(start, 1e-2)
        for k, gradient in enumerate(gradients.copy()):
            if held and k == 5:
                weights[1] = 0.0
                adam.hold(np.array([False, True, False]))
            if held and k > 5:
                gradient[1] = np.nan
            some = adam.pick([1, 2]) if k == 20 else None
            adam.step(weights, gradient)
            if some is not None:  # a copy of some runs holds the same ones
                np.testing.assert_array_equal(some.held if held else [False, False], [held, False])
        stacks.append(weights)
    assert not stacks[1][1].any()
    np.testing.assert_array_equal(stacks[0][[0, 2]], stacks[1][[0, 2]])


def test_no_policy_however_wild_gives_a_world_nan():
    outputs = np.array([[np.nan, 0.0], [np.inf, 0.0], [-np.inf, 0.0], [0.5, np.nan], [0.5, -1.0]])
    actions = Gaussian(outputs.astype(np.float32)).sample(np.full((5, 1), 0.5))
    assert np.isfinite(actions).all()
    assert actions[-1] == np.float32(0.5)


# ------------------------------------------------------------------ experts and fits


def test_an_expert_that_diverges_ends_its_job(spoil):
    spoil([4], 2, section="demonstrations")
    world = make_world("gridworld-a")
    settings = ExpertSettings(trajectories=2, constrained_rl=replace(RL, epochs=3))
    setting = "demonstrations.constrained_rl.penalty.ppo.learning_rate"
    with pytest.raises(InputError, match=f"key {setting}: .*, seed 4 after epoch 2; no seed"):
        train_experts(world, settings, [4], Job())
    heard = Listening()
    with pytest.raises(InputError, match="found that of seed 4 diverge after epoch 2; give a"):
        train_experts(world, settings, [3, 4], Job(heard))
    assert setting in heard.said[0]


def test_a_fit_to_the_truth_that_diverges_has_no_error(spoil):
    world, settings = make_world("gridworld-b"), FitSettings((8,), 1e-2, 200)
    networks, table = fit_true_constraint(world, SEEDS, settings)
    spoil(step=50)
    heard = Listening()
    others, log = fit_true_constraint(world, SEEDS, settings, Job(heard))
    np.testing.assert_array_equal(networks.parameters[KEPT], others.parameters[KEPT])
    errors = final_errors(table)
    assert failed_fits(table) == {} and failed_fits(log) == {BAD: 50}
    assert final_errors(log) == {seed: errors[seed] for seed in SEEDS if seed != BAD}
    assert "seed 8 has failed" in heard.said[0] and "true_fits.learning_rate" in heard.said[0]


def test_a_density_that_diverges_fails_its_seed_alone(monkeypatch):
    problem = problem_of("gridworld-a", list(SEEDS))
    healthy = fit_density(problem, TINY.density)
    real = density_fit.adam_of
    heard, seeds = Listening(), iter(SEEDS)
    with monkeypatch.context() as patch:
        patch.setattr(
            density_fit, "adam_of", lambda p, rate: real(p, 1e30 if next(seeds) == BAD else rate)
        )
        density = fit_density(problem, TINY.density, Job(heard))
    np.testing.assert_array_equal(density.failed, [0, 1, 0])
    assert "look at learning.icl.density.learning_rate" in heard.said[0]
    again = type(density).from_tensors(density.tensors())
    np.testing.assert_array_equal(again.failed, density.failed)
    assert FAILED not in healthy.tensors()
    ours, theirs = density.tensors(), healthy.tensors()
    for name in theirs:
        if name.startswith(("run0", "run2")):
            np.testing.assert_array_equal(ours[name], theirs[name])
        assert np.isfinite(ours[name]).all()
    with pytest.raises(InputError, match=r"key learning.icl.density.learning_rate: .*seed 8 after"):
        fit_density(problem, replace(TINY.density, learning_rate=1e30))
