"""CMSE against published all-zero scores and the table of metrics."""

import math

import numpy as np
import pyarrow as pa
import pytest

from icl_core.environments import make_world
from icl_core.measuring.metrics import METRICS_SCHEMA, concatenate, constraint_error, metric_rows
from icl_core.measuring.statistics import mean_and_std, summary

# The score of a constraint that is zero everywhere: the share of constrained nodes.
ALL_ZERO = {
    "gridworld-a": 0.082,
    "gridworld-b": 0.184,
    "cartpole-mr": 0.531,
    "cartpole-mid": 0.296,
}


@pytest.mark.parametrize("name,score", ALL_ZERO.items())
def test_all_zero_constraint(name, score):
    world = make_world(name)
    assert constraint_error(world, np.zeros(world.grid.shape)) == pytest.approx(score, abs=5e-4)
    assert constraint_error(world, world.true_on_grid) == 0
    assert constraint_error(world, 1 - world.true_on_grid) == 1


def test_constraint_error_of_a_stack_equals_a_loop():
    world = make_world("cartpole-mid")
    values = np.random.default_rng(1).uniform(size=(3, *world.grid.shape))
    errors = constraint_error(world, values)
    assert errors.shape == (3,)
    for run in range(3):
        pairs = zip(values[run].ravel(), world.true_on_grid, strict=True)
        naive = math.fsum((c - true) ** 2 for c, true in pairs) / 98
        assert errors[run] == pytest.approx(naive)
    np.testing.assert_array_equal(errors, constraint_error(world, values.reshape(3, -1)))


def rows(values, method="icl", reported=True, iteration=3, seeds=(1, 2, 3)):
    return metric_rows("ga", "gridworld-a", method, "nad", seeds, values, iteration, reported)


def test_rows_follow_the_schema_and_any_order_gives_the_same_table():
    parts = [rows([0.1, 0.2, 0.6]), rows([9, 9, 9], reported=False, iteration=[1, 2, 1])]
    table = concatenate(parts)
    assert table.schema == METRICS_SCHEMA and len(table) == 6
    assert table.equals(concatenate(parts[::-1]))
    assert concatenate([]).schema == METRICS_SCHEMA
    assert table.column("iteration").type == pa.int32()


def test_summary_takes_reported_values_only():
    table = concatenate([rows([0.1, 0.2, 0.6]), rows([9, 9, 9], reported=False)])
    cell = summary(table, "nad")["ga", "icl"]
    assert cell.mean == pytest.approx(0.3)
    assert cell.std == pytest.approx(math.sqrt((0.04 + 0.01 + 0.09) / 3))  # ddof 0
    assert cell.seeds == (1, 2, 3)
    assert summary(table, "cmse") == {}


def test_summary_refuses_two_reported_values_for_one_seed():
    with pytest.raises(ValueError, match="reported twice"):
        summary(concatenate([rows([1, 2, 3]), rows([1, 2, 3], iteration=4)]), "nad")


def test_an_undefined_value_is_not_dropped():
    assert all(math.isnan(x) for x in mean_and_std([1.0, float("nan")]))
