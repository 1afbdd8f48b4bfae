"""Put the page together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jinja2

from icl_core.artifacts import atomic
from icl_core.measuring.claims.verdicts import VERDICTS
from icl_core.showing import paper
from icl_core.showing.item import Item
from icl_core.showing.page import verdicts
from icl_core.showing.page.items import read_item

SCALES = {
    "quick": "a sketch: few seeds and short training. The numbers show the shape of things and "
    "mean little.",
    "smoke": "a test of the machinery. The numbers mean nothing.",
}
TONES = dict(zip(VERDICTS, ("good", "bad", "open", "needs", "away"), strict=True))


def make_page(
    output: str | os.PathLike,
    scale: str,
    items: Iterable[Item],
    results_folder: str | os.PathLike,
    titles: Mapping[str, str],
    simulated: Sequence[str],
) -> None:
    """Write the page of the items and the claims, all found in the folder of results.

    `titles` says how methods and environments are written, by their names; `simulated` names the
    environments whose recordings are simulated. Equal files give equal bytes.
    """
    folder = Path(results_folder)
    ordered = sorted(items, key=lambda item: item.order)
    shown = [read_item(item, folder, scale, simulated, titles) for item in ordered]
    counts, claims = verdicts.read_verdicts(folder / "claims.parquet")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            scale=scale,
            warning=SCALES.get(scale, ""),
            simulated=[titles.get(name, name) for name in simulated],
            counts=counts,
            claims=claims,
            tones=TONES,
            bar=verdicts,
            tables=[one for one in shown if one.item.kind == "table"],
            figures=[one for one in shown if one.item.kind == "figure"],
            anchors={one.item.label: one.item.id for one in shown},
            missing=missing_of_paper(one.item.label for one in shown),
            packages=next((one.provenance.packages for one in shown), ()),
        )
    )
    with atomic(output) as temporary:
        temporary.write_text(text, encoding="utf-8")


def missing_of_paper(labels: Iterable[str]) -> list[tuple[str, str]]:
    """What the paper has and is not among `labels` ("Table 1"): labels and titles."""
    made = set(labels)
    every = [(f"Table {n}", title) for n, title in paper.TABLES.items()]
    every += [(f"Figure {n}", title) for n, title in paper.FIGURES.items()]
    return [(label, title) for label, title in every if label not in made]


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
