"""Files of configuration, looked at before Snakemake reads them.

Snakemake takes what YAML gives it: of a key that stands twice the last one counts, anchors inside
anchors can unfold without end, and with one key a file becomes a template whose code it runs. Such
files are refused here, with the line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from icl_core.errors import InputError, found_at
from icl_core.settings import join
from icl_core.settings_schema import short

MOST = 100_000  # entries of a configuration, with all that its anchors stand for; ours has 1,000
DEEPEST = 50  # levels
LARGEST = 1_000_000  # bytes
# With these keys Snakemake runs code of the file, or takes paths from it.
OF_SNAKEMAKE = ("__use_yte__", "pathvars")
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # without libyaml it is slow


def check_files(paths: Iterable[str | os.PathLike]) -> None:
    """Raise an InputError of one sentence where a file is no plain configuration."""
    here = Path.cwd()
    for path in dict.fromkeys(here / path for path in paths):
        _check_file(path.relative_to(here) if path.is_relative_to(here) else path)


def refuse_wrong_files(project: str, own: Sequence[str | os.PathLike]) -> None:
    """Check the project's file, and the user's own ones; end the program where one is wrong."""
    try:
        # Who brings files of their own may do without the project's.
        check_files([*([project] if os.path.lexists(project) or not own else []), *own])
    except InputError as error:
        sys.exit(f"error: {error}")


def check_size(config: Mapping) -> None:
    """Raise an InputError where a configuration would never be read to its end."""
    _size(config, _data_children, "configuration: ")


def _check_file(path: Path) -> None:
    text = _text(path)
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            found = "nothing" if node is None else "a list or a single value"
            raise InputError(f"{path}: expected keys with values, found {found}; write some")
        _size(node, _node_children, f"{path}: ")
        _check_keys(path, node)
        loader.construct_document(node)
    except yaml.YAMLError as error:
        raise _no_yaml(path, error) from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path}: expected values that YAML can read, found one that it cannot "
            f"({str(error).partition(';')[0]}); correct it, or write a text between quotation marks"
        ) from error
    except RecursionError as error:
        raise _too_deep(f"{path}: ") from error
    finally:
        loader.dispose()


def _text(path: Path) -> str:
    found, size = found_at(path), 0
    if found == "a file":
        size = path.stat().st_size
        found = f"one of {size} bytes" if size > LARGEST else found
    if found != "a file":
        raise InputError(
            f"{path}: expected a YAML file of at most {LARGEST} bytes, found {found}; correct the "
            "path or the file"
        )
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: expected a text in UTF-8, found a file that does not read as one ({error})"
            "; save it anew"
        ) from error


def _no_yaml(path: Path, error: yaml.YAMLError) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = f" line {mark.line + 1}" if mark else ""
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "no YAML"
    return InputError(
        f"{path}:{line} expected YAML, found a mistake ({short(' '.join(str(reason).split()))}); "
        "correct it (no tabs; values with a colon between quotation marks)"
    )


def _check_keys(path: Path, root: yaml.MappingNode) -> None:
    """Each key once, and none that is Snakemake's own."""
    for key, _ in root.value:
        if key.value in OF_SNAKEMAKE:
            raise InputError(
                f"{path}: line {key.start_mark.line + 1} expected settings, found the key "
                f"{key.value}, which Snakemake takes for itself; remove it"
            )
    waiting: list[tuple[str, yaml.Node]] = [("", root)]
    seen = set()
    while waiting:
        where, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _check_once(path, where, node)
            waiting += [(join(where, key.value), value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(join(where, place), value) for place, value in enumerate(node.value)]


def _check_once(path: Path, where: str, node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        name, line = (key.tag, str(key.value)), key.start_mark.line + 1
        if name in lines:
            raise InputError(
                f"{path}: expected each key once, found {join(where, key.value)} in line "
                f"{lines[name]} and in line {line}; remove one of them"
            )
        lines[name] = line


def _size(root: Any, children: Callable[[Any], Iterable], who: str) -> None:
    """Count what a structure unfolds to, each part of it once."""
    sizes: dict[int, int] = {}

    def count(value: Any, above: tuple[int, ...]) -> int:
        if id(value) in above:
            raise InputError(f"{who}expected values that end, found an anchor inside itself")
        if len(above) > DEEPEST:
            raise _too_deep(who)
        if id(value) not in sizes:
            inside = (count(one, (*above, id(value))) for one in children(value))
            sizes[id(value)] = min(1 + sum(inside), MOST + 1)
        return sizes[id(value)]

    if count(root, ()) > MOST:
        raise InputError(
            f"{who}expected at most {MOST} entries, found more, with what its anchors stand for; "
            "write it shorter"
        )


def _too_deep(who: str) -> InputError:
    return InputError(
        f"{who}expected at most {DEEPEST} levels of keys and lists, found more; write it flatter"
    )


def _data_children(value: object) -> Iterable:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple | set) else ()


def _node_children(node: yaml.Node) -> Iterable[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else ()
