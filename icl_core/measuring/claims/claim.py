"""Checks, found by their names, and the statements of docs/claims.yaml that they check.

A check is a function (Evidence, **arguments) -> effects in a file of `checks/`. Its decorator
says what it reads: `@reads("metrics")`, with one or more texts for `layout.Need.parse`. Names and
needs are read from the syntax trees, so that planning a run imports no check.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.layout import Need
from icl_core.measuring.claims.verdicts import Effect

FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # C, where libyaml was there
RECORDINGS = "licensed recordings"
_KEYS = {"id", "statement", "reading", "source", "check", "experiments", "arguments", "needs"}
_REQUIRED = ("id", "statement", "source", "check", "experiments")
_SOURCE = re.compile(r"(Section|Appendix|Table|Figure) [A-D0-9][0-9.]*")

Function = TypeVar("Function", bound=Callable[..., list[Effect]])


def reads(*needs: str) -> Callable[[Function], Function]:
    """Mark a function as a check, and say which kinds of files it reads."""
    if not needs:
        raise ValueError("expected at least one kind of file that the check reads")
    for need in needs:
        Need.parse(need)
    return lambda function: function


@dataclass(frozen=True)
class Check:
    """A check: the module and function that make it, and what it reads."""

    module: str
    function: str
    needs: tuple[Need, ...]

    def load(self) -> Callable[..., list[Effect]]:
        """The function itself."""
        return getattr(importlib.import_module(self.module), self.function)


def find_checks() -> dict[str, Check]:
    """Every check by its name, sorted."""
    found: dict[str, Check] = {}
    for topic in discovery.names(discovery.CHECKS):
        for check in _checks_of(discovery.module_name(discovery.CHECKS, topic)):
            name = check.function
            if name in found:
                raise InputError(
                    f"{discovery.source(check.module)}: expected one check {name}, found another "
                    f"in {discovery.source(found[name].module)}; rename one"
                )
            found[name] = check
    return dict(sorted(found.items()))


def _checks_of(module: str) -> Iterator[Check]:
    for node in discovery.tree_of(discovery.source(module)).body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if _name(decorator) == reads.__name__:
                    yield Check(module, node.name, _needs(module, node.name, decorator))


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _needs(module: str, name: str, decorator: ast.expr) -> tuple[Need, ...]:
    """What the decorator says, written out as texts."""
    place = f"{discovery.source(module)}: check {name}"
    given = decorator.args if isinstance(decorator, ast.Call) else []
    texts = [node.value for node in given if isinstance(node, ast.Constant)]
    if name.startswith("_"):
        raise InputError(f"{place}: expected a name without an underscore before it; rename it")
    if not texts or len(texts) < len(given) or not all(isinstance(one, str) for one in texts):
        raise InputError(
            f"{place}: expected the kinds of files that it reads as texts, "
            f'found {ast.unparse(decorator)}; write @reads("metrics"), for example'
        )
    try:
        return tuple(Need.parse(str(text)) for text in texts)
    except ValueError as error:
        raise InputError(f"{place}: {error}") from error


@dataclass(frozen=True)
class Claim:
    """An empirical statement of the paper, and how it is checked."""

    id: str
    statement: str  # in our words
    source: tuple[str, ...]  # "Section 5.1", "Table 1", ...
    check: str  # its name
    experiments: tuple[str, ...]  # whose results it looks at
    arguments: Mapping = field(default_factory=dict)  # of the check
    reading: str = ""  # what we take a word without a number to mean
    needs: str = ""  # what we may not have: the licensed recordings


def read_claims(path: str | os.PathLike) -> list[Claim]:
    """The statements in the order of the file, which is the paper's."""
    try:
        rows = yaml.load(Path(path).read_text(encoding="utf-8"), FAST)
    except (OSError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: expected a YAML list of statements ({reason})") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: expected a list of statements, each a mapping; write one")
    checks = list(find_checks())
    claims = [_claim(path, row, checks) for row in rows]
    for claim in claims:
        if [other.id for other in claims].count(claim.id) > 1:
            raise InputError(f"{path}: expected one statement with id {claim.id}, found several")
    return claims


def _claim(path: str | os.PathLike, row: Mapping, checks: Sequence[str]) -> Claim:
    name = f"{path}: statement {row.get('id', '(without id)')}"
    missing = [key for key in _REQUIRED if not row.get(key)]
    if missing or set(row) - _KEYS:
        raise InputError(
            f"{name}: expected the keys {', '.join(_REQUIRED)} and perhaps reading, arguments "
            f"and needs, found {', '.join(sorted(map(str, row)))}; fix them"
        )
    if row["check"] not in checks:
        raise InputError(
            f"{name}: check {row['check']!r} is unknown; choose one of {', '.join(checks)}"
        )
    if row.get("needs", "") not in ("", RECORDINGS):
        raise InputError(f"{name}: expected needs to be {RECORDINGS!r}, found {row['needs']!r}")
    wrong = [source for source in row["source"] if not _SOURCE.fullmatch(str(source))]
    if wrong:
        raise InputError(f"{name}: expected sources like 'Table 1', found {wrong[0]!r}; name one")
    return Claim(
        row["id"],
        " ".join(row["statement"].split()),
        tuple(row["source"]),
        row["check"],
        tuple(row["experiments"]),
        row.get("arguments") or {},
        row.get("reading", ""),
        row.get("needs", ""),
    )
