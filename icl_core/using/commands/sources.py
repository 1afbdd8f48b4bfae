"""What the commands are given: demonstrations and settings, as words of a command line."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable
from typing import Any

from icl_core.demonstrations.dataset import Demonstrations
from icl_core.errors import InputError

MINARI = "minari:"
DEMONSTRATIONS = f"a Parquet file, or {MINARI}NAME, a Minari data set of this machine"


def demonstrations(named: str) -> Demonstrations:
    """Those of a file or of a data set."""
    if named.startswith(MINARI):
        return Demonstrations.from_minari(named.removeprefix(MINARI))
    return Demonstrations.from_parquet(named)


def number_or_word(text: str) -> Any:
    """A value as it is meant: 3, 0.5, true, null or a word."""
    words: dict[str, bool | None] = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return found if isinstance(found, int | float | list | tuple) else text


def settings(given: Iterable[str]) -> dict[str, Any]:
    """Nested settings of words like loop.iterations=5.

    >>> settings(["loop.iterations=5", "loop.keep=last"])
    {'loop': {'iterations': 5, 'keep': 'last'}}
    """
    made: dict[str, Any] = {}
    for one in given:
        keys, sign, value = one.partition("=")
        if not sign or not all(keys.split(".")):
            raise InputError(f"--set {one}: expected KEY=VALUE, as loop.iterations=5; correct it")
        *path, last = keys.split(".")
        place = made
        for key in path:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise InputError(
                    f"--set {one}: expected a section {key!r}, found a value; correct it"
                )
        place[last] = number_or_word(value)
    return made


def constraint_file(parser: argparse.ArgumentParser) -> None:
    """The argument that every command on a constraint has."""
    parser.add_argument("file", metavar="FILE", help="a constraint, as `icl learn` writes it")
