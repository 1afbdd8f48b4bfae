"""Artifacts become the arrays that were stored."""

import numpy as np
import pytest

from icl_core.artifacts import write_tensors
from icl_core.demonstrations.accruals import visits
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.engine.networks import Networks
from icl_core.measuring.evaluation import Evaluation, stored
from icl_core.measuring.loading import (
    constraint_on_grid,
    evaluations,
    expert_visits,
    visits_by_seed,
)


def episodes(world, rng, lead):
    steps = 12
    lengths = rng.integers(1, steps + 1, size=lead)
    taken = np.arange(steps) < lengths[..., None]
    states = rng.integers(0, 7, size=(*lead, steps, 2)).astype(np.float32)
    if world.name.startswith("cartpole"):
        states = rng.uniform(-2.3, 2.3, size=(*lead, steps, 4)).astype(np.float32) * 0.08
        states[..., 0] *= 12
    return Trajectories(
        states * taken[..., None],
        rng.integers(world.n_actions, size=(*lead, steps)) * taken,
        np.zeros((*lead, steps), dtype=np.float32),
        lengths,
    )


@pytest.mark.parametrize("name", ["gridworld-b", "cartpole-mid"])
def test_visits_survive_the_files(name, tmp_path):
    world = make_world(name)
    stack = episodes(world, np.random.default_rng(0), (3, 8))
    files = [tmp_path / "a.safetensors", tmp_path / "b.safetensors"]
    for file, part, seeds in zip(files, (stack[:2], stack[2:]), ([4, 5], [6]), strict=True):
        expert = visits(world, part)
        own = Evaluation.of(world, [part[:, :4], part[:, 4:]], expert)
        other = Evaluation.of(world, [part[:, :1], part[:, 1:2]], expert)
        write_tensors(file, stored(seeds, "best", {"best": own, "last": other}), {})
    found = visits_by_seed(files, world)
    every = np.stack([found[seed] for seed in (4, 5, 6)])
    np.testing.assert_array_equal(every, visits(world, stack))
    assert [*visits_by_seed(files, world, without=[5])] == [4, 6]
    last = evaluations(files[1], "last")[6]
    np.testing.assert_array_equal(last.visits, visits(world, stack[2:, :2])[0])
    write_demonstrations(tmp_path / "d.parquet", stack[1], world, {})
    shared = expert_visits([tmp_path / "d.parquet"], world)
    np.testing.assert_array_equal(shared.experts, every[1:2])
    np.testing.assert_array_equal(shared.to([4, 9]), every[[1, 1]])


@pytest.mark.parametrize("name", ["gridworld-b", "cartpole-mid"])
def test_each_run_is_shown_the_visits_of_its_own_expert(name, tmp_path):
    world = make_world(name)
    stack = episodes(world, np.random.default_rng(0), (3, 8))
    write_demonstrations(tmp_path / "a.parquet", stack[:2], world, {}, [4, 5])
    write_demonstrations(tmp_path / "b.parquet", stack[2:], world, {}, [6])
    found = expert_visits([tmp_path / "a.parquet", tmp_path / "b.parquet"], world)
    counted = visits(world, stack)
    np.testing.assert_array_equal(found.experts, counted)
    np.testing.assert_array_equal(found.to([6, 4]), counted[[2, 0]])
    assert found.to([]).shape == (0, *world.grid.shape)


@pytest.mark.parametrize("prefix", ["", "constraint."])
def test_constraint_values_equal_a_plain_forward_pass(prefix, tmp_path):
    world = make_world("cartpole-mr")
    networks = Networks.initialise([np.random.default_rng(s) for s in (1, 2)], (2, 5, 4, 1))
    write_tensors(tmp_path / "c.safetensors", networks.tensors(prefix), {})
    values = constraint_on_grid(tmp_path / "c.safetensors", world)
    assert values.shape == (2, 49, 2)
    for run in range(2):
        for i, action in ((0, 0), (30, 1), (48, 0)):
            layer = np.array([world.grid.axes[0].nodes[i], action])
            for depth, (weights, biases) in enumerate(networks.layers):
                layer = layer @ weights[run] + biases[run, 0]
                layer = np.maximum(layer, 0) if depth < 2 else layer
            assert values[run, i, action] == pytest.approx(1 / (1 + np.exp(-layer[0])), rel=1e-5)


def test_a_file_without_a_network_is_refused(tmp_path):
    write_tensors(tmp_path / "c.safetensors", {"other": np.zeros(3)}, {})
    with pytest.raises(InputError, match=r"c\.safetensors: expected a constraint network.*other"):
        constraint_on_grid(tmp_path / "c.safetensors", make_world("gridworld-a"))
