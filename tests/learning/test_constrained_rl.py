"""Constrained RL: its parts against plain loops and autograd, and that it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.learning.constrained_rl.lagrangian import (
    ROBOTS,
    LagrangianLearner,
    LagrangianSettings,
)
from icl_core.learning.constrained_rl.penalty import PenaltyLearner, PenaltySettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings, train_policies
from icl_core.learning.engine.costs import constraint_values, truncate
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job
from icl_core.randomness import generators
from tests.learning.tiny import Heard, Killed, killed_job
from tests.worlds import DRIVING, SYNTHETIC, short_world

SEGMENTS = replace(ROBOTS, hidden=(16,), steps=200, environments=4, passes=3, batch=100)
PENALTY = PenaltySettings(episodes=5, ppo=PPOSettings(updates=3, batch=16, buffer=300))
SMALL = ConstrainedRLSettings(
    epochs=4, penalty=PENALTY, lagrangian=LagrangianSettings(on_policy=SEGMENTS)
)


def train(world, constraint, seeds, settings, job=None):
    """To the world's own threshold."""
    rngs = generators(seeds, "t")
    return train_policies(world, constraint, world.threshold, rngs, settings, job)


def random_episodes(world, seeds, episodes=8):
    sizes = (world.state_size, 16, world.n_actions)
    policies = Networks.initialise(generators(seeds, "policy"), sizes)
    return roll_out(world, policies, generators(seeds, "rollout"), episodes)


def smooth(inputs):
    """Some constraint with values strictly between 0 and 1, the same for each run."""
    return (1 / (1 + np.exp(-np.sin(3.0 * inputs).sum(axis=-1)))).astype(np.float32)


def always(inputs):
    """Every step costs 1."""
    return np.ones(inputs.shape[:-1], np.float32)


# ------------------------------------------------------------------ truncation and costs


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["gridworld-a", "cartpole-mid"]))
def test_truncation_is_that_of_a_plain_loop(seed, name):
    rng = np.random.default_rng(seed)
    world = make_world(name)
    shape = (2, 5, world.horizon)
    lengths = rng.integers(1, world.horizon + 1, size=shape[:2])
    mask = np.arange(world.horizon) < lengths[..., None]
    states = rng.normal(size=(*shape, world.state_size)).astype(np.float32) * mask[..., None]
    actions = rng.integers(1, 3, size=shape) * mask
    rewards = rng.normal(size=shape).astype(np.float32) * mask
    # a share of zero steps, and scales at which some episodes reach beta and some do not
    scale = world.threshold / world.horizon * rng.choice([0.5, 2.0, 20.0], size=(2, 5, 1))
    costs = (rng.random(shape) * (rng.random(shape) < 0.7) * scale * mask).astype(np.float32)
    ours = truncate(
        Trajectories(states, actions, rewards, lengths), costs, world.discount, world.threshold
    )
    for run in range(2):
        for k in range(5):
            running, end = 0.0, 0
            for t in range(lengths[run, k]):
                running += world.discount**t * float(costs[run, k, t])
                end = t + 1
                if running >= world.threshold:
                    break
            assert ours.lengths[run, k] == end
            for part, whole in zip(ours.parts()[:3], (states, actions, rewards), strict=True):
                np.testing.assert_array_equal(part[run, k, :end], whole[run, k, :end])
                assert not part[run, k, end:].any()


def test_the_step_that_reaches_beta_is_kept_and_pays():
    """A goal that is itself the violation: the reward of that very step still counts."""
    world = make_world("gridworld-a")  # beta 0.99, no discount
    ones = np.ones((1, 1, 4), np.float32)
    episodes = Trajectories(ones[..., None].repeat(2, -1), np.ones((1, 1, 4), int), ones, [[4]])
    episodes = replace(episodes, lengths=np.array([[4]]))
    for costs, expected in [
        ([0, 0, 1, 1], 3),
        ([1, 0, 0, 0], 1),
        ([0.5, 0.4, 0.08, 0], 4),
        ([0.5, 0.5, 0, 0], 2),
        ([0, 0, 0, 1], 4),
    ]:
        ended = truncate(episodes, np.array([[costs]], np.float32), world.discount, 0.99)
        assert ended.lengths[0, 0] == expected
        assert ended.rewards.sum() == expected


@pytest.mark.parametrize("name", ["gridworld-b", "cartpole-mid"])
def test_constraint_values_are_those_of_each_step(name):
    world = make_world(name)
    episodes = random_episodes(world, [1, 2])
    values = constraint_values(world, world.true_constraint, episodes)
    assert values.shape == episodes.rewards.shape
    assert 0 < values.sum() < episodes.lengths.sum()
    for run in range(2):
        for k in range(len(episodes[run])):
            for t in range(world.horizon):
                state, action = episodes.states[run, k, t], episodes.actions[run, k, t]
                expected = world.true_constraint(world.constraint_inputs(state, action))
                taken = t < episodes.lengths[run, k]
                assert values[run, k, t] == (expected if taken else 0.0)


def test_each_run_has_its_own_constraint():
    world = make_world("gridworld-a")
    episodes = random_episodes(world, [1, 2, 3])
    tables = np.array([[0.1], [0.2], [0.3]], np.float32)
    values = constraint_values(world, lambda x: np.broadcast_to(tables, x.shape[:2]), episodes)
    for run in range(3):
        assert set(values[run][episodes[run].mask]) == {tables[run, 0]}


# ------------------------------------------------------------------ the projection


class Recorder(Adam):
    """Keeps the gradients and moves nothing."""

    seen: list = []  # noqa: RUF012

    def step(self, parameters, gradient):
        self.seen.append(gradient.copy())


@pytest.mark.parametrize("name", ["gridworld-a", "cartpole-mr"])
def test_projection_follows_the_gradient_of_autograd(name, monkeypatch):
    """Per violating episode, the step descends sum_t C_t log pi(a_t | s_t) (App. B.1)."""
    world, beta = make_world(name), 3.0
    chosen = replace(PENALTY, feasibility_rate=1e-3)
    learner = PenaltyLearner(world, smooth, beta, generators([1, 2], "p"), chosen)
    policy = learner.agents.policy
    episodes = roll_out(world, policy, generators([1, 2], "r"), 6)
    costs = constraint_values(world, smooth, episodes) * 0.25
    Recorder.seen = []
    monkeypatch.setattr("icl_core.learning.constrained_rl.penalty.Adam", Recorder)
    learner._project(episodes, costs)
    assert len(Recorder.seen) == 6
    violated = []
    for run in range(2):
        for k in range(6):
            n = episodes.lengths[run, k]
            gamma = world.discount ** np.arange(n)
            to_go = [gamma[: n - t] @ costs[run, k, t:n] for t in range(n)]
            violated.append(to_go[0] >= beta)
            expected = np.zeros(policy.parameters.shape[1])
            if violated[-1]:
                expected = projection_gradient(policy, run, episodes[run][k], to_go)
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(Recorder.seen[k][run] / scale, expected / scale, atol=1e-5)
    assert 0 < sum(violated) < len(violated)  # both kinds occurred


def projection_gradient(policy, run, episode, to_go):
    leaves = []
    for weights, biases in policy.layers:
        leaves += [torch.tensor(weights[run]).double(), torch.tensor(biases[run, 0]).double()]
    for leaf in leaves:
        leaf.requires_grad_()
    n = len(to_go)
    hidden = torch.tensor(episode.states[:n]).double()
    for depth in range(0, len(leaves) - 2, 2):
        hidden = torch.relu(hidden @ leaves[depth] + leaves[depth + 1])
    log_pi = torch.log_softmax(hidden @ leaves[-2] + leaves[-1], -1)
    chosen = log_pi[torch.arange(n), torch.tensor(episode.actions[:n])]
    (torch.tensor(np.array(to_go)) * chosen).sum().backward()
    return torch.cat([leaf.grad.reshape(-1) for leaf in leaves]).numpy()


def test_projection_lowers_the_probability_of_costly_actions():
    world = make_world("gridworld-a")
    chosen = replace(PENALTY, feasibility_rate=1e-2, ppo=replace(PENALTY.ppo, updates=0))
    learner = PenaltyLearner(world, always, world.threshold, generators([1], "p"), chosen)
    episodes = roll_out(world, learner.agents.policy, generators([1], "r"), 1)
    states, actions = episodes.states[0, 0, 0], episodes.actions[0, 0, 0]
    before = learner.agents.policy(states[None, None])[0, 0]
    learner._project(episodes, constraint_values(world, learner.constraint, episodes))
    after = learner.agents.policy(states[None, None])[0, 0]
    share = [np.exp(x[actions] - np.log(np.exp(x).sum())) for x in (before, after)]
    assert share[1] < share[0]


def test_a_penalty_inside_of_ppo_is_paid_while_the_mean_breaks_the_constraint():
    world = make_world("cartpole-mr")
    played = roll_out(
        world,
        PenaltyLearner(world, smooth, 1.0, generators([1, 2], "p"), PENALTY).policy,
        generators([1, 2], "r"),
        6,
    )
    costs = constraint_values(world, smooth, played) * played.mask
    totals = [
        [world.discount ** np.arange(n) @ costs[run, k, :n] for k, n in enumerate(lengths)]
        for run, lengths in enumerate(played.lengths)
    ]
    low, high = sorted(np.mean(totals, axis=1))
    learner = PenaltyLearner(
        world, smooth, (low + high) / 2, generators([1, 2], "p"), replace(PENALTY, soft_weight=2.0)
    )
    paid = learner._penalised(played, costs).rewards
    cheap, dear = np.argsort(np.mean(totals, axis=1))
    np.testing.assert_array_equal(paid[cheap], played.rewards[cheap])
    np.testing.assert_allclose(paid[dear], played.rewards[dear] - 2 * costs[dear], rtol=1e-6)
    learner.settings = replace(PENALTY, soft_weight=0.0)
    assert learner._penalised(played, costs) is played


# ------------------------------------------------------------------ whole runs


def penalised(**changes):
    return {"penalty": replace(PENALTY, **changes)}


VARIANTS = {
    "penalty": {},
    "projection": penalised(feasibility_rate=1e-3),
    "projection without truncation": penalised(feasibility_rate=1e-3, truncate=False),
    "penalty inside": penalised(soft_weight=15.0, truncate=False),
    "lagrangian": {"procedure": "lagrangian"},
    "lagrangian with the authors' faults": {
        "procedure": "lagrangian",
        "lagrangian": LagrangianSettings(
            on_policy=SEGMENTS, reward_as_cost=True, other_actions=True
        ),
    },
    "no memory, normalised": penalised(ppo=replace(PENALTY.ppo, buffer=0, normalise=True)),
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("name", [*SYNTHETIC, *DRIVING])
def test_a_seed_learns_the_same_alone_and_in_a_stack(name, variant):
    world = short_world(name, **({"slip": 0.2} if name == "gridworld-b" else {}))
    chosen, seeds = replace(SMALL, **variant), [1, 2, 3, 4, 5]
    together = train(world, smooth, seeds, chosen)
    assert [s.runs for s in together.snapshots] == [5, 5]
    assert {v.shape for v in together.log.values()} == {(chosen.epochs, 5)}
    for some in ([0], [4], [1, 3]):
        part = train(world, smooth, [seeds[k] for k in some], chosen)
        for whole, one in zip(together.snapshots, part.snapshots, strict=True):
            np.testing.assert_array_equal(whole.parameters[some], one.parameters)
        for column, values in together.log.items():
            np.testing.assert_array_equal(values[:, some], part.log[column], err_msg=column)


def test_snapshots_are_of_half_way_and_the_end():
    world = make_world("gridworld-a")
    whole = train(world, smooth, [1], SMALL)
    half = train(world, smooth, [1], replace(SMALL, epochs=2))
    np.testing.assert_array_equal(whole.snapshots[0].parameters, half.snapshots[-1].parameters)
    assert not np.array_equal(*(s.parameters for s in whole.snapshots))


def test_the_log_is_of_whole_episodes_not_of_truncated_ones():
    """With every step costing 1, all episodes break beta = 0.99 at once, and go on all the same."""
    world = make_world("gridworld-a")
    log = train(world, always, [1], SMALL).log
    assert (log["violations"] == 1).all()
    np.testing.assert_allclose(log["constraint_value"], log["length"])  # no discount
    assert (log["length"] > 1).all()
    assert (log["entropy"] > 0).all()
    assert (log["entropy"] <= np.log(8) + 1e-6).all()


@pytest.mark.parametrize(("procedure", "steps"), [("penalty", None), ("lagrangian", 200)])
def test_the_log_counts_the_steps_that_were_made(procedure, steps):
    log = train(
        short_world("cartpole-mr", 50), always, [1, 2], replace(SMALL, procedure=procedure)
    ).log
    expected = PENALTY.episodes * log["length"] if steps is None else np.full((4, 2), steps)
    np.testing.assert_allclose(log["steps"], expected)


@pytest.mark.parametrize("fault", [False, True])
def test_the_multiplier_waits_for_the_warm_up_then_follows_the_excess(fault):
    """In CartPole, 50 steps each: the multiplier's sign is that of what it should follow."""
    world, beta = make_world("cartpole-mr"), 15.0  # episodes cost about 10 and pay about 20
    chosen = LagrangianSettings(on_policy=SEGMENTS, warm_up=2, reward_as_cost=fault)
    half = lambda x: np.full(x.shape[:-1], 0.5, np.float32)  # noqa: E731
    learner = LagrangianLearner(world, half, beta, generators([1, 2], "m"), chosen)
    before = learner.multiplier.value
    np.testing.assert_allclose(before, 1.0)
    for epoch in range(1, 6):
        row = learner.epoch()
        followed = row["return"] if fault else row["constraint_value"]
        now = learner.multiplier.value
        if epoch <= 2:
            np.testing.assert_array_equal(now, before)
        elif epoch == 3:  # Adam's first step goes by the sign alone
            np.testing.assert_array_equal(np.sign(now - before), np.sign(followed - beta))
        before = now


def test_ppo_lagrange_keeps_a_constraint_that_costs_it_reward():
    """One step, reward -(a - 1)^2, cost a, beta = 0.5: the best action is 0.5, not 1."""

    class Line(type(make_world("cartpole-mr"))):
        name, horizon, threshold, n_actions, discount = "line", 1, 0.5, 0, 0.99
        action_low = action_high = np.zeros(1, np.float32)

        def step(self, states, actions, noise=None):
            return states, -((actions[:, 0] - 1) ** 2), np.ones(len(states), bool)

        def constraint_inputs(self, observations, actions):
            return actions

    on_policy = replace(SEGMENTS, hidden=(8,), steps=256, environments=16, batch=256, passes=10)
    how = LagrangianSettings(on_policy=on_policy, max_kl=0.05, multiplier_rate=0.1)
    chosen = ConstrainedRLSettings(epochs=150, procedure="lagrangian", lagrangian=how)
    trained = train(Line(), lambda x: x[..., 0], [1, 2], chosen)
    np.testing.assert_allclose(trained.log["constraint_value"][-75:].mean(axis=0), 0.5, atol=0.1)


def test_progress_hears_of_every_epoch():
    heard = Heard()
    train(make_world("gridworld-a"), smooth, [1], SMALL, Job(heard))
    assert heard.epochs == [1, 2, 3, 4]
    assert {"reward", "J"} == set(heard.lines[0][1])


def test_truncated_ppo_learns_the_way_round_the_true_constraint():
    world = make_world("gridworld-a")
    chosen = ConstrainedRLSettings(epochs=350)
    trained = train(world, world.true_constraint, [1, 2], chosen)
    episodes = roll_out(world, trained.snapshots[-1], generators([1, 2], "check"), 500)
    values = constraint_values(world, world.true_constraint, episodes)
    assert (episodes.returns.mean(axis=1) > 0.8).all()
    assert (values.sum(axis=-1).mean(axis=1) < 0.99).all()


# ------------------------------------------------------------------ resuming


@pytest.mark.parametrize("procedure", ["penalty", "lagrangian"])
@pytest.mark.parametrize("survived", [1, 4])
def test_a_killed_training_goes_on_and_ends_with_the_same_bits(procedure, survived, tmp_path):
    """Killed before and after the half-way snapshot."""
    world = make_world("cartpole-mid")
    ppo = PPOSettings(hidden=(8,), updates=3, batch=16, buffer=300)
    settings = ConstrainedRLSettings(
        procedure,
        epochs=6,
        penalty=PenaltySettings(episodes=3, ppo=ppo),
        lagrangian=LagrangianSettings(on_policy=SEGMENTS, warm_up=1),
    )

    def trained(job):
        return train(world, world.true_constraint, [1, 2], settings, job)

    whole = trained(Job())
    with pytest.raises(Killed):
        trained(killed_job(tmp_path, survived))
    job = killed_job(tmp_path)
    again = trained(job)
    assert job.progress.epochs == list(range(survived + 1, 7))
    for ours, theirs in zip(again.snapshots, whole.snapshots, strict=True):
        np.testing.assert_array_equal(ours.parameters, theirs.parameters)
    for name, column in whole.log.items():
        np.testing.assert_array_equal(again.log[name], column)
