"""Two results, cell by cell: what differs beyond the spread of seeds, and what may be why.

A and B are folders of results (results/quick, docs/results) or commits of this repository. Of a
commit that is compared which it published in docs/results.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import tarfile
import tempfile
import textwrap
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from icl_core.disk import write_whole
from icl_core.errors import InputError
from icl_core.layout import path
from icl_core.showing import page
from icl_core.showing.differences import (
    Cell,
    as_grid,
    as_markdown,
    cells,
    method_title,
    same,
    summary,
)
from icl_core.showing.item import read_items
from icl_core.showing.latex import as_latex
from icl_core.tables import counted
from workflow.lib.publish import OUTPUT as PUBLISHED
from workflow.lib.publishing.making import SOURCES
from workflow.program.comparison import (
    Change,
    Code,
    Pair,
    Side,
    changed_code,
    changed_settings,
    only,
    pairs,
    provenances,
    shown,
)

DEFAULT = Path("results/compare")
FEW = 20  # lines of a list that are printed; the page has all of them
KINDS = {"svg": "svg+xml", "png": "png"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The two, and where the page goes."""
    what = "a folder of results, or a commit (then: what it published in docs/results)"
    parser.add_argument("a", metavar="A", help=what)
    parser.add_argument("b", metavar="B", help="likewise")
    parser.add_argument(
        "--output", metavar="FOLDER", help=f"where the page goes (default: a folder in {DEFAULT})"
    )
    parser.add_argument("--latex", action="store_true", help="the cells as LaTeX, not Markdown")


def main(given: argparse.Namespace) -> int:
    """Compare, print and write the page."""
    folder = Path(given.output) if given.output else DEFAULT / f"{_slug(given.a)}--{_slug(given.b)}"
    with tempfile.TemporaryDirectory() as scratch:
        a = open_side(given.a, Path(scratch, "a"))
        b = open_side(given.b, Path(scratch, "b"))
        found = compare(a, b)
        if found.equal:
            print(f"Equal: {a.name} and {b.name} have {found.sizes}, the same on both sides.")
            return 0
        table = latex(found) if given.latex else as_markdown(found.shared)
        print("\n".join([f"A: {a.name}", f"B: {b.name}", "", table, *report(found)]))
        write_whole(folder / f"cells.{'tex' if given.latex else 'md'}", f"{table}\n")
        write_whole(folder / "compare.html", html(found))
    print(f"\nThe page: {folder / 'compare.html'}")
    return 0


def _slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name).strip("-.")


def open_side(given: str, scratch: Path) -> Side:
    """A folder, or what a commit published, unpacked into `scratch`."""
    folder, commit = Path(given), ""
    if not folder.is_dir():
        commit = _git("rev-parse", "--verify", "--quiet", f"{given}^{{commit}}").decode().strip()
        if not commit:
            raise InputError(
                f"{given}: expected a folder of results or a commit of this repository, found "
                "neither; name a folder such as results/quick, seen from the project's folder"
            )
        folder = scratch / PUBLISHED
        packed = _git("archive", "--format=tar", commit, PUBLISHED.as_posix())
        if packed:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(scratch, filter="data")
    metrics = folder / path("metrics")
    if not metrics.is_file():
        place = f"commit {given}: {PUBLISHED / path('metrics')}" if commit else f"{metrics}"
        other = "commit that published some" if commit else "folder with some, like results/quick"
        raise InputError(
            f"{place}: expected the metrics of a run, found no such file; name a {other}"
        )
    return Side(given, folder, commit)


def _git(*arguments: str) -> bytes:
    """What git says; nothing where it fails or is not there."""
    try:
        return subprocess.run(["git", *arguments], capture_output=True).stdout
    except OSError:
        return b""


@dataclass(frozen=True)
class Comparison:
    """Everything that was compared."""

    a: Side
    b: Side
    cells: list[Cell]
    settings: list[Change]
    code: Code
    commits: list[str]  # files of code in which two commits differ
    figures: list[Pair]
    tables: list[Pair]
    only: dict[str, Mapping[str, int]]  # artifacts that A or B alone has, by where they belong

    @property
    def equal(self) -> bool:
        """Whether the results are: all values, settings, code, figures and tables."""
        items = all(pair.equal for pair in (*self.figures, *self.tables))
        differ = self.settings or self.code or any(self.only.values())
        return items and not differ and same(self.a.metrics, self.b.metrics)

    @property
    def shared(self) -> list[Cell]:
        """The cells that both have."""
        return [cell for cell in self.cells if cell.a and cell.b]

    @property
    def sizes(self) -> str:
        """How much was compared."""
        counts = (len(self.cells), len(self.tables), len(self.figures))
        return ", ".join(map(counted, counts, ("cell", "table", "figure")))


def compare(a: Side, b: Side) -> Comparison:
    """Compare two sides in all respects."""
    commits = [a.commit, b.commit]
    between = _git("diff", "--name-only", *commits, "--", *SOURCES) if all(commits) else b""
    return Comparison(
        a,
        b,
        cells(a.metrics, b.metrics),
        changed_settings(*provenances(a, b)),
        changed_code(a, b),
        between.decode().splitlines(),
        pairs(a, b, "figure"),
        pairs(a, b, "table"),
        {"A": only(a, b), "B": only(b, a)},
    )


# What is printed


def latex(found: Comparison) -> str:
    """The cells as a LaTeX table."""
    caption = f"{found.a.name} (A) and {found.b.name} (B), cell by cell."
    return as_latex(as_grid(found.shared, summary(found.shared)), caption, "compare")


def report(found: Comparison) -> list[str]:
    """Settings, code, figures and tables, what only one has: as lines."""
    lines = []
    for title, entries in sections(found).items():
        lines += ["", f"{title}:" if entries else f"{title}: none."]
        lines += [line for entry in entries[:FEW] for line in _indented(entry)]
        if len(entries) > FEW:
            lines.append(f"  and {len(entries) - FEW} more, all of them on the page")
    return lines


def _indented(entry: str) -> list[str]:
    return textwrap.wrap(
        entry, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


def sections(found: Comparison) -> dict[str, list[str]]:
    """What differs besides the cells, by title."""
    items = [*found.figures, *found.tables]
    differ = [pair.name for pair in items if pair.a and pair.b and not pair.equal]
    equal = sum(pair.equal for pair in items)
    parts = {}
    if all(cell.equal for cell in found.cells) and not same(found.a.metrics, found.b.metrics):
        parts["Metrics that differ"] = ["only those of iterations before the reported one"]
    parts |= {
        "Settings that differ, A -> B": [_setting(change) for change in found.settings],
        "Code that differs": _code(found.code),
    }
    if found.a.commit and found.b.commit:
        parts["Files of code that differ between the two commits"] = found.commits
    parts[f"Figures and tables that differ ({equal} are equal)"] = (
        [", ".join(differ)] if differ else []
    )
    for side in ("A", "B"):
        parts[f"Only {side} has"] = _alone(found, side)
    return parts


def _setting(change: Change) -> str:
    """One line, with the experiments if they are few."""
    places = [name.split("/") for name in change.artifacts if name.count("/") > 1]
    where = sorted({parts[2 if parts[0] == "tables" else 1] for parts in places})
    of = f" of {', '.join(where)}" if 0 < len(where) <= 3 else ""
    number = counted(len(change.artifacts), "artifact")
    return f"{change.key} {change.a} -> {change.b} ({number}{of})"


def _alone(found: Comparison, side: str) -> list[str]:
    """What one side has and the other has not: runs, figures, tables and other files."""
    other = "b" if side == "A" else "a"
    metrics: dict[str, list[str]] = {}
    for cell in found.cells:
        if not getattr(cell, other):
            run = f"{method_title(cell.method)} on {cell.experiment}"
            metrics.setdefault(run, []).append(cell.metric.upper())
    lines = [f"{run} ({', '.join(names)})" for run, names in metrics.items()]
    items = [pair.name for pair in (*found.figures, *found.tables) if not getattr(pair, other)]
    lines += [", ".join(items)] if items else []
    return lines + [f"{place} ({counted(n, 'file')})" for place, n in found.only[side].items()]


def _code(code: Code) -> list[str]:
    lines = [f"{file} ({counted(n, 'artifact')})" for file, n in code.edited.items()]
    if code.unknown:
        number = counted(code.unknown, "artifact")
        lines.append(f"in files whose digests nobody kept ({number} with other code)")
    return lines


# The page


def html(found: Comparison) -> str:
    """The same as a page that needs no other file, with the figures side by side."""
    folders = [Path(__file__).parent, *map(Path, page.__path__)]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    titles = {item.name: f"{item.label}. {item.title}" for item in read_items()}
    grid = as_grid(found.shared)
    return environment.get_template("compare.html").render(
        a=found.a.name,
        b=found.b.name,
        summary=summary(found.shared),
        head=grid.head,
        right=grid.right,
        rows=list(zip(found.shared, grid.rows, strict=True)),
        sections=sections(found),
        figures=[
            (titles.get(pair.name, pair.name), _picture(pair.a), _picture(pair.b))
            for pair in found.figures
            if not pair.equal
        ],
        equal=[titles.get(pair.name, pair.name) for pair in found.figures if pair.equal],
    )


def _picture(files: Sequence[Path]) -> str:
    """As an address that holds it; nothing where there is none."""
    if not files:
        return ""
    kind, content = shown(files)
    return f"data:image/{KINDS[kind]};base64,{b64encode(content).decode()}"
