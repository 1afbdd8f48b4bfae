"""HighD and ExiD are read, simulated, cut and replayed by functions of the same names."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from icl_core.demonstrations import recordings
from icl_core.demonstrations.recordings.tracks import TABLES, RecordingsSettings
from icl_core.errors import InputError
from icl_core.settings import build
from icl_core.settings_schema import described

FOLDER = Path(recordings.__file__).parent
DATA_SETS = sorted(path.parent.name for path in FOLDER.glob("*/reader.py"))
FUNCTIONS = {
    "simulation": ("simulate", "simulation_steps"),
    "reader": ("files", "read"),
    "scene": ("make_scene",),
    "replay": ("replay",),
}


PLANNED = ("reader", "scene", "simulation")


def part(data_set, name):
    return importlib.import_module(f"{recordings.__name__}.{data_set}.{name}")


def parameters(data_set, module, function):
    return list(inspect.signature(getattr(part(data_set, module), function)).parameters)


def test_functions_take_the_same_parameters():
    assert DATA_SETS == ["exid", "highd"]
    for module, functions in FUNCTIONS.items():
        for function in functions:
            first, *others = (parameters(one, module, function) for one in DATA_SETS)
            assert all(other == first for other in others), function


def test_modules_are_the_same_but_for_the_maps_of_exid():
    own = [{path.stem for path in (FOLDER / one).glob("*.py")} for one in DATA_SETS]
    assert own[0] - own[1] == {"maps", "roads", "lane_changes"} and own[1] <= own[0]


@pytest.mark.parametrize("data_set", DATA_SETS)
def test_tables_and_settings(data_set):
    assert tuple(part(data_set, "reader").SCHEMAS) == TABLES
    for settings in (part(data_set, name).Settings for name in ("scene", "simulation")):
        assert build(settings, {}) == settings()
        for key, expected, _, about in described(settings):
            assert expected and about, key


def test_recordings_are_simulated_unless_a_folder_is_given():
    assert build(RecordingsSettings, {}) == RecordingsSettings(recordings=None, numbers=None)
    with pytest.raises(InputError, match="numbers: expected a list of whole numbers"):
        build(RecordingsSettings, {"numbers": [17, 17]}, "environments.highd")


@pytest.mark.parametrize("data_set", DATA_SETS)
def test_settings_and_readers_load_no_simulator(data_set):
    """A run is planned with them."""
    modules = ", ".join(f"{recordings.__name__}.{data_set}.{m}" for m in PLANNED)
    code = f"import sys, {modules}; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(answer.stdout.split())
    assert not loaded & {"highway_env", "gymnasium", "torch", "matplotlib"}
