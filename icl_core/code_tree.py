"""A module as far as it runs: its syntax tree without words, and what it imports of ours."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# What a world, method, figure or table declares about itself: the planner reads it, and hands to
# jobs what they use of it. Names of a world's numbers are for users alone.
DECLARATIONS = frozenset(
    {"TITLE", "PLACE", "SIZES", "JOBS", "ITERATED", "ITERATIONS", "ITEMS", "GYMNASIUM_ID"}
    | {"observation_names", "action_names"}
)
CHECKS = ("conflict", "conflict_with")  # methods of settings that refuse or let pass
MARK = re.compile(r"id='module ([\w.]+)'")

Roots = Mapping[str, Path]  # top-level package -> its folder


class Module(NamedTuple):
    """A module as far as it runs: a digest of its tree, and the modules of ours that it imports."""

    tree: str  # without the names that stand for modules of ours; empty where nothing runs
    names: Sequence[str]  # those modules, in their order in the tree
    # One entry for each import statement: the names it binds, and the modules behind it.
    imports: Sequence[tuple[str, Sequence[str]]]


def parsed(source: str, package: str, roots: Roots) -> Module:
    """What a source holds as far as it runs; `package` is where its relative imports start."""
    reader = _Reader(package, roots)
    renamed = _Renamer(reader.modules).visit(reader.visit(ast.parse(source)))
    text = "\n".join(ast.dump(node) for node in renamed.body)
    bare = MARK.sub("module", text)
    return Module(digest(bare) if bare else "", MARK.findall(text), reader.imports)


def digest(text: str) -> str:
    """The beginning of a SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
            # and its bounds: what they let pass does not depend on them
            node.keywords = [one for one in node.keywords if one.arg == "default"]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [one for one in node.body if not _declares(one)]
        if node.decorator_list:  # a dataclass
            node.body = [one for one in node.body if getattr(one, "name", "") not in CHECKS]
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


def _is_type_checking(test: ast.expr) -> bool:
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")
    return name == "TYPE_CHECKING"


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
