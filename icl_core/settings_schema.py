"""What a setting declares, and how that is said: in errors, in the docs' tables and to editors."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

META = "setting"
LONGEST = 80  # letters of a wrong value that an error shows
MOST = 1000  # entries of a list
# What types are called, one value of them and several.
WORDS: dict[Any, tuple[str, str]] = {
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false each"),
    str: ("a text", "texts"),
    object: ("settings", "settings"),
}


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
    words: str = ""  # the pattern in words: "a path without braces"


_HINTS: dict[type, dict[str, Any]] = {}


def hints_of(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields; worked out once, for a plan asks thousands of times."""
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind)
    return _HINTS[kind]


def meaning(one: Field) -> Meaning:
    """What a field says of itself."""
    return one.metadata.get(META, Meaning(""))


def default_of(one: Field) -> Any:
    """A field's default value."""
    if one.default_factory is not MISSING:
        return one.default_factory()
    return one.default


def options_of(kind: Any) -> tuple:
    """The types of a union, or the one type."""
    return get_args(kind) if isinstance(kind, types.UnionType) or _is_union(kind) else (kind,)


def section_type(kind: Any) -> type | None:
    """The dataclass of a section; None for a single value."""
    return kind if is_dataclass(kind) and isinstance(kind, type) else None


def join(where: str, key: object) -> str:
    """Keys with dots between them; on one line, whatever was written as a key."""
    text = str(key)
    shown = short(text if text.isprintable() and text else repr(text))
    return f"{where}.{shown}" if where else shown


def plain(settings: Any) -> dict:
    """Settings as a nested mapping with lists, as a configuration would write them."""
    return {one.name: _plain_value(getattr(settings, one.name)) for one in fields(settings)}


def _plain_value(value: Any) -> Any:
    if is_dataclass(value):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: _plain_value(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


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
    if option is str and bounds.words:
        return bounds.words
    if get_origin(option) is tuple:
        once = ", each only once" if bounds.each_once else ""
        return f"a list of {_words(get_args(option)[0], bounds)}{once}"
    if get_origin(option) is dict:
        names = f"names ({bounds.words})" if bounds.words else "names"
        return f"a mapping of {names} to {_word(get_args(option)[1], bounds)}"
    one, _ = WORDS[option]
    return one + (_limits(bounds) if option in (int, float) else "")


def _words(option: Any, bounds: Meaning) -> str:
    """Several of them: "whole numbers of at least 1"."""
    _, several = WORDS[option]
    return several + (_limits(bounds) if option in (int, float) else "")


def _limits(bounds: Meaning) -> str:
    numbers = [str(choice) for choice in bounds.choices if not isinstance(choice, str)]
    limits = [
        f"of at least {_number(bounds.at_least)}" if bounds.at_least is not None else "",
        f"above {_number(bounds.above)}" if bounds.above is not None else "",
        f"of at most {_number(bounds.at_most)}" if bounds.at_most is not None else "",
        f"below {_number(bounds.below)}" if bounds.below is not None else "",
        f"among {', '.join(numbers)}" if numbers else "",
    ]
    words = " and ".join(limit for limit in limits if limit)
    return f" {words}" if words else ""


def _number(bound: float) -> str:
    """A bound as the user would write it: 2147483647, not 2.14748e+09."""
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


def short(text: str) -> str:
    """The beginning of a text that is too long for a sentence."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def found_value(value: object) -> str:
    """A value as an error shows it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        power = re.fullmatch(r"([-+]?\d+)([eE][-+]?\d+)", value)
        dot = f" (in YAML write {power[1]}.0{power[2]})" if power else ""
        return f"the text {short(repr(value))}{dot}"
    if isinstance(value, Mapping):
        return f"a mapping {_written(value)}"
    if isinstance(value, list) and len(value) > MOST:
        return f"a list of {len(value)} entries, more than {MOST}"
    return f"the list {_written(value)}" if isinstance(value, list) else _written(value)


def _written(value: object) -> str:
    try:
        return short(str(value))
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "with a number of thousands of digits"


def _is_union(kind: Any) -> bool:
    return get_origin(kind) is typing.Union


def described(kind: type, where: str = "") -> Iterator[tuple[str, str, object, str]]:
    """(key, what is expected, default, meaning) of every setting, sections unfolded."""
    hints = hints_of(kind)
    for one in fields(kind):
        inner, place = section_type(hints[one.name]), join(where, one.name)
        if inner is None:
            about = meaning(one)
            yield place, expected(hints[one.name], about), default_of(one), about.about
        else:
            own = plain(default_of(one))
            for key, what, _, about_ in described(inner, place):
                yield key, what, reach(own, key.removeprefix(f"{place}.")), about_


def json_schema(kind: type) -> dict:
    """The JSON schema of a part of such settings: every key may be left out."""
    hints, properties = hints_of(kind), {}
    for one in fields(kind):
        inner = section_type(hints[one.name])
        schema = json_schema(inner) if inner else _value_schema(hints[one.name], meaning(one))
        properties[one.name] = {"description": meaning(one).about, **schema}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _value_schema(kind: Any, bounds: Meaning) -> dict:
    options = [_option_schema(option, bounds) for option in options_of(kind)]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _option_schema(option: Any, bounds: Meaning) -> dict:
    if get_origin(option) is tuple:
        entries = _option_schema(get_args(option)[0], bounds)
        return {"type": "array", "minItems": 1, "items": entries}
    if get_origin(option) is dict:
        return {
            "type": "object",
            "additionalProperties": _value_schema(get_args(option)[1], bounds),
        }
    names: dict[Any, str] = {int: "integer", float: "number", bool: "boolean", str: "string"}
    schema: dict = {"type": names.get(option, "null")}
    if option in (int, float):
        keys = {
            "minimum": bounds.at_least,
            "exclusiveMinimum": bounds.above,
            "maximum": bounds.at_most,
            "exclusiveMaximum": bounds.below,
        }
        schema |= {key: value for key, value in keys.items() if value is not None}
    chosen = [c for c in bounds.choices if isinstance(c, str) == (option is str)]
    return schema | ({"enum": chosen} if chosen and option in (int, float, str) else {})


def reach(nested: Mapping, key: str) -> Any:
    """A section or setting by its keys: "learning.icl.density"."""
    value: Any = nested
    for part in key.split("."):
        value = value[part]
    return value
