"""The intervals over few seeds hold what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from icl_core.measuring.claims import intervals
from icl_core.measuring.claims.checks.constraints import ranking
from icl_core.measuring.claims.checks.iterations import count_swings
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import (
    difference_of_means,
    estimate,
    mean_above,
    mean_below,
    mean_of,
    ratio_of_deviations,
    relative_deviation,
    slope_over,
)
from icl_core.measuring.claims.verdicts import Effect, combined_verdict, weakest_effect
from icl_core.measuring.results import Results


def rng():
    return np.random.default_rng(0)


def test_five_seeds_are_covered_about_as_often_as_promised(monkeypatch):
    monkeypatch.setattr(intervals, "RESAMPLES", 1500)
    draws = np.random.default_rng(1).normal(size=(300, 5))
    found = [estimate(mean_of, [values], rng()) for values in draws]
    covered = np.mean([effect.low <= 0 <= effect.high for effect in found])
    assert 0.89 <= covered <= 0.99


def test_the_effect_is_the_statistic_itself():
    groups = [[1, 2, 3], [5, 5, 5, 9]]
    evidence = Evidence(Results("paper", {}, ()), (), "a-claim")
    effect = evidence.effect("here", "m", difference_of_means, groups)
    assert effect.size == 6 - 2
    assert (effect.part, effect.unit, effect.over, effect.samples) == ("here", "m", "3 seeds", 3)
    assert effect.low < effect.size < effect.high
    other = evidence.effect("", "", mean_of, [np.arange(7.0)], paired=True, of="epochs")
    assert (other.over, other.samples) == ("7 epochs, paired", 7)


def test_the_mean_above_and_below_a_bound():
    values = [np.array([[1.0, 2.0, 6.0]])]
    assert mean_above(1.0)(values) == 2.0 == -mean_below(1.0)(values)


def test_pairs_take_out_what_seeds_share():
    shared = np.array([0.0, 10.0, 20.0, 30.0, 40.0])
    groups = [shared, shared + np.array([1.0, 1.1, 0.9, 1.0, 1.0])]
    apart = estimate(difference_of_means, groups, rng())
    paired = estimate(difference_of_means, groups, rng(), paired=True)
    assert apart.size == pytest.approx(paired.size) == pytest.approx(1.0)
    assert apart.low < 0 < paired.low
    with pytest.raises(ValueError, match="of one size"):
        estimate(difference_of_means, [[1.0], [1.0, 2.0]], rng(), paired=True)


def test_an_undefined_value_decides_nothing():
    found = estimate(mean_of, [[1.0, float("nan"), 1.0]], rng())
    assert np.isnan(found).all()
    assert Effect("", *found, "", "", 3).verdict == "inconclusive"


def test_deviations_of_normal_values():
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    effect = relative_deviation(values, 0.1)
    ends = np.sqrt(4 * 2.5 / stats.chi2.ppf([0.975, 0.025], 4)) / 3 - 0.1
    assert (effect.low, effect.high) == pytest.approx(tuple(ends))
    same = ratio_of_deviations(values, values)
    assert same.size == 0
    assert same.low == pytest.approx(-same.high)
    assert ratio_of_deviations(np.array(values) * 8, values).size == pytest.approx(3)


@pytest.mark.parametrize("n", [2, 3, 5, 30])
def test_quantiles_are_those_of_scipy_stats_to_the_last_bit(n):
    ends, values = [(1 + 0.95) / 2, (1 - 0.95) / 2], np.random.default_rng(n).random(n)
    spread = values.std(ddof=1) / values.mean()
    low, high = spread * np.sqrt((n - 1) / stats.chi2.ppf(ends, n - 1))
    assert relative_deviation(values, 0.0)[1:] == (low, high)
    low, high = -np.log2(stats.f.ppf(ends, n - 1, n - 1)) / 2
    assert ratio_of_deviations(values, values)[1:] == (low, high)
    student = stats.t.ppf(ends[0], n - 1) * np.sqrt(n / (n - 1))
    assert intervals._tail([n, n], paired=True) == stats.norm.sf(student)


def test_a_run_that_has_failed_has_no_ranking():
    found = ranking(np.array([[0.1, np.nan, 0.9], [0.1, 0.5, 0.9]]), np.array([0, 0, 1]))
    np.testing.assert_array_equal(found, [np.nan, 1.0])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30).filter(lambda v: 0 in v and 1 in v))
def test_ranking_is_the_share_of_pairs_in_order(values):
    truth = np.array([value % 2 for value in values])
    scores = np.array([[value // 2 + 0.1 * k for k, value in enumerate(values)], values], float)
    for row, found in zip(scores, ranking(scores, truth), strict=True):
        pairs = [(a > b) + 0.5 * (a == b) for a in row[truth == 1] for b in row[truth == 0]]
        assert found == pytest.approx(np.mean(pairs))


def test_slope_is_that_of_least_squares():
    x, groups = [0.0, 1.0, 3.0], [[1.0, 2.0], [2.0, 5.0], [9.0, 4.0]]
    points = [(a, y) for a, group in zip(x, groups, strict=True) for y in group]
    expected = np.polyfit(*np.transpose(points), 1)[0]
    assert slope_over(x)([np.array([group]) for group in groups]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "swings"),
    [
        ([1, 1, 1], 0),
        ([0, 1, 2, 3], 1),
        ([0, 3, 0, 3], 3),
        ([0, 3, 2.9, 3, 2.9, 3], 1),  # what is small is no swing
        ([3, 2, 1, 0], 1),
    ],
)
def test_swings(values, swings):
    assert count_swings(np.array(values, float)) == swings


def effect(low, high, samples=5):
    return Effect(f"{low} to {high}", (low + high) / 2, low, high, "", "", samples)


def test_a_claim_holds_where_all_of_its_parts_do():
    good, bad, open_ = effect(1, 2), effect(-2, -1), effect(-1, 2)
    assert combined_verdict([good, good]) == "reproduced"
    assert combined_verdict([good, open_]) == "inconclusive"
    assert combined_verdict([good, open_, bad]) == "not reproduced"
    assert weakest_effect([good, bad, open_]) == bad
    assert weakest_effect([good, open_]) == open_
    assert weakest_effect([effect(3, 4), good]) == good
    assert effect(1, 2, samples=2).verdict == "inconclusive"
