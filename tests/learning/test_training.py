"""Jobs that can be killed: what is saved when, and what is taken up again."""

import errno
import os

import numpy as np
import pytest

from icl_core import disk
from icl_core.learning.engine import training
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, LOG_EVERY, Job, Store, log_table
from icl_core.progress import Progress
from tests.learning.tiny import Heard, Listening


def test_a_state_of_another_job_or_a_broken_one_is_not_taken_up(tmp_path):
    path = tmp_path / "unfinished.safetensors"
    assert Store(path, {}).load() is None
    Store(path, {"code": "x"}, seconds=0.0).save_if_due(lambda: {"a": np.arange(3)})
    np.testing.assert_array_equal(Store(path, {"code": "x"}).load()["a"], np.arange(3))
    assert Store(path, {"code": "y"}).load() is None
    path.write_bytes(path.read_bytes()[:-4])
    assert Store(path, {"code": "x"}).load() is None


def test_states_are_saved_now_and_then_only(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(training.time, "monotonic", lambda: clock[0])
    store, saved = Store(tmp_path / "s.safetensors", {}, seconds=60.0), []
    for clock[0] in (1.0, 59.0, 61.0, 100.0, 122.0):
        store.save_if_due(lambda: saved.append(clock[0]) or {})
    assert saved == [61.0, 122.0]


def test_a_state_that_cannot_be_saved_is_said_once_and_the_job_goes_on(tmp_path, monkeypatch):
    """A full disk: the state is optional, and the final files may need less room."""

    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store, heard, learner = Store(tmp_path / "s.safetensors", {}, 0.0), Listening(), Counter()
    monkeypatch.setattr(disk, "_flush", full)
    Job(heard, store).run(learner, 3)
    assert learner.done == 3
    (line,) = heard.said
    assert line.startswith(f"warning: {store.path}: ") and "No space left on device" in line
    assert list(tmp_path.iterdir()) == []  # nothing half written
    monkeypatch.undo()
    Job(heard, store).run(learner, 4)
    assert Store(store.path, {}).load()["done"] == 4  # once there is room, it is saved again


def test_what_a_full_disk_keeps_from_the_log_ends_no_job(tmp_path, capsys):
    (tmp_path / "log").mkdir()  # cannot be written to
    Progress(tmp_path / "log", "x", 1).say("a word")
    assert capsys.readouterr().err == "a word\n"


class Counter:
    """A learner of two runs whose state is how far it has counted."""

    unit = "count"

    def __init__(self):
        self.done, self.weights = 0, np.zeros((2, 3), np.float32)
        self.optimiser = Adam(self.weights, 1.0)

    def parts(self):
        return [Part("rate", self.weights, self.optimiser)]

    def advance(self):
        self.done += 1
        return {"count": np.array([self.done, self.done + 1.0])}

    def tensors(self):
        return {"done": np.array([self.done])}

    def restore(self, named):
        self.done = int(named["done"][0])


def test_a_job_reports_means_and_goes_on_from_what_was_saved(tmp_path):
    store = Store(tmp_path / "s.safetensors", {}, seconds=0.0)
    for total, epochs in [(3, [1, 2, 3]), (5, [4, 5]), (5, [])]:
        heard, learner = Heard(), Counter()
        Job(heard, store).run(learner, total)
        assert heard.total == total
        assert heard.lines == [(epoch, {"count": epoch + 0.5}) for epoch in epochs]
        assert learner.done == total
    plain = Counter()
    Job().run(plain, 4)  # saves nothing and is silent
    assert plain.done == 4


def test_each_part_of_a_job_has_a_state_of_its_own_and_all_are_cleared(tmp_path):
    job = Job(Heard(), Store(tmp_path / "s.safetensors", {"code": "x"}, seconds=0.0))
    for name, total in [("first", 2), ("second", 3)]:
        learner = Counter()
        job.part(name).run(learner, total)
        assert learner.done == total
    assert job.progress.epochs == [1, 2, 1, 2, 3]  # the second began at its own beginning
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "s-first.safetensors",
        "s-second.safetensors",
    ]
    job.store.clear()
    assert list(tmp_path.iterdir()) == []
    assert Job().part("any").store is None


def test_logs_have_a_row_for_each_seed_and_step_in_this_order():
    columns = {
        name: np.arange(6.0).reshape(3, 2) + 10 * k
        for k, name in enumerate(ADJUSTMENT_SCHEMA.names[2:])
    }
    table = log_table(ADJUSTMENT_SCHEMA, columns, [7, 4])
    assert table.schema == ADJUSTMENT_SCHEMA
    assert table["seed"].to_pylist() == [7, 7, 7, 4, 4, 4]
    assert table["step"].to_pylist() == [1, 2, 3, 1, 2, 3]
    assert table["loss"].to_pylist() == [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("steps", "kept"),
    [(1, [1]), (25, [1, 25]), (26, [1, 26]), (60, [1, 26, 51, 60]), (0, [])],
)
def test_long_logs_keep_the_first_step_some_between_and_the_last(steps, kept):
    counted = np.arange(1.0, steps + 1)[:, None] + [[100.0, 200.0]]
    columns = dict.fromkeys(ADJUSTMENT_SCHEMA.names[2:], counted)
    table = log_table(ADJUSTMENT_SCHEMA, columns, [7, 4], every=LOG_EVERY)
    assert table["step"].to_pylist() == kept * 2
    assert table["loss"].to_pylist() == [100 + k for k in kept] + [200 + k for k in kept]
