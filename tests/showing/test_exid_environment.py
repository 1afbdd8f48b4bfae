"""Figure 15 renders, says what it was made from, and gives equal bytes."""

import pytest

from icl_core.environments.worlds.exid import ExiD
from icl_core.measuring.results import Results
from icl_core.showing.figures.exid_environment import exid_figure
from icl_core.showing.save import save_figure
from icl_core.showing.style import publication_style
from tests.demonstrations.made_up_roads import WIDTH, glide, left_bend, scene_file

LEFT, RIGHT = 0.5 * WIDTH, 1.5 * WIDTH


def world(folder, source, distance="perpendicular"):
    vehicles = [glide(200, RIGHT, LEFT), glide(150, LEFT, RIGHT)]
    path = scene_file(folder / "scene.parquet", left_bend(300.0), vehicles, source=source)
    return ExiD(ExiD.Settings(distance=distance), path)


def drawn(folder, source, distance="perpendicular"):
    results = Results("quick", {"exid": world(folder, source, distance)}, ())
    with publication_style():
        return exid_figure(results, ("exid",))


@pytest.mark.parametrize(("source", "whose"), [("simulated", "simulated"), ("recorded", "ExiD")])
def test_it_says_where_the_recordings_are_from(tmp_path, source, whose):
    figure = drawn(tmp_path, source)
    assert figure.get_supxlabel() == f"scale: quick; {whose} recordings"
    titles = [ax.get_title().strip() for ax in figure.axes]
    assert titles == [
        "Recorded lane change",
        "Its lanes",
        "The agent starts",
        "It moves by its action",
    ]


def test_its_distance_grows_upwards_as_in_figures_11_and_29(tmp_path):
    figure = drawn(tmp_path, "simulated")
    first, later = figure.axes[2:]
    assert first.get_ylim() == later.get_ylim()
    low, high = first.get_ylim()
    assert low < -WIDTH and high > WIDTH
    sides = {text.get_text(): text.get_position()[1] for text in first.texts}
    assert sides["right of the line"] > sides["left of the line"]


@pytest.mark.parametrize("distance", ["perpendicular", "authors"])
def test_equal_scenes_give_equal_bytes(tmp_path, distance):
    for name in ("a", "b"):
        with publication_style():
            save_figure(
                drawn(tmp_path, "simulated", distance),
                tmp_path / f"{name}.svg",
                tmp_path / f"{name}.png",
                dpi=50,
            )
    for ending in ("svg", "png"):
        first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("a", "b"))
        assert first == second
