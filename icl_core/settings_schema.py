"""Settings described: the JSON schema for editors, and the lines of the docs' tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from icl_core.settings import (
    Meaning,
    default_of,
    expected,
    join,
    meaning,
    options_of,
    plain,
    section_type,
)


def described(kind: type, where: str = "") -> Iterator[tuple[str, str, object, str]]:
    """(key, what is expected, default, meaning) of every setting, sections unfolded."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        inner, place = section_type(hints[one.name]), join(where, one.name)
        if inner is None:
            about = meaning(one)
            yield place, expected(hints[one.name], about), default_of(one), about.about
        else:
            own = plain(default_of(one))
            for key, what, _, about_ in described(inner, place):
                yield key, what, _reach(own, key.removeprefix(f"{place}.")), about_


def json_schema(kind: type) -> dict:
    """The JSON schema of a part of such settings: every key may be left out."""
    hints, properties = get_type_hints(kind), {}
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


def _reach(nested: Mapping, key: str) -> object:
    value: Any = nested
    for part in key.split("."):
        value = value[part]
    return value
