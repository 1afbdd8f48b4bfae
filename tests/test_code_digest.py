"""The digest follows what a script runs, and nothing else."""

import pytest

from icl_core.code_digest import closure, code_digest

FILES = {
    "script.py": "from icl_core.learning.engine.density import fit\nfit()\n",
    "helper.py": "",
    "icl_core/__init__.py": "",
    "icl_core/errors.py": "class InputError(ValueError): pass\n",
    "icl_core/learning/__init__.py": "",
    "icl_core/learning/flow.py": (
        '"""Flow."""\nfrom icl_core.learning import layers\n'
        "from icl_core.errors import InputError\n"
        "def fit():\n    '''Fit.'''\n    return layers.WIDTH\n"
    ),
    "icl_core/learning/layers.py": "from . import sizes\nWIDTH = sizes.N\n",
    "icl_core/learning/sizes.py": "N = 64\n",
    "icl_core/learning/other.py": "X = 1\n",
    "icl_core/showing/__init__.py": "",
    "icl_core/showing/maps.py": "Y = 1\n",
}


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def digest(tree, *modules):
    return code_digest(tree / "script.py", [tree], modules)


def test_closure_holds_what_is_imported_and_no_more(tree):
    assert closure(tree / "script.py", [tree]) == [
        "icl_core",
        "icl_core.errors",
        "icl_core.learning",
        "icl_core.learning.engine.density",
        "icl_core.learning.layers",
        "icl_core.learning.sizes",
    ]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("script.py", "fit()", "fit() "),
        ("script.py", "fit()", "fit()  # a comment"),
        ("icl_core/learning/flow.py", '"""Flow."""', '"""Another docstring."""'),
        ("icl_core/learning/flow.py", "'''Fit.'''", "'''Fit it.'''"),
        ("icl_core/learning/sizes.py", "N = 64", "N   = (\n    64\n)"),
        ("icl_core/learning/other.py", "X = 1", "X = 2"),
        ("icl_core/showing/maps.py", "Y = 1", "Y = 2"),
        ("icl_core/errors.py", "pass", "code = 2"),
    ],
)
def test_digest_stays(tree, file, old, new):
    before = digest(tree)
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new))
    assert digest(tree) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("script.py", "fit()", "fit(); fit()"),
        ("icl_core/learning/flow.py", "layers.WIDTH", "layers.WIDTH + 1"),
        ("icl_core/learning/layers.py", "sizes.N", "2 * sizes.N"),
        ("icl_core/learning/sizes.py", "64", "65"),
        ("icl_core/learning/__init__.py", "", "SEED = 1"),
        ("icl_core/__init__.py", "", "import icl_core.learning.other"),
    ],
)
def test_digest_changes(tree, file, old, new):
    before = digest(tree)
    text = (tree / file).read_text()
    (tree / file).write_text(text.replace(old, new, 1) if old else new)
    assert digest(tree) != before


def test_modules_loaded_by_name_count_where_they_are_named(tree):
    plain, before = digest(tree), digest(tree, "icl_core.showing.maps")
    assert plain != before
    (tree / "icl_core/showing/maps.py").write_text("Y = 2\n")
    assert digest(tree, "icl_core.showing.maps") != before
    assert digest(tree) == plain


def test_imports_inside_functions_count_and_those_for_type_checkers_do_not(tree):
    (tree / "script.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from icl_core.showing import maps\n"
        "def main():\n    import helper\n    from icl_core.learning.other import X\n"
    )
    found = closure(tree / "script.py", [tree])
    assert "icl_core.learning.other" in found
    assert "helper" in found
    assert "icl_core.showing.maps" not in found
