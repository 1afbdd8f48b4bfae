"""Tables that are not one of the paper's matrices, as their Markdown files have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from icl_core.showing.latex import read_markdown
from icl_core.showing.page.tables import is_of_settings


@dataclass(frozen=True)
class Written:
    """The head, the columns that are set to the right, and the lines."""

    head: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]

    def repeats(self, line: int) -> bool:
        """Whether a line begins as the one above it."""
        return line > 0 and self.rows[line][0] == self.rows[line - 1][0]


def written(markdown: Path, columns: Sequence[str]) -> Written | None:
    """The table of a Markdown file, beside which stands a CSV file with these columns.

    None where there is none, and of settings, of which the page says more.
    """
    if is_of_settings(columns) or not markdown.is_file():
        return None
    text = markdown.read_text(encoding="utf-8")
    if not any(line.startswith("|") for line in text.splitlines()):
        return None
    found = read_markdown(text.replace("**", ""))  # bold is the lowest mean: matrices have it
    return Written(found.head, found.right, found.rows)
