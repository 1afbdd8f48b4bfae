"""Claims over files: what is missing, what is simulated, and what is written."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest

from icl_core.artifacts import write_table
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.trajectories import Trajectories, side_by_side
from icl_core.environments import make_world
from icl_core.layout import path
from icl_core.learning.true_fit import FIT_SCHEMA
from icl_core.measuring.claims.claim import Claim
from icl_core.measuring.claims.evaluate import (
    CLAIMS_SCHEMA,
    as_csv,
    as_markdown,
    claims_table,
    counts,
    evaluate,
)
from icl_core.measuring.metrics import Run, concatenate, metric_rows
from icl_core.measuring.results import Results
from tests.measuring.claims.made_up import HIGHD, METHODS, world_of

SEEDS = [1, 2, 3, 4, 5]
LOWEST = {"metric": "cmse", "method": "icl", "others": ["icrl"]}


def claim(check="lowest_of_methods", experiments=("gridworld-a",), arguments=LOWEST, **more):
    return Claim("a-claim", "Something is so.", ("Table 1",), check, experiments, arguments, **more)


def results(root, **worlds):
    worlds = {"gridworld-a": make_world("gridworld-a"), **worlds}
    return Results("paper", worlds, tuple(map(str, root.rglob("*.*"))), METHODS)


def write_metrics(root, values, experiment="gridworld-a"):
    """`values` by method: one for each of the first seeds."""
    world = world_of(experiment)
    rows = [
        metric_rows(Run(experiment, method, world, SEEDS[: len(runs)]), "cmse", runs, 11, True)
        for method, runs in values.items()
    ]
    write_table(root / "metrics.parquet", concatenate(rows), {})


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.5, "reproduced"), (-0.5, "not reproduced"), (0.0, "inconclusive")]
)
def test_a_shift_of_the_metrics_turns_the_verdict(tmp_path, shift, verdict):
    mine = np.array([0.6, 0.7, 0.65, 0.62, 0.68])
    write_metrics(tmp_path, {"icl": mine, "icrl": mine[::-1] + shift})
    (outcome,) = evaluate([claim()], results(tmp_path))
    assert outcome.verdict == verdict
    (effect,) = outcome.effects
    assert effect.size == pytest.approx(shift)
    again = evaluate([claim()], results(tmp_path))
    assert claims_table(again).equals(claims_table([outcome]))


@pytest.mark.parametrize(
    ("mine", "reason"),
    [
        ([0.1, 0.2], "Too few seeds (2); at least 3 are needed."),
        ([0.1, 0.9, float("nan")], "A value is undefined in at least one seed."),
        ([0.1, 0.9, 0.5], "The interval includes no effect."),
    ],
)
def test_what_is_left_open_has_a_reason(tmp_path, mine, reason):
    write_metrics(tmp_path, {"icl": mine, "icrl": [value + 0.01 for value in mine]})
    (outcome,) = evaluate([claim()], results(tmp_path))
    signs = 0 if np.isnan(mine).any() else 1
    assert outcome.verdict == "inconclusive"
    assert outcome.reason == f"{reason} The sign is the paper's in {signs} of 1 parts."


def test_what_was_not_run_is_named(tmp_path):
    write_metrics(tmp_path, {"icl": np.ones(5)})
    there = results(tmp_path)
    outcomes = evaluate([claim(), claim(experiments=("ant",))], there)
    assert [outcome.verdict for outcome in outcomes] == ["not run"] * 2
    assert outcomes[0].reason == "ICRL on gridworld-a was not run."
    assert outcomes[1].reason == "ant is not among the experiments of this run."


def test_what_is_not_among_the_files_is_named(tmp_path):
    given = {"method": "icl", "above": {"gridworld-a": 0.8}, "below": {}}
    claims = [
        claim(),
        claim("finds", arguments=given),
        claim("satisfaction_falls", arguments={}),
        claim("demonstrations_keep_threshold", arguments={}),
        claim("expert_violates_less", arguments={}),
        claim("can_hold", arguments={"architecture": "b", "error": 0.1}),
        claim("takes_at_most", arguments={"method": "icl", "others": ["icrl"], "times": 1.0}),
    ]
    outcomes = evaluate(claims, results(tmp_path))
    assert {outcome.verdict for outcome in outcomes} == {"not run"}
    assert [outcome.reason for outcome in outcomes] == [
        "metrics.parquet is not among the results.",
        "ICL on gridworld-a was not run.",
        "ICL on gridworld-a was not run.",
        "demonstrations in gridworld-a: found none.",
        "training of experts in gridworld-a: found none.",
        "network b was not fitted to gridworld-a.",
        "ICL on gridworld-a was not run.",
    ]


def test_where_nobody_knows_the_truth_nothing_is_compared_with_it(tmp_path):
    world = make_world("gridworld-a")
    world.true_constraint = world.true_on_grid = None
    blind = Results("paper", {"gridworld-a": world}, ())
    checks = [
        claim("demonstrations_keep_threshold", arguments={}),
        claim("worse_than_constant", arguments={"method": "icl"}),
    ]
    reasons = {outcome.reason for outcome in evaluate(checks, blind)}
    assert reasons == {"nobody knows the true constraint of gridworld-a."}


@pytest.mark.parametrize(
    ("source", "verdict"),
    [("simulated", "needs the licensed recordings"), ("recorded", "reproduced")],
)
def test_simulated_recordings_decide_nothing(tmp_path, monkeypatch, source, verdict):
    write_metrics(tmp_path, {"icl": np.ones(5), "icrl": np.full(5, 2.0)}, "highd")
    monkeypatch.setattr(HIGHD, "source", source)
    driving = claim(experiments=("highd",), needs="licensed recordings")
    (outcome,) = evaluate([driving], results(tmp_path, highd=HIGHD))
    assert outcome.verdict == verdict
    assert ("On simulated recordings" in outcome.reason) == (source == "simulated")
    assert len(outcome.effects) == 1


@pytest.mark.parametrize(("error", "holds"), [(0.001, True), (0.02, False)])
def test_networks_that_can_hold_the_truth_or_not(tmp_path, error, holds):
    rows = {"seed": SEEDS, "step": [20] * 5, "cmse": error * np.linspace(0.9, 1.1, 5)}
    file = path("true_fit", experiment="gridworld-a", architecture="b", group="1-5")
    write_table(tmp_path / file, pa.table(rows, schema=FIT_SCHEMA), {})
    given = {"architecture": "b", "error": 0.005}
    checks = [claim(check, arguments=given) for check in ("can_hold", "cannot_hold")]
    found = [outcome.verdict for outcome in evaluate(checks, results(tmp_path))]
    assert found == (["reproduced", "not reproduced"][:: 1 if holds else -1])


@pytest.mark.parametrize(("seconds", "verdict"), [(140, "reproduced"), (160, "not reproduced")])
def test_times(tmp_path, seconds, verdict):
    for method, taken in {"icl": seconds, "icrl": 100, "gail-constraint": 50}.items():
        fields = {"rule": "learn", "experiment": "gridworld-a", "method": method, "group": "1-5"}
        file = tmp_path / path("job_time", **fields)
        file.parent.mkdir(parents=True)
        file.write_text(f"s\tcpu_time\n{taken}\t{taken}\n")
    given = {"method": "icl", "others": ["icrl", "gail-constraint"], "times": 1.5}
    (outcome,) = evaluate([claim("takes_at_most", arguments=given)], results(tmp_path))
    assert outcome.verdict == verdict
    assert outcome.effects[0].size == pytest.approx(1.5 - seconds / 100)


@pytest.mark.parametrize(("cell", "verdict"), [(0, "reproduced"), (1, "not reproduced")])
def test_demonstrations_that_keep_the_threshold_or_not(tmp_path, cell, verdict):
    world = make_world("gridworld-a")
    place = np.argwhere(world.constrained == bool(cell))[0]
    shape = (4, 3)
    taken = Trajectories(
        np.broadcast_to(place, (*shape, 2)).astype(np.float32),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.float32),
        np.full(4, 3),
    )
    file = tmp_path / path("demonstrations", experiment="gridworld-a", group="1-2")
    write_demonstrations(file, side_by_side([taken, taken]), world, {}, [1, 2])
    (outcome,) = evaluate([claim("demonstrations_keep_threshold", arguments={})], results(tmp_path))
    assert outcome.effects[0].size == pytest.approx(1 - 3 * cell / world.threshold)
    assert outcome.verdict == verdict


def test_what_is_written(tmp_path):
    write_metrics(tmp_path, {"icl": np.ones(5), "icrl": np.full(5, 2.0) + 0.1 * np.arange(5)})
    held = claim()
    missing = Claim(
        "b",
        "Else | so.",
        ("Figure 2",),
        "finds",
        ("ant",),
        {"method": "icl", "above": {"ant": 0.8}, "below": {}},
    )
    table = claims_table(evaluate([held, missing], results(tmp_path)))
    assert table.schema.names == CLAIMS_SCHEMA.names
    assert counts(table) == {
        "reproduced": 1,
        "not reproduced": 0,
        "inconclusive": 0,
        "needs the licensed recordings": 0,
        "not run": 1,
    }
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert [row["verdict"] for row in rows] == ["reproduced", "not run"]
    assert float(rows[0]["effect"]) == table["effect"][0].as_py()
    assert rows[1]["effect"] == ""
    text = as_markdown(table, "paper")
    assert "1 reproduced, 1 not run of 2." in text
    assert "| Else / so. | Figure 2 | **not run**. ant is not" in text
    assert all(line.count("|") == 5 for line in text.splitlines() if line.startswith("|"))
