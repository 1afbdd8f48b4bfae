"""Tables hold the numbers that they were given, and say whose they are."""

import csv

import numpy as np
import pytest

from icl_core.measuring.paper import PAPER
from icl_core.measuring.results import Results
from icl_core.measuring.statistics import Cell
from icl_core.showing.results_table import build
from icl_core.showing.save import save_table, show
from icl_core.showing.tables.ours import build_intervals
from tests.fake_results import TITLES
from tests.showing.conftest import ITEMS

SYNTHETIC = ITEMS["table-01-cmse"].experiments
RUN = Results("quick", {}, (), TITLES)
COLUMNS = {name: name for name in SYNTHETIC}

CELLS = {
    ("gridworld-a", "icl"): Cell(1 / 3, 0.1 + 0.2, (1, 2)),
    ("gridworld-b", "icl"): Cell(float("nan"), float("nan"), (1, 2)),
    ("cartpole-mr", "icl"): Cell(0.02, 0.0, (1, 2)),
}
LAST = {"last": CELLS}


def read(path):
    with open(path, newline="") as file:
        return {(row["method"], row["experiment"]): row for row in csv.DictReader(file)}


def lines(markdown):
    cells = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line[:1] == "|"]
    return {tuple(line[:2]): line[2:] for line in cells}


def test_csv_reads_back_to_the_same_bits(tmp_path):
    save_table(build(RUN, "cmse", LAST, COLUMNS), tmp_path / "t.csv", tmp_path / "t.md")
    rows = read(tmp_path / "t.csv")
    assert float(rows["icl", "gridworld-a"]["mean"]) == 1 / 3
    assert float(rows["icl", "gridworld-a"]["std"]) == 0.1 + 0.2
    assert rows["icl", "gridworld-a"]["seeds"] == "2"
    assert rows["icl", "gridworld-b"]["mean"] == "nan"
    assert float(rows["icrl", "cartpole-mid"]["paper_mean"]) == 0.27
    assert len(rows) == 12


def test_methods_that_were_not_run_stand_with_the_papers_value_only(tmp_path):
    table = build(RUN, "cmse", LAST, COLUMNS)
    save_table(table, tmp_path / "t.csv")
    assert read(tmp_path / "t.csv")["icrl", "gridworld-a"]["mean"] == ""
    found = lines(table.markdown)
    assert found["ICRL", "paper"] == ["0.11 ± 0.02", "0.21 ± 0.04", "0.21 ± 0.16", "0.27 ± 0.03"]
    assert [key for key in found if key[1].startswith("ours")] == [
        ("ICL", "ours, 2 seeds, last policy")
    ]
    assert "Run here: ICL;" in table.markdown and "Scale of our run: quick" in table.markdown


def test_markdown_cells():
    found = lines(build(RUN, "cmse", LAST, COLUMNS).markdown)
    ours = found["ICL", "ours, 2 seeds, last policy"]
    # Nothing to choose between: none is the lowest.
    assert ours == ["0.333 ± 0.300", "undefined", "0.020 ± 0.000", "-"]


def test_each_selection_has_a_line_and_the_lowest_of_ours_is_bold():
    better = {("gridworld-a", "icl"): Cell(0.1, 0.0, (1, 2))}
    others = {("gridworld-a", "icrl"): Cell(0.3, 0.0, (1, 2))}
    table = build(RUN, "cmse", {"last": CELLS | others, "best": better}, COLUMNS)
    found = lines(table.markdown)
    assert found["ICL", "ours, 2 seeds, last policy"][0] == "0.333 ± 0.300"
    assert found["ICL", "ours, 2 seeds, best by NAD"] == ["**0.100 ± 0.000**", "-", "-", "-"]
    assert found["ICRL", "ours, 2 seeds, last policy"][0] == "0.300 ± 0.000"
    assert [row[:3] for row in table.rows if row[0] == "icl" and row[2] == "gridworld-a"] == [
        ("icl", "last", "gridworld-a"),
        ("icl", "best", "gridworld-a"),
    ]
    paper = {row[:3]: row[7] for row in table.rows}
    assert paper["icl", "last", "gridworld-a"] == 0.08
    assert paper["icl", "best", "gridworld-a"] == ""  # the paper selects nothing


def test_a_method_and_an_experiment_that_the_paper_does_not_have():
    cells = {("mine", "new"): Cell(1.0, 0.5, (1,)), **CELLS}
    run = Results("smoke", {}, (), {**TITLES, "new": "New method"})
    table = build(run, "nad", {"last": cells}, {**COLUMNS, "mine": "My world"})
    found = lines(table.markdown)
    assert found["Algorithm", "From"][-1] == "My world"
    assert found["New method", "ours, 1 seed, last policy"] == ["-", "-", "-", "-", "1.000 ± 0.500"]
    assert found["ICL", "paper"][-1] == "-"
    assert table.rows[-1][:3] == ("new", "last", "mine")  # behind the paper's methods


def test_intervals_hold_the_seeds_middle():
    values = {
        (name, method): {seed: shift + seed for seed in range(1, 6)}
        for name in SYNTHETIC
        for method, shift in (("icl", 0.0), ("icrl", 10.0))
    }
    values["gridworld-a", "new"] = {1: float("nan"), 2: 1.0}
    table = build_intervals(RUN, "nad", values, SYNTHETIC)
    rows = {row[:2]: row[3:] for row in table.rows}
    assert rows["icl", "gridworld-a"][0] == rows["icl", "all"][0] == 3.0
    assert rows["icrl", "all"][0] == 13.0
    for iqm, low, high, *_ in (rows[key] for key in rows if key[0] != "new"):
        assert low < iqm < high
    # seeds of four environments say more than those of one
    assert np.ptp(rows["icl", "all"][1:3]) < np.ptp(rows["icl", "gridworld-a"][1:3])
    assert ("new", "all") not in rows
    assert "| new | undefined | - | - | - | - |" in table.markdown
    assert table.markdown.index("ICRL") < table.markdown.index("| ICL")
    # a cell does not depend on which others are shown
    alone = build_intervals(RUN, "nad", values, SYNTHETIC[:1])
    assert alone.rows[0] == next(row for row in table.rows if row[:2] == alone.rows[0][:2])


@pytest.mark.parametrize("name", ["table-01b-cmse-intervals", "table-02b-nad-intervals"])
def test_interval_tables_from_results(name, results, tmp_path):
    outputs = [tmp_path / name for name in ("t.csv", "t.md")]
    show(ITEMS[name], results, outputs)
    rows = read(outputs[0])
    assert set(rows) == {(m, e) for m in TITLES for e in (*SYNTHETIC, "all")}
    assert "| Algorithm | Gridworld (A) | " in outputs[1].read_text()
    assert {row["metric"] for row in rows.values()} == {name.split("-")[2]}


@pytest.mark.parametrize("name", ["table-01-cmse", "table-02-nad"])
def test_tables_from_results(name, results, tmp_path):
    outputs = [tmp_path / name for name in ("t.csv", "t.md")]
    show(ITEMS[name], results, outputs)
    rows = read(outputs[0])
    assert "| Algorithm | From | Gridworld (A) | " in outputs[1].read_text()
    assert {row["metric"] for row in rows.values()} == {name.split("-")[-1]}
    assert all(rows["icl", experiment]["seeds"] == "3" for experiment in SYNTHETIC)


def test_the_papers_values_are_complete():
    assert {metric: len(values) for metric, values in PAPER.items()} == {"cmse": 21, "nad": 21}
    assert PAPER["nad"]["cartpole-mid", "icl"] == (3.04, 1.93)
    assert PAPER["cmse"]["gridworld-b", "gail-constraint"] == (0.25, 0.01)
    assert PAPER["cmse"]["ant", "icrl"] == (0.41, 0.00)
    assert PAPER["nad"]["halfcheetah", "icl"] == (10.16, 7.49)
