"""A digest of the source that a script really runs.

Snakemake does not notice an edited module that a script imports. So every rule
carries this digest of its script's import closure inside the package: the
script, the modules that it imports, what those import, and the `__init__` files
on the way. It is taken from the syntax trees, so comments, docstrings and
formatting do not count.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

# These tell things to people and cannot change a result: editing them reruns nothing.
TELLING = frozenset({"icl_core.errors", "icl_core.progress"})


def code_digest(
    script: str | os.PathLike, roots: Sequence[str | os.PathLike], modules: Iterable[str] = ()
) -> str:
    """Digest of `script` and of the modules under `roots` that it imports, directly or not.

    `modules` are further ones that it loads by name.
    """
    script, roots = Path(script), tuple(map(Path, roots))
    total = hashlib.sha256(_source(script, None)[0].encode())
    for module in closure(script, roots, modules):
        if module not in TELLING:
            total.update(module.encode())
            total.update(_source(_locate(module, roots), module)[0].encode())
    return total.hexdigest()[:16]


def closure(script: Path, roots: Sequence[Path], modules: Iterable[str] = ()) -> list[str]:
    """Names of the modules under `roots` that running `script` imports, sorted."""
    found: set[str] = set()
    waiting = list(_source(script, None)[1])
    waiting += [part for module in modules for part in _with_parents(module)]
    while waiting:
        name = waiting.pop()
        path = _locate(name, roots)
        if path is None or name in found:
            continue  # of another package, or a function rather than a module
        found.add(name)
        waiting.extend(_source(path, name)[1])
    return sorted(found)


def _locate(name: str, roots: Sequence[Path]) -> Path | None:
    for root in roots:
        base = root.joinpath(*name.split("."))
        for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if path.is_file():
                return path
    return None


def _source(path: Path, name: str | None) -> tuple[str, tuple[str, ...]]:
    status = path.stat()
    return _parsed(path, name, status.st_mtime_ns, status.st_size)


@cache
def _parsed(path: Path, name: str | None, _time: int, _size: int) -> tuple[str, tuple[str, ...]]:
    """The tree as text, and every name that may be an imported module."""
    tree = ast.parse(path.read_text(), filename=str(path))
    package = name if path.name == "__init__.py" else (name or "").rpartition(".")[0]
    _strip_docstrings(tree)
    names = {part for module in _imports(tree, package or "") for part in _with_parents(module)}
    return ast.dump(tree), tuple(sorted(names))


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting.extend(node.orelse)  # imports for type checkers are not run
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, package)
            yield module
            # `from package import name`: the name may be a module.
            yield from (f"{module}.{alias.name}" for alias in node.names)
        waiting.extend(ast.iter_child_nodes(node))


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, *filter(None, [node.module])])


def _with_parents(module: str) -> Iterator[str]:
    """Importing a.b.c runs the `__init__` of a and of a.b too."""
    parts = module.split(".")
    return (".".join(parts[: k + 1]) for k in range(len(parts)))


def _strip_docstrings(tree: ast.Module) -> None:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, owners) and node.body and _is_text(node.body[0]):
            node.body = node.body[1:]


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
