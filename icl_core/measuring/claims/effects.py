"""From the values of runs to effects: means, pairs, groups apart, and what is only described.

A value belongs to a run, and run k to expert k: `Values` are by that number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from icl_core.measuring.claims.intervals import (
    NAN,
    Sample,
    Tested,
    above_zero,
    deviation_above,
    inside,
    resampled,
    sample_of,
)
from icl_core.measuring.claims.verdicts import Effect

Values = Mapping[int, float]
Range = tuple[float, float]


def mean_effect(
    part: str, unit: str, values: Values, within: Range | None = None, paired: bool = False
) -> Effect:
    """The mean over runs; or how far it is from the nearer end of a range, positive inside.

    `paired`: a value is a difference on the same expert.
    """
    over = runs(len(values)) + (", paired" if paired else "")
    return sample_effect(part, unit, sample_of([*values.values()]), over, within)


def paired_effect(part: str, unit: str, lower: Values, higher: Values) -> Effect:
    """How far the mean of the first lies below that of the second, on the same experts."""
    return mean_effect(part, unit, differences(lower, higher), paired=True)


def separate_effect(part: str, unit: str, lower: Values, higher: Values) -> Effect:
    """The same on experts that have nothing to do with each other (Welch)."""
    first, second = (sample_of([*values.values()]) for values in (lower, higher))
    return sample_effect(part, unit, second.less(first), welch(first, second))


def sample_effect(
    part: str, unit: str, sample: Sample, over: str, within: Range | None = None
) -> Effect:
    """The effect of a mean that is known with its error."""
    tested = inside(sample, *within) if within else above_zero(sample)
    return _effect(part, unit, tested, over, sample.number)


def deviation_effect(
    part: str, unit: str, values: Values, bound: float, noise: float = 0.0
) -> Effect:
    """The deviation between runs less a bound; `noise` is each value's own variance."""
    tested = deviation_above([*values.values()], bound, noise)
    return _effect(part, unit, tested, f"{runs(len(values))}, taken as normal", len(values))


def curve_effect(
    part: str,
    unit: str,
    statistic: Callable[[np.ndarray], float],
    curves: Mapping[int, np.ndarray],
    rng: np.random.Generator,
) -> Effect:
    """A number that is read off the mean of curves, a curve for each run."""
    tested = resampled(statistic, np.stack([*curves.values()]), rng)
    return _effect(part, unit, tested, f"{runs(len(curves))}, drawn again", len(curves))


def described(part: str, unit: str, size: float, over: str) -> Effect:
    """A number without chance, or of one run: it has no interval."""
    return Effect(part, size, NAN, NAN, unit, over, 0)


def differences(lower: Values, higher: Values) -> dict[int, float]:
    """The second less the first, of the runs that both have."""
    return {run: higher[run] - lower[run] for run in sorted(lower.keys() & higher.keys())}


def ratio(one: float, other: float) -> float:
    """One over the other; undefined where that is 0."""
    return float(one / other) if other else NAN


def runs(count: int) -> str:
    """How many runs.

    >>> runs(1), runs(5)
    ('1 run', '5 runs')
    """
    return f"{count} run{'' if count == 1 else 's'}"


def welch(first: Sample, second: Sample) -> str:
    """What a comparison of different experts is over."""
    return f"{first.number} and {runs(second.number)}, Welch"


def _effect(part: str, unit: str, tested: Tested, over: str, count: int) -> Effect:
    size, low, high, fails = tested
    return Effect(part, size, low, high, unit, over, count, fails)
