"""Agents elsewhere, with a learned constraint: against episodes that are played one by one."""

import subprocess
import sys

import numpy as np
import pytest

from icl_core.artifacts import write_tensors
from icl_core.environments.gymnasium import WorldEnv, WorldVectorEnv
from icl_core.errors import InputError
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.divergence import marked
from icl_core.learning.engine.training import Job
from icl_core.measuring.transfer import CONDITIONS, TransfersSettings
from icl_core.settings import build
from icl_core.using.transfer import Transfer, environments, joined, play, run_transfer
from tests.using.some import constraint, networks
from tests.worlds import small_world

CHANGES = {"gridworld-a": {"slip": 0.1}, "cartpole-mr": {"pole_length": 2.0}, "nav": {}}
FAST = build(
    ConstrainedRLSettings, {"epochs": 2, "penalty": {"episodes": 4, "ppo": {"updates": 2}}}
)


def transfer(name, seeds=(1, 2), own=(), **sizes):
    given = {"experiments": {name: CHANGES[name]}, "steps": 64, "epochs": 2, "episodes": 3}
    settings = TransfersSettings(**given | sizes, own_learner=own)
    world = small_world(name, **CHANGES[name])
    return Transfer(name, world, constraint(name), seeds, settings, FAST)


@pytest.mark.parametrize("name", CHANGES)
def test_every_condition_has_a_row_for_each_seed(name):
    given = transfer(name)
    table = run_transfer(given, Job()).to_pylist()
    found = [(row["condition"], row["seed"]) for row in table]
    assert found == [(condition, seed) for condition in CONDITIONS for seed in (1, 2)]
    horizon = given.world.horizon
    assert all(1 <= row["length"] <= horizon and 0 <= row["true_cost"] <= horizon for row in table)
    assert {row["agent"] for row in table} == {"PPO of Stable-Baselines3"}
    assert {row["episodes"] for row in table} == {3}


def test_equal_seeds_give_equal_numbers_whatever_they_are_run_with():
    together = run_transfer(transfer("nav", (1, 2)), Job()).to_pylist()
    alone = run_transfer(transfer("nav", (2,)), Job()).to_pylist()
    assert [row for row in together if row["seed"] == 2] == alone


def test_our_own_learner_is_another_agent():
    table = run_transfer(transfer("gridworld-a", own=("gridworld-a",)), Job()).to_pylist()
    assert {row["agent"] for row in table} == {"our constrained learner"}
    assert {row["change"] for row in table} == {"slip 0.1"} and len(table) == 6


def test_played_episodes_are_gymnasiums():
    """The same actions, one episode at a time, in the Gymnasium environment."""
    world = small_world("nav")

    def choose(seen):
        return np.float32([1.0, 0.0]) - seen

    episodes = play(world, choose, np.random.default_rng(3), 6)
    assert len(set(episodes.lengths)) > 1
    for k in range(6):
        env, done, paid, cost, t = WorldEnv(world), False, 0.0, 0.0, 0
        seen, _ = env.reset(options={"state": episodes.states[k, 0]})
        while not done:
            seen, reward, ended, cut, info = env.step(choose(seen[None])[0].astype(np.float32))
            paid, cost, t = paid + reward, cost + world.discount**t * info["cost"], t + 1
            done = ended or cut
        assert t == episodes.lengths[k] and paid == pytest.approx(episodes.returns[k], abs=1e-4)


def test_a_row_is_the_mean_of_its_episodes(monkeypatch):
    from icl_core.using import transfer as module

    given = transfer("nav", seeds=(1,))
    walked = play(
        given.world, lambda seen: np.tile([1.0, 0.0], (len(seen), 1)), np.random.default_rng(0), 5
    )
    row = module._row(given, "none", 1, walked)
    costs = []
    for k in range(5):
        places = walked.states[k, : walked.lengths[k]]
        inside = np.hypot(places[:, 0], places[:, 1] + 0.1) < 0.4
        costs.append(sum(0.99**t for t in np.flatnonzero(inside)))
    assert row["true_cost"] == pytest.approx(np.mean(costs))
    assert row["return"] == pytest.approx(walked.returns.mean())
    assert row["length"] == walked.lengths.mean()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_agents_are_told_the_cost_of_their_condition(condition):
    given = transfer("nav")
    env, plain = environments(given, condition), WorldVectorEnv(given.world, 32)
    env.weight = 0.25
    seen, _ = env.reset(seed=5)
    plain.reset(seed=5)
    for _ in range(15):
        actions = np.tile(np.float32([1.0, 0.0]), (32, 1))
        # The world's own cost is the true one; who is told none has a weight of 0.
        told = "true" if condition == "none" else condition
        cost = given.cost(told)(given.world.constraint_inputs(seen, actions))
        seen, rewards, _, _, info = env.step(actions)
        _, theirs, _, _, _ = plain.step(actions)
        assert info["cost"] == pytest.approx(cost, abs=1e-6)
        assert rewards == pytest.approx(theirs - 0.25 * cost, abs=1e-5)


def test_stacks_of_seeds_are_joined_and_failed_ones_left_out(tmp_path):
    world, paths = small_world("nav"), []
    made = networks(2, (1, 2, 3))
    for group, rows in (("1-2", [0, 1]), ("3-3", [2])):
        folder = tmp_path / f"results/quick/runs/nav/icl/seeds-{group}/final"
        folder.mkdir(parents=True)
        paths.append(folder / "constraint.safetensors")
        failed = np.array([0, 7]) if len(rows) == 2 else np.array([0])
        write_tensors(paths[-1], marked(made.pick(rows).tensors(), failed), {})
    found = joined(paths, world, 0.3)
    assert found.seeds == (1, 3) and found.failed_seeds == (2,) and found.beta == 0.3
    spots = np.random.default_rng(0).uniform(-1, 1, (9, 2)).astype(np.float32)
    logits = made.pick([0, 2])(np.broadcast_to(spots, (2, 9, 2)))[..., 0].astype(np.float64)
    expected = (1 / (1 + np.exp(-logits))).mean(axis=0)
    assert found.predict(spots, np.zeros((9, 2))) == pytest.approx(expected, abs=1e-6)


def test_a_world_without_a_true_constraint_cannot_score():
    given = transfer("nav")
    given.world.true_constraint = None
    try:
        with pytest.raises(InputError, match=r"nav: expected a world whose true constraint is kno"):
            given.cost("none")
    finally:
        del given.world.true_constraint


def test_our_learner_needs_no_stable_baselines():
    code = "import sys, icl_core.using.transfer; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "stable_baselines3", "gymnasium", "matplotlib"} & {*loaded}
