"""Checks, found by their names.

A check is a function (Evidence, **arguments) -> effects in a file of `checks/`. Its decorator
says what it reads: `@reads("metrics")`, with one or more texts for `layout.Need.parse`. Names and
needs are read from the syntax trees, so that planning a run imports no check.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.layout import Need
from icl_core.measuring.claims.verdicts import Effect

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
