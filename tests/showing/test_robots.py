"""Constraints, accruals and training of the robots, from made-up numbers. No robot is simulated."""

import numpy as np
import pytest

from icl_core.artifacts import write_table
from icl_core.environments.worlds.ant import AntConstrained
from icl_core.environments.worlds.halfcheetah import HalfCheetahConstrained
from icl_core.learning.engine.training import TRAINING_COLUMNS, TRAINING_SCHEMA, log_table
from icl_core.measuring.results import Results
from icl_core.showing.figures import positions, training
from icl_core.showing.loading import Accruals
from tests.fake_results import TITLES
from tests.showing.conftest import texts, titles

ANT, CHEETAH = AntConstrained(), HalfCheetahConstrained()
LAGRANGIAN = {"procedure": "lagrangian", "lagrangian": {"on_policy": {"steps": 40}}}
LEARNING = {"icl": {"constrained_rl": LAGRANGIAN}, "icrl": {"on_policy": {"steps": 100}}}
SETTINGS = {"halfcheetah": {"learning": LEARNING}}
WRITTEN = {"icrl": "ICRL", "icl": r"ICL ($\beta=5$)"}


def curves(ax):
    """The means of a panel: neither the lines of seeds nor those that mark a place."""
    return [line for line in ax.lines if len(line.get_xdata()) > 2 and line.get_linewidth() > 0.5]


# Figures 24 to 27


def test_a_constraint_of_the_position_is_one_line():
    z = ANT.grid.axes[0].nodes
    runs = np.stack([np.zeros_like(z), np.where(z < 0, 1.0, 0.0)])
    figure = positions.draw_constraints(ANT, {"icrl": runs[:1], "icl": runs}, WRITTEN)
    true, icrl, icl = (curves(ax)[0] for ax in figure.axes)
    assert all(len(curves(ax)) == 1 for ax in figure.axes) and not figure.legends
    x, c = true.get_data()
    assert x[c == 1].max() == pytest.approx(-1, abs=2e-3) and x[c == 0].min() > -1
    np.testing.assert_array_equal(icrl.get_ydata(), 0)
    np.testing.assert_array_equal(icl.get_ydata(), runs.mean(axis=0))
    # 41 of 101 nodes are constrained; nine more lie above -1 and below 0.
    assert "CMSE 0.406 ± 0.000" in texts(figure)
    errors = np.array([41, np.sum((z > -0.999) & (z < 0))]) / 101
    assert f"CMSE {errors.mean():.3f} ± {errors.std():.3f}" in texts(figure)
    assert titles(figure) == ["True constraint fn.", "ICRL", r"ICL ($\beta=5$)"]


def test_accruals_over_the_position_add_up_to_all_visits():
    expert = np.zeros(101, int)
    expert[50:60] = 7
    runs = np.stack([np.roll(expert, 2), 3 * np.roll(expert, -4)])
    found = Accruals(expert[None], {"icl": runs}, {"icl": np.stack([expert, expert])})
    figure = positions.draw_accruals(CHEETAH, found, WRITTEN)
    of_expert, of_icl = (curves(ax)[0] for ax in figure.axes)
    assert of_expert.get_ydata().sum() == pytest.approx(100)
    assert of_expert.get_xdata()[of_expert.get_ydata() > 0].min() == pytest.approx(0)
    assert of_icl.get_ydata().sum() == pytest.approx(100)
    assert "NAD 3.000 ± 1.000" in texts(figure)  # moved by two nodes and by four
    assert figure.axes[0].get_xlabel() == "position z [m]"


# Figure 10


def log(seeds, returns, costs):
    """A log with these rows, (epochs, seeds); other columns hold nothing of interest."""
    columns = {name: np.zeros(np.shape(returns)) for name in TRAINING_COLUMNS}
    columns |= {"return": np.asarray(returns, float), "constraint_value": np.asarray(costs, float)}
    return log_table(TRAINING_SCHEMA, columns, seeds)


def of_rollouts(first, rollouts, seeds):
    """Returns of `first`, first + 1, ... in every second rollout, a tenth apart between seeds."""
    values = first + np.arange(rollouts)[:, None] + 0.1 * np.arange(len(seeds))
    values[::2] = np.nan
    return log(seeds, values, 2 * values)


@pytest.fixture
def results(tmp_path):
    """ICRL with two groups of seeds; ICL, of which a seed stops after the first iteration."""
    runs = tmp_path / "runs" / "halfcheetah"
    icl = runs / "icl" / "seeds-1-2"
    tables = {
        runs / "icrl" / "seeds-1-2" / "final": of_rollouts(10, 8, [1, 2]),
        runs / "icrl" / "seeds-3-3" / "final": of_rollouts(12, 8, [3]),
        icl / "iteration-01": of_rollouts(100, 4, [1, 2]),
        icl / "iteration-02": of_rollouts(200, 4, [2]),
        icl / "final": of_rollouts(300, 4, [2]),
    }
    for folder, table in tables.items():
        write_table(folder / "training.parquet", table, {})
    paths = tuple(str(path) for path in tmp_path.rglob("*.parquet"))
    return Results("quick", {"halfcheetah": CHEETAH}, paths, TITLES, SETTINGS)


def test_training_is_drawn_over_the_steps_taken(results):
    figure = training.training_figure(results, ("halfcheetah",))
    beta = r"ICL ($\beta=15$)"
    assert titles(figure) == ["ICRL", "ICRL", beta, beta]
    (icrl,) = curves(figure.axes[0])
    np.testing.assert_array_equal(icrl.get_xdata(), [200, 400, 600, 800])  # where episodes ended
    np.testing.assert_allclose(icrl.get_ydata(), np.mean([11, 11.1, 13]) + 2 * np.arange(4))
    parts = [one for one in figure.axes[2].lines if one.get_linestyle() == "-"]
    seeds = [one.get_ydata().tolist() for one in parts if one.get_linewidth() < 0.5]
    np.testing.assert_allclose(seeds, [[101, 103], [101.1, 103.1]])  # later there is but one
    parts = [one for one in parts if one.get_linewidth() > 0.5]
    steps = [part.get_xdata().tolist() for part in parts]
    assert steps == [[80, 160], [240, 320], [400, 480]]
    np.testing.assert_allclose(parts[0].get_ydata(), [101.05, 103.05])
    np.testing.assert_allclose(parts[1].get_ydata(), [201, 203])  # of the seed that goes on
    left = [text.get_text() for text in figure.axes[2].texts if text.get_fontsize() == 5]
    assert left == ["2", "1", "1"]
    starts = [line for line in figure.axes[2].lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in starts] == [160, 320]
    assert "scale: quick; ICRL 3 seeds, ICL 2 seeds" in figure.get_supxlabel()


def test_seeds_are_counted_only_where_they_get_fewer(results):
    kept = tuple(
        path for path in results.paths if "02" not in path and "icl/seeds-1-2/f" not in path
    )
    same = Results("quick", results.worlds, kept, TITLES, SETTINGS)
    figure = training.training_figure(same, ("halfcheetah",))
    assert not [text for text in figure.axes[2].texts if text.get_fontsize() == 5]


def test_costs_share_a_scale_and_only_icl_has_a_threshold(results):
    figure = training.training_figure(results, ("halfcheetah",))
    of_icrl, of_icl = figure.axes[1], figure.axes[3]
    assert of_icrl.get_ylim() == of_icl.get_ylim()
    assert of_icl.get_ylim()[0] < 0 < 606 < of_icl.get_ylim()[1]
    assert [line for line in of_icl.lines if list(line.get_ydata()) == [15, 15]]
    assert not [line for line in of_icrl.lines if list(line.get_ydata()) == [15, 15]]


def test_what_was_not_run_is_said(results):
    kept = tuple(path for path in results.paths if "icrl" not in path and "final" not in path)
    some = Results("quick", results.worlds, kept, TITLES, SETTINGS)
    figure = training.training_figure(some, ("halfcheetah",))
    assert texts(figure).count("not run") == 2
    assert figure.axes[2].get_xlim() == (0, 320)
    none = Results("quick", results.worlds, (), TITLES, SETTINGS)
    assert texts(training.training_figure(none, ("halfcheetah",))).count("not run") == 4


def test_where_no_episode_ended_there_is_no_curve(tmp_path):
    nothing = np.full((3, 1), np.nan)
    path = tmp_path / "runs/halfcheetah/icrl/seeds-1-1/final/training.parquet"
    write_table(path, log([1], nothing, nothing), {})
    results = Results("smoke", {"halfcheetah": CHEETAH}, (str(path),), TITLES, SETTINGS)
    figure = training.training_figure(results, ("halfcheetah",))
    assert texts(figure).count("no episode ended") == 2


def test_an_iteration_in_which_all_seeds_had_stopped_takes_no_steps(results, tmp_path):
    empty = tmp_path / "runs/halfcheetah/icl/seeds-1-2/iteration-02/training.parquet"
    write_table(empty, TRAINING_SCHEMA.empty_table(), {})
    parts = training.parts_of_training(results, "halfcheetah", "icl")
    assert [np.nanmax(part["return"]) for part in parts] == pytest.approx([103.1, 303])


def test_steps_behind_a_row_of_the_log():
    assert training.steps_of_rollout(LEARNING, CHEETAH) == {"icrl": 100, "icl": 40}
    penalty = {"procedure": "penalty", "penalty": {"episodes": 20}}
    found = training.steps_of_rollout({"icl": {"constrained_rl": penalty}}, CHEETAH)
    assert found == {"icl": 20 * 1000}


def test_means_over_seeds_equal_a_loop():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 4)).astype(np.float32)  # as logs are
    values[rng.uniform(size=values.shape) < 0.4] = np.nan
    values[2] = np.nan
    table = log([1, 2, 3, 4], values, values)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    epochs, means = training.over_seeds(columns, "return")
    assert epochs.tolist() == [epoch for epoch in range(1, 7) if epoch != 3]
    for epoch, found in zip(epochs, means, strict=True):
        known = [value for value in values[epoch - 1] if value == value]
        assert found == pytest.approx(np.mean(known, dtype=np.float64), rel=1e-6)
    for seed, (own, line) in enumerate(training.of_each_seed(columns, "return")):
        np.testing.assert_array_equal(line, values[own - 1, seed])
        assert not np.isnan(line).any()
