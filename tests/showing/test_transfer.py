"""The table and the figure of constraints that were moved."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from icl_core.artifacts import read_table
from icl_core.measuring.transfer import TRANSFER_SCHEMA
from icl_core.showing.figures import transfer
from icl_core.showing.style import panels
from tests.showing.conftest import ITEMS

NAMES = ["gridworld-a", "cartpole-mr", "nav", "ant"]


@pytest.fixture(scope="module")
def table(results):
    item = ITEMS["table-transfer"]
    return item.load()(results, item.experiments)


def test_a_row_for_each_condition(table):
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    found = [(row["experiment"], row["condition"]) for row in rows]
    assert found == [(name, c) for name in NAMES for c in ("none", "learned", "true")]
    assert {row["seeds"] for row in rows} == {3}


def test_intervals_are_students(table, results):
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    given = read_table(results.one("transfer", experiment="nav"), TRANSFER_SCHEMA).to_pylist()
    for row in (one for one in rows if one["experiment"] == "nav"):
        values = [one["true_cost"] for one in given if one["condition"] == row["condition"]]
        ends = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
        assert (row["true_cost_low"], row["true_cost_high"]) == pytest.approx(ends)
        assert row["true_cost"] == pytest.approx(np.mean(values))


def test_readers_see_change_agent_and_beta(table):
    assert "| Gridworld (A) | slip 0.1 | PPO | without |" in table.markdown
    assert "| Point robot | none | PPO | true |" in table.markdown
    assert "Scale of our run: quick, 3 seeds, 10 episodes each." in table.markdown


def test_the_figure_shows_cost_beside_beta(drawn):
    figure = drawn("figure-transfer")
    above, below = figure.axes[:4], figure.axes[4:]
    assert [ax.get_title().strip() for ax in above] == [
        "Gridworld (A)",
        "CartPole (MR)",
        "Point robot",
        "Ant-Constrained",
    ]
    assert [t.get_text() for t in below[0].get_xticklabels()] == ["none", "learned", "true"]
    betas = [ax.texts[-1].get_text() for ax in below]
    assert [text.strip("$").split("=")[1] for text in betas] == ["0.99", "50", "0.5", "5"]


@pytest.mark.parametrize("seeds,drawn", [(3, False), (4, True)])
def test_few_seeds_have_no_interval(seeds, drawn):
    """Of two it would be twelve times as wide as they are apart."""
    known = {"experiment": "nav", "agent": "PPO", "change": "", "condition": "none", "length": 9.0}
    rows = [
        {**known, "seed": k, "episodes": 9, "return": float(k), "true_cost": 0.0}
        for k in range(seeds)
    ]
    _, axes = panels(1, height=1)
    transfer._panel(axes[0, 0], pa.Table.from_pylist(rows, schema=TRANSFER_SCHEMA), "return")
    (bars,) = axes[0, 0].collections
    ((_, low), (_, high)) = bars.get_segments()[0]
    assert (high > low) == drawn
