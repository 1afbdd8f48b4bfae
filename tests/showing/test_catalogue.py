"""The catalogue is complete, consistent and cheap."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from icl_core.configuration import resolve
from icl_core.environments import WORLDS
from icl_core.showing.catalogue import CATALOGUE, ITEMS, paper
from icl_core.showing.catalogue.item import ADJUSTMENTS
from icl_core.showing.naming import ENVIRONMENTS
from icl_core.showing.sources import Sources
from tests.test_configuration import CONFIG, SCHEMA

CAPTIONS = Path(__file__).parents[2] / "workflow" / "report"


def test_every_table_and_figure_of_the_paper_is_made():
    assert (sorted(paper.TABLES), sorted(paper.FIGURES)) == ([*range(1, 15)], [*range(1, 30)])
    wanted = {f"table-{number:02d}" for number in paper.TABLES}
    wanted |= {f"figure-{number:02d}" for number in paper.FIGURES}
    made = {item.id for item in ITEMS if not item.suffix}
    assert made == wanted


def test_items_are_unique():
    assert len(CATALOGUE) == len({item.id for item in ITEMS}) == len(ITEMS)
    ours = {item.id for item in ITEMS if item.suffix}
    assert ours == {"table-01b", "table-02b", "table-02c"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_item(item):
    caption = (CAPTIONS / item.caption).read_text()
    assert caption.startswith(f"**{item.label}.** ")
    assert callable(item.load())
    configured = set(resolve(CONFIG, SCHEMA).experiments)
    assert set(item.experiments) <= configured
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


def test_sources_find_the_files_of_a_pattern_in_order():
    folder = "results/quick/runs/gridworld-a/icl"
    paths = tuple(
        f"{folder}/seeds-{group}/iteration-{iteration}/adjustment.parquet"
        for group in ("10-11", "2-9")
        for iteration in ("10", "02")
    )
    sources = Sources("quick", {}, (*paths, f"{folder}/seeds-2-9/iteration-02/policy.safetensors"))
    found = sources.find(ADJUSTMENTS, experiment="gridworld-a")
    assert [values for values, _ in found] == [
        {"group": group, "iteration": iteration}
        for group in ("2-9", "10-11")
        for iteration in ("02", "10")
    ]
    assert {str(path) for _, path in found} == set(paths)
    assert sources.find(ADJUSTMENTS, experiment="gridworld-b") == []


def test_the_catalogue_is_cheap_to_import():
    code = (
        "import sys, icl_core.showing.catalogue;"
        "heavy = {'matplotlib', 'torch', 'numpy', 'pyarrow', 'gymnasium', 'ot'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
