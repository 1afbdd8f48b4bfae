"""Make an item of the catalogue: what the workflow's script calls."""

from __future__ import annotations

import os
from collections.abc import Sequence

from icl_core.showing.catalogue import Item
from icl_core.showing.save import save_figure, save_table
from icl_core.showing.sources import Sources


def show(
    item: Item, sources: Sources, outputs: Sequence[str | os.PathLike], dpi: float = 300
) -> None:
    """Draw a figure or set a table, and write it to each of `outputs` by its ending.

    Of the item's experiments those are shown that `sources.worlds` holds, so that a
    configuration with fewer environments gives figures with fewer panels.
    """
    experiments = tuple(name for name in item.experiments if name in sources.worlds)
    if item.kind == "table":
        save_table(item.load()(sources, experiments), *outputs)
        return
    from icl_core.showing.style import publication_style  # matplotlib, for figures only

    with publication_style():
        save_figure(item.load()(sources, experiments), *outputs, dpi=dpi)
