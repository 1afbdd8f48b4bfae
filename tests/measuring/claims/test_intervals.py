"""The intervals over few experts hold what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from icl_core.measuring.claims.checks.adjustments import crossings, rank_correlation
from icl_core.measuring.claims.checks.constraints import ranking
from icl_core.measuring.claims.effects import (
    curve_effect,
    deviation_effect,
    mean_effect,
    paired_effect,
    separate_effect,
)
from icl_core.measuring.claims.intervals import (
    above_zero,
    deviation_above,
    inside,
    printed,
    resampled,
    sample_of,
)
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.paper import PAPER, SEEDS

VALUES = {1: 1.0, 2: 2.0, 3: 4.0, 4: 5.0, 5: 8.0}


def test_a_mean_has_students_interval():
    effect = mean_effect("here", "m", VALUES)
    test = stats.ttest_1samp([*VALUES.values()], 0.0)
    low, high = test.confidence_interval(0.95)
    assert (effect.size, effect.low, effect.high) == pytest.approx((4.0, low, high))
    below = stats.ttest_1samp([*VALUES.values()], 0.0, alternative="less").pvalue
    assert effect.fails == pytest.approx(below)
    assert (effect.part, effect.unit, effect.over, effect.samples) == ("here", "m", "5 runs", 5)


def test_different_experts_are_compared_as_welch_has_it():
    other = {1: 3.0, 2: 9.0, 3: 7.0, 4: 20.0}
    effect = separate_effect("", "", VALUES, other)
    test = stats.ttest_ind([*other.values()], [*VALUES.values()], equal_var=False)
    low, high = test.confidence_interval(0.95)
    assert (effect.size, effect.low, effect.high) == pytest.approx((9.75 - 4, low, high))
    assert (effect.over, effect.samples) == ("5 and 4 runs, Welch", 4)


def test_pairs_take_out_what_runs_share():
    shared = {run: 10.0 * run for run in range(1, 6)}
    more = {run: 10.0 * run + d for run, d in zip(range(1, 7), (1, 1.1, 0.9, 1, 1, 9), strict=True)}
    apart, paired = (make("", "", shared, more) for make in (separate_effect, paired_effect))
    assert apart.low < 0 < paired.low
    assert paired.size == pytest.approx(1.0)  # of the runs that both have
    assert paired.over == "5 runs, paired"


@pytest.mark.parametrize("experts", [5, 10])
def test_experts_are_covered_as_often_as_promised(experts):
    draws = np.random.default_rng(1).normal(size=(2000, experts))
    found = [above_zero(sample_of(values)) for values in draws]
    covered = np.mean([one.low <= 0 <= one.high for one in found])
    assert 0.935 <= covered <= 0.965
    assert np.mean([one.fails <= 0.025 for one in found]) == pytest.approx(0.025, abs=0.008)


@pytest.mark.parametrize(("mean", "sign"), [(0.5, 1), (0.02, 0), (-0.3, -1), (1.3, -1), (0.97, 0)])
def test_how_far_a_mean_is_inside_a_range(mean, sign):
    values = [mean - 0.05, mean, mean + 0.05, mean]
    found = inside(sample_of(values), 0.0, 1.0)
    assert found.size == pytest.approx(min(mean, 1 - mean))
    assert found.low <= found.size <= found.high
    assert (found.low > 0) - (found.high < 0) == sign
    assert (found.fails < 0.025) == (sign < 0)


def test_a_range_without_a_lower_end():
    sample = sample_of([0.1, 0.2, 0.3, 0.2])
    open_ended, plain = inside(sample, -np.inf, 1.0), above_zero(sample.times(-1).plus(1.0))
    assert open_ended == pytest.approx(plain)


def test_an_undefined_value_decides_nothing():
    effect = mean_effect("", "", {1: 1.0, 2: float("nan"), 3: 1.0, 4: 1.0})
    assert np.isnan(effect[1:4]).all()
    assert effect.verdict == "inconclusive"
    found = inside(sample_of([1.0, float("nan"), 2.0]), 0, 9)
    assert np.isnan(found).all()


@pytest.mark.parametrize("make", [sample_of, lambda values: sample_of(values).plus(1)])
def test_one_value_has_no_interval(make):
    found = above_zero(make([2.0]))
    assert np.isnan([found.low, found.high]).all()


def test_equal_values_have_an_interval_without_width():
    assert above_zero(sample_of([2.0] * 5)) == (2.0, 2.0, 2.0, 1.0)
    assert above_zero(sample_of([-2.0] * 5)).fails == 0.0


def test_deviations_of_normal_values():
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    found = deviation_above(values, 0.1)
    ends = np.sqrt(4 * 2.5 / stats.chi2.ppf([0.975, 0.025], 4)) - 0.1
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    assert found.fails == pytest.approx(stats.chi2.cdf(4 * 2.5 / 0.01, 4))
    quieter = deviation_above(values, 0.1, noise=0.5)
    assert quieter.size == pytest.approx(np.sqrt(2.0) - 0.1)
    ends = np.sqrt(4 * 2.5 / stats.chi2.ppf([0.975, 0.025], 4) - 0.5) - 0.1
    assert (quieter.low, quieter.high) == pytest.approx(tuple(ends))
    assert quieter.fails == pytest.approx(stats.chi2.cdf(4 * 2.5 / 0.51, 4))
    still = deviation_above(values, 0.0, noise=9.0)
    assert (still.size, still.low) == (0.0, 0.0)
    assert deviation_above([1.0, 1.0, 1.0, 1.1], 3.0).fails < 0.001
    effect = deviation_effect("", "", {1: 1.0, 2: 3.0}, 0.5)
    assert (effect.over, effect.verdict) == ("2 runs, taken as normal", "inconclusive")


@pytest.mark.parametrize("freedom", [1, 3, 4, 29])
def test_quantiles_are_those_of_scipy_stats_to_the_last_bit(freedom):
    values = np.random.default_rng(freedom).random(freedom + 1)
    half = stats.t.ppf((1 + 0.95) / 2, freedom) * sample_of(values).error
    mean = float(values.mean())
    assert above_zero(sample_of(values))[1:3] == (mean - half, mean + half)
    ends = stats.chi2.ppf([(1 + 0.95) / 2, (1 - 0.95) / 2], freedom)
    low, high = np.sqrt(values.var(ddof=1) * freedom / ends)
    assert deviation_above(values, 0.0)[1:3] == (low, high)


def test_a_number_that_is_read_off_a_mean_curve():
    rng = np.random.default_rng(0)
    curves = {run: np.array([run, 2.0 * run]) for run in range(1, 6)}
    effect = curve_effect("", "", lambda mean: float(mean[1] - 1), curves, rng)
    assert effect.size == 5.0
    assert 0 < effect.low < effect.size < effect.high
    assert effect.over == "5 runs, drawn again"
    same = resampled(lambda mean: -1.0, np.ones((5, 2)), rng)
    assert same == (-1.0, -1.0, -1.0, 0.0)


def test_drawing_experts_again_agrees_with_student_where_he_can_be_asked():
    """Of the mean itself: coverage, width and the chance of a failure are his."""
    rng = np.random.default_rng(4)
    draws = rng.normal(size=(300, 5))
    again = [resampled(lambda mean: float(mean[0]), one[:, None], rng) for one in draws]
    assert 0.92 <= np.mean([one.low <= 0 <= one.high for one in again]) <= 0.97
    his = [above_zero(sample_of(one)) for one in draws]
    widths = [np.mean([one.high - one.low for one in every]) for every in (again, his)]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)
    chances = np.array([[one.fails for one in every] for every in (again, his)])
    np.testing.assert_allclose(*chances, atol=0.02)


def test_two_curves_have_an_interval_and_one_has_none():
    rng = np.random.default_rng(0)
    curves = np.arange(3.0)[:, None]
    found = resampled(lambda mean: float(mean[0]), curves[:2], rng)
    assert found.low == 0.0 and found.high == 1.0
    assert np.isnan(resampled(lambda mean: float(mean[0]), curves[:1], rng)[1:]).all()


def test_a_printed_mean_is_known_by_its_printed_deviation():
    assert printed(1.0, 0.2, 5) == (1.0, pytest.approx(0.1), 4, 5)
    assert printed(1.0, 0.0, 5).error == pytest.approx(0.005 / 2)  # 0.00 may be 0.005


def test_a_mean_in_another_unit():
    assert sample_of([1.0, 3.0]).times(-3.0) == (-6.0, pytest.approx(3.0), 1, 2)


def two_sided(metric, first, second):
    found = above_zero(printed(*PAPER[metric][second], SEEDS).less(
        printed(*PAPER[metric][first], SEEDS)))  # fmt: skip
    return 2 * min(found.fails, 1 - found.fails)


@pytest.mark.parametrize(
    ("metric", "experiment", "first", "second", "p"),
    [
        ("nad", "gridworld-b", "icl", "gail-constraint", 0.93),
        ("nad", "cartpole-mr", "icl", "gail-constraint", 0.73),
        ("nad", "cartpole-mid", "icl", "gail-constraint", 0.10),
        ("nad", "ant", "icl", "gail-constraint", 0.48),
        ("nad", "halfcheetah", "icrl", "icl", 0.57),
        ("cmse", "cartpole-mr", "icl", "icrl", 0.08),
    ],
)
def test_the_papers_own_deviations(metric, experiment, first, second, p):
    found = two_sided(metric, (experiment, first), (experiment, second))
    assert found == pytest.approx(p, abs=0.006)


def test_a_run_that_has_failed_has_no_ranking():
    assert np.isnan(ranking(np.array([0.1, np.nan, 0.9]), np.array([0, 0, 1])))
    assert ranking(np.array([0.1, 0.5, 0.9]), np.array([0, 0, 1])) == 1.0


def test_differences_of_nothing_are_no_order():
    assert ranking(np.array([1e-9, 2e-9, 3e-9]), np.array([0, 0, 1])) == 0.5


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30).filter(lambda v: 0 in v and 1 in v))
def test_ranking_is_the_share_of_pairs_in_order(values):
    truth = np.array([value % 2 for value in values])
    for row in ([value // 2 + 0.1 * k for k, value in enumerate(values)], values):
        scores = np.array(row, float) + 1
        pairs = [(a > b) + 0.5 * (a == b) for a in scores[truth == 1] for b in scores[truth == 0]]
        assert ranking(scores, truth) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize(
    ("values", "count"), [([1, 1, 1], 0), ([0, 3], 1), ([0, 3, 0, 3], 3), ([3, 2, 1, 0], 1)]
)
def test_crossings(values, count):
    assert crossings(np.array(values), 1.5) == count


def test_rank_correlation_is_spearmans():
    first, second = np.random.default_rng(0).random((2, 9))
    assert rank_correlation(first, second) == pytest.approx(stats.spearmanr(first, second)[0])
    assert np.isnan(rank_correlation(first, np.ones(9)))


def test_an_effect_alone_is_judged_by_its_interval():
    assert Effect("", 1, 0.5, 1.5, "", "", 5).verdict == "reproduced"
    assert Effect("", 1, 0.5, 1.5, "", "", 3).verdict == "inconclusive"
