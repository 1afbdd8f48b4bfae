"""Tables and figures as LaTeX, from the Markdown that readers of the results get.

A document that includes them needs the packages array, booktabs, graphicx and longtable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# Characters in a line above which a table is too wide for a page, and rows that are too many.
WIDE, LONG = 105, 30
# LaTeX gives these a meaning of its own; < > | print as other signs in its oldest fonts.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
}
SYMBOLS = {
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "–": "--",
    "—": "---",
}

_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_FREE = r"(?<![\w.)-])"  # a hyphen inside a word or a range is no sign
_PARTS = re.compile(
    rf"(?P<spread>{_FREE}{_NUMBER} ± {_NUMBER})"
    rf"|(?P<power>{_FREE}[+-]?\d+(?:\.\d+)?e[+-]?\d+(?!\w))"
    rf"|(?P<signed>{_FREE}[+-]\d[\d,]*(?:\.\d+)?(?!\w))"
    r'|(?P<quoted>"[^"]*")'
    rf"|(?P<special>[{re.escape(''.join(SPECIAL))}])"
    rf"|(?P<symbol>[{''.join(SYMBOLS)}])"
)
_EMPHASIS = re.compile(r"(\*\*.+?\*\*|\*[^*\s][^*]*\*|`[^`]+`)")


class Grid(NamedTuple):
    """A table as Markdown writes it."""

    head: tuple[str, ...]
    right: tuple[bool, ...]  # whether a column is set to the right
    rows: tuple[tuple[str, ...], ...]
    lead: str = ""  # what stands between the title and the table
    notes: str = ""  # what stands below it


def read_markdown(text: str) -> Grid:
    """The only table of a Markdown text.

    >>> read_markdown("# T\\n\\n| a | b |\\n| --- | ---: |\\n| x | 1 |\\n\\nNotes.\\n").rows
    (('x', '1'),)
    """
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    place = next(k for k, block in enumerate(blocks) if block.startswith("|"))
    head, rule, *rows = map(_cells, lines)
    right = tuple(mark.endswith(":") for mark in rule)
    lead = [block for block in blocks[:place] if not block.startswith("#")]
    notes = [block for block in blocks[place + 1 :] if block]
    return Grid(head, right, tuple(rows), " ".join(lead), " ".join(notes))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip()[1:-1].split("|"))


def inline(text: str) -> str:
    """Words of Markdown as LaTeX: emphasis, numbers with ± or a power of ten, special signs.

    >>> inline("**0.31 ± 0.01** of 5e-04, p_slip")
    '\\\\textbf{\\\\boldmath $0.31 \\\\pm 0.01$} of $5 \\\\times 10^{-4}$, p\\\\_slip'
    """
    return "".join(map(_emphasised, _EMPHASIS.split(text)))


def _emphasised(part: str) -> str:
    if part.startswith("**") and len(part) > 4:
        inner = _plain(part[2:-2])
        # Bold words leave numbers in math alone.
        return rf"\textbf{{\boldmath {inner}}}" if "$" in inner else rf"\textbf{{{inner}}}"
    if not _EMPHASIS.fullmatch(part):
        return _plain(part)
    command = r"\texttt" if part.startswith("`") else r"\emph"
    return f"{command}{{{_plain(part[1:-1])}}}"


def _plain(text: str) -> str:
    return _PARTS.sub(_replaced, text)


def _replaced(found: re.Match) -> str:
    text = found[0]
    match found.lastgroup:
        case "spread":
            mean, std = text.split(" ± ")
            return rf"${_number(mean)} \pm {_number(std)}$"
        case "quoted":
            return f"``{_plain(text[1:-1])}''"
        case "special":
            return SPECIAL[text]
        case "symbol":
            return SYMBOLS[text]
    return f"${_number(text)}$"


def _number(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    shown = mantissa.replace(",", "{,}")
    return rf"{shown} \times 10^{{{int(exponent)}}}" if exponent else shown


def as_latex(grid: Grid, caption: str, label: str) -> str:
    """A table that floats, or one over several pages where it is too long or too wide for that."""
    widths = [max(map(_length, column)) for column in zip(grid.head, *grid.rows, strict=True)]
    if sum(widths) > WIDE or len(grid.rows) > LONG:
        return long_table(grid, caption, label)
    columns = "".join("r" if right else "l" for right in grid.right)
    notes = rf"\par\smallskip\raggedright {inline(grid.notes)}" if grid.notes else ""
    lines = [
        r"\begin{table}[!htbp]",
        r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{inline(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        _row(grid.head),
        r"\midrule",
        *map(_row, grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *filter(None, [notes]),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def long_table(grid: Grid, caption: str, label: str) -> str:
    """A table that goes on over pages, its columns as wide as what they hold asks for."""
    head = [r"\toprule", _row(grid.head), r"\midrule"]
    goes_on = rf"\multicolumn{{{len(grid.head)}}}{{r@{{}}}}{{\emph{{goes on}}}} \\"
    lines = [
        r"\begingroup\scriptsize\setlength{\tabcolsep}{3pt}\setlength{\LTcapwidth}{\linewidth}",
        rf"\begin{{longtable}}{{@{{}}{_widths(grid)}@{{}}}}",
        rf"\caption{{{inline(caption)}}}\label{{{label}}}\\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        r"\midrule",
        goes_on,
        r"\endfoot",
        r"\bottomrule",
        r"\endlastfoot",
        *(_breakable(_row(row)) for row in grid.rows),
        r"\end{longtable}",
        *([rf"\noindent {inline(grid.notes)}\par"] if grid.notes else []),
        r"\endgroup",
    ]
    return "\n".join(lines) + "\n"


def _widths(grid: Grid) -> str:
    """Columns that break their lines. The root of the length: long cells may take more lines."""
    columns = zip(grid.head, *grid.rows, strict=True)
    roots = [max(map(_length, column)) ** 0.5 for column in columns]
    return "".join(
        rf">{{\ragged{'left' if right else 'right'}\arraybackslash\hspace{{0pt}}}}"
        rf"p{{\dimexpr {root / sum(roots):.3f}\linewidth-2\tabcolsep\relax}}"
        for root, right in zip(roots, grid.right, strict=True)
    )


def _length(cell: str) -> int:
    return len(cell.replace("*", "").replace("`", ""))


def _row(cells: Sequence[str]) -> str:
    """A line of a table; a dash stands for what is not there."""
    shown = ["--" if cell == "-" else inline(cell) for cell in cells]
    # LaTeX would read a bracket after the end of the line before as an option of it.
    if shown[0].startswith("["):
        shown[0] = f"{{}}{shown[0]}"
    return f"{' & '.join(shown)} \\\\"


def _breakable(row: str) -> str:
    """The names of settings may break behind their dots."""
    return re.sub(r"(?<=[a-z])\.(?=[a-z])", r".\\allowbreak{}", row)


def figure(file: str, caption: str, label: str) -> str:
    """A figure that floats, in the size that it was drawn in."""
    lines = [
        r"\begin{figure}[!htbp]",
        r"\centering",
        rf"\includegraphics{{{file}}}",
        rf"\caption{{{inline(caption)}}}",
        rf"\label{{{label}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines) + "\n"
