"""The figures and tables of the page, each with its caption, command and provenance."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from icl_core.errors import InputError
from icl_core.showing.catalogue import CATALOGUE, Item
from icl_core.showing.page.tables import Grid, read_grid

LARGE = 700_000  # bytes: a larger SVG is shown as its PNG


@dataclass(frozen=True)
class Provenance:
    """What the file beside an item says of its making."""

    code: str
    configuration: str  # as indented JSON
    inputs: tuple[tuple[str, str], ...]  # paths and digests
    packages: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Shown:
    """An item as the page shows it."""

    item: Item
    caption: str
    command: str
    files: tuple[str, ...]
    provenance: Provenance
    picture: str = ""  # a data address
    grid: Grid | None = None
    simulated: bool = False


def read_item(
    name: str, folder: Path, captions: Path, scale: str, simulated: frozenset[str]
) -> Shown:
    """Everything that the page needs of an item, from the files under results/{scale}/.

    `simulated` names the environments whose recordings are.
    """
    item = CATALOGUE[name]
    files = [folder / output for output in item.outputs]
    return Shown(
        item,
        caption_text(captions / item.caption),
        command_of(item, scale),
        item.outputs,
        _provenance(folder / item.provenance),
        picture=data_address(*files) if item.kind == "figure" else "",
        grid=read_grid(files[0]) if item.kind == "table" else None,
        simulated=not item.told_settings and not simulated.isdisjoint(item.experiments),
    )


def command_of(item: Item, scale: str) -> str:
    """What makes an item again."""
    return f"snakemake --cores 1 --config scale={scale} -- results/{scale}/{item.outputs[0]}"


def caption_text(path: str | os.PathLike) -> str:
    """A caption without its label, as plain text."""
    text = " ".join(Path(path).read_text(encoding="utf-8").split())
    return re.sub(r"^\*\*.*?\*\* ", "", text).replace("**", "").replace("``", "")


def data_address(svg: Path, png: Path) -> str:
    """A picture as an address that holds it: the SVG, or the PNG where that is very large.

    An image of its own, and not markup of the page: identifiers in pictures collide.
    """
    path, kind = (svg, "svg+xml") if svg.stat().st_size <= LARGE else (png, "png")
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _provenance(path: Path) -> Provenance:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return Provenance(
            told["code"],
            json.dumps(told["configuration"], indent=1, sort_keys=True, ensure_ascii=False),
            tuple(sorted(told["inputs"].items())),
            tuple(sorted(told["packages"].items())),
        )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{path}: expected the provenance of {path.stem}, found none that reads "
            f"({type(error).__name__}); delete it and run the same command again"
        ) from error


def in_papers_order(items: Iterable[Shown]) -> list[Shown]:
    """By number; ours stand behind the paper's of the same number."""
    return sorted(items, key=lambda shown: (shown.item.number, shown.item.suffix))
