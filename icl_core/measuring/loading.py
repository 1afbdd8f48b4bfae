"""From artifacts to the plain arrays that are measured and drawn."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icl_core.artifacts import read_tensors
from icl_core.demonstrations import files
from icl_core.demonstrations.accruals import visits
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.layout import find, seeds_of
from icl_core.learning.engine.divergence import marks
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.problem import BEST, LAST
from icl_core.measuring.evaluation import Evaluation, dissimilarities
from icl_core.measuring.metrics import End

Tensors = Mapping[str, np.ndarray]  # of a file


def constraint_values(networks: Networks, world: World) -> np.ndarray:
    """c of every run at the evaluation grid's nodes: (runs, *grid.shape)."""
    nodes = world.grid.nodes.astype(np.float32)
    logits = networks(np.broadcast_to(nodes, (networks.runs, *nodes.shape)))
    return sigmoid(logits[..., 0].astype(np.float64)).reshape(networks.runs, *world.grid.shape)


def constraint_on_grid(path: str | os.PathLike, world: World) -> np.ndarray:
    """The same for the networks stored in a file, those of failed runs among them."""
    tensors = read_tensors(path)
    prefix = "constraint." if any(name.startswith("constraint.") for name in tensors) else ""
    if f"{prefix}layer1.weight" not in tensors:
        raise InputError(
            f"{path}: expected a constraint network (layer1.weight, ...), found "
            f"{', '.join(sorted(tensors)) or 'nothing'}; make it again with snakemake"
        )
    return constraint_values(Networks.from_tensors(tensors, prefix=prefix), world)


def constraints_on_grid(
    paths: Sequence[str | os.PathLike], world: World, without: Collection[int] = ()
) -> np.ndarray:
    """The same over all of a method's groups of seeds; failed runs are left out.

    So are the seeds `without`, by the groups that the paths name.
    """
    return np.concatenate([_healthy_constraints(path, world, without) for path in paths])


def _healthy_constraints(
    path: str | os.PathLike, world: World, without: Collection[int]
) -> np.ndarray:
    values = constraint_on_grid(path, world)
    kept = failed_runs(path, len(values)) == 0
    if without:
        (found,) = find([os.fspath(path)], "constraint")
        kept &= ~np.isin(seeds_of(found.fields["group"]), list(without))
    return values[kept]


def failed_runs(path: str | os.PathLike, runs: int) -> np.ndarray:
    """The step after which each run of a file of networks has failed, (runs,); 0: it has not."""
    return marks(read_tensors(path), runs)


@dataclass(frozen=True)
class Shown:
    """Visits of demonstrations: of each expert by its seed, or under None of a set for all runs."""

    visits: Mapping[int | None, np.ndarray]  # of the grid's shape each

    @property
    def experts(self) -> np.ndarray:
        """Of each expert, (experts, *grid.shape); of one set that all runs share, one."""
        return np.stack(list(self.visits.values()))

    def to(self, seeds: Iterable[int]) -> np.ndarray:
        """What each of these runs was shown, (runs, *grid.shape)."""
        every = self.visits.get(None)
        found = [self.visits[seed] if every is None else every for seed in seeds]
        return np.stack(found) if found else self.experts[:0]


def expert_visits(paths: Sequence[str | os.PathLike], world: World) -> Shown:
    """Visits of the demonstrations, of all of an experiment's groups of seeds."""
    sets = [files.read_sets(path, world) for path in paths]
    return Shown({seed: visits(world, one) for found in sets for seed, one in found.items()})


def evaluations(path: str | os.PathLike, selection: str | None = None) -> dict[int, Evaluation]:
    """What the policies of a run did, by seed; of those that the method reports, or of others.

    A seed that has failed has none; a method may have no others.
    """
    tensors = read_tensors(path)
    wanted = selection or name_in(tensors)
    if f"{wanted}.visits" not in tensors:
        return {}
    found = Evaluation.from_tensors(tensors, wanted)
    return {int(seed): found.run(k) for k, seed in enumerate(tensors["seeds"])}


def name_in(tensors: Mapping[str, np.ndarray]) -> str:
    """Which selection a method reports, by the tensors of a file that says so."""
    return tensors["reported"].tobytes().decode()


def visits_by_seed(
    paths: Sequence[str | os.PathLike], world: World, without: Collection[int] = ()
) -> dict[int, np.ndarray]:
    """Visits of every run's reported policy in all its episodes, of the grid's shape, by seed.

    A run that has failed has none; the seeds `without` are left out besides.
    """
    counts = {}
    for path in paths:
        for seed, found in evaluations(path).items():
            if found.visits.shape != world.grid.shape:
                raise InputError(
                    f"{path}: expected visits of the {world.grid.shape} nodes of {world.name}, "
                    f"found {found.visits.shape}; make it again with snakemake"
                )
            if seed not in without:
                counts[seed] = found.visits
    return counts


class Ended(NamedTuple):
    """The networks of a selection."""

    constraint: Networks
    policy: Networks


def ends_of(
    constraint: Tensors, policy: Tensors, others: Tensors, runs: Sequence[int]
) -> tuple[str, dict[str, Ended]]:
    """Which selection a method reports, and the networks of some runs by selection.

    By the arrays of its final files; a method may have one selection alone.
    """

    def picked(tensors: Tensors, prefix: str = "") -> Networks:
        return Networks.from_tensors(dict(tensors), prefix).pick(runs)

    own = name_in(others)
    found = {own: Ended(picked(constraint), picked(policy))}
    for name in (LAST, BEST):
        if name != own and f"{name}.place" in others:
            prefixes = f"{name}.constraint.", f"{name}.policy."
            found[name] = Ended(picked(others, prefixes[0]), picked(others, prefixes[1]))
    return own, found


def measured(world: World, ended: Ended, expert: np.ndarray, played: Evaluation) -> End:
    """A selection on the evaluation grid; `expert` are visits (runs, *grid.shape)."""
    nad = dissimilarities(world, expert, played.visits)
    return End(constraint_values(ended.constraint, world), played.nads, nad)
