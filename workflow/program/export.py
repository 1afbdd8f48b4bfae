"""Every table and figure of a run for a paper in LaTeX, and the verdicts on the paper's claims.

Tables come from the stored Markdown; figures are drawn again, as PDF, from the stored results.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import matplotlib

from icl_core.disk import atomic, write_whole
from icl_core.errors import InputError
from icl_core.measuring.results import Results
from icl_core.showing.item import Item
from icl_core.showing.latex import as_latex, figure, inline, long_table, read_markdown
from icl_core.showing.save import settle
from icl_core.showing.style import publication_style
from icl_core.tables import counted
from workflow.lib.configuration import FULL
from workflow.lib.plan import Plan
from workflow.lib.publishing.run import Run, missing_items, read_run
from workflow.lib.shown import Shown

ALL, CLAIMS = "all.tex", "claims"
FLOATS = 6  # figures and tables in a row: LaTeX holds back only so many
# Figures are at most 6.75 inches wide: with these margins none has to be scaled.
HEAD = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[a4paper,margin=1.9cm]{geometry}
\usepackage{array,booktabs,graphicx,longtable}
\begin{document}
"""
# What a PDF says of its making, left out: the bytes depend on nothing but the picture.
NO_METADATA = dict.fromkeys(("Creator", "Producer", "CreationDate"))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Where to, and of which run."""
    parser.add_argument(
        "--latex", metavar="FOLDER", required=True, help="the folder to write all.tex and more to"
    )
    parser.add_argument(
        "--scale", default=FULL, help="results/SCALE is what is exported (default: %(default)s)"
    )


def main(given: argparse.Namespace) -> int:
    """Write everything that is there, and say what is not."""
    folder = Path(given.latex)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder, found a file; name another with --latex")
    run = read_run(Path(), given.scale)
    gone = export(run, folder)
    missing = [*missing_items(run), *gone]
    if missing:
        print(f"Missing: {'; '.join(f'{label} ({why})' for label, _, why in missing)}.")
    kinds = [item.kind for item in run.items if item.label not in [label for label, *_ in gone]]
    counts = [counted(kinds.count(kind), kind) for kind in ("table", "figure")]
    print(f"{folder / ALL} includes {', '.join(counts)} and the claims.")
    return 0


def export(run: Run, folder: Path) -> list[tuple[str, str, str]]:
    """Write the items of a run; label, title and reason of those that cannot be drawn again."""
    shown = Shown(Plan(run.done, run.root))
    made, gone = [], []
    for item in run.items:
        lost = lost_inputs(item, shown) if item.kind == "figure" else []
        if lost:
            gone.append((item.label, item.title, f"{lost[0]} is no longer there"))
            continue
        if item.kind == "figure":
            file = f"figures/{item.name}.pdf"
            draw(item, shown, folder / file)
            text = figure(file, caption(run, item), item.name)
        else:
            grid = read_markdown((run.results / item.outputs[1]).read_text("utf-8"))
            text = as_latex(grid, caption(run, item), item.name)
        write_whole(folder / f"{item.kind}s/{item.name}.tex", text)
        made.append(item)
    write_whole(folder / f"{CLAIMS}.tex", claims(run))
    write_whole(folder / ALL, document(made))
    return gone


def lost_inputs(item: Item, shown: Shown) -> list[str]:
    """The files that a figure was drawn from and that have been removed since."""
    return [path for path in shown.inputs({item.kind: item.name}) if not Path(path).is_file()]


def draw(item: Item, shown: Shown, file: Path) -> None:
    """Draw a figure as PDF; equal results give equal bytes."""
    job = {item.kind: item.name}
    settings = shown.settings(job)
    results = Results.from_settings(settings, shown.inputs(job))
    with publication_style():
        matplotlib.rcParams["pdf.fonttype"] = 42  # TrueType: publishers refuse Type 3
        picture = item.load()(results, item.experiments_among(results.worlds))
        settle(picture)
        with atomic(file) as temporary:
            picture.savefig(temporary, metadata=NO_METADATA, **settings["showing"])


def caption(run: Run, item: Item) -> str:
    """What stands below it."""
    simulated = " On simulated traffic." if run.on_simulated_traffic(item) else ""
    return f"{item.caption}{simulated}"


def claims(run: Run) -> str:
    """The paper's claims and our verdicts, over several pages."""
    grid = read_markdown((run.results / "claims.md").read_text("utf-8"))
    return long_table(grid, f"The paper's claims, and our verdicts. {grid.lead}", CLAIMS)


def document(items: Iterable[Item]) -> str:
    """A document that includes everything, numbered as the paper numbers it."""
    parts = [HEAD + _included("table", "C", CLAIMS), r"\clearpage"]
    for k, item in enumerate(items, start=1):
        number = inline(item.label.partition(" ")[2])
        parts.append(_included(item.kind, number, f"{item.kind}s/{item.name}"))
        if k % FLOATS == 0:
            parts.append(r"\clearpage")
    return "\n".join([*parts, r"\end{document}"]) + "\n"


def _included(kind: str, number: str, file: str) -> str:
    """A file with a number of its own in place of the next one: captions name each other by it."""
    return rf"{{\renewcommand{{\the{kind}}}{{{number}}}\input{{{file}}}}}"
