"""What a job says when it cannot end well."""

import errno
import os
import sys
from types import SimpleNamespace

import pytest

from workflow.lib import stage


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A job that writes its log here."""
    path = tmp_path / "log"
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "snakemake", SimpleNamespace(log=[path]), raising=False)
    monkeypatch.setattr(stage, "Stage", lambda job: None)
    return path


def failing(number, name="results/a.parquet"):
    def main(job):
        raise OSError(number, os.strerror(number), name)

    return main


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_full_disk_is_one_sentence(log, capsys, number):
    with pytest.raises(SystemExit):
        stage.run(failing(number))
    said = capsys.readouterr().err
    assert said == log.read_text()
    assert said.startswith("error: results/a.parquet: expected to write to the disk, found ")
    assert said.count("\n") == 1


def test_a_full_disk_keeps_nothing_from_being_said(log, capsys):
    """The log lies on the same disk."""

    def main(job):
        log.unlink()
        log.mkdir()
        failing(errno.ENOSPC)(job)

    with pytest.raises(SystemExit):
        stage.run(main)
    assert capsys.readouterr().err.startswith("error: results/a.parquet: ")


def test_what_is_a_fault_of_ours_keeps_its_traceback(log):
    with pytest.raises(OSError):
        stage.run(failing(errno.EBADF))
    assert "Traceback" in log.read_text()
