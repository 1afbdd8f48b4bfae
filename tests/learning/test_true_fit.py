"""Supervised fits: the descent against autograd, and what is known of the limits."""

import numpy as np
import pytest
import torch

from icl_core.environments import make_world
from icl_core.learning.engine.networks import Networks
from icl_core.learning.true_fit import FIT_SCHEMA, FitSettings, final_errors, fit_true_constraint
from icl_core.measuring.loading import constraint_values
from icl_core.measuring.metrics import constraint_error
from icl_core.randomness import generators


def test_the_fit_is_that_of_autograd_and_torchs_adam():
    world = make_world("cartpole-mid")
    fitted, table = fit_true_constraint(world, [3], FitSettings((16, 8), 1e-2, 30))
    network = Networks.initialise(generators([3], "supervised"), (2, 16, 8, 1))
    leaves = [torch.tensor(p[0], dtype=torch.float64) for layer in network.layers for p in layer]
    for leaf in leaves:
        leaf.requires_grad_()
    optimiser = torch.optim.Adam(leaves, 1e-2)
    x, true = torch.tensor(world.grid.nodes), torch.tensor(world.true_on_grid)
    expected = []
    for _ in range(31):
        hidden = torch.relu(x @ leaves[0] + leaves[1])
        hidden = torch.relu(hidden @ leaves[2] + leaves[3])
        loss = torch.mean((torch.sigmoid(hidden @ leaves[4] + leaves[5])[:, 0] - true) ** 2)
        expected.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    np.testing.assert_allclose(table["cmse"].to_numpy(), expected, rtol=1e-4)
    assert final_errors(table) == {3: pytest.approx(expected[-1], rel=1e-4)}
    error = constraint_error(world, constraint_values(fitted, world))
    assert error == pytest.approx(expected[-1], rel=1e-3)


def test_a_run_does_not_depend_on_its_stack():
    world = make_world("gridworld-b")
    settings = FitSettings((8,), 1e-2, 250)
    together, table = fit_true_constraint(world, [1, 2, 3], settings)
    alone, one = fit_true_constraint(world, [2], settings)
    np.testing.assert_array_equal(together.parameters[1], alone.parameters[0])
    assert final_errors(table)[2] == final_errors(one)[2]
    assert table.schema == FIT_SCHEMA
    steps = one["step"].to_numpy()
    assert steps[0] == 0 and steps[-1] == 250 and np.all(np.diff(steps) > 0)
    assert len(steps) == 101


def test_one_hidden_layer_of_enough_units_learns_an_edge_and_a_constant_network_does_not():
    """Move-Right's truth is a step in x; on CartPole's grid 52 of 98 nodes are 1."""
    world = make_world("cartpole-mr")
    _, good = fit_true_constraint(world, [1, 2], FitSettings((64,), 1e-2, 2000))
    assert max(final_errors(good).values()) < 0.02
    _, dull = fit_true_constraint(world, [1], FitSettings((1,), 1e-9, 50))
    assert final_errors(dull)[1] > 0.1
