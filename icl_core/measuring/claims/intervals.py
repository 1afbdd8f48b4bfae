"""Intervals over experts, and how probable a failure is: by Student's t wherever it can be.

Run k learns from expert k, so a seed stands for an expert, and what is compared on the same experts
is compared in pairs. Groups of different experts are compared as Welch has it. Deviations have the
interval of normal values (chi-squared). Only where a curve has to be read before there is a number
(`resampled`) are experts drawn again, and the interval is widened for the few that there are.

Quantiles come from `scipy.special`, where they are computed, bit for bit as from `scipy.stats`,
which takes a second longer to import; and whoever only reads verdicts imports neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
RESAMPLES = 2000
NAN = float("nan")


class Estimate(NamedTuple):
    """A number and the ends of its 95 % interval."""

    size: float
    low: float
    high: float


class Tested(NamedTuple):
    """The same, and how probable so small a number is if the true one is not below 0."""

    size: float
    low: float
    high: float
    fails: float


class Sample(NamedTuple):
    """A mean of experts, ours or the paper's."""

    mean: float
    error: float  # standard error of the mean
    freedom: float
    number: int  # of experts; of two groups that of the smaller

    def less(self, other: Sample) -> Sample:
        """The difference to the mean of other experts (Welch)."""
        squares = np.array([self.error**2, other.error**2])
        freedoms = np.array([self.freedom, other.freedom])
        total, below = squares.sum(), (squares**2 / np.maximum(freedoms, 1)).sum()
        freedom = float(total**2 / below) if below > 0 else float(freedoms.sum())
        number = min(self.number, other.number)
        return Sample(self.mean - other.mean, float(np.sqrt(total)), freedom, number)

    def plus(self, number: float) -> Sample:
        """The mean moved by a number."""
        return self._replace(mean=self.mean + number)

    def times(self, number: float) -> Sample:
        """The mean in another unit, or with the other sign."""
        return self._replace(mean=self.mean * number, error=self.error * abs(number))


def sample_of(values: npt.ArrayLike) -> Sample:
    """The mean of some experts' values."""
    each = np.asarray(values, dtype=np.float64)
    if len(each) < 2:
        return Sample(float(each.mean()) if len(each) else NAN, NAN, 0, len(each))
    error = 0.0 if np.ptp(each) == 0 else float(each.std(ddof=1) / np.sqrt(len(each)))
    return Sample(float(each.mean()), error, len(each) - 1, len(each))


def printed(mean: float, deviation: float, number: int, rounding: float = 0.005) -> Sample:
    """The mean of a table that prints deviations with two digits and divides by n (ddof 0).

    A deviation of 0.00 is taken as the largest that is printed so.
    """
    error = max(deviation, rounding) / np.sqrt(number - 1)
    return Sample(mean, float(error), number - 1, number)


def above_zero(sample: Sample) -> Tested:
    """The mean and its t interval."""
    half = _student(sample) * sample.error
    fails = _share_below(sample.mean, sample)
    return Tested(sample.mean, sample.mean - half, sample.mean + half, fails)


def inside(sample: Sample, low: float, high: float) -> Tested:
    """How far the mean is from the nearer end of a range, positive inside.

    The interval is that of the distance, over all means in the interval of the mean.
    """

    def distance(mean: float) -> float:
        return min(mean - low, high - mean)

    half, mean = _student(sample) * sample.error, sample.mean
    ends = [mean - half, mean + half]
    best = float(np.clip((low + high) / 2, ends[0], ends[1]))
    size = distance(mean)
    return Tested(size, min(map(distance, ends)), distance(best), _share_below(size, sample))


def deviation_above(values: npt.ArrayLike, bound: float, noise: float = 0.0) -> Tested:
    """The deviation between experts less a bound, as that of normal values (chi-squared).

    `noise` is the variance that each value has by itself: it is taken off.
    """
    from scipy.special import chdtr, gammaincinv

    each = np.asarray(values, dtype=np.float64)
    freedom = len(each) - 1
    if freedom < 1:
        return Tested(NAN, NAN, NAN, NAN)
    variance = each.var(ddof=1)
    chi_squared = 2 * gammaincinv(freedom / 2, [(1 + LEVEL) / 2, (1 - LEVEL) / 2])
    ends = [np.sqrt(max(variance * freedom / c - noise, 0.0)) - bound for c in chi_squared]
    size = np.sqrt(max(variance - noise, 0.0)) - bound
    least = bound**2 + noise  # that variance should be
    fails = chdtr(freedom, freedom * variance / least) if least else 1.0
    return Tested(float(size), float(ends[0]), float(ends[1]), float(fails))


def resampled(
    statistic: Callable[[np.ndarray], float], curves: np.ndarray, rng: np.random.Generator
) -> Tested:
    """A statistic of the mean of curves (experts, ...), and its interval by drawing experts again.

    A percentile interval of few values is too narrow; the expanded one (Hesterberg, 2015) widens
    the level by just what Student's quantiles and the divisor n - 1 ask for.
    """
    from scipy.special import ndtr, stdtrit

    n = len(curves)
    size = statistic(curves.mean(axis=0))
    if n < 2:
        return Tested(size, NAN, NAN, NAN)
    drawn, count = np.unique(
        np.sort(rng.integers(n, size=(RESAMPLES, n)), axis=1), axis=0, return_counts=True
    )
    found = np.repeat([statistic(curves[row].mean(axis=0)) for row in drawn], count)
    wider = np.sqrt(n / (n - 1))
    tail = float(ndtr(-stdtrit(n - 1, (1 + LEVEL) / 2) * wider))
    low, high = np.quantile(found, [tail, 1 - tail])
    fails = _share_below(size, Sample(size, float(found.std() * wider), n - 1, n))
    return Tested(size, min(float(low), size), max(float(high), size), fails)


def _student(sample: Sample) -> float:
    """Half the width of the interval, in standard errors."""
    from scipy.special import stdtrit

    if sample.number < 2:
        return NAN
    return float(stdtrit(sample.freedom, (1 + LEVEL) / 2)) if sample.error > 0 else 0.0


def _share_below(size: float, sample: Sample) -> float:
    """P(so small a size or a smaller one), if the true one is 0."""
    from scipy.special import stdtr

    if not sample.error > 0:
        return NAN if sample.error != sample.error or size != size else float(size >= 0)
    return float(stdtr(sample.freedom, size / sample.error))
