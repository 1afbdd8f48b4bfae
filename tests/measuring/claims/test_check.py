"""Checks are found by their decorators, without being imported."""

import inspect
import re
import subprocess
import sys

import pytest

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.layout import Need
from icl_core.measuring.claims import checks as shelf
from icl_core.measuring.claims.check import Check, find_checks, reads


@pytest.mark.parametrize(("name", "check"), find_checks().items())
def test_a_check_is_the_function_that_its_name_says(name, check):
    function = check.load()
    assert function.__name__ == check.function == name
    assert function.__module__ == check.module
    assert check.module.startswith(shelf.__name__)
    assert check.needs and all(isinstance(need, Need) for need in check.needs)
    assert next(iter(inspect.signature(function).parameters)) == "evidence"


def test_needs_are_those_of_the_decorator():
    found = find_checks()
    module = f"{shelf.__name__}.visits"
    needs = (Need("constraint", {}), Need("demonstrations", {}))
    expected = Check(module, "forbids_fewer_expert_states", needs)
    assert found["forbids_fewer_expert_states"] == expected
    assert found["satisfaction_falls"].needs == (Need("adjustment", {"method": "icl"}),)
    # Helpers without the decorator are no checks, public or not.
    assert "count_swings" not in found and "ranking" not in found


def test_finding_imports_no_check_and_nothing_heavy():
    script = (
        "import sys; from icl_core.measuring.claims.check import find_checks; "
        "assert len(find_checks()) > 30; "
        f"heavy = {{'numpy', 'scipy', 'pyarrow', '{shelf.__name__}.metrics'}}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.fixture
def a_shelf(tmp_path, monkeypatch):
    """A shelf of one's own: files by name."""

    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setattr(discovery, "names", lambda _: sorted(files))
        monkeypatch.setattr(discovery, "module_name", lambda _, name: f"shelf.{name}")
        monkeypatch.setattr(discovery, "source", lambda m: tmp_path / f"{m.split('.')[-1]}.py")

    return write


def test_one_file_adds_checks(a_shelf):
    a_shelf(
        mine=(
            "from icl_core.measuring.claims.check import reads\n"
            "from icl_core.measuring.claims import check\n"
            '@reads("metrics", "policy:method=icl")\ndef first(evidence): ...\n'
            '@check.reads("rollouts")\ndef second(evidence): ...\n'
            "def helper(): ...\n"
        )
    )
    assert find_checks() == {
        "first": Check(
            "shelf.mine", "first", (Need("metrics", {}), Need("policy", {"method": "icl"}))
        ),
        "second": Check("shelf.mine", "second", (Need("rollouts", {}),)),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@reads\ndef a(e): ...", "mine.py: check a: expected the kinds of files"),
        ("@reads()\ndef a(e): ...", "check a: expected the kinds of files that it reads as texts"),
        ("@reads(KIND)\ndef a(e): ...", 'found reads(KIND); write @reads("metrics")'),
        ("@reads(3)\ndef a(e): ...", "found reads(3)"),
        ("@reads('a', *B)\ndef a(e): ...", "found reads('a', *B)"),
        ("@reads('metric')\ndef a(e): ...", "check a: 'metric' is no kind of file; choose one of"),
        ("@reads('metrics')\ndef _a(e): ...", "check _a: expected a name without an underscore"),
    ],
)
def test_a_wrong_decorator_gives_one_sentence(a_shelf, text, message):
    a_shelf(mine=text)
    with pytest.raises(InputError, match=re.escape(message)):
        find_checks()


def test_two_checks_of_one_name_are_refused(a_shelf):
    text = '@reads("metrics")\ndef same(evidence): ...\n'
    a_shelf(one=text, two=text)
    message = r"two\.py: expected one check same, found another in .*one\.py; rename one"
    with pytest.raises(InputError, match=message):
        find_checks()


def test_the_decorator_leaves_the_function_as_it_is():
    def function(evidence): ...

    assert reads("metrics")(function) is function
    with pytest.raises(ValueError, match="is no kind of file"):
        reads("guess")
    with pytest.raises(ValueError, match="at least one kind"):
        reads()
