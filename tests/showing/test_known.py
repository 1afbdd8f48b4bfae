"""What can be known: exact ICL beside the networks, and the constraints that explain."""

import numpy as np
import pytest

from icl_core.demonstrations.files import read_sets
from icl_core.measuring.determined import known_bounds
from icl_core.measuring.identified import Identified
from icl_core.measuring.statistics import mean_and_std, summary
from icl_core.showing.exact import METHODS, places_of
from icl_core.showing.loading import (
    metrics_of,
    recovered_constraints,
    true_on_grid,
)
from tests.showing.conftest import ITEMS, drawn_anew, only, titles

EXACT, FIGURE = ITEMS["table-03b-exact"], ITEMS["figure-06b-exact"]


def table_of(name, results):
    item = ITEMS[name]
    return item.load()(results, item.experiments)


def named(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def images(figure):
    return [ax.images[0].get_array() for ax in figure.axes if ax.images]


# ------------------------------------------------------------------ exact ICL


def test_networks_and_exact_solutions_of_a_world_share_demonstrations(results):
    from tests.fake_results import EXPERIMENTS

    for place in places_of(results, EXACT.experiments):
        assert len({EXPERIMENTS[name].demonstrations_from for name in place.experiments}) == 1
    slips = [(place.name, place.world.slip) for place in places_of(results, EXACT.experiments)]
    assert slips == [(f"gridworld-{grid}", slip) for grid in "ab" for slip in (0, 0.1, 0.3)]


def test_the_table_has_every_method_in_every_world(results):
    rows = named(table_of("table-03b-exact", results))
    cmse = summary(metrics_of(results), "cmse")
    for metric in ("cmse", "nad"):
        for method in METHODS:
            found = [row for row in rows if (row["metric"], row["method"]) == (metric, method)]
            assert [(row["slip"], row["seeds"]) for row in found] == [
                (0, 3),
                (0.1, 3),
                (0.3, 3),
            ] * 2
    first = next(row for row in rows if row["method"] == "exact-icl-ours")
    assert first["mean"] == cmse["gridworld-a-exact", "exact-icl-ours"].mean
    nothing = [row["mean"] for row in rows if row["method"] == "c = 0"]
    assert nothing == pytest.approx([4 / 49] * 3 + [9 / 49] * 3)


def test_the_table_marks_what_was_not_run(results):
    item = ITEMS["table-03b-exact"]
    text = item.load()(results, ["gridworld-a", "gridworld-b-slip-10"]).markdown
    (line,) = [line for line in text.splitlines() if line.startswith("| Exact, our objective | CM")]
    first, second = line.strip("| ").split(" | ")[2:]
    assert first == "-" and "±" in second


def test_the_figure_shows_the_truth_and_the_mean_of_each_method(results, drawn):
    figure = drawn(FIGURE.name)
    places = places_of(results, FIGURE.experiments)
    shown = np.array(figure.axes[:24]).reshape(4, 6)
    np.testing.assert_array_equal(shown[0, 3].images[0].get_array(), true_on_grid(places[3].world))
    runs = recovered_constraints(results, "gridworld-b-exact")["exact-icl"]
    np.testing.assert_allclose(shown[1, 3].images[0].get_array(), runs.mean(axis=0))
    labels = [ax.get_ylabel().replace("\n", " ") for ax in shown[:, 0]]
    assert labels == ["True constraint", *METHODS.values()]


def test_the_figure_says_each_panels_error(results, drawn):
    from icl_core.measuring.metrics import constraint_error

    runs = recovered_constraints(results, "gridworld-a-slip-10")["icl"]
    mean, std = mean_and_std(constraint_error(results.worlds["gridworld-a"], runs))
    below = [ax.get_xlabel() for ax in drawn(FIGURE.name).axes]
    assert f"{mean:.3f} ± {std:.3f}" in below


def test_methods_that_were_not_run_leave_their_panels_empty(results):
    figure = drawn_anew(FIGURE.name, only(results, "icl"))
    empty = [ax for ax in figure.axes if ax.texts and "not run" in ax.texts[0].get_text()]
    assert len(empty) == 12


# ------------------------------------------------------------------ the sets


@pytest.mark.parametrize("grid", ["a", "b"])
def test_the_set_is_drawn_from_least_to_greatest(grid, results, drawn):
    figure = drawn(f"figure-{16 if grid == 'a' else 18}b-identified-gridworld-{grid}")
    assert [name.split("=")[1].strip("$") for name in titles(figure)] == ["0", "0.1", "0.3"]
    least, greatest = np.split(np.array(images(figure)), 2)
    assert (least <= greatest + 1e-9).all()
    world = results.worlds[f"gridworld-{grid}"]
    path = results.one("demonstrations", experiment=f"gridworld-{grid}")
    shown = read_sets(path, world)[1]  # the first expert's
    bounds = known_bounds(Identified(world, shown, world.threshold))
    np.testing.assert_allclose(greatest[0].ravel(), bounds.greatest)


def test_a_row_for_each_set_of_demonstrations(results):
    table = table_of("table-01c-determined", results)
    rows = {row["experiment"]: row for row in named(table)}
    assert rows["gridworld-b-slip-10"]["most_cmse"] == 0.9
    assert rows["gridworld-b-slip-10"]["edge_below"] == "" == rows["ant"]["determined"]
    assert rows["ant"]["edge_below"] == 0.5
    assert (
        "10 % of all cells, 0 % of the forbidden ones | 0.010 to 0.900 | explains 1 of 1 |"
        in table.markdown
    )
    assert "position z < e for e up to 0.50 m; position z > e for e from -1.00 m" in table.markdown


def test_methods_are_told_apart_by_whether_they_explain(results):
    table = table_of("table-01d-explains", results)
    rows = {(row["method"], row["experiment"]): row for row in named(table)}
    assert rows["icl", "ant"]["inside"] == pytest.approx(2 / 3)
    assert rows["icl", "ant"]["excess_cost"] == pytest.approx(0.25 / 3)
    assert "| ICL | 2 of 3 (0.08) |" in table.markdown
