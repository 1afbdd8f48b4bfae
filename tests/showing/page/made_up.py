"""A results folder with a file for every item, none of them drawn."""

import csv

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_record, write_table
from icl_core.measuring.claims.evaluate import CLAIMS_SCHEMA
from icl_core.showing.item import read_items
from icl_core.showing.results_table import COLUMNS as RESULTS
from icl_core.showing.settings_table import COLUMNS as SETTINGS
from icl_core.showing.tables import headway, ours, times_and_bounds

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100">'
    '<rect width="400" height="100" fill="#eee"/><text x="10" y="50">{}</text></svg>'
)
# By function: the columns of tables whose file has more than one kind; else by file.
COLUMNS = {
    "cmse_intervals": ours.INTERVAL_COLUMNS,
    "nad_intervals": ours.INTERVAL_COLUMNS,
    "headway_table": headway.GAP_COLUMNS,
    "training_times_table": times_and_bounds.TIME_COLUMNS,
    "width_table": times_and_bounds.BOUND_COLUMNS,
    "depth_table": times_and_bounds.BOUND_COLUMNS,
}
WORDS = {"method": "icl", "experiment": "gridworld-a", "metric": "cmse", "architecture": "b"}
WORDS |= {"selection": "last", "failed": ""}  # no seed has


def make_results(root):
    """Write everything that the page reads; the items."""
    rng = np.random.default_rng(0)
    items = read_items()
    for item in items:
        first, second = (root / output for output in item.outputs)
        first.parent.mkdir(parents=True, exist_ok=True)
        if item.kind == "figure":
            first.write_text(SVG.format(item.label))
            second.write_bytes(b"png of " + item.name.encode())
        else:
            write_csv(first, columns_of(item), rng)
            second.write_text("# Title\n\n| a |\n| --- |\n\nNotes of <b>it</b>.\n")
        write_record(root / item.provenance, provenance(item), [first, second])
    write_table(root / "claims.parquet", claims(), {})
    return items


def columns_of(item):
    """The columns of a table's CSV."""
    of_file = SETTINGS if item.module.endswith(".settings") else RESULTS
    return COLUMNS.get(item.draw, of_file)


def provenance(item):
    return {
        "code": "c0de",
        "configuration": {"of": item.name},
        "inputs": {f"results/quick/for-{item.id}": "ab" * 32},
        "packages": {"numpy": "2.4"},
        "seeds": [],
    }


def write_csv(path, columns, rng):
    rows = []
    for k in range(3):
        numbers = {name: rng.uniform(0, 20) for name in columns}
        row = [WORDS.get(name, numbers[name]) for name in columns]
        if columns == SETTINGS:
            row = [f"setting {k}", "a.key", "gridworld-a", 0.5 + k, 1.5 + k, ("yes", "no", "no")[k]]
        if columns == RESULTS and k == 2:
            row[1], row[4:7] = "", ["", "", ""]  # a method that was not run
        rows.append(row)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def claims():
    def row(name, verdict, effect, part="here", deciding=True):
        low, high = effect - 0.5, effect + 0.5
        of_part = ("reproduced" if low > 0 else "not reproduced") if effect == effect else "not run"
        unit = "m" if effect == effect else ""
        texts = (name, f"{name} <script>alert(1)</script>", "read so", "Section 5.1, Table 1")
        numbers = (effect, low, high, unit, "5 seeds", deciding)
        return (*texts, "finds", verdict, "Because.", "unclear", part, of_part, *numbers)

    rows = [
        row("first", "reproduced", 1.25),
        row("second", "not reproduced", 2.0, "good part", deciding=False),
        row("second", "not reproduced", -1.0, "bad part"),
        row("third", "not run", float("nan")),
    ]
    columns = zip(CLAIMS_SCHEMA.names, zip(*rows, strict=True), strict=True)
    return pa.table(dict(columns), schema=CLAIMS_SCHEMA)
