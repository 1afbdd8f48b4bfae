"""Pictures of constraints: what they show is what the constraint says."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.errors import InputError
from icl_core.using.constraint import Constraint
from tests.using.some import by_hand, constraint, demonstrations, networks
from tests.worlds import NAMES, small_world


def titles(ax):
    return [ax.get_title(), *(text.get_text() for text in ax.texts)]


@pytest.mark.parametrize("name", NAMES)
def test_every_world_is_drawn_and_written(tmp_path, name):
    made = constraint(name)
    shown = demonstrations(name, np.random.default_rng(0))
    figure = made.plot(shown, path=tmp_path / "a.png")
    made.plot(shown, path=tmp_path / "b.png")
    first = (tmp_path / "a.png").read_bytes()
    assert first == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        assert min(image.size) > 600 and len(image.convert("RGB").getcolors(1 << 24)) > 20
    labels = {figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()}
    continuous = [axis.label for axis in made.inputs.axes if not axis.name.startswith("action")]
    assert labels >= {*continuous}


def test_a_curve_for_each_action_with_the_range_of_its_seeds():
    made = constraint("cartpole-mr")
    (ax,) = made.plot().axes
    assert len(ax.lines) == 2 and len(ax.collections) == 2
    for action, (line, band) in enumerate(zip(ax.lines, ax.collections, strict=True)):
        x, y = line.get_data()
        assert (x[0], x[-1]) == (-2.4, pytest.approx(2.4))
        expected = by_hand(made, np.stack([x, np.full(len(x), action)], axis=1))
        np.testing.assert_allclose(y, expected.mean(axis=0), atol=2e-6)
        corners = band.get_paths()[0].vertices[:, 1]
        assert corners.min() == pytest.approx(expected.min(), abs=2e-6)
        assert corners.max() == pytest.approx(expected.max(), abs=2e-6)
    assert [line.get_label() for line in ax.lines] == ["action a = 0", "action a = 1"]


def test_a_map_shows_each_cell_rows_downwards_and_where_the_demonstrations_went():
    made, world = constraint("gridworld-a"), small_world("gridworld-a")
    shown = demonstrations("gridworld-a", np.random.default_rng(0))
    shown.states[...] = np.array([2, 5])  # one cell only
    (ax,) = made.plot(shown).axes
    values = ax.images[0].get_array()
    expected = by_hand(made, world.grid.nodes).mean(axis=0).reshape(world.grid.shape)
    np.testing.assert_allclose(values, expected, atol=2e-6)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    dots = ax.collections[0].get_offsets()
    assert dots.tolist() == [[5, 2]]  # column, row


def test_physical_units_and_points_in_them():
    made = constraint("highd")
    (ax,) = made.plot(demonstrations("highd", np.random.default_rng(0))).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("speed v [m/s]", "gap g [m]")
    left, right = ax.get_xlim()
    assert left < 0 < 40 < right < 41
    turned = made.plot(inputs=("gap g", "speed v")).axes[0]
    assert turned.get_xlabel() == "gap g [m]"
    # To rounding: in another order of rows some processors' kernels sum in another order too.
    pictures = turned.images[0].get_array(), ax.images[0].get_array().T
    np.testing.assert_allclose(*pictures, rtol=0, atol=1e-6)


def three_inputs():
    world = small_world("gridworld-a")
    axes = [Axis(f"input {k}", np.linspace(0, 4, 9), "m", 2.0) for k in "abc"]
    made = constraint()
    weights = np.eye(3, dtype=np.float32)
    grid = EvaluationGrid(tuple(axes))
    rest = {"grid": grid, "weights": weights, "offset": np.zeros(3, np.float32)}
    return Constraint(
        networks(3, (1, 2)),
        dataclasses.replace(made.inputs, **rest),
        world.threshold,
        1.0,
        (1, 2),
    )


def test_a_line_that_is_not_drawn_is_not_in_the_legend():
    made = three_inputs()
    assert made.plot().axes[0].images[0].get_array().min() > 0.5
    assert made.plot().legends == []
    made.networks.parameters *= -1
    crossing = made.plot()
    values = crossing.axes[0].images[0].get_array()
    assert (len(crossing.legends) == 1) == (values.min() < 0.5 <= values.max())


def test_other_inputs_are_held_at_their_middle_and_the_title_says_so():
    made = three_inputs()
    (ax,) = made.plot().axes
    assert "held at: input c = 4 m" in titles(ax)
    image = ax.images[0].get_array()
    corner = by_hand(made, [[0.0, 0.0, 2.0]]).mean()
    assert image[0, 0] == pytest.approx(corner, abs=2e-6)
    (ax,) = made.plot(inputs="input b").axes
    assert "held at: input a = 4 m, input c = 4 m" in titles(ax)
    _, y = ax.lines[0].get_data()
    assert y[-1] == pytest.approx(by_hand(made, [[2.0, 4.0, 2.0]]).mean(), abs=2e-6)


def test_an_axis_of_ones_own_and_what_gives_trajectories():
    class Holder:
        def trajectories(self):
            return demonstrations("cartpole-mr", np.random.default_rng(0))

    figure = Figure()
    axes = figure.subplots(1, 2)
    assert constraint("cartpole-mr").plot(Holder(), ax=axes[1]) is figure
    assert axes[1].lines and not axes[0].lines
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == [
        "demonstrated steps",
        "action a = 0",
        "action a = 1",
    ]


@pytest.mark.parametrize("names", [["speed"], ["row i", "row i"], [], ["row i", "column j", "x"]])
def test_wrong_names_are_refused(names):
    with pytest.raises(InputError, match="one or two different names among row i, column j"):
        constraint().plot(inputs=names)


def test_wrong_demonstrations_are_refused():
    with pytest.raises(InputError, match=r"demonstrations: expected Trajectories, .* found list"):
        constraint().plot([1, 2])
