"""docs/extending.md, followed to the letter: one file each, and nothing runs again."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.workflow.conftest import ROOT, Checkout

TEXT = (ROOT / "docs/extending.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
CORRIDOR, CONTRAST = (
    "icl_core/environments/worlds/corridor.py",
    "icl_core/learning/methods/contrast.py",
)


def blocks(language):
    return [body for kind, body in BLOCKS if kind == language]


def named(language):
    """Blocks that begin with a comment of one path: files by path."""
    found = [re.match(r"# (\S+\.\w+)\n", body) for body in blocks(language)]
    return {
        match[1]: body[match.end() :]
        for match, body in zip(found, blocks(language), strict=True)
        if match
    }


def commands():
    return [line.split() for body in blocks("") for line in body.splitlines()]


def write(checkout, path, text):
    with (checkout.path / path).open("a" if path == "docs/claims.yaml" else "x") as file:
        file.write(text)


def at_smoke(parts):
    return [part.replace("paper", "smoke").replace("1-5", "1-2") for part in parts]


def test_every_file_that_it_names_exists():
    own = {*named("python"), *named("yaml"), *named("toml")}
    mentioned = set(re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:py|yaml))`", TEXT)) - own
    assert len(mentioned) > 5
    assert [path for path in mentioned if not (ROOT / path).exists()] == []


def test_a_setting_of_ones_own_is_planned(checkout):
    write(checkout, "strict.yaml", named("yaml")["strict.yaml"])
    (command,) = [line for line in commands() if "strict.yaml" in line]
    jobs = checkout.planned(*command[3:], scale="paper")
    assert jobs["icl_policy"] == jobs["icl_adjust"] == 10 and jobs["expert"] == 1


def test_a_method_without_sizes_is_an_error(editable):
    text = re.sub(r'    "smoke": .*\n', "", named("python")[CONTRAST])
    for path in (CORRIDOR, CONTRAST, "mine.yaml"):
        write(editable, path, text if path == CONTRAST else (named("python") | named("yaml"))[path])
    done = editable.snakemake("--configfile", "mine.yaml", "--", "all")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "method contrast: expected its sizes at scale smoke, found none" in line


def outputs_of(dry_run):
    lines = re.findall(r"^    output: (.+)$", dry_run, re.MULTILINE)
    return {path for line in lines for path in line.split(", ")}


# What is made of all results together is made again when there is more of them.
OF_ALL = re.compile(r"results/smoke/(metrics|determined|claims|report)\.\w+$")


def test_one_file_each_and_nothing_runs_again(editable):
    before = {path for path in (editable.path / "results/smoke").rglob("*") if path.is_file()}
    files = named("python") | named("yaml")
    for path, text in files.items():
        if path != "docs/claims.yaml":
            write(editable, path, text)
    # Not one job has become stale: a new table is made, and the page that shows it.
    done = editable.snakemake("--dry-run", "--", "all")
    planned = {editable.path / path for path in outputs_of(done.stdout + done.stderr)}
    assert editable.planned() == {"table": 1}
    page = ("report.html", "report.json", "benchmarks/report_page.tsv")
    assert planned & before == {editable.path / "results/smoke" / name for name in page}

    write(editable, "docs/claims.yaml", files["docs/claims.yaml"])
    (command,) = [line for line in commands() if "mine.yaml" in line]
    done = editable.snakemake("--dry-run", *command[3:])
    assert done.returncode == 0, done.stdout + done.stderr
    planned = {editable.path / path for path in outputs_of(done.stdout + done.stderr)}
    again = {path.relative_to(editable.path).as_posix() for path in planned & before}
    learned = {path for path in again if not OF_ALL.match(path) and "/benchmarks/" not in path}
    # Of what was there only those tables and figures are made again that now show a method more.
    assert {path.split("/")[2] for path in learned} == {"figures", "tables"}
    shown = {Path(path).stem for path in learned}
    assert not any("gridworld-b" in name or "cartpole" in name or "highd" in name for name in shown)

    done = editable.snakemake("--quiet", "rules", *command[3:])
    assert done.returncode == 0, done.stdout + done.stderr
    results = editable.path / "results/smoke"
    reported = pq.read_table(results / "metrics.parquet", filters=[("reported", "=", True)])
    found = {(row["experiment"], row["method"]) for row in reported.to_pylist()}
    assert found >= {("corridor", "icl"), ("corridor", "contrast"), ("gridworld-a", "contrast")}
    assert "Contrast" in (results / "tables/table-01-cmse.md").read_text()
    assert "Contrast" in (results / "tables/table-12-training-times.md").read_text()
    assert "| corridor | Contrast |" in (results / "tables/table-spread.md").read_text()
    assert "<svg" in (results / "figures/figure-corridor.svg").read_text()
    assert "corridor-left," in (results / "claims.csv").read_text()
    page = (results / "report.html").read_text()
    for text in ("figure-corridor", "table-spread", "claim-corridor-left", "Contrast"):
        assert text in page, text


@pytest.fixture
def scratch(tmp_path):
    """A virtual environment that sees the packages of this one, and one package more."""
    package = tmp_path / "corridors"
    (package / "corridors").mkdir(parents=True)
    (package / "pyproject.toml").write_text(named("toml")["pyproject.toml"])
    (package / "corridors/__init__.py").write_text("")
    for path in (CORRIDOR, CONTRAST):
        (package / "corridors" / Path(path).name).write_text(named("python")[path])
    target = tmp_path / "scratch"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", target], check=True)
    (site,) = (target / "lib").glob("python*/site-packages")
    (site / "here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [sys.executable, "-m", "pip", "--python", target / "bin/python", "install", "-q"]
    quick = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*install, *quick, package], check=True)
    return target / "bin/python"


def test_the_same_from_a_package_of_ones_own(editable, scratch):
    write(editable, "mine.yaml", named("yaml")["mine.yaml"])

    class Scratch(Checkout):
        def command(self, *arguments, scale="smoke"):
            return [str(scratch), *super().command(*arguments, scale=scale)[1:]]

    here = Scratch(editable.path)
    assert here.planned() == {}
    runs = [
        f"results/smoke/runs/corridor/{m}/seeds-1-2/metrics.parquet" for m in ("icl", "contrast")
    ]
    assert here.planned("--configfile", "mine.yaml", "--", *runs)["expert"] == 1
    done = here.snakemake("--quiet", "rules", "--configfile", "mine.yaml", "--", *runs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((here.path / path).is_file() for path in runs)
    # An edit of the other package is noticed, as one of ours would be.
    (code,) = (scratch.parent.parent / "lib").glob("python*/site-packages/corridors/contrast.py")
    code.write_text(code.read_text().replace("5e-4", "5e-3"))
    shutil.rmtree(code.parent / "__pycache__", ignore_errors=True)
    os.utime(code)
    stale = here.planned("--configfile", "mine.yaml", "--", *runs)
    assert stale == {"learn": 1, "metrics": 1}
