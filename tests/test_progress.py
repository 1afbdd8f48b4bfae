"""Progress: a line now and then, on stderr and in the log."""

from icl_core import progress as module
from icl_core.progress import Progress


def test_lines_are_rare_but_the_last_always_comes(tmp_path, capsys, monkeypatch):
    now = iter([0.0, 1.0, 2.0, 7.0, 8.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(now))
    log = tmp_path / "logs" / "stage.log"
    progress = Progress(log, "constrained RL", 8)
    for report, epoch in zip([progress.update, progress] * 2, (1, 2, 7, 8), strict=True):
        report(epoch, J=0.5)
    lines = log.read_text().splitlines()
    assert [line.split()[2] for line in lines] == ["1/8", "7/8", "8/8"]
    assert lines[1] == "constrained RL  7/8  J 0.5  0:07 so far, 0:01 left"
    assert capsys.readouterr().err.splitlines() == lines


def test_silent_says_nothing(capsys):
    progress = Progress.silent()
    progress.update(1, loss=1.0)
    progress.say("x")
    assert capsys.readouterr().err == ""
