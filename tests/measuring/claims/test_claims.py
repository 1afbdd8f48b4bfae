"""Every claim of docs/claims.yaml can be confirmed, refuted and left open."""

import inspect
import re
from pathlib import Path

import pytest

from icl_core.errors import InputError
from icl_core.measuring.claims.check import find_checks
from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.verdicts import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    combined_verdict,
)
from icl_core.showing.catalogue import paper
from tests.measuring.claims.made_up import MadeUp

PATH = Path(__file__).parents[3] / "docs" / "claims.yaml"
CLAIMS = read_claims(PATH)
CHECKS = find_checks()
# Their evidence is read from files; test_evaluate.py makes those.
ON_FILES = {"demonstrations_keep_threshold", "can_hold", "cannot_hold", "takes_at_most"}
MADE_UP = [claim for claim in CLAIMS if claim.check not in ON_FILES]
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
    assert (claim.needs != "") == bool({"highd", "exid"} & set(claim.experiments))


def test_every_check_is_used():
    assert {claim.check for claim in CLAIMS} == set(CHECKS)


@pytest.mark.parametrize(
    ("lean", "verdict"), [(1, REPRODUCED), (-1, NOT_REPRODUCED), (0, INCONCLUSIVE)]
)
@pytest.mark.parametrize("claim", MADE_UP, ids=names)
def test_made_up_results_give_every_verdict(claim, lean, verdict):
    effects = CHECKS[claim.check].load()(MadeUp(claim, lean), **claim.arguments)
    shown = [(effect.part, effect.size, effect.low, effect.high) for effect in effects]
    assert combined_verdict(effects) == verdict, shown
    assert all(effect.low <= effect.size <= effect.high for effect in effects), shown
    assert len({(effect.part, effect.unit) for effect in effects}) == len(effects)


@pytest.mark.parametrize("claim", MADE_UP, ids=names)
def test_two_seeds_decide_nothing(claim):
    effects = CHECKS[claim.check].load()(MadeUp(claim, 1, seeds=2), **claim.arguments)
    if "epochs" not in effects[0].over:
        assert combined_verdict(effects) == INCONCLUSIVE


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
