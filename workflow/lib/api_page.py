"""docs/api.md: the public names of the library, their signatures and docstrings (make docs)."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import icl_core as icl

PAGE = Path("docs/api.md")
GROUPS = {
    "Learning": ("Learner", "ICL", "ICLPlus", "GAILConstraint", "ICRL", "make_learner"),
    "Demonstrations": ("Demonstrations", "Episode"),
    "Constraints": ("Constraint", "LearnedCost", "PenaliseCost", "CostBudget"),
    "Worlds and parts": (
        *("make_world", "World", "Trajectories", "read_demonstrations", "write_demonstrations"),
        *("Problem", "Outcome", "Job", "InputError"),
    ),
}
HEAD = """# The library

Written by `make docs` from the docstrings. `import icl_core as icl` imports nothing else: each name
is loaded when it is first used. [tutorial.md](tutorial.md) shows them at work; settings of methods
are in [settings.md](settings.md).
"""


def page() -> str:
    """The whole text."""
    parts = [HEAD]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        for name in names:
            parts.extend(_entry(name, getattr(icl, name)))
    return "\n".join(parts)


def _entry(name: str, thing: Any) -> Iterator[str]:
    yield f"### `icl.{name}`\n"
    yield f"```python\n{name}{_signature(thing)}\n```\n"
    yield f"{_text(thing)}\n"
    if not inspect.isclass(thing):
        return
    members = list(_members(thing))
    if members:
        yield "\n".join(members) + "\n"


def _members(kind: type) -> Iterator[str]:
    """What is public of a class, a line each; what a class of this page gives it stands there."""
    fields = (
        {one.name for one in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else ()
    )
    seen: set[str] = set()
    for base in kind.__mro__:
        shown = base is not kind and base.__name__ in icl.__all__
        if shown or not base.__module__.startswith("icl_core"):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen or name in fields:
                continue
            seen.add(name)
            plain = getattr(member, "__func__", member)
            if isinstance(plain, FunctionType):
                yield f"- `{name}{_signature(plain, drop=True)}`: {_first(plain)}"
            elif isinstance(member, property) and member.__doc__:
                yield f"- `{name}`: {_first(member)}"


def _signature(thing: Any, drop: bool = False) -> str:
    """Without annotations, which the source has; `drop`: without self or cls."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    empty = inspect.Parameter.empty
    given = [one.replace(annotation=empty) for one in found.parameters.values()]
    given = [one for one in given if not (drop and one.name in ("self", "cls"))]
    text = str(found.replace(parameters=given, return_annotation=inspect.Signature.empty))
    return re.sub(r"<factory>|<[\w.]+ object at 0x[0-9a-f]+>", "...", text).replace("'", '"')


def _text(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "").split("\n>>>")[0].strip()


def _first(thing: Any) -> str:
    """The first sentence."""
    return " ".join(_text(thing).split("\n\n")[0].split())


def main() -> None:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
