"""Whose work the page is, and of which code: what its foot says."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

CODE = Path(__file__).parents[3]
SOURCES = ("Snakefile", "config.yaml", "icl_core", "workflow")
PAPER = (
    "Ashish Gaurav, Kasra Rezaee, Guiliang Liu and Pascal Poupart: Learning Soft Constraints From "
    "Constrained Expert Demonstrations. International Conference on Learning Representations, 2023."
)
SOFTWARE = "Inverse constraint learning: a reference reproduction (CITATION.cff)."


class Origin(NamedTuple):
    """What is cited, and what the page was made with."""

    commit: str  # the last that changed the code; empty where there is no history
    changed: bool  # whether the code has changed since
    licence: str
    cited: tuple[str, str]


def origin(code: Path = CODE) -> Origin:
    """By the history in which the code lies."""
    commit = _git(code, "log", "-1", "--format=%H", "--", *SOURCES)
    changed = bool(commit and _git(code, "status", "--porcelain", "--", *SOURCES))
    return Origin(commit, changed, "MIT", (PAPER, SOFTWARE))


def _git(folder: Path, *arguments: str) -> str:
    """What git says; nothing where there is no git or no history."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
