"""Made-up results, written once for all tests of this folder."""

import re
from dataclasses import replace

import pytest

from icl_core.measuring.paper import METHODS
from icl_core.showing.item import read_items
from icl_core.showing.style import publication_style
from tests.fake_results import make_results

ITEMS = {item.name: item for item in read_items()}


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """All methods on all experiments, with the seeds 1 and 2 in one job and 3 in another."""
    return make_results(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def drawn(results):
    """Figures by name, each drawn once. Look, but change nothing."""
    figures = {}

    def draw(name):
        if name not in figures:
            figures[name] = drawn_anew(name, results)
        return figures[name]

    return draw


def drawn_anew(name, results):
    """A figure of the items."""
    item = ITEMS[name]
    if item.number is not None and not item.suffix:
        results = only(results, *METHODS)  # as they are planned
    with publication_style():
        return item.load()(results, item.experiments)


def texts(figure):
    """All panel titles and other text of a figure."""
    words = [text.get_text() for ax in figure.axes for text in (ax.title, *ax.texts)]
    return [*words, figure.get_supxlabel()]


def titles(figure):
    """The titles of the panels that have one."""
    return [ax.get_title().strip() for ax in figure.axes if ax.get_title()]


def only(results, *methods):
    """The same without the runs of other methods."""
    kept = []
    for file in results.paths:
        named = re.search(r"/runs/[^/]+/([^/]+)/", file)
        if named is None or named[1] in methods:
            kept.append(file)
    return replace(results, paths=tuple(kept))
