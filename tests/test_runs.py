"""A job writes only while its run is the current one, and ends when that has ended."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from icl_core import runs
from icl_core.disk import atomic
from icl_core.errors import InputError

ROOT = Path(__file__).parents[1]


@pytest.fixture
def file(tmp_path, monkeypatch):
    for name in (runs.RUN, runs.FILE):
        monkeypatch.setenv(name, "")  # and taken back at the end
    return tmp_path / "state/run"


def write(path):
    with atomic(path) as temporary:
        temporary.write_text("new")


def test_a_job_of_the_current_run_writes(file, tmp_path):
    write(tmp_path / "before-any-run")
    runs.begin_run(file)
    write(tmp_path / "of-this-run")


@pytest.mark.parametrize("now", ["another run", None])
def test_a_job_that_was_left_over_writes_nothing(file, tmp_path, now):
    target = tmp_path / "result"
    target.write_text("of the later run")
    runs.begin_run(file)
    if now is None:
        file.unlink()
    else:
        file.write_text(now)
    with pytest.raises(InputError, match="left over from a run that was killed") as error:
        write(target)
    assert "\n" not in str(error.value)
    assert target.read_text() == "of the later run"
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_a_job_ends_with_its_run(file):
    """The run is a process that is killed; its job would work for a minute."""
    job = "from icl_core import runs; import time; runs.end_with_run(); time.sleep(60)"
    run = (
        "import subprocess, sys, time; from pathlib import Path; from icl_core import runs\n"
        "runs.begin_run(Path(sys.argv[1]))\n"
        f"job = subprocess.Popen([sys.executable, '-c', {job!r}])\n"
        "print(job.pid, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", run, str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        time.sleep(3 * runs.LOOK)
        assert runs.start_of(pid)  # as long as the run lives
        process.kill()
    end = time.monotonic() + 20
    while runs.start_of(pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert runs.start_of(pid) is None


def test_a_start_does_not_depend_on_the_clock(monkeypatch):
    before = runs.start_of(os.getpid())
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert runs.start_of(os.getpid()) == before
    assert runs.start_of(2**22 + 1) is None  # beyond all numbers of processes
