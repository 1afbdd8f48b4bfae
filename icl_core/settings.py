"""Settings: each has one home, a field of a frozen dataclass.

`setting` declares a field with its default, bounds and one sentence of meaning; `section` declares
a dataclass inside another. From these declarations follow: the check of a configuration (`check`,
`build`) and its defaults (`defaults`), and in `settings_schema` the schema for editors and the
tables of the docs.

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
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from icl_core.errors import InputError

T = TypeVar("T")
META = "setting"


@dataclass(frozen=True)
class Meaning:
    """What a field says of itself besides its type and default."""

    about: str
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    choices: tuple = ()
    # Its values name the sections beside it, of which only the chosen one is used.
    selects: bool = False
    each_once: bool = False  # entries of a list
    pattern: str = ""  # of a text or of the keys of a mapping


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


def build(kind: type[T], given: Mapping, where: str = "") -> T:
    """Settings from a mapping; what it leaves out has its default. `where` is named in errors."""
    check(kind, given, where)
    return _built(kind, given)


def _built(kind: type[T], given: Mapping) -> T:
    hints = get_type_hints(kind)
    values = {}
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name in given:
            value = given[one.name]
            inner = section_type(hints[one.name])
            if inner is not None:
                value = _built(inner, merge(plain(default_of(one)), value))
            values[one.name] = _frozen(value)
    return kind(**values)


def _frozen(value: Any) -> Any:
    """Lists as tuples, those in a mapping too."""
    if isinstance(value, Mapping):
        return {key: _frozen(inner) for key, inner in value.items()}
    return tuple(value) if isinstance(value, list) else value


def defaults(kind: type) -> dict:
    """The defaults as a nested mapping."""
    return plain(kind())


def plain(settings: Any) -> dict:
    """Settings as a nested mapping with lists, as a configuration would write them."""
    return {one.name: _plain_value(getattr(settings, one.name)) for one in fields(settings)}


def _plain_value(value: Any) -> Any:
    if is_dataclass(value):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: _plain_value(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def used(kind: type, given: Mapping) -> dict:
    """Without the sections that a choice beside them leaves unused."""
    found, hints = dict(given), get_type_hints(kind)
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
            f"configuration: key {where}: expected a mapping of keys, found {_found(given)}"
        )
    known = {one.name: one for one in fields(kind)}
    check_keys(given, list(known), where)
    hints = get_type_hints(kind)
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
            f"configuration: key {where}: expected {expected(kind, bounds)}, found {_found(value)}"
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
        once = not bounds.each_once or len({repr(e) for e in entries}) == len(entries)
        return (
            bool(entries) and once and all(_fits(get_args(option)[0], bounds, e) for e in entries)
        )
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


def expected(kind: Any, bounds: Meaning) -> str:
    """A type and its bounds in words: "a whole number of at least 1"."""
    if bounds.choices and not {int, float} & {*options_of(kind)} - {bool}:
        words = [f"one of {', '.join(map(str, bounds.choices))}"]
    else:
        words = [_word(option, bounds) for option in options_of(kind) if option is not type(None)]
    return " or ".join([*words, *(["null"] if type(None) in options_of(kind) else [])])


def _word(option: Any, bounds: Meaning) -> str:
    if option is str and bounds.choices:
        return " or ".join(str(choice) for choice in bounds.choices if isinstance(choice, str))
    if get_origin(option) is tuple:
        once = ", each only once" if bounds.each_once else ""
        return f"a list of {_words(get_args(option)[0], bounds)}{once}"
    if get_origin(option) is dict:
        return f"a mapping of names to {_word(get_args(option)[1], bounds)}"
    names: dict[Any, str] = {int: "a whole number", float: "a number", str: "a text"}
    names |= {bool: "true or false", object: "settings"}
    return names[option] + (_limits(bounds) if option in (int, float) else "")


def _words(option: Any, bounds: Meaning) -> str:
    """Several of them: "whole numbers of at least 1"."""
    names: dict[Any, str] = {int: "whole numbers", float: "numbers", str: "texts"}
    return names[option] + (_limits(bounds) if option in (int, float) else "")


def _limits(bounds: Meaning) -> str:
    numbers = [str(choice) for choice in bounds.choices if not isinstance(choice, str)]
    limits = [
        f"of at least {bounds.at_least:g}" if bounds.at_least is not None else "",
        f"above {bounds.above:g}" if bounds.above is not None else "",
        f"of at most {bounds.at_most:g}" if bounds.at_most is not None else "",
        f"below {bounds.below:g}" if bounds.below is not None else "",
        f"among {', '.join(numbers)}" if numbers else "",
    ]
    words = " and ".join(limit for limit in limits if limit)
    return f" {words}" if words else ""


def meaning(one: Field) -> Meaning:
    """What a field says of itself."""
    return one.metadata.get(META, Meaning(""))


def join(where: str, key: object) -> str:
    """Keys with dots between them."""
    return f"{where}.{key}" if where else str(key)


def default_of(one: Field) -> Any:
    """A field's default value."""
    if one.default_factory is not MISSING:
        return one.default_factory()
    return one.default


def options_of(kind: Any) -> tuple:
    """The types of a union, or the one type."""
    return get_args(kind) if get_origin(kind) in (types.UnionType, typing.Union) else (kind,)


def section_type(kind: Any) -> type | None:
    """The dataclass of a section; None for a single value."""
    return kind if is_dataclass(kind) and isinstance(kind, type) else None


def _found(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        power = re.fullmatch(r"([-+]?\d+)([eE][-+]?\d+)", value)
        dot = f" (in YAML write {power[1]}.0{power[2]})" if power else ""
        return f"the text {value!r}{dot}"
    if isinstance(value, Mapping):
        return f"a mapping {value}"
    return f"the list {value}" if isinstance(value, list) else str(value)
