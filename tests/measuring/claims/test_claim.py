"""Checks are found without being imported; every claim can be confirmed, refuted and left open."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.layout import Need
from icl_core.measuring.claims import checks as shelf
from icl_core.measuring.claims.checks import adjustments
from icl_core.measuring.claims.claim import Check, find_checks, read_claims, reads
from icl_core.measuring.claims.verdicts import (
    AS_STATED,
    DESCRIPTIVE,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OTHERWISE,
    REPRODUCED,
    combined_verdict,
)
from icl_core.showing import paper
from tests.measuring.claims.cases import CASES, DESCRIBED
from tests.measuring.claims.made_up import MadeUp

PATH = Path(__file__).parents[3] / "docs" / "claims.yaml"
CLAIMS = read_claims(PATH)
CHECKS = find_checks()
CHAPTERS = {"Section": r"[1-5](\.[1-3])?", "Appendix": r"B\.[1-8]|C\.([1-9]|10)|D"}


def names(claim):
    return claim.id


@pytest.mark.parametrize("claim", CLAIMS, ids=names)
def test_a_claim_is_well_formed(claim):
    for source in claim.source:
        kind, number = source.split()
        if kind in CHAPTERS:
            assert re.fullmatch(CHAPTERS[kind], number)
        else:
            assert int(number) in {"Table": paper.TABLES, "Figure": paper.FIGURES}[kind]
    check = CHECKS[claim.check].load()
    inspect.signature(check).bind(None, **claim.arguments)
    assert inspect.getdoc(check)
    # How long training takes is no matter of whose recordings they are.
    driving = {"highd", "exid"} & set(claim.experiments) and claim.check != "times_comparable"
    assert (claim.needs != "") == bool(driving)


def test_every_check_is_used():
    assert {claim.check for claim in CLAIMS} == set(CHECKS)


def test_every_check_has_a_case():
    """What cannot be confirmed, refuted and left open, in the table of cases, is no check."""
    assert set(CASES) == set(CHECKS)
    assert set(CASES) >= DESCRIBED


@pytest.mark.parametrize(
    ("lean", "verdict"), [(1, REPRODUCED), (-1, NOT_REPRODUCED), (0, INCONCLUSIVE)]
)
@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.check not in DESCRIBED], ids=names)
def test_made_up_results_give_every_verdict(claim, lean, verdict):
    effects = checked(claim, lean)
    shown = [(effect.part, *effect[1:4], effect.fails) for effect in effects]
    assert combined_verdict(effects) == verdict, shown
    assert all(effect.low <= effect.size <= effect.high for effect in effects), shown
    assert len({(effect.part, effect.unit) for effect in effects}) == len(effects)


@pytest.mark.parametrize(("lean", "part"), [(1, AS_STATED), (-1, OTHERWISE)])
@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.check in DESCRIBED], ids=names)
def test_what_is_described_has_two_outcomes(claim, lean, part):
    """One number, and no chance that could leave it open."""
    effects = checked(claim, lean)
    assert combined_verdict(effects) == DESCRIPTIVE
    assert {effect.verdict for effect in effects} == {part}


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.check not in DESCRIBED], ids=names)
def test_two_runs_decide_nothing(claim):
    assert combined_verdict(checked(claim, 1, runs=2)) == INCONCLUSIVE


def checked(claim, lean, runs=5):
    return CHECKS[claim.check].load()(
        MadeUp(claim, CASES[claim.check], lean, runs), **claim.arguments
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: a", "expected a YAML list of statements"),
        ("a: 1", "expected a list of statements"),
        ("- {id: a}", "statement a: expected the keys id, statement"),
        (
            "- {id: a, statement: s, source: [Table 1], check: guess, experiments: [b]}",
            "statement a: check 'guess' is unknown; choose one of ",
        ),
        (
            "- {id: a, statement: s, source: [Tab. 1], check: finds, experiments: [b]}",
            "expected sources like 'Table 1', found 'Tab. 1'",
        ),
        (
            "- {id: a, statement: s, source: [Table 1], check: finds, experiments: [b], needs: x}",
            "expected needs to be 'licensed recordings', found 'x'",
        ),
        (
            2 * "- {id: a, statement: s, source: [Table 1], check: finds, experiments: [b]}\n",
            "expected one statement with id a, found several",
        ),
    ],
)
def test_a_wrong_file_gives_one_sentence(tmp_path, text, message):
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        read_claims(path)


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
    module = f"{shelf.__name__}.driving"
    needs = (Need("constraint", {}), Need("demonstrations", {}))
    assert found["satisfies"] == Check(module, "satisfies", needs)
    assert found["satisfaction_falls"].needs == (Need("adjustment", {"method": "icl"}),)
    # Helpers without the decorator are no checks, public or not.
    assert "crossings" not in found and "ranking" not in found


def test_finding_imports_no_check_and_nothing_heavy():
    script = (
        "import sys; from icl_core.measuring.claims.claim import find_checks; "
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
            "from icl_core.measuring.claims.claim import reads\n"
            "from icl_core.measuring.claims import claim\n"
            '@reads("metrics", "policy:method=icl")\ndef first(evidence): ...\n'
            '@claim.reads("evaluation")\ndef second(evidence): ...\n'
            "def helper(): ...\n"
        )
    )
    assert find_checks() == {
        "first": Check(
            "shelf.mine", "first", (Need("metrics", {}), Need("policy", {"method": "icl"}))
        ),
        "second": Check("shelf.mine", "second", (Need("evaluation", {}),)),
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


def test_adjustments_are_counted_in_steps_and_not_in_the_rows_of_their_logs():
    step = np.array([1, 26, 51, 60])
    logs = [pa.table({"step": step, "expert_value": step + 100.0 * k}) for k in range(3)]
    steps, values = adjustments._joined(logs, "expert_value")
    np.testing.assert_array_equal(steps, np.concatenate([step, step + 60, step + 120]))
    np.testing.assert_array_equal(values, np.concatenate([step, step + 100, step + 200]))
    assert adjustments._length(logs[0]) == 60
