"""Write figures and tables: whole or not at all, and equal inputs as equal bytes."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from icl_core.disk import atomic
from icl_core.measuring.results import Results
from icl_core.showing.item import Item

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What a format would say of the time and the program.
_MENTIONED = {".svg": ("Date", "Creator"), ".pdf": ("CreationDate", "Creator", "Producer")}


DIGITS = 6  # of a place in a figure, whose sides are 1


@dataclass(frozen=True)
class Table:
    """A table twice: `rows` for machines at full precision, `markdown` for readers."""

    columns: tuple[str, ...]
    rows: tuple[tuple, ...]
    markdown: str


def show(
    item: Item, results: Results, outputs: Sequence[str | os.PathLike], dpi: float = 300
) -> None:
    """Draw a figure or set a table, and write it to each of `outputs` by its ending.

    Of the item's experiments those are shown that `results.worlds` holds, so that a
    configuration with fewer environments gives figures with fewer panels.
    """
    experiments = item.experiments_among(results.worlds)
    if item.kind == "table":
        save_table(item.load()(results, experiments), *outputs)
        return
    from icl_core.showing.style import publication_style  # matplotlib, for figures only

    with publication_style():
        save_figure(item.load()(results, experiments), *outputs, dpi=dpi)


def save_figure(figure: Figure, *paths: str | os.PathLike, dpi: float = 300) -> None:
    """Write a figure to each path, in the format that its ending names.

    No date, no program name and no hash goes into the file: the bytes depend only on the picture.
    """
    settle(figure)
    for path in map(Path, paths):
        metadata = dict.fromkeys(_MENTIONED.get(path.suffix, ("Software",)))
        with atomic(path) as temporary:
            figure.savefig(temporary, metadata=metadata, dpi=dpi)
            if path.suffix == ".svg":
                temporary.write_text(numbered_ids(temporary.read_text("utf-8")), encoding="utf-8")


def settle(figure: Figure) -> None:
    """Lay a figure out for good.

    The layout leaves room for titles that have been drawn once. Later drawings keep it: to find it
    anew for every format takes longer than to draw. Its last bits differ from one time to the
    next, and with them single pixels: places are rounded to a hundredth of a pixel or so.
    """
    figure.draw_without_rendering()
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    for ax in figure.axes:
        place = ax.get_position(original=True)
        ax.set_position(type(place).from_bounds(*(round(end, DIGITS) for end in place.bounds)))


def numbered_ids(svg: str) -> str:
    """The picture with matplotlib's hashed ids (of clips and markers) numbered as they come.

    It hashes coordinates to their last bit, and the layout's last bits are not the same in
    every drawing of the same picture.
    """
    numbers: dict[str, str] = {}

    def number(found: re.Match) -> str:
        return numbers.setdefault(found[0], f"{found[0][0]}{len(numbers)}")

    return re.sub(r'(?<=#|")[a-z][0-9a-f]{10}(?=[")])', number, svg)


def save_table(table: Table, *paths: str | os.PathLike) -> None:
    """Write a table to each path: CSV, or Markdown where the ending is .md."""
    for path in map(Path, paths):
        with atomic(path) as temporary:
            if path.suffix == ".md":
                temporary.write_text(table.markdown, encoding="utf-8")
            else:
                _write_csv(temporary, table.columns, table.rows)


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)  # floats as repr: they read back to the same bits
