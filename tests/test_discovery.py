"""Discovery: files and folders on a shelf, other packages' entry points, literals unread."""

import sys
from importlib.metadata import EntryPoint

import pytest

from icl_core import discovery
from icl_core.discovery import METHODS, WORLDS
from icl_core.errors import InputError

SHELF = METHODS  # one that entry points add to
FILES = {
    "learning/methods/__init__.py": '"""Methods."""\n',
    "learning/methods/_helper.py": "TITLE = 'no method'\n",
    "learning/methods/max_entropy.py": (
        "TITLE = 'Maximum entropy'\nSIZES: dict = {'quick': {'steps': [1, 2]}}\n"
        "BROKEN = 3 * unknown\nraise RuntimeError('imported')\n"
    ),
    "learning/methods/tree/__init__.py": "",
    "learning/methods/tree/algorithm.py": "from icl_made_up.learning.methods.tree import parts\n",
    "learning/methods/tree/parts.py": "N = 3\n",
    "learning/methods/notes/readme.py": "",  # a folder without an algorithm
    "learning/methods/list.txt": "",
    "learning/__init__.py": "",
    "__init__.py": "",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of its own, searched in place of ours; nothing is brought from outside."""
    folder = tmp_path / "icl_made_up"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(discovery, "_PACKAGE", folder)
    monkeypatch.syspath_prepend(tmp_path)
    bring(monkeypatch)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] in ("icl_made_up", "guest")]:
        del sys.modules[name]
    discovery._brought.cache_clear()


def bring(monkeypatch, **modules):
    """Entry points of other packages, by name."""
    points = [EntryPoint(name, module, "icl_core.methods") for name, module in modules.items()]

    def entry_points(group):
        return [point for point in points if point.group == group]

    monkeypatch.setattr(discovery, "entry_points", entry_points)
    discovery._brought.cache_clear()


def test_a_file_and_a_folder_with_an_algorithm_are_things(package):
    assert discovery.names(SHELF) == ["max-entropy", "tree"]
    base = "icl_made_up.learning.methods"
    assert discovery.module_name(SHELF, "max-entropy") == f"{base}.max_entropy"
    assert discovery.module_name(SHELF, "tree") == f"{base}.tree.algorithm"
    assert discovery.load(SHELF, "tree").parts.N == 3


def test_a_new_file_is_found_at_once_and_a_shelf_may_be_empty(package):
    (package / "learning/methods/newest.py").write_text("TITLE = 'Newest'\n")
    assert "newest" in discovery.names(SHELF)
    assert discovery.load(SHELF, "newest").TITLE == discovery.title(SHELF, "newest") == "Newest"
    assert discovery.names(discovery.FIGURES) == []
    with pytest.raises(InputError, match="figure 'x' is unknown; choose one of none"):
        discovery.module_name(discovery.FIGURES, "x")


def test_literals_are_read_without_importing(package):
    module = discovery.module_name(SHELF, "max-entropy")
    assert discovery.literal(module, "TITLE") == "Maximum entropy"
    assert discovery.literal(module, "SIZES") == {"quick": {"steps": [1, 2]}}
    assert discovery.literal(module, "ABSENT", "default") == "default"
    assert discovery.title(SHELF, "max-entropy") == "Maximum entropy"
    assert discovery.title(SHELF, "tree") == "tree"  # says nothing of itself
    assert module not in sys.modules


def test_literals_of_a_class_count_too(package):
    path = package / "learning/methods/classed.py"
    path.write_text("class World:\n    title = 'A world'\n    horizon: int = 50\n")
    module = discovery.module_name(SHELF, "classed")
    assert discovery.literal(module, "horizon") == 50
    assert discovery.title(SHELF, "classed") == "A world"
    path.write_text("class World:\n    title = 'Another world'\n    horizon: int = 51\n")
    assert discovery.literal(module, "horizon") == 51


def test_what_is_no_literal_is_refused_with_its_place(package):
    module = discovery.module_name(SHELF, "max-entropy")
    with pytest.raises(InputError, match=r"max_entropy\.py: expected BROKEN .* in line 3; write"):
        discovery.literal(module, "BROKEN")


def test_an_unknown_name_lists_those_that_exist(package):
    with pytest.raises(InputError) as error:
        discovery.load(SHELF, "tre")
    assert str(error.value) == "method 'tre' is unknown; choose one of max-entropy, tree"


def test_other_packages_bring_things_by_entry_points(package, tmp_path, monkeypatch):
    guest = tmp_path / "guest"
    guest.mkdir()
    (guest / "__init__.py").write_text("")
    (guest / "method.py").write_text("TITLE = 'Guest'\nPLACE = 9\n")
    bring(monkeypatch, guest="guest.method")
    assert discovery.names(SHELF) == ["guest", "max-entropy", "tree"]
    assert discovery.module_name(SHELF, "guest") == "guest.method"
    assert discovery.source("guest.method") == guest / "method.py"
    assert discovery.title(SHELF, "guest") == "Guest"
    assert "guest.method" not in sys.modules
    assert discovery.load(SHELF, "guest").PLACE == 9
    assert discovery.packages_that_bring() == {"guest": guest}
    assert discovery.names(WORLDS) == []  # of the other shelf's entry points there are none


def test_our_own_thing_comes_first_and_a_missing_module_is_named(package, monkeypatch):
    bring(monkeypatch, tree="guest.tree", lost="icl_nowhere")
    assert discovery.module_name(SHELF, "tree").startswith("icl_made_up.")
    with pytest.raises(InputError, match="module icl_nowhere of an entry point: expected a file"):
        discovery.source("icl_nowhere")


def test_the_shelves_of_this_package_hold_what_its_folders_hold():
    for shelf in discovery.WORDS:
        for name in discovery.names(shelf):
            assert discovery.source(discovery.module_name(shelf, name)).is_file()
    assert {"gail-constraint", "icl", "icrl"} <= set(discovery.names(METHODS))
