"""All claims over files like those of a run: each is evaluated, or says what it is without."""

import re
from pathlib import Path

import pytest

from icl_core.measuring.claims.claim import find_checks, read_claims
from icl_core.measuring.claims.evaluate import as_markdown, claims_table, evaluate
from icl_core.measuring.claims.paper_support import paper_supports
from icl_core.measuring.paper import PAPER
from icl_core.measuring.results import Results
from tests.fake_results import CONFIG, make_results
from tests.measuring.claims.made_up import METHODS, world_of

CLAIMS = read_claims(Path(__file__).parents[3] / "docs" / "claims.yaml")
CHECKS = find_checks()
# What quick results lack: variants of the paper's scale, experts' policies, and what is made up for
# some experiments alone.
LACKS = (
    r".* is not among the experiments of this run\.",
    r"(demonstrations|policies of experts) in .*: found none\.",
    r"ICL on .* was not run\.",
)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    made = make_results(tmp_path_factory.mktemp("claims"), groups=((1, 2, 3), (4, 5)))
    return evaluate(CLAIMS, made)


def test_every_claim_is_evaluated_or_says_what_is_missing(outcomes):
    missing = [one.reason for one in outcomes if one.verdict == "not run"]
    assert all(any(re.fullmatch(lack, one) for lack in LACKS) for one in missing), missing
    assert len(missing) < 0.4 * len(outcomes)
    assert {len(one.effects) > 0 for one in outcomes if one.verdict != "not run"} == {True}


def test_their_table_can_be_read(outcomes):
    table = claims_table(outcomes)
    assert sum(table["deciding"].to_pylist()) == len(CLAIMS)
    text = as_markdown(table, "quick")
    assert f"of {len(CLAIMS)}." in text
    assert text.count("By the paper's own deviations: yes.") >= 5


def test_there_are_as_many_statements_as_were_asked_for():
    assert len(CLAIMS) >= 80


def test_every_cell_of_the_papers_tables_is_compared():
    rows = [one for one in CLAIMS if one.check == "as_in_the_paper"]
    cells = {
        (one.arguments["metric"], name, one.arguments["method"])
        for one in rows
        for name in one.experiments
    }
    assert cells == {(metric, *key) for metric, table in PAPER.items() for key in table}
    assert len(cells) == 42


def test_every_experiment_of_a_claim_is_configured():
    variants = {f"{n}-{name}" for name, own in CONFIG["variants"].items() for n in own["of"]}
    known = {*CONFIG["experiments"], *variants}
    asked = {name for one in CLAIMS for name in one.experiments}
    assert asked <= known


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("cmse-lowest", "unclear"),  # p = 0.08 against ICRL on CartPole (MR)
        ("nad-lowest", "unclear"),
        ("robots-cmse-lowest", "yes"),
        ("ant-icrl-fails", "yes"),
        ("halfcheetah-icrl-nad-lower", "unclear"),
        ("times-comparable", "yes"),
        ("fewer-hyperparameters", "yes"),
        ("little-slip-lowers-cmse", "yes"),
        ("table-1-icl", "no numbers"),
        ("converges", "no numbers"),
    ],
)
def test_whether_the_papers_own_numbers_support_it(name, found):
    (claim,) = [one for one in CLAIMS if one.id == name]
    worlds = {one: world_of(one) for one in claim.experiments}
    results = Results("paper", worlds, (), METHODS)
    assert paper_supports(claim, CHECKS[claim.check].load(), results) == found
