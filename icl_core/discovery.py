"""Worlds, methods, figures and tables are found by their names: no list of them exists.

A shelf is a folder of the package, and a file on it is a thing: `gridworld_a.py` in
`environments/worlds/` is the world `gridworld-a`. A folder on a shelf is a thing too, where it
holds `algorithm.py`. Other installed packages add to the first two shelves by entry points.

What a file declares about itself as a literal (`TITLE`, `ITEMS`) is read from its syntax tree, so
that planning a run imports none of them.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from icl_core.errors import InputError

WORLDS, METHODS = "environments.worlds", "learning.methods"
FIGURES, TABLES = "showing.figures", "showing.tables"
CHECKS = "measuring.claims.checks"
RECORDINGS = "demonstrations.recordings"  # a package for each world that is made from recordings
# What the things on a shelf are called, and the entry points that add to it.
WORDS = {
    WORLDS: "environment",
    METHODS: "method",
    FIGURES: "figure",
    TABLES: "table",
    CHECKS: "checks",
}
ENTRY_POINTS = {WORLDS: "icl_core.environments", METHODS: "icl_core.methods"}

_PACKAGE = Path(__file__).parent
_WHOLE = "algorithm"  # the module of a folder on a shelf that stands for all of it


def names(shelf: str) -> list[str]:
    """The names of the things on a shelf, those of other packages among them, sorted."""
    return sorted({*_own(shelf), *_brought(shelf)})


def module_name(shelf: str, name: str) -> str:
    """The module that a thing is found in; an InputError lists the names that exist."""
    own = _own(shelf)
    if name in own:
        return own[name]
    brought = _brought(shelf)
    if name in brought:
        return brought[name].module
    raise InputError(
        f"{WORDS[shelf]} {name!r} is unknown; choose one of {', '.join(names(shelf)) or 'none'}"
    )


def load(shelf: str, name: str) -> ModuleType:
    """The module of a thing, imported."""
    return importlib.import_module(module_name(shelf, name))


def recordings_module(environment: str, part: str) -> str:
    """The module of an environment's recordings: its reader, simulation, scene or replay."""
    return f"{_PACKAGE.name}.{RECORDINGS}.{environment}.{part}"


def source(module: str) -> Path:
    """The file of a module, found without importing it."""
    parts = module.split(".")
    if parts[0] == _PACKAGE.name:
        base = _PACKAGE.joinpath(*parts[1:])
        return base / "__init__.py" if base.is_dir() else base.with_name(f"{base.name}.py")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise InputError(f"module {module} of an entry point: expected a file, found none")
    return Path(spec.origin)


def literal(module: str, key: str, default: Any = None) -> Any:
    """What a module assigns to `key`, at its top or in one of its classes, as a literal."""
    for statements in _scopes(tree_of(source(module))):
        for node in statements:
            target = _assigned(node)
            if target == key and isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
                try:
                    return ast.literal_eval(node.value)
                except ValueError as error:
                    raise InputError(
                        f"{source(module)}: expected {key} to be written out as plain values "
                        f"(texts, numbers, lists, mappings), found an expression in line "
                        f"{node.lineno}; write its value"
                    ) from error
    return default


def packages_that_bring() -> dict[str, Path]:
    """The other packages that bring worlds or methods, and their folders."""
    modules = [point.module for shelf in ENTRY_POINTS for point in _brought(shelf).values()]
    tops = sorted({module.split(".")[0] for module in modules})
    return {top: source(top).parent for top in tops}


def title(shelf: str, name: str) -> str:
    """How a world or a method is written in tables."""
    module = module_name(shelf, name)
    return literal(module, "TITLE") or literal(module, "title") or name


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    status = path.stat()
    return _parsed(path, status.st_mtime_ns, status.st_size)


@cache
def _parsed(path: Path, _time: int, _size: int) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def _scopes(tree: ast.Module) -> list[list[ast.stmt]]:
    return [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]


def _assigned(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return None


def _own(shelf: str) -> dict[str, str]:
    """Modules by name, of this package."""
    folder = _PACKAGE.joinpath(*shelf.split("."))
    if not folder.is_dir():
        return {}
    return _listed(folder, folder.stat().st_mtime_ns, f"{_PACKAGE.name}.{shelf}")


@cache
def _listed(folder: Path, _time: int, base: str) -> dict[str, str]:
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py" and not path.stem.startswith("_"):
            found[path.stem.replace("_", "-")] = f"{base}.{path.stem}"
        elif (path / f"{_WHOLE}.py").is_file():
            found[path.name.replace("_", "-")] = f"{base}.{path.name}.{_WHOLE}"
    return found


@cache
def _brought(shelf: str) -> dict[str, EntryPoint]:
    """Entry points by name, of other packages."""
    group = ENTRY_POINTS.get(shelf)
    return {point.name: point for point in entry_points(group=group)} if group else {}
