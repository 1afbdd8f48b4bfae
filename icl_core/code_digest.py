"""A digest of the source that a script really runs.

Snakemake does not notice an edited module that a script imports. So every rule carries this
digest of its script's import closure inside our packages: the script, the modules that it
imports, and what those import.

It is taken from the syntax trees, and free of places: what does not run does not count (comments,
docstrings, the words of errors and the sentences of settings, what a file declares about itself),
and in place of a module's name stands the digest of that module. So a module that is moved or
renamed, or an import that stands elsewhere, changes nothing; a real edit changes the digests of
exactly the scripts that use it.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

# These speak to people, find things by name or check what was given, and cannot change a result.
WITHOUT_EFFECT = frozenset(
    f"icl_core{name}"
    for name in ("", ".discovery", ".errors", ".progress", ".settings", ".settings_schema")
)
# What a world, method, figure or table declares about itself: the planner reads it, and hands to
# jobs what they use of it.
DECLARATIONS = frozenset(
    {"TITLE", "PLACE", "SIZES", "JOBS", "ITERATED", "ITERATIONS", "ITEMS", "GYMNASIUM_ID"}
)

MARK = re.compile(r"id='module ([\w.]+)'")

Roots = Mapping[str, Path]  # top-level package -> its folder


class Code(NamedTuple):
    """The digest of a script, and what it is made of: a digest for each file."""

    digest: str
    parts: dict[str, str]


class _Module(NamedTuple):
    """A module as far as it runs: its tree as text, and the modules of ours that it imports."""

    text: str  # a name that stands for a module of ours is marked with it (`MARK`)
    # One entry for each import statement: the names it binds, and the modules behind it.
    imports: tuple[tuple[str, tuple[str, ...]], ...]


class Sources:
    """The source under some roots, each file read once: a plan asks for hundreds of digests."""

    def __init__(self, roots: Roots):
        self.roots = roots
        self._places: dict[str, Path | None] = {}
        self._modules: dict[Path, _Module] = {}
        self._digests: dict[tuple[str, Path], str] = {}

    def code_of(self, script: str | os.PathLike, modules: Iterable[str] = ()) -> Code:
        """Digest of `script` and of the modules under the roots that it imports, directly or not.

        `modules` are further ones that it loads by name.
        """
        script = Path(script)
        parts = {script.name: self._full(script, "")}
        for name in self.closure(script, modules):
            path = self.locate(name)
            assert path is not None
            module = self._read(path, name)
            if name not in WITHOUT_EFFECT and (module.text or module.imports):
                parts[self._shown(path, name)] = self._full(path, name)
        total = hashlib.sha256("".join(sorted(parts.values())).encode())
        return Code(total.hexdigest()[:16], parts)

    def closure(self, script: str | os.PathLike, modules: Iterable[str] = ()) -> list[str]:
        """Names of the modules under the roots that running `script` imports, sorted."""
        found: set[str] = set()
        waiting = _targets(self._read(Path(script), ""))
        waiting += [part for module in modules for part in _with_parents(module)]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            path = self.locate(name)
            if path is not None:
                found.add(name)
                waiting += _targets(self._read(path, name))
        return sorted(found)

    def locate(self, name: str) -> Path | None:
        """The file of a module of ours; None for other packages, and for what is no module."""
        if name not in self._places:
            self._places[name] = locate(name, self.roots)
        return self._places[name]

    def _shown(self, path: Path, name: str) -> str:
        return path.relative_to(self.roots[name.split(".")[0]].parent).as_posix()

    def _full(self, path: Path, name: str) -> str:
        """With the digest of each imported module in place of its name."""
        key = ("full", path)
        if key not in self._digests:
            module = self._read(path, name)
            lines = sorted(
                names + " ".join(self._shallow(target) for target in targets)
                for names, targets in module.imports
            )
            text = MARK.sub(lambda mark: self._shallow(mark[1]), module.text)
            self._digests[key] = _hash("\n".join([text, *lines]))
        return self._digests[key]

    def _shallow(self, name: str) -> str:
        path = self.locate(name)
        if path is None or name in WITHOUT_EFFECT:
            return ""
        key = ("shallow", path)
        if key not in self._digests:
            module = self._read(path, name)
            text = MARK.sub("module", module.text)
            names = sorted(names for names, _ in module.imports)
            self._digests[key] = _hash("\n".join([text, *names]))
        return self._digests[key]

    def _read(self, path: Path, name: str) -> _Module:
        if path not in self._modules:
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            tree = ast.parse(path.read_text("utf-8"), filename=str(path))
            reader = _Reader(package, self.roots)
            renamed = _Renamer(reader.modules).visit(reader.visit(tree))
            text = "\n".join(ast.dump(node) for node in renamed.body)
            self._modules[path] = _Module(text, tuple(reader.imports))
        return self._modules[path]


def code_of(script: str | os.PathLike, roots: Roots, modules: Iterable[str] = ()) -> Code:
    """The digest of one script."""
    return Sources(roots).code_of(script, modules)


def closure(script: str | os.PathLike, roots: Roots, modules: Iterable[str] = ()) -> list[str]:
    """What one script imports."""
    return Sources(roots).closure(script, modules)


def locate(name: str, roots: Roots) -> Path | None:
    """The file of a module of ours; None for other packages, and for what is no module."""
    top, *rest = name.split(".")
    if top not in roots:
        return None
    base = roots[top].joinpath(*rest)
    for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
        if path.is_file():
            return path
    return None


def _targets(module: _Module) -> list[str]:
    return [part for _, names in module.imports for name in names for part in _with_parents(name)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Reader(ast.NodeTransformer):
    """Takes from a tree what does not run, and its imports of our modules."""

    def __init__(self, package: str, roots: Roots):
        self.package, self.roots = package, roots
        self.imports: list[tuple[str, tuple[str, ...]]] = []
        self.modules: dict[str, str] = {}  # local names that stand for modules of ours

    def generic_visit(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:]  # type: ignore[attr-defined]
        return super().generic_visit(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [one for one in node.body if not _declares(one)]
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if _is_type_checking(node.test):  # what stands under it is not run
            rest = self.generic_visit(ast.Module(node.orelse, []))
            return rest.body  # type: ignore[attr-defined]
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return _Wordless().visit(self.generic_visit(node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in ("setting", "section"):
            del node.args[1:2]  # its sentence
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        ours = [alias for alias in node.names if locate(alias.name, self.roots)]
        for alias in ours:
            if alias.asname:
                self.modules[alias.asname] = alias.name
            self.imports.append(("module ", (alias.name,)))
        node.names = [alias for alias in node.names if alias not in ours]
        return node if node.names else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        module = _absolute(node, self.package)
        if module.split(".")[0] not in self.roots:
            return node
        for alias in node.names:
            inner = f"{module}.{alias.name}"
            if locate(inner, self.roots):
                self.modules[alias.asname or alias.name] = inner
                self.imports.append(("module ", (inner,)))
            else:
                self.imports.append((f"{alias.name} as {alias.asname} ", (module,)))
        return None


class _Wordless(ast.NodeTransformer):
    """Takes the words of an error: what it says cannot change a result."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")


class _Renamer(ast.NodeTransformer):
    """Marks the local names of our modules: what counts is which module it is."""

    def __init__(self, names: Mapping[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        return ast.Name(f"module {self.names[node.id]}", node.ctx)


def _declares(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return any(isinstance(t, ast.Name) and t.id in DECLARATIONS for t in targets)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, *filter(None, [node.module])])


def _with_parents(module: str) -> Iterator[str]:
    """Importing a.b.c runs the `__init__` of a and of a.b too."""
    parts = module.split(".")
    return (".".join(parts[: k + 1]) for k in range(len(parts)))


def _is_type_checking(test: ast.expr) -> bool:
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")
    return name == "TYPE_CHECKING"


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
