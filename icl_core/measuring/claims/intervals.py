"""Intervals over seeds, honest for the few that there are.

A percentile bootstrap of five values is too narrow: resampled means spread by the
deviation over n where the unbiased one is over n - 1, and normal quantiles stand where
Student's belong. The expanded percentile interval (Hesterberg, 2015) widens the level by
just that, and for five seeds all but reaches the extremes of what resampling can give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from icl_core.measuring.claims.verdicts import Effect

LEVEL = 0.95
RESAMPLES = 10_000

# Groups, each (resamples, n) or (1, n), to the statistic of each resample.
Statistic = Callable[[Sequence[np.ndarray]], np.ndarray]


def measured(
    part: str,
    unit: str,
    statistic: Statistic,
    groups: Sequence[Sequence[float]],
    rng: np.random.Generator,
    paired: bool = False,
    of: str = "seeds",
) -> Effect:
    """The statistic of the groups and its interval.

    Groups are drawn again each for itself, or, where they are `paired`, all by the same
    draws: value k of every group then comes from the same seed. `of` says what a value is
    one of.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in groups]
    sizes = [len(group) for group in groups]
    size = float(statistic([group[None] for group in groups])[0])
    low, high = _interval(statistic, groups, rng, paired)
    over = f"{min(sizes)} {of}" + (", paired" if paired else "")
    return Effect(part, size, low, high, unit, over, min(sizes))


def deviation_of(part: str, unit: str, values: Sequence[float], less: float) -> Effect:
    """Standard deviation of the seeds over their mean, less a number.

    A bootstrap knows nothing of deviations: it may draw one seed five times. The interval is
    that of normal values (chi-squared).
    """
    values, n = np.asarray(values, dtype=np.float64), len(values)
    size = values.std(ddof=1) / values.mean()
    ends = np.sqrt((n - 1) / stats.chi2.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], n - 1))
    low, high = size * ends - less
    over = f"{n} seeds, taken as normal"
    return Effect(part, float(size - less), float(low), float(high), unit, over, n)


def ratio_of_deviations(part: str, unit: str, groups: Sequence[Sequence[float]]) -> Effect:
    """Logarithm (base 2) of the ratio of two deviations, interval of normal values (F)."""
    first, second = (np.asarray(group, dtype=np.float64) for group in groups)
    size = np.log2(first.std(ddof=1) / second.std(ddof=1))
    freedom = len(first) - 1, len(second) - 1
    ends = np.log2(stats.f.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], *freedom)) / 2
    low, high = size - ends
    n = min(len(first), len(second))
    return Effect(
        part, float(size), float(low), float(high), unit, f"{n} seeds, taken as normal", n
    )


def _interval(
    statistic: Statistic, groups: Sequence[np.ndarray], rng: np.random.Generator, paired: bool
) -> tuple[float, float]:
    if paired and len({len(group) for group in groups}) > 1:
        raise ValueError("paired groups must be of one size")
    draws = [rng.integers(len(group), size=(RESAMPLES, len(group))) for group in groups[:1]]
    for group in groups[1:]:
        new = rng.integers(len(group), size=(RESAMPLES, len(group))) if not paired else draws[0]
        draws.append(new)
    if any(np.isnan(group).any() for group in groups):
        return float("nan"), float("nan")
    values = statistic([group[draw] for group, draw in zip(groups, draws, strict=True)])
    tail = _tail([len(group) for group in groups], paired)
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _tail(sizes: Sequence[int], paired: bool) -> float:
    """What is cut at each end."""
    n = min(sizes)
    freedom = n - 1 if paired else sum(sizes) - len(sizes)
    if n < 2:
        return 0.0
    quantile = stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(n / (n - 1))
    return float(stats.norm.sf(quantile))
