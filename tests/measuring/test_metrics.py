"""CMSE against published all-zero scores and the table of metrics."""

import math

import numpy as np
import pyarrow as pa
import pytest

from icl_core.environments import make_world
from icl_core.measuring.metrics import (
    METRICS_SCHEMA,
    End,
    Learned,
    Run,
    concatenate,
    constraint_error,
    metric_rows,
    run_metrics,
)
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
    run = Run("ga", method, make_world("gridworld-a"), seeds)
    return metric_rows(run, "nad", values, iteration, reported)


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


def test_metrics_of_a_run():
    world, rng = make_world("gridworld-a"), np.random.default_rng(0)
    values = rng.uniform(size=(2, *world.grid.shape))
    experts = rng.integers(1, 9, size=(2, *world.grid.shape))
    nads, nad = rng.uniform(size=(2, 3)), rng.uniform(size=2)
    ends = {"last": End(values, nads, nad), "best": End(1 - values, nads + 1, nad + 1)}
    by_iteration = {0: values, 1: 1 - values}
    learned = Learned(ends, 50, "last", by_iteration, {1: np.array([0.5, 0.6])})
    table = run_metrics(Run("gridworld-a", "icl", world, [3, 4]), experts, learned)
    # CMSE once, NAD of one set and of all, each of two selections and seeds; then of iterations.
    assert table.schema == METRICS_SCHEMA and len(table) == 12 + 4 + 2
    cell = summary(table, "cmse")["gridworld-a", "icl"]
    assert cell.mean == pytest.approx(np.mean(constraint_error(world, values)))
    assert cell.seeds == (3, 4)
    nad_cell = summary(table, "nad")["gridworld-a", "icl"]
    assert nad_cell.mean == pytest.approx(nads[:, 0].mean())  # as the tables print it
    nad_cell = summary(table, "nad", "best")["gridworld-a", "icl"]
    assert nad_cell.mean == pytest.approx(nads[:, 0].mean() + 1)
    cell = summary(table, "cmse", "best")["gridworld-a", "icl"]
    assert cell.mean == pytest.approx(np.mean(constraint_error(world, 1 - values)))
    of_all = {
        (row["selection"], row["seed"]): row["value"]
        for row in table.to_pylist()
        if row["episodes"] == 150
    }
    for k, seed in enumerate([3, 4]):
        assert (of_all["last", seed], of_all["best", seed]) == (nad[k], nad[k] + 1)
    names = ("seed", "metric", "iteration", "selection", "episodes")
    keys = [tuple(row[name] for name in names) for row in table.to_pylist()]
    assert len(set(keys)) == len(keys)
    assert {row["iteration"] for row in table.to_pylist() if row["reported"]} == {2}
    by_iteration = {
        (row["seed"], row["iteration"]): row["value"]
        for row in table.to_pylist()
        if row["metric"] == "cmse" and not row["selection"]
    }
    assert by_iteration[4, 1] == pytest.approx(constraint_error(world, 1 - values)[1])


def test_a_method_without_iterations_has_its_reported_values_alone():
    world, rng = make_world("gridworld-a"), np.random.default_rng(0)
    visits = rng.integers(1, 9, (1, *world.grid.shape))
    end = End(np.zeros((1, *world.grid.shape)), np.zeros((1, 1)), np.zeros(1))
    table = run_metrics(Run("ga", "icrl", world, [7]), visits, Learned({"last": end}, 50))
    rows = [(row["metric"], row["iteration"], row["reported"]) for row in table.to_pylist()]
    assert rows == [("cmse", 0, True), ("nad", 0, True)]
    assert table["value"].to_pylist() == pytest.approx([ALL_ZERO["gridworld-a"], 0], abs=5e-4)


def test_there_is_no_cmse_where_nobody_knows_the_truth():
    world = make_world("gridworld-a")
    world.true_constraint = world.true_on_grid = None
    counts = np.ones((1, *world.grid.shape))
    learned = Learned({"last": End(counts, np.ones((1, 1)), np.ones(1))}, 50)
    table = run_metrics(Run("ga", "icl", world, [1]), counts, learned)
    assert table["metric"].to_pylist() == ["nad"]
    with pytest.raises(ValueError, match="nobody knows the true constraint of gridworld-a"):
        constraint_error(world, counts)
