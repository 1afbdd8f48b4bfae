"""What figures and tables show: results as plain arrays, and how methods are written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from icl_core.artifacts import SIMULATED, read_table
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.layout import seeds_of
from icl_core.learning.engine.training import TRAINING_SCHEMA
from icl_core.measuring.loading import (
    Shown,
    constraints_on_grid,
    expert_visits,
    failed_runs,
    visits_by_seed,
)
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.measuring.results import Results, Share

W = TypeVar("W", bound=World)


def training_curve(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The columns of a training log."""
    table = read_table(path, TRAINING_SCHEMA)
    return {name: table[name].to_numpy() for name in table.column_names}


def recovered_constraints(results: Results, experiment: str) -> dict[str, np.ndarray]:
    """Each method's constraint on the grid, (runs, *grid.shape).

    Seeds that have failed are left out; so is a method of which none is left.
    """
    world = results.worlds[experiment]
    found = results.by_method("constraint", experiment)
    values = {method: constraints_on_grid(paths, world) for method, paths in found.items()}
    return {method: runs for method, runs in values.items() if len(runs)}


class Accruals(NamedTuple):
    """Counts of visits to the evaluation grid, (..., *grid.shape)."""

    experts: np.ndarray  # of each expert; of demonstrations that all runs share, one
    visited: dict[str, np.ndarray]  # of each run of each method
    shown: dict[str, np.ndarray]  # likewise, of what this run was shown


def accruals(results: Results, experiment: str) -> Accruals:
    """Visits of the demonstrations and of each method's runs.

    Seeds that have failed have none; a method of which none is left is not among them.
    """
    world, shown = results.worlds[experiment], demonstrated(results, experiment)
    by_method = results.by_method("evaluation", experiment)
    found = {m: visits_by_seed(paths, world) for m, paths in by_method.items()}
    visited = {m: np.stack(list(runs.values())) for m, runs in found.items() if runs}
    return Accruals(shown.experts, visited, {m: shown.to(found[m]) for m in visited})


def failed_seeds(results: Results, experiment: str, method: str) -> set[int]:
    """The seeds of a method that have no results, by the files of its constraints."""
    failed = set()
    for fields, path in results.find("constraint", experiment=experiment, method=method):
        seeds = seeds_of(fields["group"])
        failed |= {seeds[run] for run in np.flatnonzero(failed_runs(path, len(seeds)))}
    return failed


def demonstrated(results: Results, experiment: str) -> Shown:
    """Visits of an experiment's demonstrations."""
    paths = [one.path for one in results.find("demonstrations", experiment=experiment)]
    if not paths:
        raise InputError(
            f"{experiment}: expected demonstrations among the inputs, found none; "
            "let the item need 'demonstrations'"
        )
    return expert_visits(paths, results.worlds[experiment])


def metrics_of(results: Results) -> pa.Table:
    """The table of metrics."""
    path = results.one("metrics")
    if path is None:
        raise InputError(
            "expected metrics.parquet among the inputs, found none; let the item need 'metrics'"
        )
    return read_table(path, METRICS_SCHEMA)


def world_as(results: Results, experiment: str, kind: type[W]) -> W:
    """An experiment's world, where the figure can draw no other kind of world."""
    world = results.worlds[experiment]
    if not isinstance(world, kind):
        raise InputError(
            f"{experiment}: expected a {kind.__name__} to draw, found {type(world).__name__}; "
            "name another experiment in ITEMS"
        )
    return world


def true_constraint_of(world: World) -> Callable[[np.ndarray], np.ndarray]:
    """The world's true constraint, where a figure cannot do without it."""
    if world.true_constraint is None:
        raise InputError(
            f"{world.name}: expected a world whose true constraint is known, found one that nobody "
            "knows; name another experiment in ITEMS"
        )
    return world.true_constraint


def true_on_grid(world: World) -> np.ndarray:
    """The true constraint at the nodes of the evaluation grid, (*grid.shape)."""
    values = true_constraint_of(world)(world.grid.nodes).astype(np.float64)
    return values.reshape(world.grid.shape)


def traffic_source(world: World) -> str:
    """ "simulated recordings", or "HighD recordings" where the user has brought the real ones."""
    if getattr(world, "source", None) == SIMULATED:
        return "simulated recordings"
    return f"{world.title} recordings"


def demonstrators(experts: int) -> str:
    """Whose accruals a panel shows, where it shows the mean over experts."""
    return f"demonstrations, {experts} experts" if experts > 1 else "demonstrations"


def in_order(results: Results, methods: Iterable[str]) -> list[str]:
    """The order of tables; methods that the run does not know come last, by name."""
    found = set(methods)
    known = [method for method in results.methods if method in found]
    return [*known, *sorted(found.difference(known))]


def column_title(results: Results, experiment: str) -> str:
    """The environment's title over the experiment that bears its name, else the experiment's."""
    world = results.worlds.get(experiment)
    return world.title if world is not None and world.name == experiment else experiment


def panel_titles(results: Results, experiment: str, methods: Iterable[str]) -> dict[str, str]:
    """Titles of panels by method, e.g. "ICL (beta=0.99)": only ICL is given the threshold."""
    beta = results.beta(experiment)
    return {
        method: results.title(method) + (rf" ($\beta={beta:g}$)" if method == "icl" else "")
        for method in methods
    }


def footer_of(results: Results, experiment: str, runs: dict) -> str:
    """Scale and seeds; `runs` holds an array by method, whose first axis are the runs."""
    shown = {method: len(found) for method, found in runs.items()}
    failed = _failed(results, experiment, shown)
    return results.footer(
        {results.title(method): n for method, n in shown.items()},
        {results.title(method): share for method, share in failed.items()},
    )


def _failed(results: Results, experiment: str, shown: Mapping[str, int]) -> dict[str, Share]:
    """By method how many seeds have failed, also of those of which none is left to be shown."""
    known = {
        m: 0 for kind in ("constraint", "evaluation") for m in results.by_method(kind, experiment)
    }
    return {m: results.failed(experiment, m, n) for m, n in {**known, **shown}.items()}


def footer_of_worlds(results: Results, shown: Iterable[tuple[str, str, Mapping]]) -> str:
    """Scale and seeds of a figure of several worlds: the title of each, an experiment in it and
    its runs by method. A world's methods are named only where they differ.
    """
    counts: dict[str, dict[str, int]] = {}
    failed: dict[str, Share] = {}
    for world, experiment, runs in shown:
        own = {method: len(found) for method, found in runs.items()}
        counts.setdefault(world, {}).update({results.title(m): n for m, n in own.items()})
        for method, share in _failed(results, experiment, own).items():
            failed[f"{results.title(method)} on {world}"] = share
    named: dict[str, int] = {}
    for world, by_method in counts.items():
        alike = len(set(by_method.values())) == 1
        named |= {world if alike else f"{m} on {world}": n for m, n in by_method.items()}
    return results.footer(named, failed)
