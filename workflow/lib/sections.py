"""The sections of the configuration, and where each setting in them is declared.

A section's settings are the fields of a dataclass of the room that uses them. Those of worlds,
recordings and methods are found by name, so that a new one needs no entry here.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, make_dataclass
from typing import Any

from icl_core import discovery
from icl_core.demonstrations.recordings.tracks import RecordingsSettings
from icl_core.environments import world_type
from icl_core.errors import InputError
from icl_core.learning.experts import ExpertSettings
from icl_core.learning.true_fit import TrueFitsSettings
from icl_core.measuring.evaluation import MeasuringSettings
from icl_core.measuring.transfer import TransfersSettings
from icl_core.settings import (
    COUNT,
    NAME,
    POSITIVE,
    Meaning,
    check,
    check_keys,
    check_value,
    join,
    section,
)
from icl_core.settings_schema import found_value, short
from icl_core.showing.item import ShowingSettings
from workflow.lib.keys import ExperimentKeys, Run, VariantKeys
from workflow.lib.yaml_files import check_size

SECTIONS = ("demonstrations", "learning", "measuring")  # what an experiment may say otherwise
ONCE = Meaning("", each_once=True)
RUN_SIZES = ("seeds", "runs", "stack")  # what a scale may say of the run
THRESHOLD = Meaning("beta, the budget that constraints must keep; null: the world's", **POSITIVE)


def environment_types(environment: str) -> list[type]:
    """Where the settings of an environment are declared: its world, and its recordings."""
    world = world_type(environment)
    types: list[type] = [world.Settings]
    if world.recorded:
        types += [RecordingsSettings, _made_of_recordings(environment)]
    return types


def _made_of_recordings(environment: str) -> type:
    """The scene that is cut out of recordings, and the simulation that stands in for them."""
    parts = {
        "scene": "what is used of a recording",
        "simulation": "with highway-env, where there is no copy",
    }
    kinds = {name: recordings(environment, name).Settings for name in parts}
    own = [(name, kinds[name], section(kinds[name], about)) for name, about in parts.items()]
    return make_dataclass("MadeOfRecordings", own, frozen=True)


def names_of(kind: type) -> list[str]:
    """The settings that a dataclass declares."""
    return [one.name for one in fields(kind)]


def recordings(environment: str, part: str) -> Any:
    """A module of the recordings of an environment: its reader, simulation, ..."""
    return importlib.import_module(discovery.recordings_module(environment, part))


def method(name: str) -> Any:
    """The module of a method, with all that it declares (`icl_core.learning.methods`)."""
    return discovery.load(discovery.METHODS, name)


def check_environments(given: object, where: str) -> None:
    """Each environment's settings, by its name."""
    for name, own in _mapping(given, where).items():
        _known(discovery.WORLDS, name, join(where, name))
        check_environment(name, own, join(where, name))


def check_environment(name: str, given: object, where: str) -> None:
    """The settings of one environment: of its world, or of its recordings."""
    types, own = environment_types(name), _mapping(given, where)
    known = [key for kind in types for key in names_of(kind)]
    check_keys(own, known, where)
    for kind in types:
        names = names_of(kind)
        check(kind, {key: value for key, value in own.items() if key in names}, where)


def check_learning(given: object, where: str) -> None:
    """The threshold, and each method's settings by its name."""
    own = _mapping(given, where)
    check_keys(own, ["threshold", *discovery.names(discovery.METHODS)], where)
    for name, value in own.items():
        if name == "threshold":
            check_value(float | None, THRESHOLD, value, join(where, name))
        else:
            check(method(name).Settings, value, join(where, name))


def check_world(settings: Any, world: type, where: str) -> None:
    """Raise an InputError where a method's settings do not go with a world."""
    said = settings.conflict_with(world) if hasattr(settings, "conflict_with") else ""
    if said:
        raise InputError(f"configuration: key {where}.{said}")


def check_true_fits(given: object, where: str) -> None:
    """Fits need a true constraint."""
    check(TrueFitsSettings, given, where)
    for position, name in enumerate(_mapping(given, where).get("environments", [])):
        place = f"{where}.environments.{position}"
        _known(discovery.WORLDS, name, place)
        if world_type(name).true_constraint is None:
            raise InputError(
                f"configuration: key {place}: expected a world whose true constraint is known, "
                f"found {name}; leave it out"
            )


def check_experiment(given: object, where: str) -> None:
    """An experiment."""
    own = _mapping(given, where)
    check_keys(own, names_of(ExperimentKeys), where)
    _known(discovery.WORLDS, own.get("environment"), join(where, "environment"))
    if not own.get("methods"):
        _known(discovery.METHODS, None, join(where, "methods"))
    check_value(dict[str, int] | None, Meaning("", **COUNT), own.get("runs"), join(where, "runs"))
    for name in own.get("runs") or {}:
        _known(discovery.METHODS, name, join(where, "runs"))
    key = "demonstrations_of"
    check_value(str | None, Meaning(""), own.get(key), join(where, key))
    _check_parts(own, where)


def check_sizes(given: object, where: str) -> None:
    """What a scale says of an experiment: not what it is."""
    own, sizes = _mapping(given, where), ("methods", *SECTIONS)
    for key in names_of(ExperimentKeys):
        if key in own and key not in sizes:
            raise InputError(
                f"configuration: key {join(where, key)}: expected {', '.join(sizes)} alone in a "
                f"scale, found {key}; a scale changes sizes: say it under experiments"
            )
    check_keys(own, sizes, where)
    _check_parts(own, where)


def check_variant(given: object, where: str) -> None:
    """A variant."""
    own = _mapping(given, where)
    check_keys(own, names_of(VariantKeys), where)
    for key in ("of", *({"scales"} & {*own})):
        check_value(tuple[str, ...], ONCE, own.get(key, []), join(where, key))
    # What its worlds know of it is seen with the experiments that it makes.
    world = _mapping(own.get("world", {}), join(where, "world"))
    check_keys(world, [key for key in world if isinstance(key, str)], join(where, "world"))
    _check_parts({k: v for k, v in own.items() if (k, v) != ("methods", [])}, where)


def _check_parts(own: Mapping, where: str) -> None:
    if "methods" in own:
        check_value(tuple[str, ...], ONCE, own["methods"], join(where, "methods"))
    for position, name in enumerate(own.get("methods", [])):
        _known(discovery.METHODS, name, f"{where}.methods.{position}")
    for key in SECTIONS:
        if key in own:
            # demonstrations may be just the path of a file
            path = key == "demonstrations" and isinstance(own[key], str)
            CHECKS[key]({"file": own[key]} if path else own[key], join(where, key))
    if "world" in own and "environment" in own:
        check_environment(own["environment"], own["world"], join(where, "world"))


def check_scale(given: object, where: str) -> None:
    """What a scale changes: the same keys, with the last word."""
    own = _mapping(given, where)
    check_keys(own, [*RUN_SIZES, "experiments", *CHECKS], where)
    check(Run, {key: own[key] for key in RUN_SIZES if key in own}, where)
    for key, value in own.items():
        if key in CHECKS:
            CHECKS[key](value, join(where, key))
    place = join(where, "experiments")
    for name, experiment in _mapping(own.get("experiments", {}), place).items():
        check_sizes(experiment, join(place, name))


CHECKS: dict[str, Callable[[object, str], None]] = {
    "environments": check_environments,
    "demonstrations": lambda given, where: check(ExpertSettings, given, where),
    "learning": check_learning,
    "measuring": lambda given, where: check(MeasuringSettings, given, where),
    "showing": lambda given, where: check(ShowingSettings, given, where),
    "true_fits": check_true_fits,
    "transfers": lambda given, where: check(TransfersSettings, given, where),
}


def check_configuration(config: Mapping) -> None:
    """Raise an InputError of one sentence where a configuration is wrong."""
    check_size(config)
    run = names_of(Run)
    check_keys(config, [*run, *CHECKS, "experiments", "variants", "scales"], "")
    check(Run, {key: config[key] for key in run if key in config})
    for key in CHECKS:
        CHECKS[key](config.get(key, {}), key)
    _each(config, "experiments", check_experiment)
    _each(config, "variants", check_variant)
    _each(config, "scales", check_scale)
    if not config.get("experiments"):
        raise InputError("configuration: key experiments: expected at least one, found none")
    scales, scale = config.get("scales", {}), config.get("scale", "paper")
    if scale not in scales:
        raise InputError(
            f"configuration: key scale: expected one of {', '.join(scales)}, found {scale!r}"
        )


def _each(config: Mapping, key: str, action: Callable[[object, str], None]) -> None:
    for name, own in _mapping(config.get(key, {}), key).items():
        if not isinstance(name, str):
            raise InputError(
                f"configuration: key {key}: expected a text as a name, found {name!r}; write it "
                "between quotation marks, or choose another name"
            )
        if not re.fullmatch(NAME["pattern"], name):
            raise InputError(
                f"configuration: key {key}: expected {NAME['words']} in a name, found "
                f"{short(repr(name))}"
            )
        action(own, join(key, name))


def _mapping(given: object, where: str) -> Mapping:
    if isinstance(given, Mapping):
        return given
    raise InputError(
        f"configuration: key {where}: expected a mapping of keys, found {found_value(given)}"
    )


def _known(shelf: str, name: object, where: str) -> None:
    if name not in (names := discovery.names(shelf)):
        found = "found nothing" if name is None else f"found {found_value(name)}"
        raise InputError(f"configuration: key {where}: choose one of {', '.join(names)}, {found}")
