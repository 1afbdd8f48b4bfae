"""What a constraint says, compared with networks that are evaluated by hand and by PyTorch."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icl_core
from icl_core.artifacts import write_tensors
from icl_core.environments.inputs import inputs_of
from icl_core.errors import InputError
from icl_core.learning.engine.networks import Networks
from icl_core.using.constraint import Constraint
from tests.using.some import by_hand, constraint, networks, pairs
from tests.worlds import NAMES, small_world

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_networks_evaluated_by_hand(name, activation):
    made, world = constraint(name, activation=activation), small_world(name)
    obs, act = pairs(name, np.random.default_rng(0), 300)
    expected = by_hand(made, world.constraint_inputs(obs, act))
    assert expected.std(axis=1).min() > 1e-3  # or nothing would be compared
    np.testing.assert_allclose(made.predict_all(obs, act), expected, atol=2e-6)
    np.testing.assert_allclose(made.predict(obs, act), expected.mean(axis=0), atol=2e-6)
    np.testing.assert_allclose(made.disagreement(obs, act), expected.std(axis=0), atol=2e-6)


@given(axes=st.lists(st.integers(0, 4), max_size=3), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("name", ["cartpole-mr", "exid"])
def test_any_batch_shape_gives_the_values_of_its_pairs(name, axes, seed):
    made = constraint(name)
    obs, act = pairs(name, np.random.default_rng(seed), *axes)
    found = made.predict(obs, act)
    assert found.shape == tuple(axes) and found.dtype == np.float32
    assert made.predict_all(obs, act).shape == (3, *axes)
    assert np.all((found >= 0) & (found <= 1))
    for place in np.ndindex(*axes):
        np.testing.assert_allclose(found[place], made.predict(obs[place], act[place]), atol=1e-6)
    if name == "cartpole-mr":  # one number, written as a vector of one
        np.testing.assert_array_equal(made.predict(obs, act[..., None]), found)


def test_a_single_seed_disagrees_with_nobody():
    made = constraint(seeds=(4,))
    obs, act = pairs("gridworld-a", np.random.default_rng(0), 9)
    assert not made.disagreement(obs, act).any()
    assert isinstance(made.predict(obs[0], act[0]), np.float32)


def test_failed_seeds_are_left_out_and_remembered():
    world, seeds = small_world("gridworld-a"), (1, 2, 3, 4, 5)
    stack = networks(2, seeds)
    stack.parameters[1] = 0.0  # held, and marked by nobody
    stack.parameters[3, 5] = np.nan
    stack.parameters[4] *= 1e9
    rest = (inputs_of(world), 0.99, 1.0, seeds)
    made = Constraint(stack, *rest, failed=np.array([0, 0, 7, 0, 0]))
    assert (made.seeds, made.failed_seeds) == ((1,), (2, 3, 4, 5))
    obs, act = pairs("gridworld-a", np.random.default_rng(0), 9)
    alone = Constraint(stack.pick([0]), *rest[:3], (1,))
    np.testing.assert_array_equal(made.predict(obs, act), alone.predict(obs, act))
    with pytest.raises(InputError, match="expected a seed that has not failed, found none among"):
        Constraint(stack, *rest, failed=np.ones(5))


def test_later_training_does_not_move_it():
    stack = networks(2, (1,))
    made = Constraint(stack, inputs_of(small_world("gridworld-a")), 0.99, 1.0, (1,))
    before = made.predict([1.0, 2.0], 0)
    stack.parameters += 1
    assert made.predict([1.0, 2.0], 0) == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seeds": (1, 2)}, "seeds: expected one for each of 3 networks, found 2"),
        ({"discount": 1.5}, "found 0.99 and 1.5"),
        ({"beta": np.inf}, "found inf and 1.0"),
        ({"networks": networks(3, (1, 2, 3))}, r"expected 2 inputs \(row i, column j\) and 1 out"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, said):
    made = constraint()
    parts = {f.name: getattr(made, f.name) for f in dataclasses.fields(made)}
    with pytest.raises(InputError, match=said):
        Constraint(**parts | change)


@pytest.mark.parametrize(
    ("obs", "act", "said"),
    [
        ([1.0, 2.0, 3.0], 0, r"obs: expected an array of shape \(\.\.\., 2\), found \(3,\)"),
        (1.0, 0, r"obs: expected .* found \(\)"),
        (np.zeros((4, 2)), np.zeros(3), r"act: expected .* \(4, 1\) or \(4,\), found \(3,\)"),
        (np.zeros((4, 2)), np.zeros((4, 2)), r"act: expected .* found \(4, 2\)"),
        ([[0, 0], [np.nan, 1]], [0, 0], r"obs: expected finite numbers, found nan at index \(1, 0"),
        ([0, 0], np.inf, r"act: expected finite numbers, found inf at index \(\)"),
        ([0, 1e300], 0, "obs: expected finite numbers, found 1e"),
        (["a", "b"], 0, "obs: expected numbers, found <U1"),
        (None, 0, "obs: expected numbers, found object"),
    ],
)
def test_wrong_observations_and_actions_are_refused(obs, act, said):
    with pytest.raises(InputError, match=said):
        constraint().predict(obs, act)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("name", NAMES)
def test_torch_gives_the_same_values(name, activation):
    torch = pytest.importorskip("torch")
    made = constraint(name, activation=activation)
    module = made.to_torch()
    obs, act = pairs(name, np.random.default_rng(1), 4, 50)
    found = module(torch.tensor(obs), torch.tensor(act))
    assert found.shape == (4, 50)
    np.testing.assert_allclose(found.numpy(), made.predict(obs, act), atol=1e-6)
    single = module(torch.tensor(obs[0, 0]), torch.tensor(act[0, 0]))
    np.testing.assert_allclose(single.numpy(), made.predict(obs[0, 0], act[0, 0]), atol=1e-6)


def test_gradients_flow_through_torch_and_its_weights_are_frozen_copies():
    torch = pytest.importorskip("torch")
    made = constraint("exid")
    module = made.to_torch()
    assert all(not one.requires_grad for one in module.parameters())
    obs, act = map(torch.tensor, pairs("exid", np.random.default_rng(2), 20))
    obs.requires_grad_()
    module(obs, act).sum().backward()

    own = obs.detach().clone().requires_grad_()  # the same, written out
    seen = torch.cat([own, act], dim=1) @ torch.tensor(made.inputs.weights).T
    seen = seen + torch.tensor(made.inputs.offset)
    total = 0.0
    for run in range(3):
        hidden = seen
        for depth, (weights, biases) in enumerate(made.networks.layers):
            hidden = hidden @ torch.tensor(weights[run]) + torch.tensor(biases[run])
            hidden = torch.relu(hidden) if depth < 2 else hidden
        total = total + torch.sigmoid(hidden).sum() / 3
    total.backward()
    assert own.grad.abs().max() > 1e-3
    torch.testing.assert_close(obs.grad, own.grad, atol=1e-6, rtol=1e-5)

    before = made.networks.parameters.copy()
    with torch.no_grad():
        for one in module.parameters():
            one += 1
    np.testing.assert_array_equal(made.networks.parameters, before)


def squares(obs, act):
    return np.stack([obs[..., 0] ** 2, np.asarray(obs)[..., 1] * 0.5], axis=-1)


def with_function():
    world = small_world("gridworld-a")
    world.constraint_inputs = squares
    return Constraint(networks(2, (1, 2)), inputs_of(world), 0.99, 1.0, (1, 2))


def test_a_function_of_ones_own_is_seen_through():
    made = with_function()
    obs = np.random.default_rng(0).uniform(0, 3, (30, 2))
    expected = by_hand(made, squares(obs, None)).mean(axis=0)
    np.testing.assert_allclose(made.predict(obs, np.zeros(30)), expected, atol=2e-6)
    with pytest.raises(InputError, match="found a Python function, which PyTorch cannot follow"):
        made.to_torch()
    wrong = dataclasses.replace(made.inputs, function=lambda obs, act: squares(obs, act) / 0)
    made.inputs = wrong
    with (
        np.errstate(divide="ignore", invalid="ignore"),
        pytest.raises(InputError, match="inputs: expected 2 finite numbers"),
    ):
        made.predict(obs, np.zeros(30))


@pytest.mark.parametrize("lost", [False, True])
def test_a_run_of_the_pipeline_becomes_a_constraint(tmp_path, lost):
    world, stack = small_world("cartpole-mr"), networks(2, (5, 6))
    tensors = stack.tensors() | ({"failed": np.array([0, 3])} if lost else {})
    write_tensors(tmp_path / "constraint.safetensors", tensors, {"seeds": [5, 6], "code": "c0de"})
    made = Constraint.of_run(tmp_path / "constraint.safetensors", world)
    assert (made.beta, made.discount) == (world.threshold, world.discount)
    assert made.seeds == ((5,) if lost else (5, 6)) and made.about["code"] == "c0de"
    assert made.failed_seeds == ((6,) if lost else ())
    nodes = world.grid.nodes.astype(np.float32)
    obs = np.zeros((len(nodes), 4), np.float32)
    obs[:, 0] = nodes[:, 0]
    kept = Networks(stack.sizes, stack.parameters[: len(made.seeds)])
    logits = kept(np.broadcast_to(nodes, (kept.runs, *nodes.shape)))[..., 0]
    expected = (1 / (1 + np.exp(-logits.astype(np.float64)))).mean(axis=0)
    np.testing.assert_allclose(made.predict(obs, nodes[:, 1]), expected, atol=1e-6)
    assert Constraint.of_run(tmp_path / "constraint.safetensors", world, beta=7).beta == 7
    write_tensors(tmp_path / "other.safetensors", {"a": np.zeros(1)}, {})
    with pytest.raises(InputError, match=r"expected a constraint network .* found a; give a run"):
        Constraint.of_run(tmp_path / "other.safetensors", world)


def test_the_names_are_those_of_the_package():
    assert icl_core.Constraint is Constraint
    assert repr(constraint()) == "Constraint(row i, column j; beta=0.99, discount=1, 3 seeds)"


def test_loading_and_asking_need_no_torch_and_no_matplotlib(tmp_path):
    made = constraint("cartpole-mr")
    made.save(tmp_path / "c.safetensors")
    for name in ("torch", "matplotlib", "gymnasium"):
        (tmp_path / f"{name}.py").write_text(f"raise ImportError('no {name} here')")
    code = (
        "import sys, icl_core as icl\n"
        "assert [m for m in sys.modules if m.startswith('icl_core.')] == []\n"
        "c = icl.Constraint.load(sys.argv[1])\n"
        "print(float(c.predict([0.5, 0, 0, 0], 1)))\n"
        "try: import torch\n"
        "except ImportError: print('none')\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c.safetensors")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    value, none = done.stdout.split()
    assert none == "none"
    assert float(value) == float(made.predict([0.5, 0, 0, 0], 1))
