"""The digest follows what a script runs, wherever that stands, and nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from icl_core.code_digest import Sources, closure, code_of

ROOT = Path(__file__).resolve().parent.parent

FILES = {
    "script.py": """
        from icl_core.learning.flow import fit
        fit()
    """,
    "other_script.py": """
        from icl_core.learning.other import X
        print(X)
    """,
    "icl_core/__init__.py": "",
    "icl_core/errors.py": "class InputError(ValueError): pass",
    "icl_core/settings.py": "def setting(default, about, **bounds): return default",
    "icl_core/learning/__init__.py": '"""Learning."""',
    "icl_core/learning/flow.py": '''
        """Flow."""
        import math
        from dataclasses import dataclass
        from icl_core.learning import layers, rates
        from icl_core.errors import InputError
        from icl_core.settings import setting
        TITLE = "Flow"
        ITEMS = [{"name": "a"}]
        SIZES = {"quick": {"epochs": 1}}
        @dataclass(frozen=True)
        class Settings:
            epochs: int = setting(3, "passes over the data", at_least=1)
            def conflict(self):
                return ""
        def fit(n=1):
            """Fit."""
            # some work
            if n < 0:
                raise InputError(f"expected a number, found {n}")
            return layers.WIDTH * rates.WIDTH + math.pi
    ''',
    "icl_core/learning/layers.py": """
        from . import sizes
        WIDTH = sizes.N
    """,
    "icl_core/learning/rates.py": "WIDTH = 0.5",
    "icl_core/learning/sizes.py": "N = 64",
    "icl_core/learning/other.py": "X = 1",
    "icl_core/showing/__init__.py": "",
    "icl_core/showing/maps.py": "Y = 1",
}
SCRIPTS = ("script.py", "other_script.py")


def dedented(text):
    lines = [line for line in text.split("\n") if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return "".join(f"{line[margin:]}\n" for line in lines)


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        write(tmp_path / name, dedented(text))
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def roots(tree):
    return {"icl_core": tree / "icl_core"}


def digest(tree, *modules, script="script.py"):
    return code_of(tree / script, roots(tree), modules).digest


def digests(tree):
    return {script: digest(tree, script=script) for script in SCRIPTS}


def changed_by(tree, edits):
    """The scripts whose digest an edit changes."""
    before = digests(tree)
    edits()
    after = digests(tree)
    return {script for script in SCRIPTS if before[script] != after[script]}


def test_closure_holds_what_is_imported_and_no_more(tree):
    assert closure(tree / "script.py", roots(tree)) == [
        "icl_core",
        "icl_core.errors",
        "icl_core.learning",
        "icl_core.learning.flow",
        "icl_core.learning.layers",
        "icl_core.learning.rates",
        "icl_core.learning.sizes",
        "icl_core.settings",
    ]


FLOW = "icl_core/learning/flow.py"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("script.py", "fit()", "fit() "),
        ("script.py", "fit()", "fit()  # a comment"),
        (FLOW, '"""Flow."""', '"""Another docstring."""'),
        (FLOW, '"""Fit."""', '"""Fit it."""'),
        (FLOW, "# some work", "# much work"),
        (FLOW, "expected a number, found {n}", "{n} is no number"),
        (FLOW, "passes over the data", "how often the data are seen"),
        (FLOW, "at_least=1", "at_least=1, at_most=99"),
        (FLOW, 'return ""', 'return "epochs: too many"'),
        (FLOW, 'TITLE = "Flow"', 'TITLE = "RealNVP"'),
        (FLOW, 'ITEMS = [{"name": "a"}]', 'ITEMS = [{"name": "b"}, {"name": "c"}]'),
        (FLOW, '"quick": {"epochs": 1}', '"quick": {"epochs": 2}'),
        (FLOW, "import layers, rates", "import rates, layers"),
        (FLOW, "layers, rates\n", "layers\nfrom icl_core.learning import rates\n"),
        (FLOW, "layers, rates\n", "rates\nimport icl_core.learning.layers as layers\n"),
        ("icl_core/learning/layers.py", "from . import", "from icl_core.learning import"),
        ("icl_core/learning/sizes.py", "N = 64", "N   = (\n    64\n)"),
        ("icl_core/learning/__init__.py", "Learning", "What learns"),
        ("icl_core/showing/maps.py", "Y = 1", "Y = 2"),
        ("icl_core/errors.py", "pass", "code = 2"),
        ("icl_core/settings.py", "return default", "return default or None"),
    ],
)
def test_what_does_not_run_and_where_it_stands_change_nothing(tree, file, old, new):
    assert changed_by(tree, lambda: edit(tree / file, old, new)) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "scripts"),
    [
        ("script.py", "fit()", "fit(); fit()", {"script.py"}),
        (FLOW, "layers.WIDTH", "layers.WIDTH + 1", {"script.py"}),
        (FLOW, "layers.WIDTH * rates.WIDTH", "rates.WIDTH * layers.WIDTH", {"script.py"}),
        (FLOW, "* rates.WIDTH", "* layers.WIDTH", {"script.py"}),
        (FLOW, "n < 0", "n < 1", {"script.py"}),
        (FLOW, "setting(3,", "setting(4,", {"script.py"}),
        (FLOW, "import math", "import math, os", {"script.py"}),
        ("icl_core/learning/layers.py", "sizes.N", "2 * sizes.N", {"script.py"}),
        ("icl_core/learning/sizes.py", "64", "65", {"script.py"}),
        ("icl_core/learning/other.py", "1", "2", {"other_script.py"}),
        ("icl_core/learning/__init__.py", "\n", "\nSEED = 1\n", set(SCRIPTS)),
    ],
)
def test_a_real_edit_changes_the_scripts_that_use_it(tree, file, old, new, scripts):
    assert changed_by(tree, lambda: edit(tree / file, old, new)) == scripts


def test_an_import_that_comes_first_counts_for_all(tree):
    first = tree / "icl_core/__init__.py"
    changed = changed_by(tree, lambda: write(first, "import icl_core.learning.other\n"))
    assert changed == {"script.py"}  # the other runs it anyhow


def test_a_module_can_be_moved_and_renamed(tree):
    """To another folder, with its relative import, under another name."""

    def move():
        folder = tree / "icl_core/learning"
        write(tree / "icl_core/engine/__init__.py", '"""The engine."""\n')
        (folder / "layers.py").rename(tree / "icl_core/engine/stacks.py")
        (folder / "sizes.py").rename(tree / "icl_core/engine/sizes.py")
        edit(
            folder / "flow.py",
            "from icl_core.learning import layers, rates\n",
            "from icl_core.engine import stacks\nfrom icl_core.learning import rates\n",
        )
        edit(folder / "flow.py", "layers.WIDTH", "stacks.WIDTH")

    assert changed_by(tree, move) == set()


def test_two_modules_that_change_places_are_noticed(tree):
    """Their names stay, and so do all texts together: but another function runs."""

    def swap():
        folder = tree / "icl_core/learning"
        layers, rates = (folder / f"{name}.py" for name in ("layers", "rates"))
        texts = layers.read_text(), rates.read_text()
        layers.write_text(texts[1])
        rates.write_text(texts[0])

    edit(tree / FLOW, "layers.WIDTH * rates.WIDTH", "layers.WIDTH - rates.WIDTH")
    assert changed_by(tree, swap) == {"script.py"}


def test_functions_are_tied_to_the_module_that_they_come_from(tree):
    for name, value in [("one", 1), ("two", 2)]:
        write(tree / f"icl_core/{name}.py", f"def get():\n    return {value}\n")
    texts = [
        f"from icl_core.{a} import get as first\nfrom icl_core.{b} import get as second\n"
        for a, b in [("one", "two"), ("two", "one")]
    ]
    write(tree / "script.py", texts[0])
    assert changed_by(tree, lambda: write(tree / "script.py", texts[1])) == {"script.py"}


def test_modules_loaded_by_name_count_where_they_are_named(tree):
    plain, before = digest(tree), digest(tree, "icl_core.showing.maps")
    assert plain != before
    write(tree / "icl_core/showing/maps.py", "Y = 2\n")
    assert digest(tree, "icl_core.showing.maps") != before
    assert digest(tree) == plain


def test_imports_inside_functions_count_and_those_for_type_checkers_do_not(tree):
    write(
        tree / "script.py",
        dedented("""
            import typing
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from icl_core.showing import maps
            if typing.TYPE_CHECKING:
                from icl_core.learning import rates
            else:
                from icl_core.learning import sizes
            if not TYPE_CHECKING:
                from icl_core.learning import layers
            def main():
                from icl_core.learning.other import X
        """),
    )
    found = closure(tree / "script.py", roots(tree))
    assert {f"icl_core.learning.{name}" for name in ("other", "sizes", "layers")} <= set(found)
    assert "icl_core.showing.maps" not in found
    assert "icl_core.learning.rates" not in found
    before = digest(tree)
    edit(tree / "script.py", "from icl_core.showing import maps", "from icl_core import showing")
    assert digest(tree) == before
    write(tree / "icl_core/learning/other.py", "X = 2\n")
    assert digest(tree) != before


def test_an_outside_package_counts_where_it_is_a_root(tree):
    write(tree / "site/corridor/__init__.py", "")
    write(tree / "site/corridor/world.py", "from icl_core.learning import sizes\nLENGTH = 5\n")
    both = {**roots(tree), "corridor": tree / "site/corridor"}

    def outside(known):
        return code_of(tree / "script.py", known, ["corridor.world"])

    parts = outside(both).parts
    assert "corridor/world.py" in parts
    before, blind = outside(both).digest, outside(roots(tree)).digest
    assert before != blind == digest(tree)
    edit(tree / "site/corridor/world.py", "5", "6")
    assert outside(both).digest != before
    assert outside(roots(tree)).digest == blind


def test_the_parts_say_which_files_the_digest_is_made_of(tree):
    code = code_of(tree / "script.py", roots(tree))
    names = {Path(name).name for name in code.parts}
    assert names == {"script.py", "flow.py", "layers.py", "rates.py", "sizes.py"}
    edit(tree / "icl_core/learning/sizes.py", "64", "65")
    after = code_of(tree / "script.py", roots(tree)).parts
    changed = {Path(name).name for name in after if after[name] != code.parts[name]}
    assert changed == {"sizes.py"}  # not who imports it: nobody has edited that


def test_what_was_read_is_kept_and_an_edit_is_seen(tree, monkeypatch):
    cache, script = tree / "modules.json", tree / "script.py"

    def digest(kept=True):
        sources = Sources(roots(tree), cache if kept else None)
        found = sources.code_of(script).digest
        if kept:
            sources._cache.save()
        return found

    first = digest()
    assert first == digest(kept=False)
    with monkeypatch.context() as nothing_is_parsed:
        nothing_is_parsed.setattr("icl_core.code_digest.parsed", None)
        assert digest() == first
    edit(tree / "icl_core/learning/sizes.py", "64", "65")
    assert digest() == digest(kept=False) != first
    cache.write_text("{broken")
    assert digest() == digest(kept=False)


def test_a_name_that_becomes_a_module_is_seen_by_who_kept_the_old(tree):
    """`from a import b` is another import once there is a file a/b.py, in an unedited source."""
    cache, script = tree / "modules.json", tree / "script.py"
    learning = tree / "icl_core/learning"
    (learning / "__init__.py").write_text("late = 1\n")
    script.write_text("from icl_core.learning import late\n")
    before = Sources(roots(tree), cache)
    digest = before.code_of(script).digest
    before._cache.save()
    (learning / "late.py").write_text("x = 1\n")
    after = Sources(roots(tree), cache).code_of(script).digest
    assert after == Sources(roots(tree)).code_of(script).digest != digest


# ------------------------------------------------------------------ the package itself


@pytest.fixture
def package(tmp_path):
    for folder in ("icl_core", "workflow"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def scripts_of(package):
    known = {name: package / name for name in ("icl_core", "workflow")}
    scripts = sorted((package / "workflow/scripts").glob("*.py"))
    assert len(scripts) > 10
    return {script.name: code_of(script, known) for script in scripts}


def test_moving_a_module_of_the_package_changes_no_script(package):
    before = scripts_of(package)
    engine = package / "icl_core/learning/engine"
    assert any("icl_core/learning/engine/networks.py" in code.parts for code in before.values())
    (engine / "networks.py").rename(engine / "stacks.py")
    for path in package.rglob("*.py"):
        text = path.read_text()
        moved = re.sub(r"(icl_core\.learning\.engine)\.networks\b", r"\1.stacks", text)
        moved = moved.replace(
            "from icl_core.learning.engine import networks",
            "from icl_core.learning.engine import stacks",
        )
        if moved != text:
            path.write_text(moved)
    after = scripts_of(package)
    assert {name: code.digest for name, code in after.items()} == {
        name: code.digest for name, code in before.items()
    }
    edit(engine / "stacks.py", "BIAS = 0.01", "BIAS = 0.02")
    last = scripts_of(package)
    uses = {n for n, code in after.items() if "icl_core/learning/engine/stacks.py" in code.parts}
    assert {name for name in last if last[name].digest != after[name].digest} == uses


def test_a_new_world_in_the_package_changes_no_script(package):
    before = scripts_of(package)
    write(package / "icl_core/environments/worlds/corridor.py", "LENGTH = 5\n")
    assert scripts_of(package) == before
