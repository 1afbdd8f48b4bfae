"""CMSE and NAD of runs, and the long table that holds every metric of every run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.problem import LAST

CMSE, NAD = "cmse", "nad"
FAILED = "failed"  # of a seed without results: the value is the step after which it diverged

METRICS_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("environment", pa.string()),
        ("method", pa.string()),
        ("seed", pa.int32()),
        ("iteration", pa.int32()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("reported", pa.bool_()),  # of what the method itself ends with
        ("selection", pa.string()),  # of a value at the end: "last" or "best"
        ("episodes", pa.int32()),  # behind a NAD at the end; 0: not of episodes, or of others
    ]
)
SORTED_BY = (
    *("experiment", "environment", "method", "metric", "seed", "iteration"),
    *("reported", "selection", "episodes"),
)


@dataclass(frozen=True)
class Run:
    """Whose values are measured: the seeds that a method trained as one stack."""

    experiment: str
    method: str
    world: World
    seeds: Sequence[int]  # those that have results
    failed: Mapping[int, int] = field(default_factory=dict)  # the others, each with its last step


class Of(NamedTuple):
    """What a value at the end is of: a selection of policies, and how many episodes."""

    selection: str = ""
    episodes: int = 0


ANY = Of()


class End(NamedTuple):
    """What a selection of a run's policies is, on the evaluation grid."""

    constraint: np.ndarray  # (runs, *grid.shape)
    nads: np.ndarray  # (runs, sets), of as many episodes each
    nad: np.ndarray  # (runs,), of all of them together


@dataclass(frozen=True)
class Learned:
    """What a run has left, on the evaluation grid: at its end and after each iteration."""

    ends: Mapping[str, End]  # by selection
    episodes: int  # of a set
    reported: str = LAST  # the selection that the method itself ends with
    constraints: Mapping[int, np.ndarray] = field(default_factory=dict)  # by iteration, likewise
    nads: Mapping[int, np.ndarray] = field(default_factory=dict)  # (runs,) by iteration
    others: Mapping[str, np.ndarray] = field(default_factory=dict)  # (runs,) by metric


def run_metrics(run: Run, expert: np.ndarray, learned: Learned) -> pa.Table:
    """One row per seed, metric, iteration and, at the end, selection and number of episodes.

    `expert` are the visits (runs, *grid.shape) of what each run was shown.

    The values at the end stand one past the last iteration: they come from the final
    policy, which is trained after it. There is no CMSE where nobody knows the true
    constraint. A seed that has failed has a row that says so, and no value.
    """
    _check(run, expert, learned)
    last = max([*learned.constraints, *learned.nads], default=-1) + 1
    known = run.world.true_constraint is not None
    parts = [
        metric_rows(run, metric, values, last, name == learned.reported, of)
        for name, end in learned.ends.items()
        for metric, values, of in _at_end(run.world, name, end, learned.episodes)
    ]
    lost = replace(run, seeds=list(run.failed))
    parts.append(metric_rows(lost, FAILED, list(run.failed.values()), last, True))
    parts += [metric_rows(run, name, values, last, True) for name, values in learned.others.items()]
    parts += [metric_rows(run, NAD, values, i, False) for i, values in learned.nads.items()]
    for i, constraint in learned.constraints.items() if known else ():
        parts.append(metric_rows(run, CMSE, constraint_error(run.world, constraint), i, False))
    return concatenate(parts)


def _at_end(
    world: World, name: str, end: End, episodes: int
) -> Iterator[tuple[str, np.ndarray, Of]]:
    """The metrics of a selection: NAD as the tables print it, of one set, and of all of them."""
    yield NAD, end.nads[:, 0], Of(name, episodes)
    if (sets := end.nads.shape[1]) > 1:
        yield NAD, end.nad, Of(name, sets * episodes)
    if world.true_constraint is not None:
        yield CMSE, constraint_error(world, end.constraint), Of(name)


def _check(run: Run, expert: np.ndarray, learned: Learned) -> None:
    """What has no number must be said before it is averaged.

    A NAD may be nan: that of a policy which never takes one of the actions is undefined.
    """
    for seed, visited in zip(run.seeds, expert, strict=True):
        if not visited.any():
            raise InputError(
                f"demonstrations of {run.experiment}, as seed {seed} was shown them: expected "
                "visits of the evaluation grid, found none; check their states"
            )
    parts = {"at the end": learned.ends[learned.reported].constraint}
    parts |= {f"after iteration {i}": values for i, values in learned.constraints.items()}
    for when, values in parts.items():
        finite = np.isfinite(values).reshape(len(run.seeds), -1).all(axis=1)
        if not finite.all():
            raise InputError(
                f"constraint of {run.method} on {run.experiment}, seed "
                f"{run.seeds[int(np.argmin(finite))]}: expected finite values on the evaluation "
                f"grid, found others {when}; train it again with a smaller learning rate"
            )


def reported_means(metrics: pa.Table) -> dict[str, float]:
    """The mean over seeds of each reported metric of a run; and how many seeds have failed."""
    rows = metrics.filter(metrics["reported"])
    groups = rows.group_by(["metric", "episodes"]).aggregate([("value", "mean")])
    # Of several numbers of episodes the smallest, which tables print, is the one that stays.
    found = {row["metric"]: row["value_mean"] for row in _by_episodes(groups)[::-1]}
    means = {metric.upper(): found[metric] for metric in (CMSE, NAD) if metric in found}
    failed = metrics["metric"].to_pylist().count(FAILED)
    return means | ({"failed seeds": failed} if failed else {})


def _by_episodes(rows: pa.Table) -> list[dict]:
    return sorted(rows.to_pylist(), key=lambda row: row["episodes"])


def constraint_error(world: World, values_on_grid: npt.ArrayLike) -> np.ndarray:
    """CMSE: mean squared difference to the true constraint over the grid's nodes.

    `values_on_grid` has the grid's shape, or is flat as `grid.nodes` is; leading
    run axes are kept, so (runs, *grid.shape) gives (runs,). Values are neither
    thresholded nor rescaled (paper, App. C).
    """
    true = world.true_on_grid
    if true is None:
        raise ValueError(f"nobody knows the true constraint of {world.name}: it has no CMSE")
    values = np.asarray(values_on_grid, dtype=np.float64)
    gridded = values.shape[-len(world.grid.shape) :] == world.grid.shape
    lead = values.shape[: -len(world.grid.shape)] if gridded else values.shape[:-1]
    return np.mean((values.reshape(*lead, true.size) - true) ** 2, axis=-1)


def metric_rows(
    run: Run,
    metric: str,
    values: npt.ArrayLike,
    iteration: int | Sequence[int],
    reported: bool | Sequence[bool],
    of: Of = ANY,
) -> pa.Table:
    """One row per seed. `iteration` and `reported` may differ per seed.

    `reported` marks the value that the paper's tables would print.
    """
    n = len(run.seeds)
    columns = {
        "experiment": [run.experiment] * n,
        "environment": [run.world.name] * n,
        "method": [run.method] * n,
        "seed": list(run.seeds),
        "iteration": np.broadcast_to(np.asarray(iteration), n),
        "metric": [metric] * n,
        "value": np.asarray(values, dtype=np.float64),
        "reported": np.broadcast_to(np.asarray(reported), n),
        "selection": [of.selection] * n,
        "episodes": [of.episodes] * n,
    }
    return pa.table(columns, schema=METRICS_SCHEMA)


def concatenate(tables: Iterable[pa.Table]) -> pa.Table:
    """All rows in one table, in an order that does not depend on the order of the inputs."""
    table = pa.concat_tables([METRICS_SCHEMA.empty_table(), *tables])
    return table.sort_by([(name, "ascending") for name in SORTED_BY]).combine_chunks()
