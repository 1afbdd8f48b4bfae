"""Claims over files: what is missing, what is simulated, and what is written."""

import csv
import io

import numpy as np
import pytest

from icl_core.artifacts import write_table
from icl_core.environments import make_world
from icl_core.measuring.claims.claim import Claim
from icl_core.measuring.claims.evaluate import (
    CLAIMS_SCHEMA,
    as_csv,
    as_markdown,
    claims_table,
    counts,
    evaluate,
)
from icl_core.measuring.metrics import Of, Run, concatenate, metric_rows
from icl_core.measuring.results import Results
from tests.measuring.claims.made_up import HIGHD, METHODS, world_of

SEEDS = [1, 2, 3, 4, 5]
LOWEST = {"metric": "cmse", "method": "icl", "others": ["icrl"]}


def claim(check="lowest_of_methods", experiments=("gridworld-a",), arguments=LOWEST, **more):
    return Claim("a-claim", "Something is so.", ("Table 1",), check, experiments, arguments, **more)


def results(root, **worlds):
    worlds = {"gridworld-a": make_world("gridworld-a"), **worlds}
    return Results("paper", worlds, tuple(map(str, root.rglob("*.*"))), METHODS)


def write_metrics(root, by_method, experiment="gridworld-a", best=None):
    """Values by method: one for each of the first seeds; of last policies, and of the `best`."""
    world = world_of(experiment)
    rows = [
        metric_rows(
            Run(experiment, method, world, SEEDS[: len(runs)]), "cmse", runs, 11, True, Of(name)
        )
        for name, values in (("last", by_method), ("best", best or {}))
        for method, runs in values.items()
    ]
    root.mkdir(exist_ok=True)
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
        ([0.1, 0.2, 0.4], "Too few runs (3); at least 4 are needed."),
        ([0.1, 0.9, 0.5, float("nan")], "A value is undefined in at least one run."),
        ([0.1, 0.9, 0.5, 0.2], "The interval includes no effect."),
    ],
)
def test_what_is_left_open_has_a_reason(tmp_path, mine, reason):
    theirs = [value + 0.01 + 0.02 * (-1) ** k for k, value in enumerate(mine)]
    write_metrics(tmp_path, {"icl": mine, "icrl": theirs})
    (outcome,) = evaluate([claim()], results(tmp_path))
    signs = 0 if np.isnan(mine).any() else 1
    assert outcome.verdict == "inconclusive"
    assert outcome.reason == f"{reason} The sign is the paper's in {signs} of 1 parts."


@pytest.mark.parametrize(
    ("selection", "verdict"), [("best", "reproduced"), ("last", "not reproduced")]
)
def test_methods_are_compared_by_one_selection(tmp_path, selection, verdict):
    mine = np.array([0.6, 0.7, 0.65, 0.62, 0.68])
    last, best = ({"icl": mine, "icrl": mine[::-1] + shift} for shift in (-0.5, 0.5))
    write_metrics(tmp_path, last, best=best)
    given = {**LOWEST, "selection": selection}
    (outcome,) = evaluate([claim(arguments=given)], results(tmp_path))
    assert (outcome.verdict, outcome.reason) == (verdict, "")


def test_a_selection_that_was_not_made_is_missing(tmp_path):
    write_metrics(tmp_path, {"icl": np.ones(5), "icrl": np.ones(5)}, best={"icl": np.ones(5)})
    (outcome,) = evaluate([claim(arguments={**LOWEST, "selection": "best"})], results(tmp_path))
    assert (outcome.verdict, outcome.reason) == ("not run", "ICRL on gridworld-a was not run.")


def test_of_several_numbers_of_episodes_the_largest_decides(tmp_path):
    world = world_of("gridworld-a")
    mine = np.array([0.6, 0.7, 0.65, 0.62, 0.68])
    rows = [
        metric_rows(Run("gridworld-a", method, world, SEEDS), "cmse", values, 11, True, of)
        for method, shift in (("icl", 0), ("icrl", 0.5))
        for values, of in (
            (mine + shift, Of("last", 1000)),
            (mine - 2 * shift, Of("last", 50)),
        )
    ]
    write_table(tmp_path / "metrics.parquet", concatenate(rows), {})
    (outcome,) = evaluate([claim()], results(tmp_path))
    assert outcome.verdict == "reproduced"


@pytest.mark.parametrize(("of_fifty", "verdict"), [(0.36, "reproduced"), (3.0, "not reproduced")])
def test_beside_the_papers_tables_stand_values_of_as_many_episodes(tmp_path, of_fifty, verdict):
    """The fewer episodes, the further from the expert: the paper's 0.36 is of 50."""
    world, about = world_of("gridworld-a"), np.array([-0.02, 0.01, 0.02, 0.0, -0.01])
    rows = [
        metric_rows(Run("gridworld-a", "icl", world, SEEDS), "nad", mean + about, 11, True, of)
        for mean, of in ((of_fifty, Of("last", 50)), (2.0, Of("last", 1000)))
    ]
    write_table(tmp_path / "metrics.parquet", concatenate(rows), {})
    row = claim("as_in_the_paper", arguments={"metric": "nad", "method": "icl"})
    (outcome,) = evaluate([row], results(tmp_path))
    assert outcome.verdict == verdict
    (effect,) = outcome.effects
    # The deviation of 0.1 leaves 0.2 to either side.
    assert effect.size == pytest.approx(0.2 - (of_fifty - 0.36))


def test_a_cell_says_how_far_it_is_from_the_papers(tmp_path):
    write_metrics(tmp_path, {"icl": np.full(5, 0.06) + 0.001 * np.arange(-2, 3)})
    row = claim("as_in_the_paper", arguments={"metric": "cmse", "method": "icl"})
    (outcome,) = evaluate([row], results(tmp_path))
    (effect,) = outcome.effects
    assert effect.unit == (
        "CMSE: less the paper's -0.02 [-0.034, -0.0062], distance inside [-0.02, 0.02]"
    )


def test_what_was_not_run_is_named(tmp_path):
    write_metrics(tmp_path, {"icl": np.ones(5)})
    there = results(tmp_path)
    outcomes = evaluate([claim(), claim(experiments=("ant",))], there)
    assert [outcome.verdict for outcome in outcomes] == ["not run"] * 2
    assert outcomes[0].reason == "ICRL on gridworld-a was not run."
    assert outcomes[1].reason == "ant is not among the experiments of this run."


def test_what_is_not_among_the_files_is_named(tmp_path):
    given = {"method": "icl", "above": {"gridworld-a": 0.8}, "below": {}}
    times = {"others": ["icrl"], "least": 0.1, "most": 1.0}
    claims = [
        claim(),
        claim("finds", arguments=given),
        claim("satisfaction_falls", arguments={"more_than": 0.1}),
        claim("demonstrations_wider", arguments={}),
        claim("expert_violates_less", arguments={}),
        claim("expert_feasible", arguments={"times": 1.0}),
        claim("can_hold", arguments={"architecture": "b", "error": 0.1}),
        claim("times_comparable", arguments=times),
        claim("takes_more_steps", arguments={"others": ["icrl"], "times": 2}),
    ]
    outcomes = evaluate(claims, results(tmp_path))
    assert {outcome.verdict for outcome in outcomes} == {"not run"}
    assert [outcome.reason for outcome in outcomes] == [
        "metrics.parquet is not among the results.",
        "ICL on gridworld-a was not run.",
        "ICL on gridworld-a was not run.",
        "demonstrations in gridworld-a: found none.",
        "training of experts in gridworld-a: found none.",
        "policies of experts in gridworld-a: found none.",
        "network b was not fitted to gridworld-a.",
        "ICRL on gridworld-a was not run.",
        "ICL on gridworld-a was not run.",
    ]


def test_where_nobody_knows_the_truth_nothing_is_compared_with_it(tmp_path):
    world = make_world("gridworld-a")
    world.true_constraint = world.true_on_grid = None
    blind = Results("paper", {"gridworld-a": world}, ())
    checks = [claim("worse_than_constant", arguments={"method": "icl"})]
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
        "descriptive": 0,
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
    assert "By the paper's own deviations: yes." in text
    assert all(line.count("|") == 5 for line in text.splitlines() if line.startswith("|"))
