"""Interquartile means and bootstrap intervals, against SciPy and closed forms."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from icl_core.measuring.statistics import interquartile_mean, stratified_interval

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_the_interquartile_mean_is_scipys_trimmed_mean(values):
    expected = scipy.stats.trim_mean(values, 0.25)
    assert interquartile_mean(values) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_the_interquartile_mean_of_five_seeds_ignores_the_best_and_the_worst():
    assert interquartile_mean([100.0, 1.0, 2.0, 3.0, -50.0]) == 2.0
    np.testing.assert_allclose(interquartile_mean([[1, 2, 3], [4, 5, 9]]), [2.0, 6.0])


def test_one_stratum_is_scipys_percentile_bootstrap():
    values = np.random.default_rng(0).gamma(2.0, size=15)
    found = stratified_interval([values], np.random.default_rng(1), resamples=40_000)
    theirs = scipy.stats.bootstrap(
        (values,),
        lambda sample, axis: scipy.stats.trim_mean(sample, 0.25, axis=axis),
        method="percentile",
        n_resamples=40_000,
        rng=np.random.default_rng(2),
    ).confidence_interval
    np.testing.assert_allclose(found, theirs, atol=0.03)


def test_two_values_have_a_known_distribution():
    """Of 0 and 1 a resample has the mean 0, 1/2 or 1 with probability 1/4, 1/2, 1/4."""
    rng = np.random.default_rng(0)
    assert stratified_interval([np.array([0.0, 1.0])], rng, level=0.95) == (0.0, 1.0)
    assert stratified_interval([np.array([0.0, 1.0])], rng, level=0.3) == (0.5, 0.5)


def test_strata_are_not_mixed():
    """Environments that differ and seeds that do not: nothing is uncertain."""
    strata = [np.full(5, level) for level in (0.0, 1.0, 7.0)]
    low, high = stratified_interval(strata, np.random.default_rng(0))
    assert low == high == interquartile_mean(np.concatenate(strata))


def test_strata_of_normal_values_have_the_textbook_interval():
    """Untrimmed (three values a side cut none), the mean's deviation is that within strata."""
    rng = np.random.default_rng(0)
    strata = [rng.normal(size=1), rng.normal(loc=5.0, size=2)]
    low, high = stratified_interval(strata, rng, level=0.4, resamples=20_000)
    mean = np.concatenate(strata).mean()
    assert low <= mean <= high
    half = abs(strata[1][0] - strata[1][1]) / 3  # a resample takes one of the two twice: 1/4 each
    low, high = stratified_interval(strata, rng, level=0.95, resamples=20_000)
    assert (low, high) == pytest.approx((mean - half, mean + half))


def test_what_is_undefined_stays_undefined():
    ends = stratified_interval([np.array([1.0, np.nan])], np.random.default_rng(0))
    assert all(math.isnan(end) for end in ends)
    assert math.isnan(interquartile_mean([1.0, np.nan]))


def test_equal_generators_give_equal_intervals():
    values = np.random.default_rng(0).normal(size=5)
    one, two = (stratified_interval([values], np.random.default_rng(3)) for _ in range(2))
    assert one == two
