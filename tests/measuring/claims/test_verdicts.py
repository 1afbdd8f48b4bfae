"""From effects to a verdict: all parts hold, one fails (Holm), or there is only a number."""

import numpy as np
import pytest

from icl_core.measuring.claims.effects import described, mean_effect
from icl_core.measuring.claims.verdicts import (
    Effect,
    combined_verdict,
    part_verdicts,
    weakest_effect,
)

UNIT = np.linspace(-1, 1, 5)


def effect(low, high, samples=5, fails=None):
    chance = fails if fails is not None else (0.0001 if high < 0 else 0.9)
    return Effect(f"{low} to {high}", (low + high) / 2, low, high, "", "", samples, chance)


def test_a_claim_holds_where_all_of_its_parts_do():
    good, bad, open_ = effect(1, 2), effect(-2, -1), effect(-1, 2)
    assert combined_verdict([good, good]) == "reproduced"
    assert combined_verdict([good, open_]) == "inconclusive"
    assert combined_verdict([good, open_, bad]) == "not reproduced"
    assert weakest_effect([good, bad, open_]) == bad
    assert weakest_effect([good, open_]) == open_
    assert weakest_effect([effect(3, 4), good]) == good


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.001, 2, "reproduced"),
        (0.0, 2, "inconclusive"),
        (-0.001, 2, "inconclusive"),
        (-2, 0.0, "inconclusive"),
        (-2, -0.001, "not reproduced"),
    ],
)
def test_an_interval_decides_where_it_leaves_out_zero(low, high, verdict):
    assert effect(low, high, fails=0.001).verdict == verdict


def test_the_weakest_part_is_so_in_widths_of_its_interval():
    """Of two parts that hold: 1.5 is three half-widths of its own from zero, 30 is two."""
    near, far = effect(1, 2), effect(15, 45)
    assert weakest_effect([near, far]) == far


def test_four_runs_are_enough():
    assert effect(1, 2, samples=4).verdict == "reproduced"
    assert combined_verdict([effect(-2, -1, samples=4), effect(1, 2)]) == "not reproduced"


def test_few_runs_decide_nothing():
    assert effect(1, 2, samples=3).verdict == "inconclusive"
    assert combined_verdict([effect(1, 2), effect(-2, -1, samples=3)]) == "inconclusive"


def test_of_many_parts_one_fails_by_chance():
    """A part whose interval just leaves out zero fails alone, but not among three others."""
    barely = effect(-2, -0.001, fails=0.02)
    assert combined_verdict([barely]) == "not reproduced"
    assert combined_verdict([barely, *[effect(-1, 2)] * 3]) == "inconclusive"
    clear = effect(-2, -1, fails=0.001)
    assert part_verdicts([barely, clear, effect(1, 2)]) == [
        "inconclusive",
        "not reproduced",
        "reproduced",
    ]
    # Once the clear one has failed, the other is tested among fewer.
    assert part_verdicts([barely, clear]) == ["not reproduced"] * 2


def test_a_part_left_open_hides_no_part_that_fails():
    """An interval that draws experts again may reach zero where its chance is small already."""
    open_, clear = effect(-2, 0.001, fails=0.0005), effect(-2, -1, fails=0.001)
    for parts in ([open_, clear], [clear, open_]):
        assert combined_verdict(parts) == "not reproduced"
        assert sorted(part_verdicts(parts)) == ["inconclusive", "not reproduced"]


def test_wrong_failures_are_as_rare_as_promised():
    """Of statements that are true in all their eight parts, few are refuted."""
    rng = np.random.default_rng(0)
    found = [
        combined_verdict(
            [mean_effect("", "", dict(enumerate(rng.normal(size=6)))) for _ in range(8)]
        )
        for _ in range(400)
    ]
    assert np.mean([one == "not reproduced" for one in found]) <= 0.045


def test_an_interval_without_width_is_not_the_weakest_part():
    still, moving = effect(0.001, 0.001), effect(1, 2)
    assert weakest_effect([still, moving]) == moving
    assert weakest_effect([still]) == still
    fails = effect(-5, -5)
    assert weakest_effect([fails, effect(-2, -1)]).size == -1.5
    assert weakest_effect([fails, moving]) == fails


@pytest.mark.parametrize(
    ("size", "part"), [(0.01, "as stated"), (0.0, "otherwise"), (-0.01, "otherwise")]
)
def test_one_number_is_described(size, part):
    one = described("here", "h", size, "one time")
    assert (one.verdict, one.over) == (part, "one time")
    assert combined_verdict([one, effect(1, 2)]) == "descriptive"
    assert np.isnan([one.low, one.high]).all()
    lost = described("there", "h", -2.0, "one time")
    assert weakest_effect([one, lost]) == lost
