"""Settings: each has one home, a field of a frozen dataclass.

`setting` declares a field with its default, bounds and one sentence of meaning; `section` declares
a dataclass inside another. From these declarations follow: the check of a configuration (`check`,
`build`) and its defaults (`defaults`), and in `settings_schema` the schema for editors and the
tables of the docs. A dataclass whose fields can contradict each other has a method `conflict`: it
gives the first contradiction, beginning with the key, or an empty text. In the settings of a method
`conflict_with(world)` does the same for a class of worlds.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Settings:
...     epochs: int = setting(20, "passes over the data", at_least=1)
>>> build(Settings, {"epochs": 3}, "density")
Settings(epochs=3)
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, TypeVar, get_args, get_origin

from icl_core.errors import InputError
from icl_core.settings_schema import (
    META,
    MOST,
    Meaning,
    default_of,
    expected,
    found_value,
    hints_of,
    join,
    meaning,
    options_of,
    plain,
    reach,
    section_type,
)

__all__ = [
    "Meaning",
    "COUNT",
    "LAYERS",
    "LOG_DEVIATION",
    "NAME",
    "PATH",
    "POSITIVE",
    "RATE",
    "SEED",
    "WEIGHT",
    "build",
    "check",
    "check_keys",
    "check_value",
    "defaults",
    "join",
    "meaning",
    "merge",
    "plain",
    "reach",
    "section",
    "setting",
    "used",
]

T = TypeVar("T")
# What several settings have in common. Upper bounds are generous: beyond them is a slip.
COUNT: dict[str, Any] = {"at_least": 1, "at_most": 100_000}  # epochs, episodes, ...
RATE: dict[str, Any] = {"above": 0, "at_most": 1}
WEIGHT: dict[str, Any] = {"at_least": 0, "at_most": 1_000_000}
POSITIVE: dict[str, Any] = {"above": 0, "at_most": 1_000_000}
LAYERS: dict[str, Any] = {"at_least": 1, "at_most": 4096}
LOG_DEVIATION: dict[str, Any] = {"at_least": -20, "at_most": 10}
SEED: dict[str, Any] = {"at_least": 0, "at_most": 2**31 - 1}  # tables keep it in 32 bits
# Names become those of files and folders.
NAME: dict[str, Any] = {
    "pattern": r"(?=.{1,60}\Z)[a-z0-9]+(-[a-z0-9]+)*",
    "words": "at most 60 small letters, digits and single hyphens",
}
# Braces would be wildcards of Snakemake.
PATH: dict[str, Any] = {
    "pattern": r"[^{}\x00-\x1f]+",
    "words": "a path without braces and line breaks",
}


def setting(default: Any, about: str, **bounds: Any) -> Any:
    """A field with its default, one sentence, and bounds (the fields of `Meaning`)."""
    meta = {META: Meaning(about, **bounds)}
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata=meta)
    return field(default=default, metadata=meta)


def section(factory: Callable[[], Any], about: str) -> Any:
    """A field that holds settings of its own: a dataclass, or what makes one."""
    return field(default_factory=factory, metadata={META: Meaning(about)})


def merge(*layers: Mapping) -> dict:
    """Lay mappings over each other, later ones win; keys sorted, so that equal means equal text."""
    keys = sorted({key for layer in layers for key in layer})
    return {key: _laid([layer[key] for layer in layers if key in layer]) for key in keys}


def _laid(values: list) -> object:
    if isinstance(values[-1], Mapping):
        return merge(*(value for value in values if isinstance(value, Mapping)))
    return values[-1]


def build(kind: type[T], given: Mapping, where: str = "", agree: bool = True) -> T:
    """Settings from a mapping; what it leaves out has its default. `where` is named in errors.

    Without `agree` they may contradict each other: nothing will be run with them.
    """
    check(kind, given, where)
    made = _built(kind, given)
    if agree:
        _check_agreement(made, where)
    return made


def _built(kind: type[T], given: Mapping) -> T:
    hints = hints_of(kind)
    values = {}
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name in given:
            value = given[one.name]
            inner = section_type(hints[one.name])
            if inner is not None:
                value = _built(inner, merge(plain(default_of(one)), value))
            values[one.name] = _frozen(value)
    return kind(**values)


def _check_agreement(settings: Any, where: str) -> None:
    """Raise an InputError where settings that are used contradict each other."""
    values = {one.name: getattr(settings, one.name) for one in fields(settings)}
    choices = [one for one in fields(settings) if meaning(one).selects]
    unused = {c for one in choices for c in meaning(one).choices if c != values[one.name]}
    for name, value in values.items():
        if name not in unused and section_type(type(value)):
            _check_agreement(value, join(where, name))
    said = settings.conflict() if hasattr(settings, "conflict") else ""
    if said:
        raise InputError(f"configuration: key {where}{'.' if where else ''}{said}")


def _frozen(value: Any) -> Any:
    """Lists as tuples, those in a mapping too."""
    if isinstance(value, Mapping):
        return {key: _frozen(inner) for key, inner in value.items()}
    return tuple(value) if isinstance(value, list) else value


def defaults(kind: type) -> dict:
    """The defaults as a nested mapping."""
    return plain(kind())


def used(kind: type, given: Mapping) -> dict:
    """Without the sections that a choice beside them leaves unused."""
    found, hints = dict(given), hints_of(kind)
    for one in fields(kind):
        inner = section_type(hints[one.name])
        if inner is not None and one.name in found:
            found[one.name] = used(inner, found[one.name])
        if meaning(one).selects:
            for choice in meaning(one).choices:
                if choice != found.get(one.name, default_of(one)):
                    found.pop(choice, None)
    return found


def check(kind: type, given: object, where: str = "") -> None:
    """Raise an InputError of one sentence if `given` is not a part of such settings."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"configuration: key {where}: expected a mapping of keys, found {found_value(given)}"
        )
    known = {one.name: one for one in fields(kind)}
    check_keys(given, list(known), where)
    hints = hints_of(kind)
    for key, value in given.items():
        inner, place = section_type(hints[key]), join(where, key)
        if inner is not None:
            check(inner, value, place)
        else:
            check_value(hints[key], meaning(known[key]), value, place)


def check_keys(given: Mapping, known: Sequence[str], where: str) -> None:
    """Raise an InputError that names the first unknown key, and the one that may be meant."""
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        near = difflib.get_close_matches(unknown[0], list(known), n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        valid = ", ".join(sorted(known)) or "none"
        raise InputError(
            f"configuration: key {join(where, unknown[0])} is unknown; {meant}"
            f"valid keys are {valid}"
        )


def check_value(kind: Any, bounds: Meaning, value: object, where: str) -> None:
    """Raise an InputError if a single value is not of its type or out of bounds."""
    if not _fits(kind, bounds, value):
        raise InputError(
            f"configuration: key {where}: expected {expected(kind, bounds)}, "
            f"found {found_value(value)}"
        )


def _fits(kind: Any, bounds: Meaning, value: object) -> bool:
    options = options_of(kind)
    if value is None:
        return type(None) in options
    if isinstance(value, bool):
        return bool in options
    if isinstance(value, str):
        if str not in options:
            return False
        right = not bounds.choices or value in bounds.choices
        return right and bool(value) and bool(re.fullmatch(bounds.pattern or ".*", value))
    if isinstance(value, int | float):
        if not ((isinstance(value, int) and int in options) or float in options):
            return False
        return _finite(value) and _within(bounds, value)
    return any(_fits_many(option, bounds, value) for option in options)


def _fits_many(option: Any, bounds: Meaning, value: object) -> bool:
    """Lists and mappings, each of whose entries keeps the bounds."""
    if get_origin(option) is tuple and isinstance(value, list | tuple):
        entries = list(value)
        if not 1 <= len(entries) <= MOST:
            return False
        if not all(_fits(get_args(option)[0], bounds, e) for e in entries):
            return False
        return not bounds.each_once or len({repr(e) for e in entries}) == len(entries)
    if get_origin(option) is dict and isinstance(value, Mapping):
        inner = Meaning(bounds.about, bounds.at_least, bounds.above, bounds.at_most, bounds.below)
        names = all(isinstance(k, str) and re.fullmatch(bounds.pattern or ".+", k) for k in value)
        return names and all(_fits(get_args(option)[1], inner, v) for v in value.values())
    return False


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _within(bounds: Meaning, value: float) -> bool:
    numbers = [choice for choice in bounds.choices if not isinstance(choice, str)]
    return (
        (bounds.at_least is None or value >= bounds.at_least)
        and (bounds.above is None or value > bounds.above)
        and (bounds.at_most is None or value <= bounds.at_most)
        and (bounds.below is None or value < bounds.below)
        and (not numbers or value in numbers)
    )
