"""Locks are removed when, and only when, nobody can hold them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.lib.begin import clear_stale_locks

ROOT = Path(__file__).parents[2]
HOLD = """
import sys, time
from pathlib import Path
from workflow.lib.begin import clear_stale_locks
clear_stale_locks(Path(sys.argv[1]))
print("signed", flush=True)
time.sleep(60)
"""


@pytest.fixture
def state(tmp_path):
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks/0.input.lock").write_text("a\n")
    return tmp_path


@pytest.fixture
def other(state):
    """Another instance, at work."""
    command = [sys.executable, "-c", HOLD, state]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout.readline() == "signed\n"
        (state / "locks").mkdir(exist_ok=True)
        (state / "locks/0.input.lock").write_text("a\n")
        yield process
        process.kill()


def test_locks_without_an_owner_go(state):
    assert clear_stale_locks(state)
    assert not (state / "locks").exists()


def test_locks_of_a_running_instance_stay_and_go_once_it_was_killed(state, other):
    assert not clear_stale_locks(state)
    assert (state / "locks/0.input.lock").exists()
    other.kill()
    other.wait()
    for mine in (state / "instances").glob(f"* {os.getpid()} *"):
        mine.unlink()
    assert clear_stale_locks(state)


def test_locks_from_another_host_stay(state):
    (state / "instances").mkdir()
    (state / "instances/elsewhere 1 2").touch()
    assert not clear_stale_locks(state)
    assert (state / "instances/elsewhere 1 2").exists()


def test_a_new_process_with_an_old_number_is_not_the_owner(state):
    assert clear_stale_locks(state)
    (mine,) = (state / "instances").iterdir()
    host, number, start = mine.name.rsplit(" ", 2)
    mine.rename(mine.with_name(f"{host} {number} {start}0"))
    (state / "locks").mkdir()
    (state / "locks/0.input.lock").write_text("a\n")
    assert clear_stale_locks(state)


def test_nothing_to_clear(tmp_path):
    assert not clear_stale_locks(tmp_path / ".snakemake")
