"""Files say themselves whether they are up to date, wherever they were copied to."""

import os
import shutil

import pytest

from workflow.lib.records import renew

RUN = "results/smoke/runs/gridworld-a/icl/seeds-1-2"


@pytest.fixture
def copied(editable, tmp_path):
    """Results that came without Snakemake's own records, all dates new and in any order."""
    place = editable.copy(tmp_path / "copied")
    shutil.rmtree(place.path / ".snakemake")
    files = sorted((place.path / "results").rglob("*"), key=lambda path: hash(path.name))
    for k, path in enumerate(files):
        os.utime(path, (1.7e9 + k, 1.7e9 + k))
    return place


def test_an_unchanged_copy_runs_nothing(copied):
    assert copied.planned() == {}


def test_in_a_copy_a_changed_setting_runs_its_stages(copied, editable):
    for place in (copied, editable):
        place.configure(lambda c: c.update(learning={"icl": {"adjustment": {"penalty": 16.0}}}))
    planned = copied.planned()
    assert planned == editable.planned()
    assert "icl_adjust" in planned
    assert "expert" not in planned


def test_in_a_copy_an_edited_world_runs_its_experiments(copied, editable):
    for place in (copied, editable):
        place.edit("icl_core/environments/worlds/gridworld_b.py", "range(2, 5))", "range(2, 4))")
    assert copied.planned() == editable.planned() != {}


def test_an_input_that_was_replaced_is_noticed_whatever_its_date(copied):
    """The first iteration's constraint of a run with other settings, dated long ago."""
    other = f"{RUN}/iteration-01/constraint.safetensors"
    content = (copied.path / other).read_bytes()
    (copied.path / other).write_bytes(content)
    assert copied.planned() == {}
    demonstrations = (
        copied.path / "results/smoke/demonstrations/gridworld-a/seeds-1-2/trajectories.parquet"
    )
    policy = copied.path / f"{RUN}/density.safetensors"
    assert policy.is_file()
    shutil.copy2(copied.path / "config.yaml", demonstrations)  # any other content
    os.utime(demonstrations, (0, 0))
    planned = copied.planned()
    assert planned["icl_density"] == 1
    assert planned["learn"] == 2


def test_records_are_written_once(editable, monkeypatch):
    monkeypatch.chdir(editable.path)
    state, results = editable.path / ".snakemake", editable.path / "results/smoke"
    shutil.rmtree(state)
    first = renew(state, results.relative_to(editable.path))
    assert first > 400
    assert renew(state, results.relative_to(editable.path)) == 0
