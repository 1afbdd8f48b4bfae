"""The program `icl`, on real smoke results."""

import os
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

from icl_core import program
from icl_core.errors import InputError
from tests.workflow.conftest import environment
from workflow.program.jobs import Wanted

A = "results/smoke/runs/gridworld-a"
ENDINGS = ("svg", "png")
TRAJECTORIES = "results/smoke/demonstrations/gridworld-a/seeds-1-2/trajectories.parquet"


def icl(place, *arguments):
    """Call the program in a checkout."""
    command = [sys.executable, "-m", "icl_core.program", *arguments]
    return subprocess.run(
        command, cwd=place.path, env=environment(), capture_output=True, text=True
    )


def lines(place, *arguments):
    """What a call that ends well prints."""
    done = icl(place, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_the_help_fits_on_a_screen_and_names_every_command():
    text = program.parser().format_help()
    assert len(text.splitlines()) <= 24
    assert all(len(line) <= 80 for line in text.splitlines())
    root = program.project(program.Path(__file__).parent)
    for name in program.COMMANDS:
        folder = "icl_core/using/commands" if name in program.ANYWHERE else "workflow/program"
        assert (root / folder / f"{name}.py").is_file()


def test_outside_of_a_project_it_says_where_to_go(tmp_path):
    with pytest.raises(InputError, match="change to your clone"):
        program.project(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--cores", "0"), "expected a whole number from 1 on, found '0'"),
        (("status", "--scale", "huge"), "error: configuration: "),
        (("forecast", "nothing-like-this"), "nothing-like-this"),
        (("clean", "gridworld-z", "--scale", "smoke"), "error: icl clean: expected an experiment"),
    ],
)
def test_a_wrong_word_is_one_line(checkout, arguments, words):
    done = icl(checkout, *arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_up_to_date(finished):
    assert lines(finished, "status", "--scale", "smoke") == ["everything is up to date"]
    assert lines(finished, "forecast", "--scale", "smoke") == ["nothing to be done"]


def test_a_reason_for_each_edit_in_words(editable):
    """A drawing function, the density, a setting, an added world; all in one look."""
    editable.append("icl_core/showing/maps.py", "\nEDITED = True\n")
    editable.append("icl_core/learning/engine/density_fit.py", "\nEDITED = True\n")
    name = "icl_core/environments/worlds/gridworld_a.py"
    (editable.path / "icl_core/environments/worlds/another.py").write_text(
        (editable.path / name).read_text()
    )
    variant = {"gridworld-b": {"learning": {"icl": {"adjustment": {"penalty": 16.0}}}}}
    editable.configure(lambda config: _merge(config["experiments"], variant))
    first, *rest = lines(editable, "status", "--scale", "smoke")
    assert re.fullmatch(r"\d+ jobs are missing or stale, about .* of CPU", first)
    (density,) = [line for line in rest if line.startswith("density")]
    assert density.startswith(
        "density, 10 jobs of 10 experiments: code, icl_core/learning/engine/density_fit.py (then: "
    )
    (adjust,) = [line for line in rest if line.startswith("adjust")]
    assert "gridworld-b" in adjust
    assert ": learning.icl.adjustment.penalty 15 -> 16 (then: " in adjust
    (figures,) = [line for line in rest if line.startswith("14 figures")]
    assert figures == "14 figures: code, icl_core/showing/maps.py (then: report page)"
    (table,) = [line for line in rest if line.startswith("table")]  # they show settings
    assert set(table.split(": ")[0].split(" and ")) == {"table 7", "table 10"}
    assert "penalty 15 -> 16" in table
    # One more for ICL+, and one for claims, which count the methods' settings. A screen has room
    # for many more; an added world changes nothing.
    assert len(rest) == 6


def _merge(config, change):
    for key, value in change.items():
        if isinstance(value, dict):
            _merge(config.setdefault(key, {}), value)
        else:
            config[key] = value


def test_a_run_says_a_line_for_each_job_and_what_it_took(editable):
    editable.append("icl_core/showing/tables/results.py", "\nEDITED = True\n")
    first, *jobs, last = lines(editable, "run", "--scale", "smoke", "--cores", "2")
    assert re.fullmatch(r"5 jobs, about .* of CPU, .* on 2 idle cores, .* on disk", first)
    titles = sorted(re.fullmatch(r"\[\d/5\] (\S.*?) +\d+\.\d s", line)[1] for line in jobs)
    tables = ["table 1", "table 2", "table 5", "table 6"]
    assert titles == ["report page", *tables]
    assert re.fullmatch(r"done: 5 jobs in \d+ s, \d+ s of CPU", last)
    assert lines(editable, "run", "--scale", "smoke") == [
        "nothing to be done: everything is up to date"
    ]


def test_the_number_that_matters_stands_in_the_record(finished):
    record = finished.path / "results/smoke/benchmarks/metrics/gridworld-a/icl/seeds-1-2.tsv"
    assert re.search(r"\tCMSE 0\.\d+, NAD \d", record.read_text())
    records = list((finished.path / "results/smoke/benchmarks").rglob("*.tsv"))
    cpu = [float(path.read_text().splitlines()[1].split("\t")[1]) for path in records]
    assert len(records) > 100
    assert min(cpu) > 0.05  # no interpreter starts in less


def test_a_failed_job_is_named_with_its_last_words(editable):
    broken = editable.path / f"{A}/icl/seeds-1-2/metrics.parquet"
    broken.write_bytes(broken.read_bytes()[:100])
    later = time.time() + 5
    os.utime(broken, (later, later))
    done = icl(editable, "run", "--scale", "smoke", "--cores", "2")
    assert done.returncode == 1
    (named,) = [line for line in done.stdout.splitlines() if line.startswith("collect metrics")]
    assert "metrics.parquet: expected a complete parquet file" in named
    assert "logs/collect_metrics.log" in named
    assert done.stdout.splitlines()[-1].startswith("failed after ")
    assert "Traceback" not in done.stdout + done.stderr


@pytest.fixture
def at_work(checkout):
    """A run of `icl` with a long job, and the processes below it."""
    longer = {"demonstrations": {"constrained_rl": {"epochs": 2000}}}
    checkout.configure(lambda config: _merge(config["scales"]["smoke"], longer))
    command = [sys.executable, "-m", "icl_core.program", "run", "--scale", "smoke", TRAJECTORIES]
    with subprocess.Popen(
        command, cwd=checkout.path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        log = checkout.path / "results/smoke/logs/expert/gridworld-a/seeds-1-2.log"
        end = time.monotonic() + 60
        while not (log.is_file() and log.read_text()) and time.monotonic() < end:
            time.sleep(0.1)
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 2  # Snakemake and the job
        yield process, family


def goes_on(checkout):
    shorter = {"demonstrations": {"constrained_rl": {"epochs": 2}}}
    checkout.configure(lambda config: _merge(config["scales"]["smoke"], shorter))
    said = lines(checkout, "run", "--scale", "smoke", TRAJECTORIES)
    return said[-1].startswith("done: 1 job in ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nobody_behind_and_goes_on(checkout, at_work, number):
    process, family = at_work
    process.send_signal(number)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted: the same command goes on from here"
    assert not [one for one in family if one.is_running() and one.status() != "zombie"]
    assert goes_on(checkout)


def test_who_kills_the_program_ends_its_run(checkout, at_work):
    process, family = at_work
    process.kill()
    _, alive = psutil.wait_procs(family, timeout=20)
    assert [one for one in alive if one.status() != "zombie"] == []
    assert goes_on(checkout)


def test_clean_removes_an_experiments_own_files_and_what_others_share_stays(editable):
    before = _files(editable)
    name = "gridworld-a-beta-299"
    listed = lines(editable, "clean", name, "--scale", "smoke", "--dry-run")
    assert _files(editable) == before
    said = lines(editable, "clean", name, "--scale", "smoke")
    gone = before - _files(editable)
    assert gone == set(listed[:-1])
    assert all(f"/{name}" in path for path in gone)
    assert {
        path for path in before - gone if f"/{name}/" in path and "/figure" not in path
    } == set()
    assert said[0].startswith(f"removed {len(gone)} files of {name}, ")
    assert said[1] == f"make them again with `icl run {name} --scale smoke`"
    planned = lines(editable, "status", name, "--scale", "smoke")
    assert any(line.startswith(f"initial constraint {name}: missing") for line in planned)

    said = lines(editable, "clean", "gridworld-a", "--method", "icl", "--scale", "smoke")
    assert "gridworld-a-all-iterations icl" in said[2]
    assert (
        editable.path / "results/smoke/demonstrations/gridworld-a/seeds-1-2/trajectories.parquet"
    ).is_file()
    assert (editable.path / f"{A}/icl/seeds-1-2/density.safetensors").is_file()
    assert not (editable.path / f"{A}/icl/seeds-1-2/final").exists()
    assert (editable.path / f"{A}/icrl/seeds-1-2/final").exists()


def _files(place):
    root = place.path
    return {
        path.relative_to(root).as_posix()
        for path in (root / "results").rglob("*")
        if path.is_file()
    } - {"results/smoke/logs/run.log", "results/smoke/logs/jobs.json"}


def test_targets_by_name(monkeypatch):
    monkeypatch.chdir(program.project(program.Path(__file__).parent))
    wanted = Wanted("quick", ["figure-16", "table-01", "gridworld-b-beta-299", "a/file", "results"])
    *given, _, one, two, three, file, rule = wanted.for_snakemake(cores=3)
    assert given == ["--cores", "3", "--config", "scale=quick"]
    assert one == "results/quick/figures/figure-16-constraint-gridworld-a.svg"
    assert two == "results/quick/tables/table-01-cmse.csv"
    assert three == "results/quick/runs/gridworld-b-beta-299/icl/seeds-1-2/metrics.parquet"
    assert (file, rule) == ("a/file", "results")
    own = Wanted("quick", [], ["mine.yaml"]).for_snakemake()
    assert own[4:] == ["--configfile", "config.yaml", "mine.yaml", "--", "all"]
