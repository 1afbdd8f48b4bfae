"""Table transfer: what a learned constraint is worth to other agents and elsewhere. Ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from icl_core.measuring.claims.intervals import Estimate
from icl_core.measuring.results import Results
from icl_core.measuring.transfer import MEASURES, by_condition, student_interval, transfers_of
from icl_core.showing.save import Table
from icl_core.tables import counted, markdown_rows

ITEMS = [
    {
        "title": "Learned constraints, moved to other agents and dynamics",
        "caption": (
            "Agents that saw no demonstration, trained without a cost, with the constraint that "
            "ICL has learned (the mean over its seeds) and with the true one, in worlds with the "
            "changes that are named. Mean return and mean true discounted cost of evaluation "
            "episodes, with 95 % intervals by Student's t over the agents' seeds. A constraint "
            "that can be moved brings the cost below beta, and leaves the return near that of the "
            "true one."
        ),
        "category": "Transfer",
        "needs": ["transfer"],
        "experiments": ["gridworld-a", "cartpole-mr", "nav", "ant"],
        "method": "icl",
    },
]

TITLES = {"none": "without", "learned": "learned", "true": "true"}
COLUMNS = (
    *("experiment", "change", "agent", "condition", "beta", "seeds", "episodes"),
    *(f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")),
)


def draw(results: Results, experiments: Sequence[str]) -> Table:
    """A row for each experiment and condition."""
    tables = transfers_of(results, experiments)
    rows = tuple(row for name, table in tables.items() for row in _rows(results, name, table))
    text = f"# {ITEMS[0]['title']}\n\n{_markdown(results, rows)}\n\n{_notes(results, rows)}\n"
    return Table(COLUMNS, rows, text)


def _rows(results: Results, experiment: str, table: pa.Table) -> list[tuple]:
    """Empty fields where an interval has no ends."""
    first, values = table.to_pylist()[0], {m: by_condition(table, m) for m in MEASURES}
    found = []
    for condition, returns in values["return"].items():
        numbers = [n for m in MEASURES for n in student_interval(values[m][condition])]
        known = (experiment, first["change"], first["agent"], condition, results.beta(experiment))
        sizes = (len(returns), first["episodes"])
        found.append((*known, *sizes, *("" if n != n else n for n in numbers)))
    return found


def _markdown(results: Results, rows: Sequence[tuple]) -> str:
    head = ["Environment", "Change", "Agent", "Cost", "Return", "True cost", "Beta"]
    lines = [head, [*["---"] * 4, *["---:"] * 3]]
    for row in (dict(zip(COLUMNS, values, strict=True)) for values in rows):
        numbers = [_cell(row, "return"), _cell(row, "true_cost"), f"{row['beta']:g}"]
        change, cost = row["change"] or "none", TITLES[row["condition"]]
        title = results.worlds[row["experiment"]].title
        lines.append([title, change, row["agent"], cost, *numbers])
    return markdown_rows(lines)


def _cell(row: Mapping, measure: str) -> str:
    mean, low, high = Estimate(*(row[f"{measure}{end}"] for end in ("", "_low", "_high")))
    return f"{mean:.2f}" if low == "" else f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def _notes(results: Results, rows: Sequence[tuple]) -> str:
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    seeds = " or ".join(counted(n, "seed") for n in sorted({row["seeds"] for row in named}))
    episodes = " or ".join(str(n) for n in sorted({row["episodes"] for row in named}))
    return (
        f"Scale of our run: {results.scale}, {seeds}, {episodes} episodes each. Mean over seeds "
        "and its 95 % interval by Student's t. The cost is the discounted sum of the true "
        "constraint, whatever the agent was told; it is to be at most beta."
    )
