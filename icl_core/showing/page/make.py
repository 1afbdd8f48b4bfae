"""The page: verdicts, a first look, every table and figure with its caption and provenance."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
import pyarrow.parquet as pq

from icl_core.artifacts import SIMULATED, SOURCE, read_provenance, read_record, remedy
from icl_core.disk import write_whole
from icl_core.errors import InputError
from icl_core.measuring.claims.verdicts import AS_STATED, FEWEST, OTHERWISE, VERDICTS
from icl_core.showing import paper
from icl_core.showing.item import Item
from icl_core.showing.page import opening, verdicts
from icl_core.showing.page.matrices import Matrix, Written, matrix_of, written
from icl_core.showing.page.origin import origin
from icl_core.showing.page.tables import Grid, read_grid, read_rows

LARGE = 700_000  # bytes: a larger SVG is shown as its PNG
PAPER_SCALE = "paper"  # the one whose verdicts decide something
SCALES = {
    "quick": "a sketch of few seeds and short training: it shows the shape of things and decides "
    "nothing.",
    "smoke": "a test of the machinery: its numbers mean nothing.",
}
TONES = dict(zip(VERDICTS, ("good", "bad", "open", "plain", "needs", "away"), strict=True))
SLUGS = {verdict: verdict.replace(" ", "-") for verdict in VERDICTS}
TONES |= {AS_STATED: "plain", OTHERWISE: "plain"}  # of parts


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
    command: str
    files: tuple[str, ...]
    provenance: Provenance
    picture: str = ""  # a data address
    grid: Grid | None = None
    matrix: Matrix | None = None  # the same as the paper has it, where it is one of its results
    written: Written | None = None  # else the same as its Markdown has it, but of settings
    simulated: bool = False


@dataclass(frozen=True)
class FirstLook:
    """What stands before all else, whatever the scale."""

    comparison: opening.Comparison
    picture: Shown | None  # of recovered constraints
    took: str  # what training took; empty where Table 12 was not made


def read_item(
    item: Item, folder: Path, scale: str, simulated: Collection[str], titles: Mapping[str, str]
) -> Shown:
    """Everything that the page needs of an item, from the files under results/{scale}/.

    `simulated` names the environments whose recordings are, `titles` how methods and
    environments are written.
    """
    files = [folder / output for output in item.outputs]
    rows, columns = read_rows(files[0]) if item.kind == "table" else ([], ())
    matrix = matrix_of(rows, columns, titles)
    is_written = item.kind == "table" and matrix is None
    return Shown(
        item,
        command_of(item, scale),
        item.outputs,
        _provenance(folder / item.provenance),
        picture=data_address(files[0], files[1]) if item.kind == "figure" else "",
        grid=read_grid(files[0], titles) if item.kind == "table" else None,
        matrix=matrix,
        written=written(files[1], columns) if is_written else None,
        simulated=on_simulated_traffic(item, simulated),
    )


def command_of(item: Item, scale: str) -> str:
    """What makes an item again."""
    return f"snakemake --cores 1 --config scale={scale} -- results/{scale}/{item.outputs[0]}"


def on_simulated_traffic(item: Item, simulated: Collection[str]) -> bool:
    """Whether an item shows what was learned from simulated recordings."""
    return not item.shows_settings and bool(item.experiments_among(simulated))


def is_simulated(scene: str | os.PathLike) -> bool:
    """Whether the traffic of a scene.parquet is simulated, by what the file itself says."""
    read_provenance(scene)  # as it was written
    return (pq.read_schema(scene).metadata or {}).get(SOURCE) == SIMULATED.encode()


def data_address(svg: Path, png: Path) -> str:
    """A picture as an address that holds it: the SVG, or the PNG where that is very large.

    An image of its own, and not markup of the page: identifiers in pictures collide.
    """
    path, kind = (svg, "svg+xml") if svg.stat().st_size <= LARGE else (png, "png")
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _provenance(path: Path) -> Provenance:
    found = read_record(path)
    try:
        return Provenance(
            found["code"],
            json.dumps(found["configuration"], indent=1, sort_keys=True, ensure_ascii=False),
            tuple(sorted(found["inputs"].items())),
            tuple(sorted(found["packages"].items())),
        )
    except KeyError as error:
        raise InputError(
            f"{path}: expected the provenance of {path.stem}, found none with {error}; "
            f"{remedy(path)}"
        ) from error


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
    text = (
        _environment()
        .get_template("page.html")
        .render(
            scale=scale,
            decisive=scale == PAPER_SCALE,
            warning=SCALES.get(scale, "not the paper's."),
            simulated=[titles.get(name, name) for name in simulated],
            titles=titles,
            paper_seeds=opening.PAPER_SEEDS,
            first=_first_look(shown, folder),
            failures=opening.read_failures(folder, titles),
            **_verdicts(folder),
            tables=[one for one in shown if one.item.kind == "table"],
            figures=[one for one in shown if one.item.kind == "figure"],
            anchors={one.item.label: one.item.id for one in shown},
            missing=missing_of_paper(one.item.label for one in shown),
            origin=origin(),
            packages=next((one.provenance.packages for one in shown), ()),
        )
    )
    write_whole(output, text)


def _verdicts(folder: Path) -> dict[str, object]:
    """What the page says of the claims, by the names that it has for it."""
    counts, claims = verdicts.read_verdicts(folder / "claims.parquet")
    return {
        "counts": counts,
        "claims": claims,
        "topics": verdicts.by_topic(claims),
        "fewest": FEWEST,
        "tones": TONES,
        "slugs": SLUGS,
        "bar": verdicts,
    }


def _first_look(shown: Sequence[Shown], folder: Path) -> FirstLook:
    made = {one.item.name: one for one in shown}
    by_id = {one.item.id: one for one in shown}
    times = made.get(opening.TIMES)
    inputs = [path for path, _ in times.provenance.inputs] if times else []
    return FirstLook(
        opening.read_comparison(folder, made),
        by_id.get(opening.PICTURE),
        opening.training_took(folder, made, inputs),
    )


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
