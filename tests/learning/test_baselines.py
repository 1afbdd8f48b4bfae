"""GAIL-Constraint and ICRL: the contract of every method, resuming, and each one's own parts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning import resume
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.on_policy import OnPolicySettings
from icl_core.learning.engine.optimisers import Adam, Multiplier
from icl_core.learning.engine.rollouts import roll_out, roll_out_without_reset
from icl_core.learning.engine.training import TRAINING_SCHEMA, Store
from icl_core.learning.methods.gail_constraint import (
    GAILSettings,
    discriminate,
    pairs,
    rollouts_of,
    train_gail_constraint,
)
from icl_core.learning.methods.icrl.algorithm import ICRLSettings, train_icrl
from icl_core.learning.methods.icrl.feasibility import BackwardSettings
from icl_core.measuring.loading import constraint_values
from icl_core.randomness import generators
from tests.worlds import SYNTHETIC, short_world, some_policies

ALL = (*SYNTHETIC, "highd", "exid", "ant")
PPO = OnPolicySettings(hidden=(16, 16), steps=120, environments=6, passes=3, batch=32)
GAIL = GAILSettings(total_steps=480, warm_up=1, batch=32)
ICRL = ICRLSettings(
    iterations=3, forward_steps=200, episodes=6, backward=BackwardSettings(passes=2, batch=32)
)
METHODS = {"gail-constraint": (train_gail_constraint, GAIL), "icrl": (train_icrl, ICRL)}
ROLLOUTS = {"gail-constraint": 4, "icrl": 6}


def demonstrations_of(world):
    """Episodes of some fixed policy: what they are does not matter here."""
    policy = some_policies(world, generators([99], "d"))
    return roll_out(world, policy, generators([99], "r"), 5)[0]


def train(method, name, seeds, store=None, ppo=PPO, progress=None, **changes):
    world = short_world(name)
    function, settings = METHODS[method]
    settings = replace(settings, **changes)
    given = (world, demonstrations_of(world), seeds, settings, ppo, (16, 16), 7)
    return function(*given, progress, store)


def assert_same_runs(whole, some, which):
    for ours, theirs in [(whole.constraint, some.constraint), (whole.policy, some.policy)]:
        np.testing.assert_array_equal(ours.parameters[which], theirs.parameters)
    for ours, theirs in zip(whole.rollouts.parts(), some.rollouts.parts(), strict=True):
        np.testing.assert_array_equal(ours[which], theirs)
    ours, theirs = (log_by_seed(end.log) for end in (whole, some))
    for seed, rows in theirs.items():
        np.testing.assert_array_equal(ours[seed], rows)


def log_by_seed(log):
    columns = np.stack([log[name].to_numpy() for name in log.column_names[1:]])
    seeds = log["seed"].to_numpy()
    return {seed: columns[:, seeds == seed] for seed in np.unique(seeds)}


# ------------------------------------------------------------------ the contract


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ALL)
def test_what_a_method_ends_with(method, name):
    world, seeds = short_world(name), [3, 8, 5]
    end = train(method, name, seeds)
    assert end.constraint.sizes == (world.input_size, 16, 16, 1)
    assert end.policy.sizes == (world.observation_size, 16, 16, actions_of(world).outputs)
    assert (end.constraint.activation, end.policy.activation) == ("relu", "tanh")
    values = constraint_values(end.constraint, world)
    assert values.shape == (3, *world.grid.shape)
    assert ((values > 0) & (values < 1)).all()
    assert end.log.schema == TRAINING_SCHEMA
    assert end.log["seed"].to_pylist() == np.repeat(seeds, ROLLOUTS[method]).tolist()
    assert end.rollouts.rewards.shape == (3, 7, world.horizon)
    # a stored policy acts as the one that was trained
    again = Networks.from_tensors(end.policy.tensors())
    played = roll_out(world, again, generators(seeds, "report"), 7)
    np.testing.assert_array_equal(played.states, end.rollouts.states)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ALL)
def test_a_seed_learns_the_same_again_alone_and_in_a_stack(method, name):
    together = train(method, name, [3, 8, 5])
    assert_same_runs(together, train(method, name, [3, 8, 5]), [0, 1, 2])
    assert_same_runs(together, train(method, name, [8]), [1])
    assert_same_runs(together, train(method, name, [5, 3]), [2, 0])


FAULTS = [
    ("gail-constraint", {"first_pairs_only": True}),
    ("icrl", {"never_reset": True}),
    ("icrl", {"backward": replace(ICRL.backward, ignore_weights=True)}),
]


@pytest.mark.parametrize(("method", "fault"), FAULTS, ids=str)
def test_faults_of_the_authors_code_change_the_result_and_keep_runs_apart(method, fault):
    together = train(method, "cartpole-mid", [1, 2], **fault)
    assert_same_runs(together, train(method, "cartpole-mid", [2], **fault), [1])
    right = train(method, "cartpole-mid", [1, 2])
    assert not np.array_equal(together.constraint.parameters, right.constraint.parameters)


def test_steps_must_fill_the_environments():
    with pytest.raises(InputError, match="expected a multiple of"):
        train("icrl", "gridworld-a", [1], ppo=replace(PPO, environments=7))


# ------------------------------------------------------------------ resuming


class Killed(Exception):
    """Stands for the end of a process."""


def kill_after(steps):
    def progress(done, **_):
        if done > steps:
            raise Killed

    return progress


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(method, tmp_path):
    whole = train(method, "cartpole-mr", [1, 2])
    store = Store(tmp_path / "unfinished.safetensors", {"code": "x"}, seconds=0.0)
    for survived in (1, 2):
        with pytest.raises(Killed):
            train(method, "cartpole-mr", [1, 2], store, progress=kill_after(survived))
    resumed = []
    end = train(method, "cartpole-mr", [1, 2], store, progress=lambda n, **_: resumed.append(n))
    assert resumed[0] == 3  # not from the beginning
    assert_same_runs(whole, end, [0, 1])
    store.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_state_of_another_job_or_a_broken_one_is_not_taken_up(tmp_path):
    path = tmp_path / "unfinished.safetensors"
    assert Store(path, {}).load() is None
    Store(path, {"code": "x"}, seconds=0.0).offer(lambda: {"a": np.arange(3)})
    np.testing.assert_array_equal(Store(path, {"code": "x"}).load()["a"], np.arange(3))
    assert Store(path, {"code": "y"}).load() is None
    path.write_bytes(path.read_bytes()[:-4])
    assert Store(path, {"code": "x"}).load() is None


def test_states_are_saved_now_and_then_only(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(resume.time, "monotonic", lambda: clock[0])
    store, saved = Store(tmp_path / "s.safetensors", {}, seconds=60.0), []
    for clock[0] in (1.0, 59.0, 61.0, 100.0, 122.0):
        store.offer(lambda: saved.append(clock[0]) or {})
    assert saved == [61.0, 122.0]


# ------------------------------------------------------------------ GAIL-Constraint


def test_the_discriminator_reaches_the_bayes_optimal_value():
    """On two known discrete distributions D converges to p_E / (p_E + p_A)."""
    p_expert, p_agent = np.array([0.6, 0.3, 0.1, 0.0]), np.array([0.1, 0.3, 0.4, 0.2])
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    networks = Networks.initialise(generators([1, 2], "n"), (2, 32, 32, 1))
    optimiser = Adam(networks.parameters, 2e-3)
    rng = np.random.default_rng(0)
    for step in range(1500):
        if step == 1000:
            optimiser.learning_rate = 2e-4
        expert, agent = (cells[rng.choice(4, (2, 512), p=p)] for p in (p_expert, p_agent))
        discriminate(networks, optimiser, expert, agent)
    found = sigmoid(networks(np.stack([cells, cells]))[..., 0])
    optimal = p_expert / (p_expert + p_agent)
    np.testing.assert_allclose(found, np.stack([optimal] * 2), atol=0.03)
    recovered = sigmoid(networks.negated()(np.stack([cells, cells]))[..., 0])
    np.testing.assert_allclose(recovered, 1.0 - found, atol=1e-6)


def test_a_discriminator_step_is_that_of_torch():
    networks = Networks.initialise(generators([1], "n"), (2, 8, 1))
    leaves = [
        torch.tensor(part[0].copy(), requires_grad=True)
        for layer in networks.layers
        for part in layer
    ]
    theirs = torch.optim.Adam(leaves, 1e-2)
    ours = Adam(networks.parameters, 1e-2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        expert, agent = rng.normal(size=(2, 1, 20, 2)).astype(np.float32)
        discriminate(networks, ours, expert, agent)
        logits = [
            torch.relu(torch.tensor(side[0]) @ leaves[0] + leaves[1]) @ leaves[2] + leaves[3]
            for side in (expert, agent)
        ]
        bce = torch.nn.functional.binary_cross_entropy_with_logits
        loss = bce(logits[0], torch.ones(20, 1)) + bce(logits[1], torch.zeros(20, 1))
        theirs.zero_grad()
        loss.backward()
        theirs.step()
    expected = torch.cat([leaf.detach().reshape(-1) for leaf in leaves]).numpy()
    np.testing.assert_allclose(networks.parameters[0], expected, atol=1e-5)


def test_a_pass_draws_pairs_from_all_demonstrations_unless_told_otherwise():
    expert = np.arange(100, dtype=np.float32)[:, None]
    agent = np.arange(60, dtype=np.float32)[None, :, None].repeat(2, axis=0)
    for first_only, highest in [(False, 99), (True, 59)]:
        seen = set()
        for k in range(20):
            rngs = generators([1, 2], "p", k)
            batches = list(pairs(expert, agent, rngs, 25, first_only))
            assert [e.shape for e, _ in batches] == [(2, 25, 1), (2, 25, 1), (2, 10, 1)]
            theirs, ours = (np.concatenate(side, axis=1) for side in zip(*batches, strict=True))
            for run in range(2):
                assert len(np.unique(theirs[run])) == len(np.unique(ours[run])) == 60
            assert np.array_equal(theirs, ours) == first_only
            seen |= set(theirs.ravel())
        assert max(seen) == highest


def test_a_warm_up_is_reward_alone():
    """Its policies do not depend on the demonstrations, and D stays as it was drawn."""
    world, ends = make_world("gridworld-a"), []
    for demonstrations in (demonstrations_of(world), demonstrations_of(world)[:2]):
        settings = replace(GAIL, warm_up=4)
        given = (world, demonstrations, [1], settings, PPO, (16, 16), 7)
        ends.append(train_gail_constraint(*given))
    assert_same_runs(*ends, [0])
    fresh = Networks.initialise(generators([1], "constraint"), (2, 16, 16, 1)).negated()
    np.testing.assert_array_equal(ends[0].constraint.parameters, fresh.parameters)
    later = train("gail-constraint", "gridworld-a", [1], warm_up=3)
    assert not np.array_equal(later.constraint.parameters, fresh.parameters)


def test_rollouts_reach_the_total():
    assert rollouts_of(GAILSettings(), OnPolicySettings()) == 1000
    assert rollouts_of(GAILSettings(total_steps=2001), OnPolicySettings()) == 2


# ------------------------------------------------------------------ ICRL


def test_the_multiplier_follows_torch():
    """nu = softplus(kappa), Adam on -nu (cost - budget), nu = 0.1 at first."""
    ours = Multiplier(2, 0.1, 0.01)
    np.testing.assert_allclose(ours.value, 0.1)
    kappa = torch.full((2,), float(np.log(np.expm1(0.1))), dtype=torch.float64, requires_grad=True)
    theirs = torch.optim.Adam([kappa], 0.01)
    rng = np.random.default_rng(0)
    for _ in range(100):
        excess = rng.uniform(-0.5, 1.0, size=2)
        ours.step(excess.copy())
        theirs.zero_grad()
        (-torch.nn.functional.softplus(kappa) * torch.tensor(excess)).sum().backward()
        theirs.step()
    expected = torch.nn.functional.softplus(kappa).detach().numpy()
    np.testing.assert_allclose(ours.value, expected, rtol=1e-4)


def test_a_multiplier_grows_while_there_is_any_cost():
    multiplier = Multiplier(1, 0.1, 0.01)
    values = []
    for _ in range(50):
        multiplier.step(np.array([0.01]))
        values.append(multiplier.value[0])
    assert (np.diff([0.1, *values]) > 0).all()


@pytest.mark.parametrize("name", ["gridworld-a", "cartpole-mr"])
def test_without_a_reset_all_but_the_first_episode_are_one_step_onwards(name):
    world = make_world(name)
    policies = Networks.initialise(generators([1, 2], "p"), (world.state_size, 16, world.n_actions))
    played = roll_out_without_reset(world, policies, generators([1, 2], "r"), 5)
    first = roll_out(world, policies, generators([1, 2], "r"), 1)
    for ours, theirs in zip(played.parts(), first.parts(), strict=True):
        np.testing.assert_array_equal(ours[:, 0], theirs[:, 0])
    np.testing.assert_array_equal(played.lengths[:, 1:], 1)
    for run in range(2):
        last = played.lengths[run, 0] - 1
        before = [played.states[run, 0, last], *played.states[run, 1:-1, 0]]
        actions = [played.actions[run, 0, last], *played.actions[run, 1:-1, 0]]
        moved = world.step(np.array(before), np.array(actions))[0]
        np.testing.assert_allclose(played.states[run, 1:, 0], moved, atol=1e-6)
