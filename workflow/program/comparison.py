"""What differs between two results: settings, code, figures and tables, and what only one has."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from icl_core import discovery
from icl_core.artifacts import read_provenance, read_table
from icl_core.layout import find, group_of, path
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.showing.settings_table import flattened, written
from workflow.lib.publish import picture

NOT_THERE = "(not there)"
# A row of the runs in a published provenance.md: experiment, method, seeds, the code's digest.
_RUN = re.compile(r"^\| (\S+) \| ([^|]+) \| ([\d, ]+) \| `(\w+)` \|", re.MULTILINE)
_RESULTS = re.compile(r"^results/[^/]+/")  # before the path of an artifact, at any scale

Made = Mapping[str, Mapping]  # provenance by artifact


class Side:
    """One of the two: a folder of results, or what was published of one."""

    def __init__(self, name: str, folder: Path, commit: str = ""):
        self.name, self.folder, self.commit = name, folder, commit

    @property
    def published(self) -> bool:
        """Whether it holds tables, figures and metrics, but not what these were made from."""
        return not (self.folder / "runs").is_dir()

    @cached_property
    def metrics(self) -> pa.Table:
        return read_table(self.folder / path("metrics"), METRICS_SCHEMA)

    @cached_property
    def made(self) -> dict[str, dict]:
        """What every artifact says of its making, by its path."""
        files = [*self.folder.rglob("*.parquet"), *self.folder.rglob("*.safetensors")]
        files += [*self.folder.glob("figures/*.json"), *self.folder.glob("tables/*.json")]
        return {self._inside(file): read_provenance(file) for file in sorted(files)}

    @cached_property
    def made_as_published(self) -> dict[str, dict]:
        """As much of it as is published: the settings that tables show, the code of the runs."""
        return _settings_shown(self.folder) | (_codes_shown(self.folder) or self._codes())

    def _codes(self) -> dict[str, dict]:
        final = find(self.made, "constraint")
        return {str(one.path): {"code": self.made[str(one.path)].get("code", "")} for one in final}

    def items(self, kind: str) -> dict[str, list[Path]]:
        """The files of the figures or tables by name, those for readers first."""
        endings = (".svg", ".png") if kind == "figure" else (".md", ".csv")
        found: dict[str, list[Path]] = {}
        for ending in endings:
            for file in sorted(self.folder.glob(f"{kind}s/{kind}-*{ending}")):
                found.setdefault(file.stem, []).append(file)
        return found

    def files_behind(self, code: str) -> dict[str, str] | None:
        """The digest of every file behind a digest of code; None where nobody kept them."""
        kept = sorted(self.folder.glob(f"code/{code}*.json")) if code else []
        return json.loads(kept[0].read_text("utf-8")) if kept else None

    def _inside(self, file: Path) -> str:
        return file.relative_to(self.folder).as_posix()


def _settings_shown(folder: Path) -> dict[str, dict]:
    """Of each experiment in a table of settings."""
    found: dict[str, dict] = {}
    for file in sorted(folder.glob("tables/table-*-settings-*.csv")):
        with file.open(newline="", encoding="utf-8") as opened:
            for row in csv.DictReader(opened):
                name = f"tables/{file.stem}/{row['experiment']}"
                own = found.setdefault(name, {"configuration": {}})["configuration"]
                own[row["key"] or row["setting"]] = row["ours"]
    return found


def _codes_shown(folder: Path) -> dict[str, dict]:
    """Of every run in the page about provenance, whose digests are cut short."""
    page = folder / "provenance.md"
    runs = _RUN.findall(page.read_text("utf-8")) if page.is_file() else []
    names = {discovery.title(discovery.METHODS, m): m for m in discovery.names(discovery.METHODS)}
    found = {}
    for experiment, title, seeds, code in runs:
        group = group_of([int(seed) for seed in seeds.split(",")])
        run = {"experiment": experiment, "method": names.get(title, title), "group": group}
        found[path("constraint", **run)] = {"code": code}
    return found


def provenances(a: Side, b: Side) -> tuple[Made, Made]:
    """What both say of their making, in the same words."""
    if a.published or b.published:
        return a.made_as_published, b.made_as_published
    return a.made, b.made


class Change(NamedTuple):
    """A setting that differs, and where."""

    key: str
    a: str
    b: str
    artifacts: tuple[str, ...]


def changed_settings(a: Made, b: Made) -> list[Change]:
    """One for each difference, however many artifacts have it; what many have comes first."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for name in a.keys() & b.keys():
        ours, theirs = _settings(a[name]), _settings(b[name])
        for owner in ours.keys() & theirs.keys():
            first, second = ours[owner], theirs[owner]
            for key in first.keys() | second.keys():
                values = (first.get(key, NOT_THERE), second.get(key, NOT_THERE))
                if values[0] != values[1]:
                    texts = (written(values[0]), written(values[1]))
                    found.setdefault((key, *texts), {})[name] = None
    changes = [Change(*change, tuple(sorted(names))) for change, names in found.items()]
    return sorted(changes, key=lambda one: (-len(one.artifacts), one[:3]))


def _settings(made: Mapping) -> dict[str, dict[str, Any]]:
    """Settings by their keys; what an item says of single experiments, by experiment."""
    given = dict(made.get("configuration", {}))
    owned = {
        f"{group}.{name}": flattened(own)
        for group in ("worlds", "experiments")
        for name, own in given.pop(group, {}).items()
    }
    # Of the files that it read, those of other artifacts follow from their own settings.
    inputs = {k: v[:12] for k, v in made.get("inputs", {}).items() if not _RESULTS.match(k)}
    rest = {**given, "packages": made.get("packages", {}), "inputs": inputs}
    found = {"": flattened(rest), **owned}
    return {owner: {k: _anywhere(v) for k, v in own.items()} for owner, own in found.items()}


def _anywhere(value: Any) -> Any:
    """A path without the scale that it is of."""
    return _RESULTS.sub("", value) if isinstance(value, str) else value


class Code(NamedTuple):
    """The files of code that differ, each with how many artifacts were made with it."""

    edited: dict[str, int]
    unknown: int  # artifacts with other code, of whose files nobody kept the digests

    def __bool__(self) -> bool:
        return bool(self.edited or self.unknown)


def changed_code(a: Side, b: Side) -> Code:
    """Compare the code of the artifacts that both have."""
    ours, theirs = provenances(a, b)
    pairs: Counter[tuple[str, str]] = Counter()
    for name in ours.keys() & theirs.keys():
        first, second = (side[name].get("code", "") for side in (ours, theirs))
        if not (first.startswith(second) or second.startswith(first)):
            pairs[first, second] += 1
    files: Counter[str] = Counter()
    unknown = 0
    for (first, second), count in pairs.items():
        parts = a.files_behind(first), b.files_behind(second)
        if parts[0] is None or parts[1] is None:
            unknown += count
            continue
        for file in _changed_files(parts[0], parts[1]):
            files[file] += count
    return Code(dict(sorted(files.items())), unknown)


def _changed_files(first: Mapping[str, str], second: Mapping[str, str]) -> set[str]:
    """Files whose digest the other side has nowhere: one that was only moved is the same."""
    same = {*first.values()} & {*second.values()}
    both = [*first.items(), *second.items()]
    files = {file for file, digest in both if digest not in same}
    return {file if "/" in file else f"workflow/scripts/{file}" for file in files}


class Pair(NamedTuple):
    """A figure or table: its files on both sides, none where it is not there."""

    name: str
    a: list[Path]
    b: list[Path]

    @property
    def equal(self) -> bool:
        """Whether both have the same bytes, in the first of the formats that both have."""
        if not self.a or not self.b:
            return False
        firsts = (self.a[0], self.b[0])
        if firsts[0].suffix != firsts[1].suffix:
            return shown(self.a) == shown(self.b)
        return firsts[0].read_bytes() == firsts[1].read_bytes()


def shown(files: Sequence[Path]) -> tuple[str, bytes]:
    """The format and content of a picture, small enough for a page."""
    if len(files) == 2:
        return picture(*files)
    return files[0].suffix.removeprefix("."), files[0].read_bytes()


def pairs(a: Side, b: Side, kind: str) -> list[Pair]:
    """The figures or tables of both by name."""
    ours, theirs = a.items(kind), b.items(kind)
    return [Pair(name, ours.get(name, []), theirs.get(name, [])) for name in sorted(ours | theirs)]


def only(one: Side, other: Side) -> dict[str, int]:
    """How many artifacts one side alone has, by the run or the folder that they belong to."""
    if one.published or other.published:
        return {}
    alone = one.made.keys() - other.made.keys()
    inside = [name.split("/") for name in sorted(alone)]
    # Figures and tables are compared by themselves.
    return Counter(
        "/".join(parts[: 3 if parts[0] == "runs" else 2])
        for parts in inside
        if parts[0] not in ("figures", "tables")
    )
