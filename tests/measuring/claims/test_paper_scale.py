"""What config.yaml runs at the paper's scale is enough for every claim."""

from unittest import mock

import pytest

from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.evaluate import evaluate
from icl_core.measuring.claims.verdicts import DESCRIPTIVE, FEWEST, NOT_RUN
from tests.measuring.claims.paper_scale import ROOT, PaperScale


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    with mock.patch("os.fsync"):  # hundreds of files, none of which need last
        there = PaperScale(tmp_path_factory.mktemp("paper")).results()
    return evaluate(read_claims(ROOT / "docs" / "claims.yaml"), there)


def test_every_claim_has_what_its_check_reads(outcomes):
    assert [one.reason for one in outcomes if one.verdict == NOT_RUN] == []


def test_every_part_has_a_number_and_enough_runs(outcomes):
    parts = [(one.claim.id, effect) for one in outcomes for effect in one.effects]
    assert [name for name, effect in parts if effect.size != effect.size] == []
    decided = [one for one in outcomes if one.verdict != DESCRIPTIVE]
    few = [one.claim.id for one in decided if min(e.samples for e in one.effects) < FEWEST]
    assert few == []


def test_ten_experts_stand_behind_what_is_said_of_icl_alone(outcomes):
    (settles,) = [one for one in outcomes if one.claim.id == "converges"]
    assert {effect.over for effect in settles.effects} == {"10 runs"}
    (paired,) = [one for one in outcomes if one.claim.id == "cmse-lowest"]
    assert {effect.over for effect in paired.effects} == {"5 runs, paired"}
