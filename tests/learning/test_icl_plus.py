"""ICL+: with all off it is ICL, bit by bit; each part by itself."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from icl_core.errors import InputError
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icl import algorithm as icl
from icl_core.learning.methods.icl.soft_loss import (
    AdjustmentSettings,
    SoftLoss,
    Visits,
    descend,
    normalised,
)
from icl_core.learning.methods.icl.state import ConstraintSettings
from icl_core.learning.methods.icl_plus import adjustment, algorithm
from icl_core.learning.methods.icl_plus.ensemble import Ensemble, averaged
from icl_core.learning.methods.icl_plus.judging import BestStep, Judge, best_pairs, split
from icl_core.learning.methods.icl_plus.objective import Guidance, GuidedLoss, SparingLoss, guided
from icl_core.randomness import generators
from icl_core.settings import build
from tests.learning.icl_steps import LAGRANGIAN, TINY
from tests.learning.tiny import (
    BAD,
    Listening,
    assert_only_bad_failed,
    assert_same_runs,
    problem_of,
)

SEEDS = (3, 8, 5)
OFF = {
    "held_out": 0.0,
    "networks": 1,
    "allowance": 0.0,
    "fading": False,
    "smoothness": 0.0,
    "sparseness": 0.0,
}


def settings_of(of=TINY, **options):
    parts = {one.name: getattr(of, one.name) for one in fields(of)}
    return algorithm.Settings(**parts, **(OFF | {"interval": 2} | options))


def learned(seeds=SEEDS, name="gridworld-a", of=TINY, job=None, **options):
    return algorithm.learn(problem_of(name, list(seeds)), settings_of(of, **options), job or Job())


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("gridworld-a", TINY),
        ("cartpole-mid", TINY),
        ("halfcheetah", LAGRANGIAN),
        (
            "gridworld-b",
            replace(TINY, adjustment=replace(TINY.adjustment, objective="lagrangian")),
        ),
        ("gridworld-b", replace(TINY, loop=replace(TINY.loop, tolerance=3.0, patience=1))),
    ],
)
def test_with_all_off_it_is_icl_to_the_bit(name, of):
    theirs = icl.learn(problem_of(name, list(SEEDS)), of, Job())
    assert_same_runs(learned(name=name, of=of), theirs, [0, 1, 2])


OPTIONS = [
    {"held_out": 0.4},
    {"held_out": 0.4, "choose": "held-out"},
    {"networks": 3},
    {"allowance": 0.4},
    {"held_out": 0.4, "allowance": "held-out"},
    {"smoothness": 1.0},
    {"sparseness": 1.0},
    {"fading": True},
    {"held_out": 0.4, "networks": 2, "allowance": 0.4, "smoothness": 1.0, "sparseness": 1.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_part_keeps_runs_apart(options):
    whole = learned(**options)
    assert_same_runs(whole, learned([5, 3], **options), [2, 0])
    assert whole.constraint.sizes == (2, *[16 * options.get("networks", 1)] * 2, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"networks": 3},
        {"allowance": 0.4},
        {"fading": True},
        {"smoothness": 9.0},
        {"sparseness": 9.0},
    ],
)
def test_each_part_has_a_say(options):
    rounds = replace(TINY, adjustment=replace(TINY.adjustment, steps=30))
    ours, plain = (learned([1], of=rounds, **some) for some in (options, {}))
    assert ours.constraint.parameters.tobytes() != plain.constraint.parameters.tobytes()


def test_a_member_that_diverges_fails_its_seed_alone(monkeypatch):
    options = {"networks": 2, "held_out": 0.4}
    healthy, real, calls = learned(**options), adjustment.descend, []

    def spoiled(network, *given):
        log = real(network, *given)
        calls.append(1)
        if len(calls) == 7:  # of each seed two rounds of two members: here the second's of seed 8
            network.parameters[:, 5] = np.inf
        return log

    monkeypatch.setattr(adjustment, "descend", spoiled)
    heard = Listening()
    assert_only_bad_failed(learned(job=Job(heard), **options), healthy)
    (said,) = heard.said
    assert f"seed {BAD} has failed" in said
    assert said.endswith("learning.icl-plus.adjustment.learning_rate")


def test_the_mean_network_gives_the_mean_of_the_outputs():
    for hidden in ((), (8,), (16, 8)):
        members = [
            Networks.initialise(generators([1, 2], "c", k), (3, *hidden, 1)) for k in range(3)
        ]
        inputs = np.random.default_rng(0).normal(size=(2, 20, 3)).astype(np.float32)
        expected = np.mean([member(inputs) for member in members], axis=0)
        joined = averaged(members)
        np.testing.assert_allclose(joined(inputs), expected, atol=1e-6)
        again = Networks.from_tensors(joined.tensors())  # as every reader does
        np.testing.assert_array_equal(again(inputs), joined(inputs))
    one = averaged(members[:1])
    assert one.parameters.tobytes() == members[0].parameters.tobytes()


def test_members_begin_apart_with_the_same_c():
    start = Ensemble.initial(problem_of("gridworld-a", [1, 2]), ConstraintSettings(initial=0.1), 3)
    networks = [member.networks for member in start.members]
    assert len({one.parameters.tobytes() for one in networks}) == 3
    for one in networks:
        np.testing.assert_allclose(one.layers[-1][1], networks[0].layers[-1][1])


@pytest.mark.parametrize("fading", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_losses_and_gradients_are_those_of_autograd(seed, fading):
    rng = np.random.default_rng(seed)
    agent, expert = (rng.poisson(0.4, size=(n, 15)).astype(float) for n in (6, 7))
    weights, c, beta = normalised(rng.random(6)), rng.random(42), rng.uniform(0.5, 3.0)
    spared, (smooth, sparse) = int(rng.integers(4)), rng.uniform(0.1, 5, size=2)
    chosen = AdjustmentSettings(penalty=20.0, max_agent_cost=3.0)
    inner = SparingLoss(agent, expert, weights, beta, chosen, spared, fading)
    loss = GuidedLoss.around(inner, Guidance(smooth, sparse))
    leaf = torch.tensor(c, requires_grad=True)
    costs = torch.sort(torch.tensor(expert) @ leaf[:15])[0][: 7 - spared]
    agents = torch.clamp(torch.tensor(agent) @ leaf[:15], max=3 * beta)
    if fading:
        agents = beta * torch.log(1 + agents / beta)
    value = 20.0 * torch.relu(costs - beta).sum() / 7 - (torch.tensor(weights) * agents).sum()
    value = value + smooth * ((leaf[:15] - leaf[15:30]) ** 2).mean() + sparse * leaf[30:].mean()
    value.backward()
    np.testing.assert_allclose(loss.gradient(c), leaf.grad.numpy(), rtol=1e-10, atol=1e-12)
    assert loss.log(c[None], np.array([20.0]))["loss"][0] == pytest.approx(value.item())


def test_guided_inputs_are_moved_and_spread():
    problem = problem_of("gridworld-a", [1])
    visits = Visits(problem.world, problem.demonstrations)
    rng, n = np.random.default_rng(0), len(visits.inputs)
    more = guided(visits, Guidance(1.0, 1.0), 0.25, rng)
    plain, moved, spread = np.split(more.inputs, 3)
    low, high = plain.min(axis=0), plain.max(axis=0)
    margin = 0.25 * (high - low)
    assert (plain == visits.inputs).all() and len(spread) == n
    assert (spread >= low - margin).all() and (spread <= high + margin).all()
    assert ((spread < low) | (spread > high)).any()
    assert 0.5 < ((moved - plain) / margin).std() < 1.5
    assert len(guided(visits, Guidance(sparseness=1.0), 0.25, rng).inputs) == 2 * n
    assert visits.inputs.shape == plain.shape  # its own are as they were


def test_a_sparse_constraint_is_low_where_nobody_goes():
    """Agents push c up along the diagonal; off it, nobody says anything but the sparse one."""
    problem = problem_of("gridworld-a", [1])
    visits = Visits(problem.world, problem.demonstrations[:1])
    visits.inputs = np.tile(np.arange(7, dtype=np.float32)[:, None], 2)
    agent, expert = np.ones((1, 7)), np.zeros((1, 7))
    settings = AdjustmentSettings(steps=300, max_agent_cost=0.0)
    corners = np.array([[[0.0, 6.0], [6.0, 0.0]]], np.float32)
    found = []
    for sparseness in (0.0, 20.0):
        network = Networks.initialise(generators([1], "constraint"), (2, 16, 16, 1))
        guidance = Guidance(sparseness=sparseness, smoothness=1e-9)
        inner = SoftLoss(agent, expert, np.ones(1), 1.0, settings)
        seen = guided(visits, guidance, 0.1, np.random.default_rng(0))
        adam = Adam(network.parameters, 5e-3)
        descend(network, adam, seen, GuidedLoss.around(inner, guidance))
        found.append(network(corners)[0, :, 0])
    plain, sparse = found
    assert (plain > 1).all() and (sparse < plain - 1).all()


def test_without_allowance_the_loss_is_icls():
    rng = np.random.default_rng(1)
    parts = (rng.random((6, 9)), rng.random((5, 9)), normalised(rng.random(6)), 2.0)
    ours = SparingLoss(*parts, AdjustmentSettings(), 0)
    theirs, c = SoftLoss(*parts, AdjustmentSettings()), rng.random(9)
    np.testing.assert_array_equal(ours.gradient(c), theirs.gradient(c))


def test_each_seed_holds_out_demonstrations_of_its_own():
    shown = problem_of("gridworld-a", [1]).demonstrations[np.arange(40) % 5]
    learned_part, held = split(shown, 0.3, 1)
    assert (len(learned_part), len(held)) == (28, 12)
    assert split(shown, 0.0, 1) == (shown, None)
    assert [len(part) for part in split(shown[:2], 0.9, 1)] == [1, 1]
    other = split(shown, 0.3, 2)[1]
    assert held.states.tobytes() != other.states.tobytes()
    with pytest.raises(InputError, match="held_out: expected at least 2"):
        split(shown[:1], 0.3, 1)


def constant(logit):
    """A network of one input and one run, c the same everywhere."""
    networks = Networks.blank(1, (1, 1))
    networks.layers[-1][1][...] = logit
    return networks


JUDGE = Judge(
    np.zeros((1, 1), np.float32),
    np.array([[4.0], [1.0]]),  # agents, of weight 3/4 and 1/4
    np.array([[1.0], [2.0], [5.0], [9.0]]),
    np.array([0.75, 0.25]),
    1.0,
)


def test_the_score_counts_who_keeps_and_who_breaks():
    assert JUDGE.score(constant(0.0)) == pytest.approx(0.5 + 0.75 - 1)  # c = 1/2
    assert JUDGE.score(constant(-50.0)) == pytest.approx(1.0 + 0.0 - 1)
    assert JUDGE.score(constant(50.0)) == pytest.approx(0.25 + 0.75 - 1)


def test_the_best_step_is_kept_and_of_equal_ones_the_latest():
    state = Ensemble.initial(problem_of("gridworld-a", [1]), ConstraintSettings(), 1)
    own = replace(state.members[0], networks=constant(-50.0))
    best = BestStep(JUDGE, own, 2)
    for logit in (-50.0, 0.0, -0.1, 0.0, 50.0):  # looked at: the first, third and fifth
        own.networks.layers[-1][1][...] = logit
        own.steps[0] += 1
        best.watch()
    assert best.kept.steps[0] == 3
    assert best.kept.networks.layers[-1][1].item() == np.float32(-0.1)
    own.networks.layers[-1][1][...] = 0.0
    best.look()
    assert best.kept.networks.layers[-1][1].item() == 0.0


def test_which_iteration_the_score_keeps():
    state = Ensemble.initial(problem_of("gridworld-a", [1]), ConstraintSettings(), 1)
    states = [replace(state.members[0], networks=constant(x)) for x in (0.0, -50.0, 0.0, -0.1)]
    nad = np.array([[0.0], [1.0], [3.0], [2.0]])
    by_nad = np.array([2])
    assert best_pairs(states, [JUDGE], nad, by_nad, 2) == [4]  # of two equal ones the nearer
    assert best_pairs(states, [JUDGE], nad, by_nad, 1) == [1]
    nad[3] = np.inf
    assert best_pairs(states, [JUDGE], nad, by_nad, 2) == [3]
    assert best_pairs(states, [None], nad, by_nad, 2) == [2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"held_out": 0.0, "choose": "held-out"}, "choose: expected demonstrations held out"),
        ({"held_out": 0.0, "allowance": "held-out"}, "allowance: expected demonstrations held"),
        ({"allowance": 0.1, "adjustment": {"hinge": "mean"}}, "found soft and mean"),
        ({"held_out": 1.0}, "held_out"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        build(algorithm.Settings, given, "learning.icl-plus")
