"""What complete experiments must agree on: with each other, with their worlds, with their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from icl_core import discovery
from icl_core.environments import world_type
from icl_core.errors import InputError
from icl_core.settings import check
from icl_core.settings_schema import short

if TYPE_CHECKING:
    from icl_core.measuring.transfer import TransfersSettings
    from workflow.lib.configuration import Experiment

LONGEST = 200  # letters of a folder's name; systems allow 255


def check_experiments(experiments: Mapping[str, Experiment]) -> None:
    """Raise an InputError of one sentence where they do not."""
    for one in experiments.values():
        _check_name(one)
        if one.demonstrations_of is not None:
            _check_shared(one, experiments)
        elif one.source == "expert":
            _check_expert(one)


def check_groups(groups: Iterable[str]) -> None:
    """The names of stacks become those of folders."""
    longest = max(groups, key=len)
    if len(longest) > LONGEST:
        raise InputError(
            f"configuration: key seeds: expected seeds whose stack can be a folder's name of at "
            f"most {LONGEST} letters, found one of {len(longest)}; choose seeds that follow each "
            "other, or a smaller stack"
        )


def agreed_transfers(
    transfers: TransfersSettings, experiments: Mapping[str, Experiment]
) -> TransfersSettings:
    """What is moved: known experiments in worlds whose true constraint scores them.

    Those in which ICL does not learn have nothing to move.
    """
    for position, name in enumerate(transfers.own_learner):
        _check_among(name, transfers.experiments, f"transfers.own_learner.{position}")
    for name, change in transfers.experiments.items():
        where = f"transfers.experiments.{name}"
        _check_among(name, experiments, where)
        world = world_type(experiments[name].environment)
        check(world.Settings, change, where)
        if world.true_constraint is None:
            raise InputError(
                f"configuration: key {where}: expected a world whose true constraint is known, "
                f"found {world.name}; leave it out"
            )
    moved = transfers.experiments.items()
    learned = {name: change for name, change in moved if "icl" in experiments[name].methods}
    return replace(transfers, experiments=learned)


def agree_on_candidates(learning: Mapping[str, dict]) -> None:
    """Methods that train one policy on and on have as many candidates as ICL has in `learning`."""
    loop = learning["icl"]["loop"]
    as_icl = {"number": loop["iterations"] + 1, "episodes": loop["selection_episodes"]}
    for own in learning.values():
        if "candidates" in own:
            given = own["candidates"]
            own["candidates"] = {key: given[key] or as_icl[key] for key in given}


def _check_among(name: str, known: Iterable[str], where: str) -> None:
    if name not in known:
        raise InputError(
            f"configuration: key {where}: expected one of {', '.join(known) or 'none'}, found "
            f"{short(name)}; leave it out"
        )


def check_one_source(name: str, own: Mapping, sizes: Mapping) -> None:
    """Demonstrations are shared or read from a file; `own` and `sizes` are what was written of an
    experiment, in itself and in its scale.
    """
    written = [sizes] if "variant_of" in own else [own, sizes]
    given = [one.get("demonstrations", {}) for one in written]
    files = [one if isinstance(one, str) else one.get("file") for one in given]
    shared, file = own.get("demonstrations_of"), next(filter(None, files), None)
    if shared and file:
        raise InputError(
            f"configuration: key experiments.{name}: expected demonstrations_of or a file of "
            f"demonstrations, found both ({shared} and {file}); leave one of them out"
        )


def _check_name(one: Experiment) -> None:
    """What bears a world's name is shown beside the paper's numbers of that world."""
    worlds = discovery.names(discovery.WORLDS)
    alike = [name for name in worlds if f"{one.name}-".startswith(f"{name}-")]
    meant = max(alike, key=len, default=one.environment)
    if meant != one.environment:
        raise InputError(
            f"configuration: key experiments.{one.name}.environment: expected {meant}, whose name "
            f"the experiment bears, found {one.environment}; rename the experiment"
        )


def _check_expert(one: Experiment) -> None:
    """An expert keeps the true constraint."""
    if world_type(one.environment).true_constraint is None:
        raise InputError(
            f"configuration: key experiments.{one.name}.demonstrations: expected a file, for "
            f"nobody knows the true constraint of {one.environment} and no expert can be trained, "
            "found none; name a file of demonstrations"
        )


def _check_shared(one: Experiment, experiments: Mapping[str, Experiment]) -> None:
    key = f"configuration: key experiments.{one.name}.demonstrations_of"
    other = experiments.get(one.demonstrations_of or "")
    others = sorted({*experiments} - {one.name})
    if other is None or other is one:
        what = (
            "itself"
            if other is one
            else f"{short(one.demonstrations_of or '')}, which is no experiment"
        )
        raise InputError(f"{key} names {what}; leave it out, or choose from {', '.join(others)}")
    if other.demonstrations_of is not None:
        raise InputError(
            f"{key} names {other.name}, which has none of its own; "
            f"name {other.demonstrations_of} instead"
        )
    if (one.environment, one.world) != (other.environment, other.world):
        raise InputError(
            f"{key}: expected an experiment in the same world as {one.name}, found "
            f"{other.name} in another one; leave the key out to have an expert trained"
        )
