"""Recordings: a user's own take the simulation's place, and stay on the user's machine."""

import csv
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from icl_core.artifacts import read_provenance
from icl_core.demonstrations.recordings.exid import format as exid_format
from icl_core.demonstrations.recordings.exid import reader as exid_reader
from icl_core.demonstrations.recordings.highd import format as highd_format
from icl_core.demonstrations.recordings.highd import reader as highd_reader
from icl_core.demonstrations.recordings.tracks import MARK

ROOT = Path(__file__).parents[2]


def with_own_recordings(checkout, name, folder):
    own = {name: {"recordings": folder}}
    checkout.configure(lambda config: config.update(environments=own))


@pytest.mark.parametrize("name", ["highd", "exid"])
def test_own_recordings_take_the_simulations_place(finished, checkout, name):
    """The simulated ones, without the file that says that they are."""
    simulated = finished.path / f"results/smoke/recordings/{name}"
    shutil.copytree(simulated / "csv", checkout.path / "mine", ignore=shutil.ignore_patterns(MARK))
    with_own_recordings(checkout, name, "mine")
    jobs = checkout.planned()
    assert (jobs["simulate_recordings"], jobs["read_recordings"]) == (1, 2)

    target = f"results/smoke/recordings/{name}/scene.parquet"
    checkout.run(target)

    assert pq.read_schema(checkout.path / target).metadata[b"source"] == b"recorded"
    assert pq.read_schema(simulated / "scene.parquet").metadata[b"source"] == b"simulated"
    ours, theirs = (pq.read_table(c.path / target) for c in (checkout, finished))
    assert ours.equals(theirs)  # the same traffic, whoever recorded it
    assert not (checkout.path / f"results/smoke/recordings/{name}/csv").exists()  # not copied

    if name == "exid":
        maps = sorted(
            path.relative_to(checkout.path).as_posix()
            for path in checkout.path.glob("mine/maps/lanelet2/*.osm")
        )
        assert len(maps) == 2
        assert set(maps) < set(read_provenance(checkout.path / target)["inputs"])
        checkout.append(maps[0], "<!-- moved by nobody -->")
        jobs = checkout.planned("--", target)
        assert (jobs["read_recordings"], jobs["make_scene"]) == (1, 1)


@pytest.mark.parametrize("name", ["highd", "exid"])
@pytest.mark.parametrize("made", [False, True], ids=["missing", "empty"])
def test_a_wrong_folder_stops_the_run_before_it_starts(checkout, name, made):
    if made:
        (checkout.path / "mine").mkdir()
    with_own_recordings(checkout, name, "mine")
    done = checkout.snakemake("all")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "mine" in line and "expected" in line and "found" in line
    assert not (checkout.path / "results").exists()


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        pytest.skip(f"not a git repository: {done.stderr.strip()}")
    return done.stdout.split()


@pytest.mark.parametrize(
    "path",
    [
        "data/highd/17_tracks.csv",
        "data/exid/maps/lanelet2/0_cologne_butzweiler.osm",
        "results/paper/recordings/highd/tracks.parquet",
        "results/paper/recordings/exid/scene.parquet",
        "results/paper/demonstrations/highd/seeds-all/trajectories.parquet",
    ],
)
def test_git_ignores_what_may_hold_recorded_rows(path):
    assert git("check-ignore", path) == [path]


PUBLISHED = "docs/results/"
SCHEMAS = (  # of the data sets' files, and of what is read from them
    *(highd_format.TRACKS, exid_format.TRACKS),
    *highd_reader.SCHEMAS.values(),
    *exid_reader.SCHEMAS.values(),
)
OF_RECORDINGS = {name for schema in SCHEMAS for name in schema.names} | {"trajectory", "state"}
OF_BOTH = {"id"}  # of a vehicle in HighD, of a claim in ours


def test_git_tracks_nothing_that_may_hold_recorded_rows():
    assert git("ls-files", "data", "results") == ["data/README.md"]
    tables = git("ls-files", "*.csv", "*.parquet", "*.osm", "*.arrow")
    elsewhere = [path for path in tables if not path.startswith(PUBLISHED)]
    # What the development suite has measured, how long jobs take, and when those of a demo ran.
    assert elsewhere == [
        "docs/development/runs.csv",
        "tests/workflow/recorded_demo.csv",
        "workflow/program/expected.csv",
    ]
    assert columns(ROOT / elsewhere[0]) == {"world", "choice", "expert", "spent", "cmse", "nad"}


def test_what_is_published_holds_no_column_of_a_recording():
    tables = [ROOT / path for path in git("ls-files", PUBLISHED) if not is_shown(path)]
    assert tables
    for path in tables:
        assert not (columns(path) & OF_RECORDINGS) - OF_BOTH, path


def is_shown(path):
    """Text, pictures and the list of files: not tables that a program reads."""
    return path.endswith((".md", ".svg", ".png", ".gif", "/files.json"))


def columns(path):
    if path.suffix == ".parquet":
        return set(pq.read_schema(path).names)
    assert path.suffix == ".csv"
    with path.open(newline="") as text:
        return set(next(csv.reader(text)))
