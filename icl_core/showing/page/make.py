"""Put the page together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import jinja2

from icl_core.artifacts import atomic
from icl_core.measuring.claims.verdicts import VERDICTS
from icl_core.showing.catalogue import paper
from icl_core.showing.naming import ENVIRONMENTS
from icl_core.showing.page import verdicts
from icl_core.showing.page.items import in_papers_order, read_item

SCALES = {
    "quick": "a sketch: few seeds and short training. The numbers show the shape of things and "
    "mean little.",
    "smoke": "a test of the machinery. The numbers mean nothing.",
}
TONES = dict(zip(VERDICTS, ("good", "bad", "open", "needs", "away"), strict=True))


def make_page(
    output: str | os.PathLike,
    scale: str,
    names: Iterable[str],
    results: str | os.PathLike,
    captions: str | os.PathLike,
    simulated: Sequence[str],
) -> None:
    """Write the page of the catalogue's items `names` and the claims, all found in `results`.

    `captions` is the folder of the captions; `simulated` names the environments whose
    recordings are simulated. Equal files give equal bytes.
    """
    results, captions = Path(results), Path(captions)
    shown = [
        read_item(name, results, captions, scale, frozenset(simulated)) for name in sorted(names)
    ]
    counts, claims = verdicts.read_verdicts(results / "claims.parquet")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            scale=scale,
            warning=SCALES.get(scale, ""),
            simulated=[ENVIRONMENTS.get(name, name) for name in simulated],
            counts=counts,
            claims=claims,
            tones=TONES,
            bar=verdicts,
            tables=in_papers_order(one for one in shown if one.item.kind == "table"),
            figures=in_papers_order(one for one in shown if one.item.kind == "figure"),
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
