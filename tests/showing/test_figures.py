"""Figures render from made-up results; equal inputs give equal bytes."""

import re
from dataclasses import replace

import numpy as np
import pytest

from icl_core.artifacts import read_table
from icl_core.environments import make_world
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA
from icl_core.measuring.loading import constraint_on_grid, expert_visits, rollout_visits
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.showing import (
    direction,
    environment_sketches,
    grid_maps,
    lagrangian,
    position_curves,
)
from icl_core.showing.ablation_curves import errors_by_iteration
from icl_core.showing.catalogue import CATALOGUE
from icl_core.showing.expert_training import reward_figure, running_mean
from icl_core.showing.naming import in_order, method_title
from icl_core.showing.save import numbered_ids, save_figure
from icl_core.showing.show import show
from icl_core.showing.style import publication_style
from tests.showing.synthetic_results import EXPERIMENTS, fitted, make_results

# Figure 14 simulates and renders: it has tests of its own.
FIGURES = [
    name
    for name, item in CATALOGUE.items()
    if item.kind == "figure" and item.number != 14 and set(item.experiments) <= set(EXPERIMENTS)
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return make_results(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def all_methods(tmp_path_factory):
    methods, groups = ("icl", "icrl", "gail-constraint"), ((1, 2), (3, 3))
    return make_results(tmp_path_factory.mktemp("all"), methods, groups, epochs=4)


def texts(figure):
    """All panel titles and other text of a figure."""
    words = [text.get_text() for ax in figure.axes for text in (ax.title, *ax.texts)]
    return words + [text.get_text() for text in (figure._supxlabel,) if text is not None]


def draw(name, sources):
    item = CATALOGUE[name]
    with publication_style():
        return item.load()(sources, item.experiments)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_renders_to_equal_bytes(name, sources, tmp_path):
    paths = [tmp_path / file for file in ("a.svg", "a.png", "b.svg", "b.png")]
    show(CATALOGUE[name], sources, paths[:2], dpi=50)
    show(CATALOGUE[name], sources, paths[2:], dpi=50)
    assert paths[0].read_bytes() == paths[2].read_bytes()
    assert paths[1].read_bytes() == paths[3].read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted(paths)  # nothing temporary is left
    assert not re.search(rb"<dc:date>|[Mm]atplotlib v", paths[0].read_bytes())
    assert paths[1].read_bytes().startswith(b"\x89PNG")


def test_a_users_own_matplotlib_settings_do_not_matter(sources, tmp_path):
    import matplotlib

    name = "figure-20-constraint-cartpole-mr"
    show(CATALOGUE[name], sources, [tmp_path / "a.svg"])
    with matplotlib.rc_context({"font.size": 31, "lines.linewidth": 9, "svg.hashsalt": None}):
        show(CATALOGUE[name], sources, [tmp_path / "b.svg"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("number,experiment", [(16, "gridworld-a"), (22, "cartpole-mid")])
def test_panels_follow_the_methods_among_the_inputs(number, experiment, sources, all_methods):
    beta = rf"ICL ($\beta={make_world(experiment).threshold:g}$)"
    for kind, first in ((f"{number}-constraint", "True"), (f"{number + 1}-accruals", "Expert")):
        name = f"figure-{kind}-{experiment}"
        titles = [ax.get_title().strip() for ax in draw(name, sources).axes if ax.get_title()]
        assert titles[0].startswith(first) and titles[1:] == [beta]
        titles = [ax.get_title().strip() for ax in draw(name, all_methods).axes if ax.get_title()]
        assert titles[0].startswith(first) and titles[1:] == ["GAIL-Constraint", "ICRL", beta]


def test_pictures_say_their_scale_and_seeds(sources, all_methods):
    for name in FIGURES:
        if CATALOGUE[name].category != "Environments":  # those show no result
            seeds = "1 seed" if "expert" in name else "2 seeds"
            seeds = "seed 1" if "direction" in name else seeds
            assert any(f"scale: quick, {seeds}" in text for text in texts(draw(name, sources)))
    told = texts(draw("figure-18-constraint-gridworld-b", all_methods))
    assert any("scale: quick, 3 seeds" in text for text in told)


def test_footer_tells_seeds_apart_where_methods_differ(sources):
    assert sources.footer({"ICRL": 1, "ICL": 5}) == "scale: quick; ICRL 1 seed, ICL 5 seeds"
    assert sources.footer({}) == "scale: quick"


def test_given_demonstrations_leave_their_panel_out_with_a_note(sources):
    kept = tuple(p for p in sources.paths if "gridworld-b/training" not in p)
    figure = reward_figure(replace(sources, paths=kept), ("gridworld-a", "gridworld-b"))
    assert len(figure.axes) == 2 and figure.axes[0].lines and not figure.axes[1].lines
    assert any("no training" in text for text in texts(figure))


def test_the_drawn_map_holds_the_mean_and_the_subtitle_the_error():
    world = make_world("gridworld-a")
    true = world.true_on_grid.reshape(7, 7)
    runs = np.stack([true, 1 - true])  # errors 0 and 1
    figure = grid_maps.draw_constraints(world, {"icl": runs})
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), true)
    np.testing.assert_array_equal(figure.axes[1].images[0].get_array(), np.full((7, 7), 0.5))
    assert {image.get_clim() for ax in figure.axes[:2] for image in ax.images} == {(0.0, 1.0)}
    assert "CMSE 0.500 ± 0.500" in texts(figure)


def test_accrual_maps_share_their_colour_scale_and_sum_to_100():
    world = make_world("gridworld-b")
    expert = np.eye(7, dtype=int)
    runs = np.stack([np.eye(7), np.roll(np.eye(7), 1, axis=1)])
    figure = grid_maps.draw_accruals(world, expert, {"icl": runs})
    images = [ax.images[0] for ax in figure.axes[:2]]
    assert images[0].get_clim() == images[1].get_clim() == (0.0, pytest.approx(100 / 7))
    assert images[1].get_array().sum() == pytest.approx(100)
    assert any(text.startswith("NAD") for text in texts(figure))


def test_true_step_stands_at_the_constraints_edge():
    x, true = position_curves._true_constraint(make_world("cartpole-mr"))
    assert x[true[:, 0] == 1].max() == pytest.approx(0.2, abs=2e-3)
    x, true = position_curves._true_constraint(make_world("cartpole-mid"))
    assert x[true[:, 1] == 1].min() == pytest.approx(1.0, abs=2e-3)
    assert x[true[:, 0] == 1].max() == pytest.approx(-1.0, abs=2e-3)


def test_an_action_never_taken_has_no_line_and_no_number():
    world = make_world("cartpole-mr")
    visited = np.ones((2, 49, 2))
    visited[:, :, 1] = 0
    figure = position_curves.draw_accruals(world, np.ones((49, 2)), {"icl": visited})
    labels = [line.get_label() for line in figure.axes[1].lines]
    assert "a = 0 (left)" in labels and "a = 1 (right)" not in labels
    assert "NAD undefined" in texts(figure)


def test_start_ranges_and_zones_of_the_sketch():
    middle, right = make_world("cartpole-mid"), make_world("cartpole-mr")
    flat = np.ravel(environment_sketches.start_ranges(middle))
    np.testing.assert_allclose(flat, [-2.4, -1.15, 1.15, 2.4], atol=0.01)
    np.testing.assert_allclose(
        np.ravel(environment_sketches.start_ranges(right)), [-0.05, 0.05], atol=0.01
    )
    zones = environment_sketches.constrained_ranges(right, 1)
    np.testing.assert_allclose(zones, [(-2.4, 0.2)], atol=2e-3)
    zones = environment_sketches.constrained_ranges(middle, 0)
    np.testing.assert_allclose(zones, [(-2.4, -1.0)], atol=2e-3)


def test_running_mean_equals_a_loop():
    values = np.random.default_rng(0).normal(size=11)
    naive = [values[max(0, t - 2) : t + 3].mean() for t in range(11)]
    np.testing.assert_allclose(running_mean(values, 5), naive)


def test_loaders_give_what_was_stored(sources):
    world = make_world("cartpole-mid")
    (path,) = sources.final("cartpole-mid", "constraint.safetensors")["icl"]
    values = constraint_on_grid(path, world)
    networks = fitted(world, [1, 2], "icl")
    node = world.grid.nodes[17].astype(np.float32)
    logits = networks(np.broadcast_to(node, (2, 1, 2)))[:, 0, 0]
    np.testing.assert_allclose(values.reshape(2, -1)[:, 17], 1 / (1 + np.exp(-logits)), atol=1e-6)
    demonstrations = sources.demonstrations("cartpole-mid", "trajectories.parquet")
    assert expert_visits(demonstrations, world).shape == (49, 2)
    rollouts = sources.final("cartpole-mid", "rollouts.parquet")["icl"]
    assert rollout_visits(rollouts, world).shape == (2, 49, 2)


def test_ablation_curves_are_the_unreported_errors_in_order(sources):
    table = read_table(sources.metrics(), METRICS_SCHEMA)
    errors = errors_by_iteration(table, "cartpole-mr-no-mixture")
    assert errors.shape == (2, 5 - 1)
    wanted = {
        (row["seed"], row["iteration"]): row["value"]
        for row in table.to_pylist()
        if row["experiment"] == "cartpole-mr-no-mixture" and row["metric"] == "cmse"
    }
    assert errors[1, 3] == wanted[2, 3] and errors[0, 0] == wanted[1, 0]
    figure = draw("figure-05-ablations", sources)
    lines = {line.get_label(): line for line in figure.axes[2].lines}
    np.testing.assert_allclose(lines["no mixture, no reweighting"].get_ydata(), errors.mean(axis=0))
    assert figure.axes[2].get_title().strip() == "CartPole (MR)"


def test_sweeps_name_their_setting(sources):
    titles = {
        number: [ax.get_title().strip() for ax in draw(name, sources).axes if ax.get_title()]
        for number, name in ((6, "figure-06-slip"), (9, "figure-09-thresholds-gridworld-b"))
    }
    assert titles[6] == [f"$p_{{slip}}={p}$" for p in ("0", "0.1", "0.3", "0.5")]
    betas = [rf"ICL ($\beta={beta}$)" for beta in ("0.99", "2.99", "5.99")]
    assert titles[9] == ["True constraint fn.", *betas]


def test_adjustment_logs_are_put_end_to_end(sources):
    log = lagrangian.adjustment_log(sources, "gridworld-a-lagrangian")
    assert sorted(log) == [1, 2]
    assert len(log[1]["multiplier"]) == 3 * 40
    first = next(p for p in sources.paths if "lagrangian/icl/seeds-1-2/iteration-01/adj" in p)
    stored = read_table(first, ADJUSTMENT_SCHEMA)
    np.testing.assert_array_equal(
        log[2]["expert_satisfaction"][:40], stored["expert_satisfaction"].to_numpy()[40:]
    )


def test_thinning_keeps_every_value_but_an_incomplete_end():
    steps, spans = lagrangian.thinned(np.arange(1003.0), points=100)
    assert spans.shape == (91, 11) and spans[0, 0] == 0 and spans[-1, -1] == 91 * 11 - 1
    assert steps[0] == 6  # of steps 1 to 11
    steps, spans = lagrangian.thinned(np.arange(7.0), points=100)
    np.testing.assert_array_equal(steps, np.arange(1, 8))


def test_direction_marks_who_goes_where_and_shows_the_change():
    world = make_world("gridworld-a")
    expert, agent, before, after = (np.zeros((7, 7)) for _ in range(4))
    expert[0] = agent[:, 0] = 1 / 7
    before[:], after[3, 0] = 0.5, 1.0
    figure = direction.draw_direction(world, expert, agent, before, after)
    change = figure.axes[2].images[0]
    np.testing.assert_array_equal(change.get_array(), after - before)
    assert change.get_clim() == (-1.0, 1.0)
    rings, dots = (
        {tuple(point) for point in marks.get_offsets().tolist()}
        for marks in figure.axes[2].collections[:2]
    )
    assert rings == {(0.0, float(i)) for i in range(7)}
    assert dots == {(float(j), 0.0) for j in range(7)}


def test_order_of_methods_and_their_titles():
    assert in_order({"zzz", "icl", "aaa", "gail-constraint"}) == [
        "gail-constraint",
        "icl",
        "aaa",
        "zzz",
    ]
    assert method_title("icrl", 3.0) == "ICRL"


def test_a_failed_write_leaves_nothing(tmp_path):
    class Broken:
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
    told = '<g clip-path="url(#p0)"/><use xlink:href="#m1"/><i id="p0"/>'
    assert numbered_ids(given) == told
    untouched = '<text id="figure_1">a "deadbeef" of e6e6e6e6e6e</text>'
    assert numbered_ids(untouched) == untouched
