"""Figure 14, with OpenGL and without."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from icl_core.environments.pictures import robot as pictures
from icl_core.environments.worlds.ant import AntConstrained
from icl_core.environments.worlds.halfcheetah import HalfCheetahConstrained
from icl_core.errors import InputError
from icl_core.measuring.results import Results
from icl_core.showing.figures import environments
from icl_core.showing.figures.environments import robots_figure, standing
from icl_core.showing.save import save_figure
from icl_core.showing.style import publication_style

WORLDS = {"ant": AntConstrained(), "halfcheetah": HalfCheetahConstrained()}
RESULTS = Results("smoke", WORLDS, ())


def drawn(*paths):
    with publication_style():
        figure = robots_figure(RESULTS, tuple(WORLDS))
        save_figure(figure, *paths, dpi=60)
    return figure


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_they_stand_on_their_feet(world):
    """At z = 0, on the allowed side, come to rest, and nothing below the floor by more than a
    contact's give."""
    from icl_core.environments.robot import capsules, posed

    state = standing(world)
    model = world.simulation.model
    parts = capsules(model, posed(model, state))
    lowest = min(ends[:, 2].min() - radius for ends, radius in parts)
    assert -0.02 < lowest < 0.02
    assert state[0] == 0 and min(ends[:, 0].min() - radius for ends, radius in parts) > -1
    assert np.abs(state[world.positions : world.positions + world.velocities]).max() < 0.1


def test_without_opengl_it_is_a_labelled_schematic(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pictures, "_loads", lambda library: False)
    pictures._stage.cache_clear()
    figure = drawn(tmp_path / "a.png", tmp_path / "a.svg")
    assert "schematic side view: no headless OpenGL" in figure.get_supxlabel()
    assert "needs EGL or OSMesa" in capsys.readouterr().err
    for axes in figure.axes:
        assert not axes.images
        forbidden = next(p for p in axes.patches if isinstance(p, Rectangle))
        assert forbidden.get_x() + forbidden.get_width() == -1
        assert axes.get_xlabel() == "position z [m]"
    assert (tmp_path / "a.png").stat().st_size > 5000 and (tmp_path / "a.svg").exists()


def test_with_opengl_both_are_rendered(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "PIXELS", (500, 270))  # rendering costs by the pixel
    try:
        pictures.render(WORLDS["ant"], WORLDS["ant"].simulation.start, environments.PIXELS)
    except InputError as error:
        pytest.skip(str(error))
    figure = drawn(tmp_path / "a.png")
    assert figure.get_supxlabel() == ""
    for axes, world in zip(figure.axes, WORLDS.values(), strict=True):
        assert len(axes.images) == 1 and world.title in axes.get_title()
        assert any(text.get_text() == "$z=-1$" for text in axes.texts)
    drawn(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
