"""Figures and the table of driving, from made-up constraints and visits."""

from types import SimpleNamespace

import numpy as np
import pytest

from icl_core.artifacts import write_tensors
from icl_core.demonstrations.accruals import visits
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.recordings.highd.replay import replay
from icl_core.environments.traffic import Headway
from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.environments.worlds.highd import GAP
from icl_core.layout import ALL, path
from icl_core.learning.engine.networks import Networks
from icl_core.measuring.evaluation import Evaluation, stored
from icl_core.measuring.paper import METHODS
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import boundary_gap
from icl_core.showing.figures import driving, driving_environments
from icl_core.showing.loading import Accruals
from icl_core.showing.save import save_figure
from icl_core.showing.style import publication_style
from icl_core.showing.tables.headway import GAP_COLUMNS, build_gaps, headway_table
from tests.environments.highd_scenes import make_highd, random_recording
from tests.fake_results import TITLES
from tests.showing.conftest import texts, titles

ICL = {"icl": "ICL"}
RUN = Results("quick", {}, (), TITLES)
EXID = SimpleNamespace(
    name="exid",
    title="ExiD",
    threshold=5.0,
    source="recorded",
    grid=EvaluationGrid(
        (
            Axis("distance d", np.linspace(-1, 1, 41), "m", 10.0),
            Axis("lateral velocity v", np.linspace(-0.5, 0.5, 51), "m/s", 5.0),
        )
    ),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "scene.parquet"
    return make_highd(path, random_recording(np.random.default_rng(3), 30), Headway(2.0, 1.5))


@pytest.fixture(scope="module")
def results(world, tmp_path_factory):
    """All that the figures read, in the layout of results/."""
    root = tmp_path_factory.mktemp("results")
    demonstrations = replay(world, 1, np.random.default_rng(0))
    file = root / path("demonstrations", experiment="highd", group=ALL)
    write_demonstrations(file, demonstrations, world, {})
    for method in METHODS:
        run = {"experiment": "highd", "method": method, "group": "1-2"}
        rngs = [np.random.default_rng(seed) for seed in (1, 2)]
        networks = Networks.initialise(rngs, (2, 64, 64, 1))
        write_tensors(root / path("constraint", **run), networks.tensors(), {})
        stack = type(demonstrations)(*(np.stack([p, p]) for p in demonstrations.parts()))
        played = {"last": Evaluation.of(world, [stack], visits(world, stack))}
        write_tensors(root / path("evaluation", **run), stored([1, 2], "last", played), {})
    paths = tuple(sorted(str(found) for found in root.rglob("*") if found.is_file()))
    return Results("quick", {"highd": world}, paths, TITLES)


def sloped(world, minimum, time, sharpness=2.0):
    """A constraint that crosses 0.5 just at minimum + time * v."""
    speed, gap = (axis.physical for axis in world.grid.axes)
    return 1 / (1 + np.exp((gap - minimum - time * speed[:, None]) / sharpness))


@pytest.mark.parametrize(
    "function",
    [
        driving.constraint_figure,
        driving.accruals_figure,
        driving_environments.highd_figure,
    ],
)
def test_figures_render_to_equal_bytes_and_say_what_they_show(function, results, tmp_path):
    for name in ("a.svg", "b.svg"):
        with publication_style():
            figure = function(results, ("highd",))
            save_figure(figure, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    words = texts(figure)
    assert any("simulated recordings" in text for text in words)
    if function is not driving_environments.highd_figure:
        assert any("scale: quick, 2 seeds" in text for text in words)
        assert titles(figure)[-3:] == ["GAIL-Constraint", "ICRL", r"ICL ($\beta=0.1$)"]


def test_the_map_is_drawn_in_physical_units_and_turned(world):
    runs = np.stack([sloped(world, 5, 1.0), sloped(world, 5, 2.0)])
    figure = driving.draw_constraints(world, {"icl": runs}, ICL)
    image = figure.axes[0].images[0]
    np.testing.assert_allclose(image.get_extent(), [-0.5, 40.5, -1.25, 201.25])
    np.testing.assert_allclose(image.get_array(), runs.mean(axis=0).T)
    values = np.zeros(EXID.grid.shape)
    values[30:, 30:] = 1.0
    figure = driving.draw_constraints(EXID, {"icl": values[None]}, ICL, values)
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lateral velocity v [m/s]", "distance d [m]")
    np.testing.assert_allclose(ax.images[0].get_extent(), [-2.55, 2.55, -10.25, 10.25])
    np.testing.assert_array_equal(ax.images[0].get_array(), values)  # d is the grid's first axis
    assert any("forbids 100.0 %" in text for text in texts(figure))
    x, y = ax.lines[0].get_data()
    assert x.min() == pytest.approx(0.5) and y.min() == pytest.approx(5.0)


def test_the_share_that_is_forbidden_and_accruals(world):
    visits = np.zeros(world.grid.shape)
    visits[30, 4], visits[30, 60] = 1, 3  # 10 m and 150 m at 30 m/s
    runs = sloped(world, 2, 1.5)[None]
    figure = driving.draw_constraints(world, {"icl": runs}, ICL, visits)
    assert any("forbids 25.0 % of expert's steps" in text for text in texts(figure))
    elsewhere = np.zeros((2, *world.grid.shape))
    elsewhere[0, 30, 4] = elsewhere[1, 1, 1] = 7
    shown = {"icl": np.stack([visits, visits])}
    found = Accruals(visits[None], {"icl": elsewhere}, shown)
    figure = driving.draw_accruals(world, found, ICL)
    assert any("50.0 ± 50.0 % in expert's cells" in text for text in texts(figure))
    assert set(np.unique(figure.axes[0].images[0].get_array())) == {0, 1}  # binary
    assert set(np.unique(figure.axes[1].images[0].get_array())) == {0, 0.5}
    alone = Accruals(np.ones((1, *EXID.grid.shape)), {}, {})
    figure = driving.draw_accruals(EXID, alone, {})
    assert figure.axes[0].images[0].get_array().sum() == pytest.approx(100)


def test_every_seed_has_its_own_line_and_gaps_a_second_scale(world):
    runs = np.stack([sloped(world, 5, 1.0), sloped(world, 5, 2.0), np.zeros(world.grid.shape)])
    figure = driving.draw_constraints(world, {"icl": runs}, ICL)
    ax = figure.axes[0]
    assert len(ax.collections) == 2  # contours; the third forbids nothing
    (scale,) = [one for one in ax.child_axes if one.get_ylabel() == "gap between centres [m]"]
    figure.draw_without_rendering()
    length = 2 * world.tracks.half_length.mean()
    np.testing.assert_allclose(np.array(scale.get_ylim()) - ax.get_ylim(), length)
    figure = driving.draw_constraints(EXID, {"icl": np.ones((1, *EXID.grid.shape))}, ICL)
    assert not [one for one in figure.axes[0].child_axes if "centres" in one.get_ylabel()]


def test_vehicles_are_as_large_as_the_road_is(world):
    figure = driving_environments.draw_frame(world, driving_environments.chosen_state(world))
    assert [ax.get_aspect() for ax in figure.axes] == [1.0, 1.0]


def test_the_shown_frame_has_somebody_ahead(world):
    assert driving_environments.chosen_state(world)[GAP] >= 0


# --- The table


@pytest.mark.parametrize(("minimum", "time"), [(2.0, 1.5), (8.0, 3.0), (1.0, 0.0)])
@pytest.mark.parametrize("speed", [20.0, 30.0, 40.0])
def test_the_boundary_of_a_known_rule(world, minimum, time, speed):
    found = boundary_gap(world, sloped(world, minimum, time), speed)
    assert found == pytest.approx(minimum + time * speed, abs=0.1)


def test_constraints_without_a_boundary(world):
    gap = world.grid.axes[1].physical
    shape = world.grid.shape
    far = np.broadcast_to(gap > 120, shape).astype(float)  # forbids what is far, not what is near
    for constraint in (np.zeros(shape), np.ones(shape), far):
        assert np.isnan(boundary_gap(world, constraint, 30.0))
    both = np.maximum(sloped(world, 2, 1.0), far)
    assert boundary_gap(world, both, 30.0) == pytest.approx(32.0, abs=0.1)


def test_the_table(world):
    runs = np.stack([sloped(world, 2, 1.4), sloped(world, 2, 1.6), np.zeros(world.grid.shape)])
    table = build_gaps(RUN, world, {"icl": runs[:2], "icrl": runs[2:]})
    rows = {(row[0], row[1]): dict(zip(GAP_COLUMNS, row, strict=True)) for row in table.rows}
    icl = rows["icl", 20.0]
    assert icl["gap"] == pytest.approx(32, abs=0.2)
    assert icl["time_gap"] == pytest.approx(1.6, abs=0.01)
    assert (icl["seed_mean"], icl["seed_std"]) == pytest.approx((32, 2), abs=0.1)
    assert (icl["rule_gap"], icl["paper_low"], icl["paper_high"]) == (32.0, 60.0, 80.0)
    assert icl["difference"] == pytest.approx(0, abs=0.2)
    assert rows["icrl", 30.0]["gap"] == "" and rows["icrl", 30.0]["seeds_with_gap"] == 0
    assert "| ICL | ours, mean of 2 seeds | 32 m (1.6 s) |" in table.markdown
    assert "| ICRL | ours, by seed | none | none | none |" in table.markdown
    assert "simulated recordings" in table.markdown


def test_the_table_from_files_and_without_a_known_rule(results, tmp_path):
    assert len(headway_table(results, ("highd",)).rows) == 9
    recorded = random_recording(np.random.default_rng(4), 20, source="recorded")
    world = make_highd(tmp_path / "scene.parquet", recorded)
    table = build_gaps(RUN, world, {"icl": sloped(world, 2, 1.4)[None]})
    assert "HighD recordings" in table.markdown and "rule" not in table.markdown
    assert all(row[GAP_COLUMNS.index("rule_gap")] == "" for row in table.rows)
