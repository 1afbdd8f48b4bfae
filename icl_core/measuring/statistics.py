"""Statistics over seeds of the values that the tables print, and where a constraint ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from icl_core.environments.world import World
from icl_core.measuring.metrics import FAILED

Key = tuple[str, str]  # experiment and method
ByRun = dict[Key, dict[int, float]]

BOUNDARY = 0.5  # of a constraint: below it a gap is allowed
SMALL = 10.0  # m: the forbidden gaps must begin below this; far ones are no headway


class Cell(NamedTuple):
    """One cell of a results table."""

    mean: float
    std: float
    seeds: tuple[int, ...]  # that the mean is over
    failed: tuple[int, ...] = ()  # seeds without a value, because their training has failed


def mean_and_std(values: npt.ArrayLike) -> tuple[float, float]:
    """Mean and standard deviation over seeds, ddof 0 (the paper does not say; numpy's default).

    A nan among the values (an undefined NAD) makes both nan: to drop the seed would be to
    report its run as if it had not happened.
    """
    values = np.asarray(values, dtype=np.float64)
    return float(values.mean()), float(values.std())


def interquartile_mean(values: npt.ArrayLike) -> np.ndarray:
    """Mean of the middle half along the last axis: a quarter, rounded down, is cut at each end."""
    values = np.sort(np.asarray(values, dtype=np.float64), axis=-1)
    cut = values.shape[-1] // 4
    return values[..., cut : values.shape[-1] - cut].mean(axis=-1)


def stratified_interval(
    strata: Sequence[np.ndarray],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of the interquartile mean of all strata together.

    Seeds are drawn again within their own stratum (an environment), so that the interval
    holds what another choice of seeds would change, and not the environments' differences
    (Agarwal et al., 2021). A nan among the values makes both ends nan.
    """
    strata = [np.asarray(values, dtype=np.float64) for values in strata]
    picks = [rng.integers(len(values), size=(resamples, len(values))) for values in strata]
    drawn = [values[pick] for values, pick in zip(strata, picks, strict=True)]
    if any(np.isnan(values).any() for values in strata):
        return float("nan"), float("nan")
    means = interquartile_mean(np.concatenate(drawn, axis=1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def reported(metrics: pa.Table, metric: str) -> ByRun:
    """The reported values of a metric by (experiment, method), each by seed.

    Of several numbers of episodes the smallest, as the paper's tables have it.
    """
    return _by_run(metrics.filter(metrics["reported"]), metric)


def selected(metrics: pa.Table, metric: str, selection: str) -> ByRun:
    """The same of the policies that were selected in this way."""
    return _by_run(metrics.filter(pc.equal(metrics["selection"], selection)), metric)


def _by_run(rows: pa.Table, metric: str) -> ByRun:
    found: defaultdict[tuple[str, str], dict[int, dict[int, float]]] = defaultdict(dict)
    for row in rows.filter(pc.equal(rows["metric"], metric)).to_pylist():
        group = found[row["experiment"], row["method"]].setdefault(row["seed"], {})
        if row["episodes"] in group:
            raise ValueError(
                f"metric {metric} of {row['experiment']}, {row['method']}, seed {row['seed']} "
                "is reported twice"
            )
        group[row["episodes"]] = row["value"]
    return {
        key: {seed: group[seed][min(group[seed])] for seed in sorted(group)}
        for key, group in sorted(found.items())
    }


def summary(metrics: pa.Table, metric: str, selection: str | None = None) -> dict[Key, Cell]:
    """Mean and deviation of the values of a metric by (experiment, method): of those reported, or
    of a selection. Where every seed has failed both are nan.
    """
    values = selected(metrics, metric, selection) if selection else reported(metrics, metric)
    failed = reported(metrics, FAILED)
    return {key: _cell(values.get(key, {}), failed.get(key, {})) for key in {**values, **failed}}


def _cell(values: Mapping[int, float], failed: Iterable[int]) -> Cell:
    mean, std = mean_and_std(list(values.values())) if values else (float("nan"), float("nan"))
    return Cell(mean, std, tuple(values), tuple(failed))


def boundary_gap(world: World, constraint: np.ndarray, speed: float) -> float:
    """The gap [m] up to which a constraint (speeds, gaps) is at least 0.5; nan where none is.

    Read from small gaps upwards, between nodes by straight lines. Gaps that are forbidden
    only beyond `SMALL` do not count; neither does a constraint that never falls below 0.5,
    for which there is no boundary on the grid.
    """
    gaps = world.grid.axes[1].physical
    return edge_of_curve(gaps, curve_at(world, constraint, speed))


def curve_at(world: World, constraint: np.ndarray, speed: float) -> np.ndarray:
    """c over the gaps at a speed, between nodes by straight lines."""
    speeds = world.grid.axes[0].physical
    return np.array([np.interp(speed, speeds, column) for column in constraint.T])


def edge_of_curve(gaps: np.ndarray, curve: np.ndarray) -> float:
    """The gap at which such a curve falls below 0.5; nan where it has no such edge."""
    forbidden = curve >= BOUNDARY
    first = int(forbidden.argmax())
    if not forbidden[first] or gaps[first] > SMALL or forbidden[first:].all():
        return float("nan")
    allowed = first + int((~forbidden[first:]).argmax())
    high, low = curve[allowed - 1], curve[allowed]
    share = (high - BOUNDARY) / (high - low)
    return float(gaps[allowed - 1] + share * (gaps[allowed] - gaps[allowed - 1]))
