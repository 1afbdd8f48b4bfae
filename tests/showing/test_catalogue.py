"""The catalogue is complete, consistent and cheap."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from icl_core.environments import WORLDS
from icl_core.showing.catalogue import CATALOGUE, ITEMS
from icl_core.showing.naming import ENVIRONMENTS
from icl_core.showing.sources import Sources

CAPTIONS = Path(__file__).parents[2] / "workflow" / "report"


def test_items_are_unique_and_those_of_the_issue():
    assert len(CATALOGUE) == len({item.id for item in ITEMS}) == len(ITEMS)
    figures = {item.number for item in ITEMS if item.kind == "figure"}
    assert figures == {3, 4, 12, *range(16, 24)}
    tables = {item.id for item in ITEMS if item.kind == "table"}
    assert tables == {"table-01", "table-01b", "table-02", "table-02b"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_item(item):
    caption = (CAPTIONS / item.caption).read_text()
    assert caption.startswith(f"**{item.label}.** ")
    assert callable(item.load())
    assert set(item.experiments) <= set(WORLDS)
    assert all(re.fullmatch(rf"{item.kind}s/{item.name}\.\w+", path) for path in item.outputs)


def test_captions_are_valid_rst():
    core = pytest.importorskip("docutils.core")
    for item in ITEMS:
        text = (CAPTIONS / item.caption).read_text()
        settings = {"halt_level": 2, "report_level": 5}
        core.publish_string(text, writer="null", settings_overrides=settings)


def test_titles_are_those_of_the_worlds():
    assert {name: world.title for name, world in WORLDS.items()} == ENVIRONMENTS


def test_sources_find_files_by_their_place():
    paths = (
        "results/quick/runs/gridworld-a/icl/seeds-6-10/final/constraint.safetensors",
        "results/quick/runs/gridworld-a/icl/seeds-1-5/final/constraint.safetensors",
        "results/quick/runs/gridworld-a/gail-constraint/seeds-1-5/final/constraint.safetensors",
        "results/quick/runs/gridworld-a/icl/seeds-1-5/iteration-01/constraint.safetensors",
        "results/quick/runs/gridworld-a-slip/icl/seeds-1-5/final/constraint.safetensors",
        "results/quick/demonstrations/gridworld-a/training.parquet",
    )
    sources = Sources("quick", {}, paths)
    found = sources.final("gridworld-a", "constraint.safetensors")
    assert list(found) == ["gail-constraint", "icl"]
    assert [path.parts[-3] for path in found["icl"]] == ["seeds-1-5", "seeds-6-10"]
    assert sources.demonstrations("gridworld-a", "training.parquet") == Path(paths[-1])
    assert sources.demonstrations("gridworld-b", "training.parquet") is None


def test_the_catalogue_is_cheap_to_import():
    code = (
        "import sys, icl_core.showing.catalogue;"
        "heavy = {'matplotlib', 'torch', 'numpy', 'pyarrow', 'gymnasium', 'ot'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
