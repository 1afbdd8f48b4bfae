"""Table 3b: the paper's algorithm solved exactly, beside the networks. Ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.metrics import CMSE, NAD, constraint_error
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell, summary
from icl_core.showing.exact import METHODS, Place, places_of
from icl_core.showing.loading import metrics_of
from icl_core.showing.save import Table
from icl_core.showing.style import plus_minus
from icl_core.tables import counted, failed_of, markdown_rows

ITEMS = [
    {
        "number": 3,
        "suffix": "b",
        "name": "exact",
        "title": "Algorithm 1 solved exactly, and by networks",
        "caption": (
            "CMSE and NAD of Algorithm 1 on both gridworlds and where moves slip: solved exactly "
            "with the paper's objective (Equation 5) and with ours, one value for each cell, and "
            "by the networks of ICL; and the CMSE of the constraint that forbids nothing. All "
            "learn from the same demonstrations. Mean and standard deviation over seeds, which "
            "draw among equally good exact solutions. An exact alternation ends where a policy "
            "comes again; at smaller scales than the paper's it is cut off, at quick after 10 "
            "adjustments, and the networks of Gridworld (B) with slips are trained for less."
        ),
        "category": "What can be known",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-exact",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-b",
            "gridworld-b-exact",
            "gridworld-b-slip-10",
            "gridworld-b-slip-30",
        ],
        "fewest": 2,
    },
]

COLUMNS = ("world", "slip", "method", "metric", "mean", "std", "seeds", "failed")
NOTHING = "c = 0"


def draw(results: Results, experiments: Sequence[str]) -> Table:
    """A row for each method and metric, a column for each world."""
    metrics, places = metrics_of(results), places_of(results, experiments)
    found = {metric: summary(metrics, metric) for metric in (CMSE, NAD)}
    lines = [["Solved", "Metric", *(place.title for place in places)]]
    lines.append(["---", "---", *("---:" for _ in places)])
    rows: list[tuple] = []
    for metric, cells in found.items():
        if metric == CMSE:
            errors = [_error_of_nothing(place.world) for place in places]
            lines.append([NOTHING, "CMSE", *(f"{error:.3f}" for error in errors)])
            for place, error in zip(places, errors, strict=True):
                rows.append((place.name, place.world.slip, NOTHING, CMSE, error, 0.0, "", ""))
        for method, title in METHODS.items():
            own = [_cell(cells, place, method) for place in places]
            lines.append([title, metric.upper(), *map(_text, own)])
            rows += [
                _row(place, method, metric, cell)
                for place, cell in zip(places, own, strict=True)
                if cell
            ]
    notes = (
        f"Scale of our run: {results.scale}, {_seeds(rows)}. Mean ± standard deviation (ddof 0) "
        "over seeds; lower is better. A dash: not run at this scale."
    )
    text = f"# {ITEMS[0]['title']}\n\n{markdown_rows(lines)}\n\n{notes}\n"
    return Table(COLUMNS, tuple(rows), text)


def _error_of_nothing(world: Gridworld) -> float:
    return float(constraint_error(world, np.zeros(world.grid.shape)))


def _cell(cells: dict[tuple[str, str], Cell], place: Place, method: str) -> Cell | None:
    return next((cells[one, method] for one in place.experiments if (one, method) in cells), None)


def _text(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    lost = failed_of(len(cell.failed), len(cell.seeds) + len(cell.failed))
    return f"{plus_minus(cell.mean, cell.std)}{lost}" if cell.seeds else "failed"


def _row(place: Place, method: str, metric: str, cell: Cell) -> tuple:
    values = (cell.mean, cell.std) if cell.seeds else ("", "")
    failed = len(cell.failed) or ""
    return (place.name, place.world.slip, method, metric, *values, len(cell.seeds), failed)


def _seeds(rows: Sequence[tuple]) -> str:
    counts = sorted({row[6] for row in rows if row[6] != ""})
    return " or ".join(counted(n, "seed") for n in counts) or "no seeds"
