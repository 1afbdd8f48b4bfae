"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_rows(lines: Iterable[Sequence[str]]) -> str:
    """The lines of a Markdown table, its header and rule among them, without a line's end."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def counted(number: int, word: str) -> str:
    """A number with its word: "1 seed", "5 seeds"."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
