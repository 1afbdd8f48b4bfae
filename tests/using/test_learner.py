"""Learners in the conventions of the field, in environments of a user's own."""

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from icl_core.demonstrations.dataset import Demonstrations
from icl_core.environments import make_world
from icl_core.environments.forward import ForwardWorld, Limits
from icl_core.environments.gymnasium import WorldEnv, WorldVectorEnv
from icl_core.environments.inputs import inputs_of, see
from icl_core.environments.worlds.cartpole_mr import CartPoleMoveRight
from icl_core.errors import InputError
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl import algorithm
from icl_core.learning.problem import Problem
from icl_core.settings import build
from icl_core.using.baselines import ICRL, GAILConstraint, ICLPlus
from icl_core.using.learner import ICL, make_learner
from tests.learning.test_forward import SeededCartPole
from tests.learning.tiny import demonstrations_of
from tests.using.robots import HORIZON, TINY, Choosing, Robot, demonstrations

KINDS = {"icl": ICL, "icl-plus": ICLPlus, "gail-constraint": GAILConstraint, "icrl": ICRL}


def learner(method="icl", env=Robot, choosing=False, **options):
    given = {"seeds": [1, 2], "settings": TINY[method], "horizon": HORIZON, **options}
    return KINDS[method](env, demonstrations(choosing=choosing), **given)


@pytest.fixture(scope="module")
def learned():
    return learner(inputs=["x", "y"]).learn()


@pytest.mark.parametrize("choosing", [False, True])
@pytest.mark.parametrize("method", KINDS)
def test_every_method_learns_in_an_environment_of_ones_own(method, choosing):
    env = Choosing if choosing else Robot
    done = learner(method, env, choosing).learn()
    seen = np.zeros((5, 2), np.float32)
    acted = np.zeros(5) if choosing else np.zeros((5, 2))
    values = done.constraint.predict(seen, acted)
    assert values.shape == (5,) and ((values > 0) & (values < 1)).all()
    rows = done.history.to_pylist()
    assert {row["seed"] for row in rows} == {1, 2}
    assert sum(row["kept"] for row in rows) == 2
    assert all(row["nad"] >= 0 for row in rows)
    action, state = done.policy.predict(seen)
    assert state is None
    assert all(env.action_space.contains(one) for one in action)


def test_history_has_a_row_for_each_seed_and_iteration(learned):
    rows = learned.history.to_pylist()
    # Two iterations, and the last policy on the last constraint.
    assert [(row["iteration"], row["seed"]) for row in rows] == [
        (i, s) for i in (1, 2, 3) for s in (1, 2)
    ]
    adjusted = [row for row in rows if row["iteration"] < 3]
    assert all(np.isfinite([row["expert_value"], row["agent_value"]]).all() for row in adjusted)
    assert all(np.isnan(row["agent_value"]) for row in rows if row["iteration"] == 3)
    kept = {row["seed"]: row["iteration"] for row in rows if row["kept"]}
    assert list(kept.values()) == learned.outcome.extras["kept"].tolist()


def test_the_policy_is_the_closest_of_the_seeds(learned):
    kept = {row["seed"]: row["nad"] for row in learned.history.to_pylist() if row["kept"]}
    assert learned.policy.seed == min(kept, key=kept.get)


def test_predictions_follow_the_policy(learned):
    policy, seen = learned.policy, np.array([-1.0, 0.1], np.float32)
    sure = policy.predict(seen, deterministic=True)[0]
    assert sure.shape == (2,)
    np.testing.assert_array_equal(sure, policy.predict(seen, deterministic=True)[0])
    drawn = np.stack([policy.predict(seen)[0] for _ in range(300)])
    assert drawn.std(axis=0).min() > 0.1 and (np.abs(drawn) <= 1).all()
    with pytest.raises(InputError, match="observation: expected 2 numbers"):
        policy.predict(np.zeros(3))


def test_a_run_does_not_depend_on_the_other_seeds(learned):
    alone = learner(inputs=["x", "y"], seeds=[2]).learn()
    here, there = (one.outcome.constraint.parameters[-1] for one in (learned, alone))
    np.testing.assert_array_equal(here, there)


def test_a_vector_environment_gives_the_same(learned):
    """In all modes: whole episodes are the same, and ICL's penalty method learns from these."""
    for mode in AutoresetMode:
        limited = lambda: gymnasium.wrappers.TimeLimit(Robot(), HORIZON)  # noqa: E731
        envs = SyncVectorEnv([limited] * 7, autoreset_mode=mode)
        done = learner(env=envs, inputs=["x", "y"]).learn()
        np.testing.assert_array_equal(
            done.outcome.constraint.parameters, learned.outcome.constraint.parameters
        )


def test_a_vector_environment_learns_what_its_world_learns_to_the_bit():
    """CartPole in Gymnasium's SyncVectorEnv, and as a world whose episodes start alike."""
    world = SeededCartPole()
    world.horizon = 40
    usual = CartPoleMoveRight()
    usual.horizon = 40
    rows = SyncVectorEnv([lambda: WorldEnv(usual)] * 10, autoreset_mode=AutoresetMode.SAME_STEP)
    forward = ForwardWorld(rows, Limits(world.horizon, world.discount))
    see(forward, inputs_of(world))
    forward.input_resolution = world.input_resolution
    settings = build(algorithm.Settings, TINY["icl"])
    shown = demonstrations_of(world, 10)
    ours, theirs = (
        algorithm.learn(Problem(one, shown, [1, 2], 5.0), settings, Job())
        for one in (world, forward)
    )
    assert ours.constraint.parameters.tobytes() == theirs.constraint.parameters.tobytes()
    assert ours.policy.parameters.tobytes() == theirs.policy.parameters.tobytes()


def test_worlds_are_learned_in_directly():
    """An id or a vector environment of one of our worlds is that world."""
    world = make_world("gridworld-a")
    shown = gridworld_demonstrations(world)
    given = {"seeds": [1], "settings": TINY["icl"], "cost_limit": 0.5}
    found = [
        ICL(env, shown, **given).learn().outcome.constraint.parameters
        for env in (world, "icl/GridworldA-v0", WorldVectorEnv("gridworld-a", 3))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def gridworld_demonstrations(world):
    return Demonstrations.from_episodes(
        {"observations": s[:n], "actions": a[:n], "rewards": r[:n]}
        for s, a, r, n in zip(*demonstrations_of(world, 10).parts(), strict=True)
    )


def test_a_callback_hears_of_every_iteration_and_can_end_the_learning():
    heard = []
    done = learner().learn(callback=lambda rows: heard.extend(map(dict, rows)))
    rows = done.history.to_pylist()
    assert [(row["seed"], row["nad"]) for row in heard] == [(r["seed"], r["nad"]) for r in rows]
    one = []
    learner().learn(callback=lambda rows: one.append(rows) or False)
    assert [row["iteration"] for rows in one for row in rows] == [1, 1]


class Interrupted(Exception):
    """Stands for the end of a process."""


def interrupted(checkpoint, **options):
    """Learn until the second iteration has ended, and no further."""

    def interrupt(rows):
        if rows[0]["iteration"] == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        learner(**options).learn(callback=interrupt, checkpoint=checkpoint)


def test_an_interrupted_learning_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("icl_core.using.learner.SAVE", 0.0)
    whole, path = learner().learn(), tmp_path / "state.safetensors"
    interrupted(path)
    saved = sorted(tmp_path.iterdir())
    assert saved
    again = learner().learn(checkpoint=path)
    np.testing.assert_array_equal(
        whole.outcome.constraint.parameters, again.outcome.constraint.parameters
    )
    assert not list(tmp_path.iterdir())


def test_a_saved_state_of_other_inputs_counts_as_another_job():
    one, two = (learner(inputs=names)._about() for names in (["x"], ["x", "y"]))
    assert one != two


def test_a_progress_bar_is_one_line(capsys):
    learner().learn(progress_bar=True)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "icl  iteration 3  [" in said


def test_cost_limits(learned):
    assert learner(cost_limit=2.5).problem.beta == 2.5
    lengths = demonstrations().lengths
    worst = np.mean([(1 - 0.99**n) / 0.01 for n in lengths])
    assert learned.problem.beta == pytest.approx(0.1 * worst)


def test_files_say_how_they_were_made(learned, tmp_path):
    path = tmp_path / "robot.safetensors"
    learned.constraint.save(path)
    about = type(learned.constraint).load(path).about
    assert about["configuration"]["method"] == "icl"
    assert about["configuration"]["settings"]["loop"]["iterations"] == 2
    assert about["seeds"] == [1, 2] and about["packages"]["numpy"]
    assert json.dumps(about)


def test_inputs_may_be_a_function(tmp_path):
    def from_the_middle(observations, actions):
        return np.hypot(observations[..., :1], observations[..., 1:])

    done = learner(inputs=from_the_middle, bounds={"input 1": (0, 2)}).learn()
    constraint, path = done.constraint, tmp_path / "robot.safetensors"
    east, north = (np.array(place, np.float32) for place in ((0.5, 0), (0, 0.5)))
    still = np.zeros(2, np.float32)
    assert constraint.predict(east, still) == constraint.predict(north, still)
    constraint.save(path)
    again = type(constraint).load(path, inputs=from_the_middle)
    assert again.predict(east, still) == constraint.predict(east, still)


def test_other_methods_are_found_by_name():
    assert (
        make_learner("icrl", Robot, demonstrations(), horizon=HORIZON, settings=TINY["icrl"]).method
        == ICRL.method
    )
    with pytest.raises(
        InputError, match="method 'nothing' is unknown; choose one of exact-icl, exact-icl-ours, "
    ):
        make_learner("nothing", Robot, demonstrations())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: learner(env=Robot()), "found one environment"),
        (lambda: learner(env=3), "found int; give one of these"),
        (lambda: learner(env="No-v0"), "env 'No-v0': expected an environment that Gymnasium knows"),
        (lambda: learner(horizon=None), "horizon: expected the number of steps"),
        (lambda: learner(horizon=3), "demonstrations: expected at most 3 steps, found"),
        (lambda: learner(env=Choosing), "actions of one of n, found 2 and 2; give demonstrations"),
        (lambda: learner(inputs=["z"]), r"inputs: expected names of components \(x, y, vx, vy\)"),
        (lambda: learner(inputs=[4]), "numbers from 0 to 3, found 4"),
        (lambda: learner(inputs=[]), "inputs: expected 1 to 7 different components, found none"),
        (lambda: learner(inputs=["x", "x"]), "different components, found x, x"),
        (lambda: learner(inputs=["x"], bounds={"y": (0, 1)}), "bounds: expected names of inputs"),
        (lambda: learner(inputs=["x"], bounds={"x": (1, 0)}), "expected a lower and a higher"),
        (lambda: learner(cost_limit=0), "cost_limit: expected a number above 0 or 'demonst"),
        (lambda: learner(cost_limit="much"), "cost_limit: expected a number above 0"),
        (lambda: learner(seeds=[]), "seeds: expected different whole numbers"),
        (lambda: learner(seeds=[1, 1]), "seeds: expected different whole numbers"),
        (lambda: learner(settings=3), "settings: expected icl_core.learning.methods.icl.algorithm"),
        (lambda: learner(settings={"epochs": 3}), "epochs"),
        (lambda: learner(colour=3), "colour: expected one of env, demonstrations, seeds"),
        (lambda: learner().constraint, "ICL: expected a learner that has learned"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as error:
        make()
    assert "\n" not in str(error.value)
