"""What `icl export` writes: tables that LaTeX can read, figures as PDF, and what is missing."""

import argparse
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.mathtext import MathTextParser

from icl_core.errors import InputError
from icl_core.program import main as icl
from icl_core.showing.latex import Grid, as_latex, inline, long_table, read_markdown
from workflow.lib.publishing.run import read_run
from workflow.program import export

MATH = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$")
TEXT = "| Name | Value |\n| --- | ---: |\n| a_b | **0.31 ± 0.01** |\n| c | - |\n"


def check_structure(text):
    """Environments and braces are closed, rows have all their cells, math parses."""
    bare = re.sub(r"\\[\\{}$&#%_]", "", text.replace("\\\\\n", "\n"))
    depth = 0
    for sign in bare:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    open_ = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        open_.append(name) if what == "begin" else None
        assert what == "begin" or open_.pop() == name
    assert open_ == []
    assert text.count(r"\begingroup") == text.count(r"\endgroup")
    for formula in MATH.findall(text):
        MathTextParser("path").parse(f"${formula}$")
    outside = MATH.sub("", text)
    assert not re.search(
        r"(?<!\\)[$#%^~_]", re.sub(r"\\(label|input|includegraphics)\{.*?\}", "", outside)
    )
    assert text.isascii()


def columns_of(text):
    """How many columns a table declares, and the cells of each of its rows."""
    (declared,) = re.findall(r"\\begin\{(?:tabular|longtable)\}\{@\{\}(.+)@\{\}\}", text)
    letters = re.findall(
        r"p\{\\dimexpr|(?<![\w\\])[lr]+(?!\w)", re.sub(r">\{.*?\{0pt\}\}", " ", declared)
    )
    count = sum(1 if one.startswith("p") else len(one) for one in letters)
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "caption" not in line]
    cells = [len(re.split(r"(?<!\\)&", row)) for row in rows if "multicolumn" not in row]
    return count, cells


# Words and tables


@pytest.mark.parametrize(
    ("markdown", "latex"),
    [
        ("0.31 ± 0.01", r"$0.31 \pm 0.01$"),
        ("**0.31 ± 0.01**", r"\textbf{\boldmath $0.31 \pm 0.01$}"),
        ("**reproduced**. *Read so.*", r"\textbf{reproduced}. \emph{Read so.}"),
        ("2.5e-05 and 1e+06", r"$2.5 \times 10^{-5}$ and $1 \times 10^{6}$"),
        ("+0.1 [-1.2e-10, +3]", r"$+0.1$ [$-1.2 \times 10^{-10}$, $+3$]"),
        ("1,000 ± 20 of 2,000", r"$1{,}000 \pm 20$ of 2,000"),
        ("seeds 1-3, a-1, (A)-2", "seeds 1-3, a-1, (A)-2"),
        ("p_slip, 95 %, R&D #1 $5", r"p\_slip, 95 \%, R\&D \#1 \$5"),
        (r"a\b {c} ~ ^ < > |", r"a\textbackslash{}b \{c\} \textasciitilde{} \textasciicircum{} "
         r"\textless{} \textgreater{} \textbar{}"),
        ('"Undefined": `a_b`', r"``Undefined'': \texttt{a\_b}"),
        ("time · v, mean ± deviation", r"time $\cdot$ v, mean $\pm$ deviation"),
        ("J_mix(c) - J_E(c)", r"J\_mix(c) - J\_E(c)"),
    ],
)  # fmt: skip
def test_words_of_markdown_become_latex(markdown, latex):
    assert inline(markdown) == latex
    check_structure(inline(markdown))


def test_a_markdown_table_is_read_with_what_stands_around_it():
    grid = read_markdown(f"# Title\n\nOne of two.\n\n{TEXT}\nNotes on\nit.\n\nMore.\n")
    assert grid.head == ("Name", "Value")
    assert grid.right == (False, True)
    assert grid.rows == (("a_b", "**0.31 ± 0.01**"), ("c", "-"))
    assert (grid.lead, grid.notes) == ("One of two.", "Notes on it. More.")


def test_a_table_floats_unless_it_is_too_long_or_too_wide():
    grid = read_markdown(f"# Title\n\n{TEXT}\nNotes.\n")
    text = as_latex(grid, "50 % of it", "here")
    assert text.startswith(r"\begin{table}") and r"\begin{tabular}{@{}lr@{}}" in text
    assert r"\caption{50 \% of it}" in text and r"\label{here}" in text
    assert "a\\_b & \\textbf{\\boldmath $0.31 \\pm 0.01$} \\\\\nc & -- \\\\\n\\bottomrule" in text
    assert r"\raggedright Notes." in text
    for other in (
        grid._replace(rows=grid.rows * 20),
        grid._replace(rows=(("a.b.c" * 30, "1"),)),
    ):
        long = as_latex(other, "Caption", "here")
        assert r"\begin{longtable}" in long and r"\begin{table}" not in long
        assert columns_of(long) == (2, [2] * (2 + len(other.rows)))
        check_structure(long)


def test_the_columns_of_a_long_table_fill_the_line_and_names_may_break():
    grid = Grid(("Setting", "Value"), (False, True), (("icl.loop.patience", "[1] and more"),))
    text = long_table(grid, "Caption", "here")
    shares = [float(share) for share in re.findall(r"\\dimexpr ([\d.]+)\\linewidth", text)]
    assert sum(shares) == pytest.approx(1, abs=0.002)
    assert shares[0] > shares[1]
    assert r"icl.\allowbreak{}loop.\allowbreak{}patience & [1] and more" in text
    # A bracket at the start of a row would be taken for an option of the row before.
    turned = long_table(grid._replace(rows=(("[1]", "x"),)), "Caption", "here")
    assert "\n{}[1] & x" in turned


# The command, on the results of a real run


@pytest.fixture
def project(finished, tmp_path, monkeypatch):
    """A project with the results of a real run, to take from; figures are not drawn."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for part in ("config.yaml", "docs", "Snakefile", "workflow", "icl_core"):
        Path(part).symlink_to(finished.path / part)
    results = finished.path / "results/smoke"
    shutil.copytree(results, "results/smoke", copy_function=os.link)  # removed, never written
    monkeypatch.setattr(export, "draw", lambda item, shown, file: write(file))
    return Path("results/smoke")


def write(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"%PDF")


def run(capsys, folder="out", scale="smoke"):
    """What the command prints, by line."""
    parser = argparse.ArgumentParser()
    export.arguments(parser)
    assert export.main(parser.parse_args(["--latex", str(folder), "--scale", scale])) == 0
    return capsys.readouterr().out.splitlines()


def test_everything_is_written_and_included_once(project, capsys):
    assert run(capsys) == ["out/all.tex includes 22 tables, 35 figures and the claims."]
    text = Path("out/all.tex").read_text()
    check_structure(text)
    included = re.findall(r"\\input\{(.+?)\}", text)
    found = [file.relative_to("out").as_posix() for file in Path("out").rglob("*.tex")]
    assert sorted(f"{one}.tex" for one in included) == sorted(set(found) - {"all.tex"})
    assert len(included) == len(set(included)) == 1 + 22 + 35
    assert r"{\renewcommand{\thetable}{1b}\input{tables/table-01b-cmse-intervals}}" in text
    packages = set(re.findall(r"\w+", re.search(r"\\usepackage\{(.+)\}", text)[1]))
    assert {"array", "booktabs", "graphicx", "longtable"} <= packages
    drawn = {file.stem for file in Path("out/figures").glob("*.pdf")}
    assert drawn == {file.stem for file in project.glob("figures/*.svg")}


def test_every_table_keeps_its_rows_its_bold_entries_and_its_words(project, capsys):
    run(capsys)
    for item in read_run(Path(), "smoke").items:
        text = Path(f"out/{item.kind}s/{item.name}.tex").read_text()
        check_structure(text)
        assert rf"\label{{{item.name}}}" in text
        assert rf"\caption{{{inline(item.caption)}" in text
        if item.kind == "figure":
            assert rf"\includegraphics{{figures/{item.name}.pdf}}" in text
            continue
        markdown = (project / item.outputs[1]).read_text()
        grid = read_markdown(markdown)
        heads = 2 if "longtable" in text else 1
        assert columns_of(text) == (len(grid.head), [len(grid.head)] * (len(grid.rows) + heads))
        assert text.count(r"\textbf{") == markdown.count("**") / 2
        assert text.count(r"\pm") == markdown.count("±")
        assert text.count(r"\toprule") == heads and text.count(r"\bottomrule") == 1


def test_what_was_learned_on_simulated_traffic_says_so(project, capsys):
    run(capsys)
    said = {
        file.stem
        for file in Path("out").rglob("*.tex")
        if "On simulated traffic." in file.read_text()
    }
    assert {"figure-02-constraint-highd", "table-02c-headway"} <= said
    assert "table-01-cmse" not in said


def test_the_claims_are_a_table_over_several_pages(project, capsys):
    run(capsys)
    text = Path("out/claims.tex").read_text()
    check_structure(text)
    count, cells = columns_of(text)
    claims = read_markdown((project / "claims.md").read_text())
    assert r"\begin{longtable}" in text and r"\endfirsthead" in text
    assert (count, cells) == (4, [4] * (2 + len(claims.rows)))
    assert inline(claims.lead) in text  # how many were reproduced


def test_what_is_missing_is_one_sentence_and_the_rest_is_written(project, capsys):
    (project / "tables/table-12-training-times.md").unlink()
    shutil.rmtree(project / "runs/gridworld-b-beta-299")
    missing, last = run(capsys)
    assert missing.startswith("Missing: ") and missing.endswith(").") and missing.count(". ") == 0
    assert "Table 12 (all that it needs has been learned, but it was not made)" in missing
    assert "Figure 9 (not finished: ICL on gridworld-b-beta-299" in missing
    assert last == "out/all.tex includes 21 tables, 34 figures and the claims."
    text = Path("out/all.tex").read_text()
    assert "table-12" not in text and "figure-09" not in text and "figure-08" in text


def test_a_figure_whose_inputs_are_gone_is_missing_too(project, capsys):
    lost = "results/smoke/runs/gridworld-a/icl/seeds-1-2/final/constraint.safetensors"
    Path(lost).unlink()
    missing, last = run(capsys)
    assert f"Figure 16 ({lost} is no longer there)" in missing
    assert not Path("out/figures/figure-16-constraint-gridworld-a.pdf").exists()
    assert "22 tables" in last


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("config.yaml", "smoke"), "config.yaml: expected a folder, found a file"),
        (("out", "paper"), "results/paper/claims.md: expected the verdicts and metrics of a run"),
        (("out", "huge"), "huge"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(project, given, said):
    with pytest.raises(InputError, match=re.escape(said)):
        export.main(argparse.Namespace(latex=given[0], scale=given[1]))
    assert not os.path.exists("out")


def test_a_figure_is_drawn_as_pdf_and_equal_results_give_equal_bytes(
    finished, tmp_path, monkeypatch
):
    monkeypatch.chdir(finished.path)
    run = read_run(Path(), "smoke")
    few = [item for item in run.items if item.id in ("figure-16", "table-01")]
    contents = []
    for name in ("one", "two"):
        assert export.export(replace(run, items=tuple(few)), tmp_path / name) == []
        contents.append(
            (tmp_path / name / "figures/figure-16-constraint-gridworld-a.pdf").read_bytes()
        )
    assert contents[0] == contents[1]
    assert contents[0].startswith(b"%PDF-")
    for word in (b"CreationDate", b"Producer", b"Creator", b"/Type3"):
        assert word not in contents[0]
    assert b"/TrueType" in contents[0] or b"/CIDFontType2" in contents[0]
    width = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", contents[0])[1]
    assert float(width) == 6.75 * 72  # as wide as the text of all.tex


def test_the_program_finds_the_command(project, monkeypatch, capsys):
    monkeypatch.setattr("sys.path", ["."])  # it puts the project's folder there
    assert icl(["export", "--latex", "config.yaml", "--scale", "smoke"]) == 1
    assert capsys.readouterr().err.startswith("error: config.yaml: expected a folder")
    with pytest.raises(SystemExit):
        icl(["export"])
    assert "--latex" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_document_compiles(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(finished.path)
    found = read_run(Path(), "smoke")
    chosen = [one for one in found.items if one.kind == "table" or one.id == "figure-16"]
    export.export(replace(found, items=tuple(chosen)), tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
