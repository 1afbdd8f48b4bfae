"""What `icl compare` says of two results: cells with intervals, settings, code, figures."""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from icl_core.artifacts import read_provenance, read_table, write_table
from icl_core.errors import InputError
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.program import main as icl
from icl_core.showing.differences import Cell, cells, difference, same
from workflow.lib import publish
from workflow.program import compare
from workflow.program.comparison import Pair, Side, changed_code, changed_settings

ROOT = Path(__file__).parents[2]
# The quantiles of Student's t at 97.5 % for one and two degrees of freedom have closed forms.
ONE = math.tan(0.475 * math.pi)
TWO = 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025))
ADJUSTMENT = "runs/gridworld-a/icl/seeds-1-2/iteration-01/adjustment.parquet"
FIGURE = "figure-16-constraint-gridworld-a"


def run(capsys, *given):
    """What the command prints, by line."""
    parser = argparse.ArgumentParser()
    compare.arguments(parser)
    assert compare.main(parser.parse_args([str(one) for one in given])) == 0
    return capsys.readouterr().out.splitlines()


def metrics(values):
    """A table of metrics: the reported values by (experiment, method, metric), each by seed."""
    rows = [
        (
            experiment,
            experiment,
            method,
            seed,
            iteration,
            metric,
            value + 7 * (1 - iteration),
            reported,
            "last" if reported else "",
            0,
        )
        for (experiment, method, metric), seeds in values.items()
        for seed, value in seeds.items()
        for iteration, reported in ((0, False), (1, True))
    ]
    columns = zip(METRICS_SCHEMA.names, zip(*rows, strict=True), strict=True)
    return pa.table(dict(columns), schema=METRICS_SCHEMA)


def folder(place, values):
    """A folder of results with metrics and nothing else."""
    write_table(place / "metrics.parquet", metrics(values), {})
    return place


# Intervals


def test_the_same_seeds_are_paired():
    a, b = {1: 5.0, 2: 7.0, 3: 9.0}, {1: 6.0, 2: 9.0, 3: 12.0}
    size, low, high = difference(a, b)  # differences 1, 2, 3: deviation 1
    assert size == 2
    assert (low, high) == pytest.approx((2 - TWO / math.sqrt(3), 2 + TWO / math.sqrt(3)))
    size, low, high = difference({1: 0.0, 4: 0.0}, {4: 3.0, 1: 1.0})  # whatever their order
    assert (size, low, high) == pytest.approx((2, 2 - ONE, 2 + ONE))


def test_other_seeds_are_compared_by_welch():
    # Two groups of two with the variance 2: Welch's freedom is 2, the deviation of the mean 2**0.5.
    size, low, high = difference({1: 0.0, 2: 2.0}, {3: 10.0, 4: 12.0})
    assert (size, low, high) == pytest.approx((10, 10 - TWO * 2**0.5, 10 + TWO * 2**0.5))
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=5), rng.normal(2, 3, size=3)
    theirs = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    ours = difference(dict(enumerate(first)), dict(enumerate(second)))
    assert ours[1:] == pytest.approx(tuple(theirs))
    assert ours.size == pytest.approx(second.mean() - first.mean())


def test_there_is_no_interval_of_one_seed_or_of_an_undefined_value():
    one = Cell("nad", "x", "icl", {1: 1.0}, {1: 3.0})
    assert (one.change, one.over, one.beyond) == ("+2.00", "one seed", "")
    one = Cell("nad", "x", "icl", {1: 1.0, 2: 2.0}, {3: 3.0})
    assert (one.change, one.over) == ("+1.50", "one seed")
    undefined = Cell("nad", "x", "icl", {1: 1.0, 2: math.nan}, {1: 3.0, 2: 4.0})
    assert (undefined.change, undefined.beyond, undefined.equal) == ("undefined", "", False)
    equal = Cell("nad", "x", "icl", {1: 1.0, 2: math.nan}, {1: 1.0, 2: math.nan})
    assert (equal.change, equal.equal) == ("equal", True)


def test_what_lies_beyond_its_interval_is_marked():
    a = {1: 1.0, 2: 2.0, 3: 3.0}
    for shift, noise, said in ((1, 0.1, "B higher"), (-1, 0.1, "B lower"), (1, 2, "")):
        b = {1: 1.0 + shift, 2: 2 + shift + noise, 3: 3 + shift - noise}
        assert Cell("cmse", "x", "icl", a, b).beyond == said
    always = Cell("cmse", "x", "icl", a, {seed: value + 1 for seed, value in a.items()})
    assert (always.change, always.beyond) == ("+1.00 [+1.00, +1.00]", "B higher")


def test_cells_are_those_of_both_in_the_order_of_tables():
    one = {("gridworld-a", "icl", "cmse"): {1: 0.1}, ("a-new-one", "icl", "cmse"): {1: 0.1}}
    two = {("gridworld-a", "gail-constraint", "cmse"): {1: 0.1}, ("highd", "old", "nad"): {1: 2.0}}
    found = cells(metrics(one), metrics(two))
    assert [(cell.experiment, cell.method, bool(cell.a), bool(cell.b)) for cell in found] == [
        ("gridworld-a", "gail-constraint", False, True),
        ("gridworld-a", "icl", True, False),
        ("a-new-one", "icl", True, False),
        ("highd", "old", False, True),
    ]
    assert found[1].a == {1: 0.1}  # the reported value, not that of the iteration before


def test_earlier_iterations_count_for_equality():
    table = metrics({("gridworld-a", "icl", "nad"): {1: math.nan}})
    assert same(table, table)
    values = pa.array([8.5 if value == value else value for value in [1.0, math.nan]])
    assert not same(table, table.set_column(6, "value", values))


def test_what_differs_in_earlier_iterations_alone_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = metrics({("gridworld-a", "icl", "nad"): {1: 1.0}})
    other = table.set_column(6, "value", pa.array([8.5, 1.0]))
    for name, one in (("one", table), ("two", other)):
        write_table(tmp_path / name / "metrics.parquet", one, {})
    lines = run(capsys, "one", "two")
    at = lines.index("Metrics that differ:")
    assert lines[at + 1] == "  only those of iterations before the reported one"


# Settings and code


def test_the_same_difference_in_many_artifacts_is_one_line():
    def made(penalty, **more):
        adjustment = {"penalty": penalty, "hidden": [64, 64]}
        return {"configuration": {"learning": {"icl": {"adjustment": adjustment}}}, **more}

    worlds = {"worlds": {"x": {"folder": "results/quick/a"}, "gone": {"slip": 1}}}
    a = {f"runs/x/icl/seeds-1-2/{k}.parquet": made(15.0) for k in range(3)}
    b = {name: made(16.0, packages={"numpy": "2.4"}) for name in a}
    a["figures/f.json"] = {"configuration": worlds, "inputs": {"docs/claims.yaml": "ab" * 32}}
    worlds = {"worlds": {"x": {"folder": "results/paper/a"}}}
    b["figures/f.json"] = {"configuration": worlds, "inputs": {"docs/claims.yaml": "cd" * 32}}
    changes = [compare._setting(change) for change in changed_settings(a, b)]
    assert changes == [
        "learning.icl.adjustment.penalty 15 -> 16 (3 artifacts of x)",
        "packages.numpy (not there) -> 2.4 (3 artifacts of x)",
        "inputs.docs/claims.yaml abababababab -> cdcdcdcdcdcd (1 artifact)",
    ]


def test_files_of_code_are_named_and_moved_ones_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    engine = "icl_core/learning/engine"
    first = {
        "learn.py": "1",
        f"{engine}/density.py": "2",
        "old.py": "4",
    }
    second = {
        "learn.py": "1",
        f"{engine}/density.py": "x",
        "new.py": "4",
    }
    sides = []
    for name, parts in (("a", first), ("b", second)):
        place = tmp_path / name
        for k in range(2):
            made = {"code": f"c0de-{name}-{k}"}
            write_table(place / f"runs/x/icl/seeds-1-2/{k}.parquet", pa.table({"a": [1]}), made)
        (place / "code").mkdir()
        (place / f"code/c0de-{name}-0.json").write_text(json.dumps(parts))
        sides.append(Side(name, place))
    code = changed_code(*sides)
    assert code.edited == {f"{engine}/density.py": 1}
    assert code.unknown == 1  # nobody kept the files of the second


# The command, on made-up results


def test_a_row_for_each_cell_and_what_only_one_has(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    key = ("gridworld-a", "icl", "cmse")
    folder(tmp_path / "one", {key: {1: 0.5, 2: 0.7}, ("ant", "icrl", "nad"): {1: 2.0}})
    folder(
        tmp_path / "two",
        {key: {1: 0.4, 2: 0.6}, ("ant", "icrl", "nad"): {1: 2.0}, ("exid", "icl", "nad"): {1: 1.0}},
    )
    lines = run(capsys, "one", "two", "--output", "out")
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")
    ]
    assert len({len(line) for line in lines if line.startswith("|")}) == 1  # columns are aligned
    assert rows[2:] == [
        [
            "CMSE",
            "gridworld-a",
            "ICL",
            "0.6000",
            "0.5000",
            "-0.100 [-0.100, -0.100]",
            "2 seeds, paired",
            "**B lower**",
        ],
        ["NAD", "ant", "ICRL", "2.000", "2.000", "equal", "one seed", ""],
    ]
    (line,) = [line for line in lines if line.startswith("Of 2 cells, 1 equal in every seed; ")]
    assert "beyond the 95 % interval: 1 (by chance alone: about 0.1)." in line
    assert lines[lines.index("Only B has:") + 1] == "  ICL on exid (NAD)"
    assert "Only A has: none." in lines
    assert lines[-1] == "The page: out/compare.html"
    assert (tmp_path / "out/cells.md").read_text().splitlines()[0] == lines[3]


def test_the_cells_as_latex(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    key = ("gridworld-a", "icl", "cmse")
    folder(tmp_path / "o_ne", {key: {1: 0.5, 2: 0.7}})
    folder(tmp_path / "two", {key: {1: 0.4, 2: 0.7}})
    text = "\n".join(run(capsys, "o_ne", "two", "--latex"))
    half = f"$-0.0500$ [${-0.05 - ONE / 20:+.3f}$, ${-0.05 + ONE / 20:+.3f}$]"
    row = rf"CMSE & gridworld-a & ICL & 0.6000 & 0.5500 & {half} & 2 seeds, paired &  \\"
    assert row in text
    assert r"\caption{o\_ne (A) and two (B), cell by cell.}" in text
    assert "| CMSE" not in text
    written = tmp_path / "results/compare/o_ne--two/cells.tex"
    assert row in written.read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nowhere", "nowhere: expected a folder of results or a commit of this repository, found"),
        ("empty", "empty/metrics.parquet: expected the metrics of a run, found no such file"),
        ("HEAD", "commit HEAD: docs/results/metrics.parquet: expected the metrics of a run"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    folder(tmp_path / "there", {("ant", "icrl", "nad"): {1: 2.0}})
    (tmp_path / "README.md").write_text("Nothing is published yet.")
    git("init", "-q")
    commit("first")
    with pytest.raises(InputError, match=re.escape(said)):
        compare.main(argparse.Namespace(a="there", b=given, output=None, latex=False))


def git(*arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def commit(text):
    git("add", "--force", ".")
    git("commit", "-qm", text)


def test_commits_are_compared_by_what_they_published(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    key = ("gridworld-a", "icl", "cmse")
    settings = "setting,key,experiment,ours,paper,same\n"
    for penalty, value, code in ((15, 0.5, "aaaaaaaaaaaa"), (16, 0.6, "bbbbbbbbbbbb")):
        published = folder(tmp_path / "docs/results", {key: {1: value, 2: value + 0.1}})
        (published / "tables").mkdir(exist_ok=True)
        table = f"{settings}lambda,learning.icl.adjustment.penalty,gridworld-a,{penalty},15,\n"
        (published / "tables/table-10-settings-icl.csv").write_text(table)
        row = f"| gridworld-a | ICL | 1, 2 | `{code}` | the same |\n"
        (published / "provenance.md").write_text(f"# Provenance\n\n{row}")
        (tmp_path / "config.yaml").write_text(f"penalty: {penalty}")
        commit(f"penalty {penalty}")
    shutil.rmtree(tmp_path / "docs")  # what lies in the folder now does not count
    lines = run(capsys, "HEAD~", "HEAD")
    text = "\n".join(lines)
    assert "| 0.5500 | 0.6500 | +0.100 [+0.100, +0.100] | 2 seeds, paired |" in text
    assert "  learning.icl.adjustment.penalty 15 -> 16 (1 artifact of gridworld-a)" in lines
    assert "  in files whose digests nobody kept (1 artifact with other code)" in lines
    at = lines.index("Files of code that differ between the two commits:")
    assert lines[at + 1] == "  config.yaml"
    assert run(capsys, "HEAD", "HEAD") == [
        "Equal: HEAD and HEAD have 1 cell, 1 table, 0 figures, the same on both sides."
    ]


# The command, on the results of a real run


@pytest.fixture
def here(finished, monkeypatch):
    """The project's folder, as `icl` enters it."""
    monkeypatch.chdir(finished.path)
    return Path("results/smoke")


@pytest.fixture
def edited(finished, tmp_path):
    """A copy of its results in which a number, a setting, code, a figure and a run differ."""
    copy = tmp_path / "results/edited"
    shutil.copytree(finished.path / "results/smoke", copy)
    file = copy / ADJUSTMENT
    made = read_provenance(file)
    made["configuration"]["learning"]["icl"]["adjustment"]["penalty"] = 16.0
    parts = json.loads((copy / f"code/{made['code']}.json").read_text())
    parts["icl_core/learning/methods/icl/adjustment.py"] = "edited"
    made["code"] = "another"
    (copy / "code/another.json").write_text(json.dumps(parts))
    write_table(file, pa.table({"a": [1]}), made)
    table = read_table(copy / "metrics.parquet", METRICS_SCHEMA)
    chosen = [row["method"] == "icl" and row["experiment"] == "ant" for row in table.to_pylist()]
    raised = table["value"].to_numpy() + np.array(chosen)
    table = table.set_column(6, "value", pa.array(raised))
    write_table(copy / "metrics.parquet", table, read_provenance(copy / "metrics.parquet"))
    svg = copy / f"figures/{FIGURE}.svg"
    svg.write_text(svg.read_text() + "<!-- other -->")
    shutil.rmtree(copy / "runs/exid/icrl")
    (copy / "figures/figure-17-accruals-gridworld-a.svg").unlink()
    (copy / "figures/figure-17-accruals-gridworld-a.png").unlink()
    return copy


def test_equal_results_are_one_line_and_no_page(here, tmp_path, capsys):
    shutil.copytree(here, tmp_path / "again")
    lines = run(capsys, here, tmp_path / "again", "--output", tmp_path / "out")
    (line,) = lines
    assert re.fullmatch(
        r"Equal: .+ have \d+ cells, \d+ tables, 35 figures, the same on both .+", line
    )
    assert not (tmp_path / "out").exists()


def test_what_is_published_is_equal_to_what_it_was_published_from(here, finished, tmp_path, capsys):
    publish.publish(finished.path, "smoke", tmp_path / "published")
    (line,) = run(capsys, here, tmp_path / "published")
    assert line.startswith("Equal: results/smoke and")


def test_every_difference_is_said_once(here, edited, tmp_path, capsys):
    lines = run(capsys, here, edited, "--output", tmp_path / "out")
    text = "\n".join(lines)
    marked = [line for line in lines if "**B higher**" in line]
    # CMSE, NAD, what it costs the demonstrations and whether it explains them
    assert [line.split("|")[2].strip() for line in marked] == ["ant"] * 4
    assert all("+1.00 [+1.00, +1.00]" in line for line in marked)
    assert text.count("equal | 2 seeds, paired |") == text.count("2 seeds, paired") - 4
    at = lines.index("Settings that differ, A -> B:")
    assert lines[at + 1 : at + 3] == [
        "  learning.icl.adjustment.penalty 15 -> 16 (1 artifact of gridworld-a)",
        "",
    ]
    at = lines.index("Code that differs:")
    assert lines[at + 1 : at + 3] == [
        "  icl_core/learning/methods/icl/adjustment.py (1 artifact)",
        "",
    ]
    at = next(k for k, line in enumerate(lines) if line.startswith("Figures and tables that diff"))
    assert lines[at + 1 : at + 3] == [f"  {FIGURE}", ""]
    at = lines.index("Only A has:")
    assert lines[at + 1] == "  figure-17-accruals-gridworld-a"
    assert re.fullmatch(r"  runs/exid/icrl \(\d+ files\)", lines[at + 2])
    assert "Only B has: none." in lines


def test_the_page_holds_everything_and_shows_equal_figures_once(here, edited, tmp_path, capsys):
    run(capsys, here, edited, "--output", tmp_path / "out")
    page = (tmp_path / "out/compare.html").read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', page)  # it needs no other file
    assert page.count("<img ") == 3  # Figure 16 twice, Figure 17 once
    assert "B does not have it." in page
    assert "Figure 18. " in page.partition("Equal to the byte")[2].partition("</p>")[0]
    assert page.count("B higher</td>") == 4
    assert "learning.icl.adjustment.penalty 15 -&gt; 16" in page


def test_figures_are_compared_in_the_format_that_both_have(tmp_path):
    files = {name: tmp_path / name for name in ("a.svg", "b.svg", "c.png")}
    for name, file in files.items():
        file.write_bytes(b"same" if name != "c.png" else b"png")
    assert Pair("x", [files["a.svg"]], [files["b.svg"]]).equal
    assert not Pair("x", [files["a.svg"]], [files["c.png"]]).equal
    assert not Pair("x", [files["a.svg"]], []).equal


def test_the_program_finds_the_command(here, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])  # it puts the project's folder there
    assert icl(["compare", "results/smoke", "results/smoke"]) == 0
    assert capsys.readouterr().out.startswith("Equal: ")
    assert icl(["compare", "results/smoke", "no-such-place"]) == 1
    assert capsys.readouterr().err.startswith("error: no-such-place: expected a folder")
