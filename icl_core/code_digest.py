"""A digest of the source that a script really runs.

Snakemake does not notice an edited module that a script imports. So every rule carries this
digest of its script's import closure inside our packages: the script, the modules that it
imports, and what those import.

It is taken from the syntax trees, and free of places: what does not run does not count (comments,
docstrings, the words of errors, the sentences and bounds of settings, what a file declares about
itself), and in place of a module's name stands the digest of that module. So a module that is moved
or renamed, or an import that stands elsewhere, changes nothing; a real edit changes the digests of
exactly the scripts that use it.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from icl_core import code_tree
from icl_core.code_tree import Module, Roots, digest, locate, parsed

# These speak to people, find things by name, check what was given or put it on disk, and cannot
# change a result.
WITHOUT_EFFECT = frozenset(
    f"icl_core{name}"
    for name in (
        *("", ".discovery", ".errors", ".progress", ".settings", ".settings_schema"),
        *(".disk", ".job_times", ".runs", ".seals"),
    )
)


class Code(NamedTuple):
    """The digest of a script, and what it is made of: a digest for each file by itself."""

    digest: str
    parts: dict[str, str]


class Sources:
    """The source under some roots, each file read once: a plan asks for hundreds of digests.

    `cache` is a file that keeps what was read, for the next process: reading takes a second.
    """

    def __init__(self, roots: Roots, cache: Path | None = None):
        self.roots = roots
        self._cache = _Cache(cache, roots) if cache else None
        self._places: dict[str, Path | None] = {}
        self._modules: dict[Path, Module] = {}
        self._digests: dict[tuple[str, Path], str] = {}

    def code_of(self, script: str | os.PathLike, modules: Iterable[str] = ()) -> Code:
        """Digest of `script` and of the modules under the roots that it imports, directly or not.

        `modules` are further ones that it loads by name.
        """
        script = Path(script)
        parts, full = {script.name: self._own(script, "")}, [self._full(script, "")]
        for name in self.closure(script, modules):
            path = self.locate(name)
            assert path is not None
            module = self._read(path, name)
            if name not in WITHOUT_EFFECT and (module.tree or module.imports):
                parts[self._shown(path, name)] = self._own(path, name)
                full.append(self._full(path, name))
        total = hashlib.sha256("".join(sorted(full)).encode())
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
            names = [self._shallow(one) for one in module.names]
            self._digests[key] = digest("\n".join([module.tree, *names, *lines]))
        return self._digests[key]

    def _shallow(self, name: str) -> str:
        path = self.locate(name)
        return "" if path is None or name in WITHOUT_EFFECT else self._own(path, name)

    def _own(self, path: Path, name: str) -> str:
        """Of this file alone, whatever it imports."""
        key = ("own", path)
        if key not in self._digests:
            module = self._read(path, name)
            names = sorted(names for names, _ in module.imports)
            self._digests[key] = digest("\n".join([module.tree, *names]))
        return self._digests[key]

    def _read(self, path: Path, name: str) -> Module:
        if path not in self._modules:
            source = path.read_text("utf-8")
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            known = self._cache.get(source, package) if self._cache else None
            self._modules[path] = known or parsed(source, package, self.roots)
            if self._cache:
                self._cache.put(source, package, self._modules[path])
        return self._modules[path]


class _Cache:
    """Modules by their source, by how it is read, and by which files there are: an imported name
    can be one of them.
    """

    def __init__(self, path: Path, roots: Roots):
        files = sorted(str(file) for root in roots.values() for file in root.rglob("*.py"))
        how = Path(code_tree.__file__).read_text("utf-8")
        self.path, self._place = path, digest("\n".join([how, *files]))
        self._used: dict[str, Module] = {}
        try:
            self._kept: dict[str, list] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            self._kept = {}
        atexit.register(self.save)

    def _key(self, source: str, package: str) -> str:
        return digest("\n".join([self._place, package, source]))

    def get(self, source: str, package: str) -> Module | None:
        found = self._kept.get(self._key(source, package))
        return Module(*found) if found else None

    def put(self, source: str, package: str, module: Module) -> None:
        self._used[self._key(source, package)] = module

    def save(self) -> None:
        """Keep what this process has used, if that is new."""
        if self._used.keys() - self._kept.keys():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            temporary.write_text(json.dumps(self._used), encoding="utf-8")
            temporary.replace(self.path)


def code_of(script: str | os.PathLike, roots: Roots, modules: Iterable[str] = ()) -> Code:
    """The digest of one script."""
    return Sources(roots).code_of(script, modules)


def closure(script: str | os.PathLike, roots: Roots, modules: Iterable[str] = ()) -> list[str]:
    """What one script imports."""
    return Sources(roots).closure(script, modules)


def _targets(module: Module) -> list[str]:
    return [part for _, names in module.imports for name in names for part in _with_parents(name)]


def _with_parents(module: str) -> Iterator[str]:
    """Importing a.b.c runs the `__init__` of a and of a.b too."""
    parts = module.split(".")
    return (".".join(parts[: k + 1]) for k in range(len(parts)))
