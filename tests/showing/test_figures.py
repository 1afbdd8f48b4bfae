"""Figures render from made-up results; equal inputs give equal bytes."""

import inspect
import re
from dataclasses import replace

import numpy as np
import pytest

from icl_core.artifacts import read_table
from icl_core.environments import make_world
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, LOG_EVERY
from icl_core.measuring.loading import constraint_on_grid, expert_visits, visits_by_seed
from icl_core.measuring.results import Results
from icl_core.showing import loading
from icl_core.showing.figures import (
    adjustment,
    environments,
    gridworlds,
    lagrangian,
    positions,
)
from icl_core.showing.figures.ablations import VARIANTS, by_iteration
from icl_core.showing.figures.experts import reward_figure, running_mean
from icl_core.showing.loading import Accruals
from icl_core.showing.save import numbered_ids, save_figure, show
from tests.fake_results import TITLES, fitted
from tests.showing.conftest import ITEMS, drawn_anew, only, texts, titles

# Figure 14 simulates and renders: it has tests of its own.
FIGURES = [name for name, item in ITEMS.items() if item.kind == "figure" and item.number != 14]
# Of each function that draws, its first figure, but for the driving figures: test_driving and
# test_exid_environment write those twice.
DRIVING = ("driving", "driving_environments", "exid_environment")
FIRST = {
    (ITEMS[name].module, ITEMS[name].draw): name
    for name in reversed(FIGURES)
    if ITEMS[name].module.rpartition(".")[2] not in DRIVING
}.values()
LINES_AND_IMAGE = "figure-07-lagrangian"
ICL = {"icl": "ICL"}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn(name, drawn):
    assert drawn(name).axes


@pytest.mark.parametrize("name", [name for name in FIRST if name != LINES_AND_IMAGE])
def test_figures_render_to_equal_bytes(name, results, tmp_path):
    """Every drawing function gives equal bytes for equal inputs."""
    for file in ("a.svg", "b.svg"):
        show(ITEMS[name], few(results, name), [tmp_path / file])
    content = (tmp_path / "a.svg").read_bytes()
    assert (tmp_path / "b.svg").read_bytes() == content
    assert not re.search(rb"<dc:date>|[Mm]atplotlib v", content)


def few(results, name):
    """ICL alone, in every second experiment of a figure: half the panels, in half the time."""
    shown = {one: results.worlds[one] for one in ITEMS[name].experiments[::2]}
    return replace(only(results, "icl"), worlds=shown)


def test_a_figures_pixels_are_equal_too(results, tmp_path):
    """Lines and an image; the rest of a PNG is what its SVG is drawn from."""
    pairs = [(tmp_path / f"{name}.png", tmp_path / f"{name}.svg") for name in "ab"]
    for pair in pairs:
        show(ITEMS[LINES_AND_IMAGE], results, pair, dpi=50)
    assert [path.read_bytes() for path in pairs[0]] == [path.read_bytes() for path in pairs[1]]
    assert pairs[0][0].read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 4  # nothing temporary is left


def test_a_users_own_matplotlib_settings_do_not_matter(results, tmp_path):
    import matplotlib

    name = "figure-20-constraint-cartpole-mr"
    show(ITEMS[name], few(results, name), [tmp_path / "a.svg"])
    with matplotlib.rc_context({"font.size": 31, "lines.linewidth": 9, "svg.hashsalt": None}):
        show(ITEMS[name], few(results, name), [tmp_path / "b.svg"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("number,experiment", [(16, "gridworld-a"), (22, "cartpole-mid")])
def test_panels_follow_the_methods_among_the_inputs(number, experiment, results, drawn):
    beta = rf"ICL ($\beta={make_world(experiment).threshold:g}$)"
    for kind, first in ((f"{number}-constraint", "True"), (f"{number + 1}-accruals", "Expert")):
        name = f"figure-{kind}-{experiment}"
        alone = titles(drawn_anew(name, only(results, "icl")))
        assert alone[0].startswith(first) and alone[1:] == [beta]
        every = titles(drawn(name))
        assert every[0].startswith(first) and every[1:] == ["GAIL-Constraint", "ICRL", beta]


def test_pictures_say_their_scale_and_seeds(drawn):
    for name in FIGURES:
        if ITEMS[name].category != "Environments":  # those show no result
            seeds = "3 experts" if "expert" in name else "3 seeds"
            seeds = "seed 1" if "direction" in name else seeds
            of_learners = {need.kind for need in ITEMS[name].needs} != {"demonstrations"}
            said = f"scale: quick, {seeds}" if of_learners else "scale: quick"
            assert any(said in text for text in texts(drawn(name)))


def test_footer_names_the_seeds_of_each_method_where_they_differ(results):
    assert results.footer({"ICRL": 1, "ICL": 5}) == "scale: quick; ICRL 1 seed, ICL 5 seeds"
    assert results.footer({}) == "scale: quick"


def test_figures_of_several_worlds_name_whose_seeds_differ(results):
    shown = [("A", "gridworld-a", {"icl": [1, 2, 3], "icl-plus": [1, 2, 3]})]
    own = replace(results, paths=tuple(p for p in results.paths if "/gridworld-b/icl/" in p))
    assert loading.footer_of_worlds(own, shown) == "scale: quick, 3 seeds"
    shown.append(("B", "gridworld-b", {"icl": [1, 2]}))
    text = loading.footer_of_worlds(own, shown)
    assert text == (
        "scale: quick; A 3 seeds, B 2 seeds; failed and left out: 1 of 3 seeds of ICL on B"
    )
    shown[1] = ("B", "gridworld-b", {"icl": [1, 2, 3], "icl-plus": [1, 2]})
    text = loading.footer_of_worlds(own, shown)
    assert text == "scale: quick; A 3 seeds, ICL on B 3 seeds, ICL+ on B 2 seeds"


def test_given_demonstrations_leave_their_panel_out_with_a_note(results):
    kept = tuple(p for p in results.paths if not re.search("gridworld-b/.*/training", p))
    figure = reward_figure(replace(results, paths=kept), ("gridworld-a", "gridworld-b"))
    assert len(figure.axes) == 2 and figure.axes[0].lines and not figure.axes[1].lines
    assert any("no training" in text for text in texts(figure))


def test_the_drawn_map_holds_the_mean_and_the_subtitle_the_error():
    world = make_world("gridworld-a")
    true = world.true_on_grid.reshape(7, 7)
    runs = np.stack([true, 1 - true])  # errors 0 and 1
    figure = gridworlds.draw_constraints(world, {"icl": runs}, ICL)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), true)
    np.testing.assert_array_equal(figure.axes[1].images[0].get_array(), np.full((7, 7), 0.5))
    assert {image.get_clim() for ax in figure.axes[:2] for image in ax.images} == {(0.0, 1.0)}
    assert "CMSE 0.500 ± 0.500" in texts(figure)


def test_accrual_maps_share_their_colour_scale_and_sum_to_100():
    world = make_world("gridworld-b")
    experts = np.stack([np.eye(7), np.eye(7)])
    runs = np.stack([np.eye(7), np.roll(np.eye(7), 1, axis=1)])
    found = Accruals(experts, {"icl": runs}, {"icl": experts})
    figure = gridworlds.draw_accruals(world, found, ICL)
    images = [ax.images[0] for ax in figure.axes[:2]]
    assert images[0].get_clim() == images[1].get_clim() == (0.0, pytest.approx(100 / 7))
    assert images[1].get_array().sum() == pytest.approx(100)
    assert any(text.startswith("NAD") for text in texts(figure))
    # Each run is as far from its own expert: from themselves by nothing.
    same = found._replace(shown={"icl": runs})
    assert "NAD 0.000 ± 0.000" in texts(gridworlds.draw_accruals(world, same, ICL))


def test_true_step_stands_at_the_constraints_edge():
    x, true = positions._true_constraint(make_world("cartpole-mr"))
    assert x[true[:, 0] == 1].max() == pytest.approx(0.2, abs=2e-3)
    x, true = positions._true_constraint(make_world("cartpole-mid"))
    assert x[true[:, 1] == 1].min() == pytest.approx(1.0, abs=2e-3)
    assert x[true[:, 0] == 1].max() == pytest.approx(-1.0, abs=2e-3)


def test_an_action_never_taken_has_no_line_and_no_number():
    world = make_world("cartpole-mr")
    visited = np.ones((2, 49, 2))
    visited[:, :, 1] = 0
    found = Accruals(np.ones((1, 49, 2)), {"icl": visited}, {"icl": np.ones((2, 49, 2))})
    figure = positions.draw_accruals(world, found, ICL)
    labels = [line.get_label() for line in figure.axes[1].lines]
    assert "a = 0 (left)" in labels and "a = 1 (right)" not in labels
    assert "NAD undefined" in texts(figure)


def test_start_ranges_and_zones_of_the_sketch():
    middle, right = make_world("cartpole-mid"), make_world("cartpole-mr")
    flat = np.ravel(environments.start_ranges(middle))
    np.testing.assert_allclose(flat, [-2.4, -1.15, 1.15, 2.4], atol=0.01)
    np.testing.assert_allclose(np.ravel(environments.start_ranges(right)), [-0.05, 0.05], atol=0.01)
    zones = environments.constrained_ranges(right, 1)
    np.testing.assert_allclose(zones, [(-2.4, 0.2)], atol=2e-3)
    zones = environments.constrained_ranges(middle, 0)
    np.testing.assert_allclose(zones, [(-2.4, -1.0)], atol=2e-3)


def test_running_mean_equals_a_loop():
    values = np.random.default_rng(0).normal(size=11)
    naive = [values[max(0, t - 2) : t + 3].mean() for t in range(11)]
    np.testing.assert_allclose(running_mean(values, 5), naive)


def test_loaders_give_what_was_stored(results):
    world = make_world("cartpole-mid")
    path = results.by_method("constraint", "cartpole-mid")["icl"][0]
    values = constraint_on_grid(path, world)
    networks = fitted(world, [1, 2], "icl")
    node = world.grid.nodes[17].astype(np.float32)
    logits = networks(np.broadcast_to(node, (2, 1, 2)))[:, 0, 0]
    np.testing.assert_allclose(values.reshape(2, -1)[:, 17], 1 / (1 + np.exp(-logits)), atol=1e-6)
    shown = [one.path for one in results.find("demonstrations", experiment="cartpole-mid")]
    assert expert_visits(shown, world).experts.shape == (3, 49, 2)
    played = results.by_method("evaluation", "cartpole-mid")["icl"]
    assert {one.shape for one in visits_by_seed(played, world).values()} == {(49, 2)}


def test_ablation_curves_are_the_unreported_values_in_order(results, drawn):
    table = loading.metrics_of(results)
    iterations, errors = by_iteration(table, "cartpole-mr-no-mixture")
    assert iterations.tolist() == [0, 1, 2, 3] and errors.shape == (3, 4)
    wanted = {
        (row["seed"], row["iteration"]): row["value"]
        for row in table.to_pylist()
        if row["experiment"] == "cartpole-mr-no-mixture" and row["metric"] == "cmse"
    }
    assert errors[1, 3] == wanted[2, 3] and errors[0, 0] == wanted[1, 0]
    figure = drawn("figure-05-ablations")
    above, below = figure.axes[2], figure.axes[2 + 4]
    assert above.get_title().strip() == "CartPole (MR)"
    for ax, metric in ((above, "cmse"), (below, "nad")):
        _, values = by_iteration(table, "cartpole-mr-no-mixture", metric)
        lines = {line.get_label(): line for line in ax.lines}
        mean = lines["no mixture, no reweighting"].get_ydata()
        np.testing.assert_allclose(mean, values.mean(axis=0))
        drawn_seeds = [line for line in ax.lines if line.get_alpha()]
        assert len(drawn_seeds) == len(VARIANTS) * 3
        assert any(np.array_equal(line.get_ydata(), values[2]) for line in drawn_seeds)
    assert [figure.axes[k].get_ylabel() for k in (0, 4)] == ["CMSE", "NAD"]


def test_each_seeds_constraint_is_a_line_and_its_edge_a_number():
    """A mean of seeds that forbid and seeds that do not is not a soft constraint."""
    world = make_world("cartpole-mid")
    x = world.grid.axes[0].nodes
    runs = np.zeros((3, len(x), 2))
    runs[..., 0], runs[..., 1] = x < -1.45, x > 1.35
    runs[0, x > 2, 0] = 1.0  # the tail of one seed
    figure = positions.draw_constraints(world, {"icl": runs}, ICL)
    ax = figure.axes[1]
    seeds = [line.get_ydata() for line in ax.lines if line.get_linewidth() == 0.4]
    assert len(seeds) == 6
    assert any(np.array_equal(line, runs[0, :, 0]) for line in seeds)
    numbers = [[text.get_text() for text in ax.texts if "CMSE" not in text.get_text()]]
    numbers.append([t.get_text() for t in figure.axes[0].texts if t.get_text() != "0 or 1"])
    assert numbers == [["\N{MINUS SIGN}1.45", "1.35"], ["\N{MINUS SIGN}1.00", "1.00"]]


def test_a_constraint_without_an_edge_has_no_number():
    world = make_world("cartpole-mid")
    figure = positions.draw_constraints(world, {"icl": np.zeros((2, *world.grid.shape))}, ICL)
    assert [text.get_text() for text in figure.axes[1].texts] == ["CMSE 0.296 ± 0.000"]


def test_crossings_lie_between_the_points():
    x, values = np.arange(4.0), np.array([0.0, 1.0, 0.75, 0.0])
    np.testing.assert_allclose(positions.crossings(x, values), [0.5, 2 + 1 / 3])


def test_sweeps_name_their_setting(drawn):
    assert titles(drawn("figure-06-slip")) == [
        f"$p_{{slip}}={p}$" for p in ("0", "0.1", "0.3", "0.5")
    ]
    betas = [rf"ICL ($\beta={beta}$)" for beta in ("0.99", "2.99", "5.99")]
    found = titles(drawn("figure-09-thresholds-gridworld-b"))
    assert found == ["True constraint fn.", *betas]


def test_adjustment_logs_are_put_end_to_end(results):
    log = lagrangian.adjustment_log(results, "gridworld-a-lagrangian")
    assert sorted(log) == [1, 2, 3]
    assert len(log[1]["multiplier"]) == 3 * 40
    np.testing.assert_array_equal(log[1]["step"], np.arange(1, 121))  # steps are counted through
    first = next(p for p in results.paths if "lagrangian/icl/seeds-1-2/iteration-01/adj" in p)
    stored = read_table(first, ADJUSTMENT_SCHEMA)
    np.testing.assert_array_equal(
        log[2]["expert_satisfaction"][:40], stored["expert_satisfaction"].to_numpy()[40:]
    )


def test_the_multiplier_of_every_seed_is_drawn_and_satisfaction_has_one_scale(results, drawn):
    figure = drawn("figure-07-lagrangian")
    multiplier, left, right = figure.axes[1:4]
    assert len(multiplier.lines) == 3
    assert left.get_ylim() == right.get_ylim() == (0, 103)
    assert left.get_xlim() == right.get_xlim()
    assert right.get_legend() is None  # one penalty: nothing to tell apart
    assert multiplier.get_yscale() == "linear"


def test_only_a_log_longer_than_what_is_drawn_has_a_band(drawn, results, monkeypatch):
    name = "figure-07-lagrangian"
    assert "band" not in drawn(name).get_supxlabel()  # 120 rows
    monkeypatch.setattr(lagrangian, "POINTS", 100)
    assert drawn_anew(name, results).get_supxlabel().startswith("band: least to greatest value; ")
    assert f"at every {LOG_EVERY}th of all adjustment steps" in ITEMS[name].caption
    assert f"than the {thinned_to()} points that are drawn" in ITEMS[name].caption


def thinned_to():
    """How many points a curve has, where nothing else is said."""
    return inspect.signature(lagrangian.thinned).parameters["points"].default


def test_a_penalty_on_the_mean_stands_beside_ours(results, monkeypatch):
    kept = [re.sub("gridworld-a-no-mixture", "gridworld-a-mean-hinge", p) for p in results.paths]
    log = lagrangian.adjustment_log
    monkeypatch.setattr(
        lagrangian,
        "adjustment_log",
        lambda given, name: log(results, name.replace("mean-hinge", "no-mixture")),
    )
    names = ITEMS["figure-07-lagrangian"].experiments
    assert names[-1] == "gridworld-a-mean-hinge"
    figure = lagrangian.lagrangian_figure(replace(results, paths=tuple(kept)), names)
    found = [text.get_text() for text in figure.axes[3].get_legend().get_texts()]
    assert found == ["ICL (penalty)", "penalty on the mean"]


def test_a_multiplier_of_spikes_is_drawn_on_a_logarithmic_scale():
    _, axes = lagrangian.panels(1, height=1)
    spiky = np.where(np.arange(400) == 3, 17.0, 0.1)
    log = {"step": np.arange(400), "multiplier": spiky}
    lagrangian._draw_multipliers(axes[0, 0], {1: log}, 1)
    assert axes[0, 0].get_yscale() == "symlog"


def test_thinning_keeps_every_value_but_an_incomplete_end():
    counted = np.arange(1003.0)
    steps, spans = lagrangian.thinned(counted + 1, counted, points=100)
    assert spans.shape == (91, 11) and spans[0, 0] == 0 and spans[-1, -1] == 91 * 11 - 1
    assert steps[0] == 6  # of steps 1 to 11
    steps, spans = lagrangian.thinned(counted[:7] * 25 + 1, counted[:7], points=100)
    np.testing.assert_array_equal(steps, counted[:7] * 25 + 1)


def test_direction_marks_who_goes_where_and_shows_the_change():
    world = make_world("gridworld-a")
    expert, agent, before, after = (np.zeros((7, 7)) for _ in range(4))
    expert[0] = agent[:, 0] = 1 / 7
    before[:], after[3, 0] = 0.5, 1.0
    figure = adjustment.draw_direction(world, expert, agent, before, after)
    change = figure.axes[2].images[0]
    np.testing.assert_array_equal(change.get_array(), after - before)
    assert change.get_clim() == (-0.5, 0.5)  # as far as it changes, either way
    bars = [child for ax in figure.axes[2:4] for child in ax.child_axes]
    assert [bar.get_ylabel() for bar in bars] == ["change of c", "c(i, j)"]
    # It rises in one cell, of the agent, and falls everywhere else.
    minus, of_agent = "\N{MINUS SIGN}", (0.5 - 6 * 0.5) / 7
    assert adjustment.over_visits(expert, agent, after - before) == (
        f"mean change over the expert's visits {minus}0.50, over the agent's {minus}{-of_agent:.2f}"
    )
    rings, dots = (
        {tuple(point) for point in marks.get_offsets().tolist()}
        for marks in figure.axes[2].collections[:2]
    )
    assert rings == {(0.0, float(i)) for i in range(7)}
    assert dots == {(float(j), 0.0) for j in range(7)}


def test_order_of_methods_and_their_titles():
    run = Results("quick", {"a": make_world("gridworld-a")}, (), {**TITLES, "new": "New"})
    found = loading.in_order(run, {"zzz", "icl", "aaa", "new", "gail-constraint"})
    assert found == ["gail-constraint", "icl", "new", "aaa", "zzz"]
    panels = loading.panel_titles(run, "a", ["icrl", "icl", "new", "zzz"])
    assert list(panels.values()) == ["ICRL", r"ICL ($\beta=0.99$)", "New", "zzz"]
    given = replace(run, betas={"a": 2.5})
    assert loading.panel_titles(given, "a", ["icl"]) == {"icl": r"ICL ($\beta=2.5$)"}
    assert loading.column_title(run, "a") == "a"  # an experiment that is not named like its world


def test_a_failed_write_leaves_nothing(tmp_path):
    class Broken:
        axes = ()

        def draw_without_rendering(self):
            pass

        def get_layout_engine(self):
            return None

        def savefig(self, path, **_):
            path.write_text("half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        save_figure(Broken(), tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_ids_in_a_picture_are_numbered_as_they_come():
    given = (
        '<g clip-path="url(#p27705836ad)"/><use xlink:href="#m0123456789"/><i id="p27705836ad"/>'
    )
    numbered = '<g clip-path="url(#p0)"/><use xlink:href="#m1"/><i id="p0"/>'
    assert numbered_ids(given) == numbered
    untouched = '<text id="figure_1">a "deadbeef" of e6e6e6e6e6e</text>'
    assert numbered_ids(untouched) == untouched
