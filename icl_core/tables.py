"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Below a table, where some have.
FAILED_SEEDS = "A seed has failed where its training diverged: it has no value and is in no mean."


def markdown_rows(lines: Iterable[Sequence[str]]) -> str:
    """The lines of a Markdown table, its header and rule among them, without a line's end."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def failed_of(failed: int, seeds: int) -> str:
    """What stands behind a number over those of so many seeds that have not failed.

    >>> failed_of(1, 2), failed_of(0, 2)
    (' (1 of 2 seeds failed)', '')
    """
    return f" ({failed} of {seeds} seeds failed)" if failed else ""


def counted(number: int, word: str) -> str:
    """A number with its word: "1 seed", "5 seeds"."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
