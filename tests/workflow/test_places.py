"""Where a run reads and writes: what is wrong there is one sentence, before anything runs."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from icl_core.artifacts import make_provenance
from icl_core.demonstrations.files import write_demonstrations
from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.program import main
from tests.learning.tiny import demonstrations_of
from tests.workflow.test_configuration import changed
from workflow.lib import places
from workflow.lib.begin import begin

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(**overlay) -> str:
    with pytest.raises(InputError) as error:
        begin(changed(scale="smoke", **overlay), ROOT, main=True)
    assert "\n" not in str(error.value)
    return str(error.value)


def with_file(path):
    return {"experiments": {"gridworld-a": {"demonstrations": str(path)}}}


def some_demonstrations(path: Path) -> Path:
    world = make_world("gridworld-a")
    write_demonstrations(path, demonstrations_of(world), world, make_provenance("code", {}))
    return path


# ------------------------------------------------------------------ the user's own files


@pytest.mark.parametrize("way", ["plain", "absolute", "up and down", "a link", "a linked folder"])
def test_demonstrations_that_a_rerun_would_delete_are_refused(project, way):
    file = some_demonstrations(
        Path("results/smoke/demonstrations/gridworld-a/seeds-all/trajectories.parquet")
    )
    if way == "absolute":
        file = file.absolute()
    elif way == "up and down":
        Path("data").mkdir()
        file = Path("data/..", file)
    elif way == "a link":
        Path("mine.parquet").symlink_to(file)
        file = Path("mine.parquet")
    elif way == "a linked folder":
        Path("mine").symlink_to("results/smoke")
        file = Path("mine", *file.parts[2:])
    message = refused(**with_file(file))
    assert message.startswith(f"{str(file)[:80]}")
    assert "outside of results/, where a rerun would delete it, found " in message


def test_recordings_that_a_rerun_would_delete_are_refused():
    Path("results/paper/recordings/highd/csv").mkdir(parents=True)
    folder = "results/paper/recordings/highd/csv"
    assert "outside of results/" in refused(environments={"highd": {"recordings": folder}})


def test_the_same_file_elsewhere_is_fine():
    inside = some_demonstrations(Path("results/smoke/x/trajectories.parquet"))
    shutil.copy(inside, "mine.parquet")
    Path("resultsofmine").mkdir()
    shutil.copy(inside, "resultsofmine/mine.parquet")
    for file in ("mine.parquet", "resultsofmine/mine.parquet"):
        begin(changed(scale="smoke", **with_file(file)), ROOT, main=True)


def test_what_is_no_file_is_called_by_its_name():
    os.mkfifo("pipe")
    Path("folder").mkdir()
    for path, what in {
        "pipe": "a pipe",
        "folder": "a folder",
        "none": "no such file",
        "x" * 300: "what cannot be looked at (file name too long)",
    }.items():
        wanted = f"expected a Parquet file of demonstrations, found {what}; correct the path"
        assert wanted in refused(**with_file(path))
        recorded = {"experiments": {"highd": {"demonstrations": path}}}
        assert wanted in refused(**recorded)
    Path("file").touch()
    for path, what in {"pipe": "a pipe", "file": "a file", "x" * 300: "what cannot be"}.items():
        message = refused(environments={"exid": {"recordings": path}})
        assert f"expected a folder with recordings of exid, found {what}" in message


# ------------------------------------------------------------------ where results go


@pytest.mark.parametrize("name", ["results", "results/smoke", ".snakemake"])
def test_a_file_in_the_folders_place_is_refused(name):
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).touch()
    assert refused() == f"{name}: expected a folder to write to, found a file; move it away"


@pytest.mark.parametrize("name", ["results", ".snakemake"])
def test_a_folder_that_cannot_be_written_to_is_refused(name, monkeypatch):
    Path(name).mkdir()
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != Path(name))
    assert refused().startswith(f"{name}: expected a folder to write to, found that nothing may be")


def test_a_full_disk_is_refused(monkeypatch):
    monkeypatch.setattr(places, "LEAST", 2**70)
    assert refused().startswith("results: expected free space on the disk, found ")


@pytest.mark.parametrize(
    "path", ["report.html", "runs/ant/icl/seeds-1-2/metrics.parquet", "figures/figure-06-slip.svg"]
)
def test_a_folder_in_a_files_place_does_not_count_as_made(path):
    Path("results/smoke", path).mkdir(parents=True)
    assert refused() == f"results/smoke/{path}: expected a file, found a folder; move it away"


# ------------------------------------------------------------------ the whole way


def test_icl_looks_at_files_before_snakemake_runs_them(checkout, monkeypatch, capsys):
    monkeypatch.chdir(checkout.path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the program adds
    Path("mine.yaml").write_text("__use_yte__: true\nseeds: ?open('ran', 'w')\n")
    for command in ("run", "status", "forecast"):
        assert main([command, "--scale", "smoke", "--configfile", "mine.yaml"]) == 1
        said = capsys.readouterr()
        assert said.err.startswith("error: mine.yaml: line 1 expected settings, found the key")
    assert not Path("ran").exists()


def said(done) -> str:
    """The one line of a run that did not begin."""
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("error: ")]
    return line


def test_snakemake_says_it_in_one_line(checkout):
    path = checkout.path / "mine.yaml"
    path.write_text("seeds: [1]\nstack: 2\nseeds: [2]\n")
    own = ("--configfile", "mine.yaml")
    assert said(checkout.snakemake("--dry-run", *own)) == (
        "error: mine.yaml: expected each key once, found seeds in line 1 and in line 3; "
        "remove one of them"
    )
    path.write_text("scales: {smoke: {learning: {gail-constraint: {warm_up: 1.0}}}}\n")
    assert "warm_up: expected a number" in said(checkout.snakemake("--dry-run", *own))
    checkout.append("config.yaml", "seeds: [1]\nseeds: [2]\n")
    assert "config.yaml: expected each key once" in said(checkout.snakemake("--dry-run"))
