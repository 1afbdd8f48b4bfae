"""The statements of docs/claims.yaml, read and checked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from icl_core.errors import InputError
from icl_core.measuring.claims.check import find_checks

RECORDINGS = "licensed recordings"
_KEYS = {"id", "statement", "reading", "source", "check", "experiments", "arguments", "needs"}
_REQUIRED = ("id", "statement", "source", "check", "experiments")
_SOURCE = re.compile(r"(Section|Appendix|Table|Figure) [A-D0-9][0-9.]*")


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
        rows = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
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
