"""A failed seed is measured by nobody: no metric of it, and no claim that rests on it."""

import numpy as np
import pyarrow as pa
import pytest

from icl_core.artifacts import write_table, write_tensors
from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.layout import path
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, log_table
from icl_core.learning.true_fit import FIT_SCHEMA
from icl_core.measuring.claims.evaluate import evaluate
from icl_core.measuring.loading import constraint_on_grid, constraints_on_grid
from icl_core.measuring.metrics import (
    End,
    Learned,
    Of,
    Run,
    concatenate,
    metric_rows,
    reported_means,
    run_metrics,
)
from tests.measuring.claims.test_evaluate import SEEDS, claim, results

WORLD = make_world("gridworld-a")
GOOD = np.array([0.60, 0.70, 0.65, 0.62, 0.68])


def learned(runs, **more):
    shape = (runs, *WORLD.grid.shape)
    rng = np.random.default_rng(0)
    end = End(rng.uniform(size=shape), rng.uniform(size=(runs, 2)), rng.uniform(size=runs))
    return Learned({"last": end}, 50, **more)


def test_metrics_of_a_stack_with_a_failed_seed():
    expert = np.ones((2, *WORLD.grid.shape))
    run = Run("gridworld-a", "icl", WORLD, [1, 3], {2: 4, 5: 6})
    table = run_metrics(run, expert, learned(2))
    rows = [(r["seed"], r["metric"], r["value"], r["reported"]) for r in table.to_pylist()]
    assert [row for row in rows if row[0] in (2, 5)] == [
        (2, "failed", 4.0, True),
        (5, "failed", 6.0, True),
    ]
    healthy = Run("gridworld-a", "icl", WORLD, [1, 3])
    others = run_metrics(healthy, expert, learned(2))
    assert table.filter(pa.compute.not_equal(table["metric"], "failed")).equals(others)
    assert reported_means(table) == reported_means(others) | {"failed seeds": 2}


@pytest.mark.parametrize("where", ["at the end", "after iteration 1"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_constraint_that_is_no_number_is_refused(where, value):
    found = learned(2, constraints={1: np.zeros((2, *WORLD.grid.shape))})
    end = found.ends["last"].constraint
    (end if where == "at the end" else found.constraints[1])[1, 0, 0] = value
    run = Run("gridworld-a", "icl", WORLD, [1, 3])
    with pytest.raises(InputError, match=f"icl on gridworld-a, seed 3: expected finite.*{where};"):
        run_metrics(run, np.ones((2, *WORLD.grid.shape)), found)


def test_demonstrations_that_are_nowhere_on_the_grid_are_refused():
    run = Run("gridworld-a", "icl", WORLD, [1, 7])
    experts = np.stack([np.ones(WORLD.grid.shape), np.zeros(WORLD.grid.shape)])
    with pytest.raises(InputError, match="of gridworld-a, as seed 7 was shown them: expected vis"):
        run_metrics(run, experts, learned(2))


def test_constraints_of_failed_seeds_are_not_loaded(tmp_path):
    networks = Networks.initialise([np.random.default_rng(s) for s in range(3)], (2, 4, 1))
    fields = {"experiment": "gridworld-a", "method": "icl", "group": "1-3"}
    file = tmp_path / path("constraint", **fields)
    write_tensors(file, networks.tensors() | {"failed": np.array([0, 9, 0])}, {})
    whole = constraint_on_grid(file, WORLD)
    assert len(whole) == 3
    np.testing.assert_array_equal(constraints_on_grid([file], WORLD), whole[[0, 2]])
    np.testing.assert_array_equal(constraints_on_grid([file], WORLD, {1}), whole[[2]])


# ------------------------------------------------------------------ claims


def write_metrics(root, values, failed=()):
    """CMSE by (experiment, method), of all seeds; `failed` ones have a row that says so."""
    rows = []
    for (experiment, method), runs in values.items():
        bad = [seed for one, other, seed in failed if (one, other) == (experiment, method)]
        kept = [k for k, seed in enumerate(SEEDS) if seed not in bad]
        run = Run(experiment, method, WORLD, [SEEDS[k] for k in kept])
        for iteration in range(3):
            of = Of("last") if iteration == 2 else Of()
            rows.append(metric_rows(run, "cmse", runs[kept], iteration, iteration == 2, of))
        rows.append(metric_rows(Run(experiment, method, WORLD, bad), "failed", bad, 2, True))
    write_table(root / "metrics.parquet", concatenate(rows), {})


def test_a_claim_leaves_out_failed_seeds_and_says_so(tmp_path):
    values = {("gridworld-a", "icl"): GOOD, ("gridworld-a", "icrl"): GOOD + 0.5}
    values["gridworld-a", "icl"][1] = -50.0  # a dead policy that would look better
    write_metrics(tmp_path, values, [("gridworld-a", "icl", 2)])
    (outcome,) = evaluate([claim()], results(tmp_path))
    (effect,) = outcome.effects
    assert (outcome.verdict, effect.samples, effect.over) == ("reproduced", 4, "4 runs, paired")
    assert effect.size == pytest.approx(0.5)  # seed 2 is in neither group
    assert "Left out, because training failed: seed 2 of ICL on gridworld-a." in outcome.reason


def test_pairs_stay_pairs_where_different_seeds_have_failed(tmp_path):
    names = ("gridworld-a-all-iterations", "gridworld-a-no-mixture")
    rising = 0.1 * np.arange(5)
    values = {(names[0], "icl"): rising, (names[1], "icl"): rising + 0.02}
    failed = [(names[0], "icl", 2), (names[1], "icl", 4), (names[1], "icl", 5)]
    write_metrics(tmp_path, values, failed)
    given = {"variant": "all-iterations", "others": ["no-mixture"]}
    (outcome,) = evaluate([claim("ends_lower", arguments=given)], results(tmp_path))
    (effect,) = outcome.effects
    assert effect.over == "2 runs, paired"  # 1 and 3
    assert (effect.size, effect.low, effect.high) == pytest.approx((0.02, 0.02, 0.02))
    assert outcome.reason.endswith(
        "Left out, because training failed: seed 2 of ICL on gridworld-a-all-iterations; "
        "seeds 4, 5 of ICL on gridworld-a-no-mixture."
    )


def test_where_every_seed_has_failed_nothing_is_said_of_the_method(tmp_path):
    values = {("gridworld-a", "icl"): GOOD, ("gridworld-a", "icrl"): GOOD}
    write_metrics(tmp_path, values, [("gridworld-a", "icrl", seed) for seed in SEEDS])
    (outcome,) = evaluate([claim()], results(tmp_path))
    assert outcome.verdict == "not run"
    assert outcome.reason == (
        "ICL on gridworld-a has no seed left. "
        "Left out, because training failed: seeds 1, 2, 3, 4, 5 of ICRL on gridworld-a."
    )


def test_other_files_of_a_failed_seed_are_left_out_too(tmp_path):
    """Constraints by their place in the stack, logs by the seed in them."""
    write_metrics(tmp_path, {("gridworld-a", "icl"): GOOD}, [("gridworld-a", "icl", 2)])
    networks = Networks.blank(5, (2, 4, 1))
    fields = {"experiment": "gridworld-a", "method": "icl", "group": "1-5"}
    marked = networks.tensors() | {"failed": np.array([0, 2, 0, 0, 0])}
    write_tensors(tmp_path / path("constraint", **fields), marked, {})
    steps = np.linspace(1.0, 0.0, 40)[:, None] * np.array([1, -9, 1, 1, 1])
    log = log_table(ADJUSTMENT_SCHEMA, dict.fromkeys(ADJUSTMENT_SCHEMA.names[2:], steps), SEEDS)
    write_table(tmp_path / path("adjustment", **fields, iteration="01"), log, {})
    found = evaluate(
        [
            claim("finds", arguments={"method": "icl", "above": {"gridworld-a": 0.4}, "below": {}}),
            claim("satisfaction_falls", arguments={"more_than": 0.4}),
        ],
        results(tmp_path),
    )
    assert [outcome.verdict for outcome in found] == ["reproduced"] * 2
    assert [outcome.effects[0].samples for outcome in found] == [4, 4]
    assert all("seed 2 of ICL" in outcome.reason for outcome in found)


def test_a_fit_that_has_failed_is_left_out(tmp_path):
    rows = {"seed": SEEDS, "step": [20] * 5, "cmse": [0.001, float("nan"), 0.001, 0.001, 0.001]}
    file = path("true_fit", experiment="gridworld-a", architecture="b", group="1-5")
    write_table(tmp_path / file, pa.table(rows, schema=FIT_SCHEMA), {})
    given = {"architecture": "b", "error": 0.005}
    (outcome,) = evaluate([claim("can_hold", arguments=given)], results(tmp_path))
    assert (outcome.verdict, outcome.effects[0].samples) == ("reproduced", 4)
    assert outcome.reason.endswith("seed 2 of network b on gridworld-a.")
