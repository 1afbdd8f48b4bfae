"""A user's demonstrations: looked at when a run begins, and as a whole when they are taken in."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from icl_core.demonstrations.dataset import Demonstrations
from icl_core.demonstrations.episodes import Episode
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.minari_sets import METADATA, data_file
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.errors import InputError
from workflow.lib.begin import check_demonstrations
from workflow.lib.places import check_own_files
from workflow.lib.plan import Plan
from workflow.lib.stage import Stage
from workflow.scripts import import_demonstrations

GRID = make_world("gridworld-a")


def walks(episodes, jump=0):
    """Two steps down from a start cell, or further than a step goes."""
    states = np.array([[(0, 1), (1 + jump, 1)]] * episodes, np.float32)
    zeros = np.zeros((episodes, 2), np.float32)
    return Trajectories(states, np.full((episodes, 2), 2), zeros, np.full(episodes, 2))


def begun(path, **settings):
    """The start of a run with these demonstrations."""
    given = {"file": str(path), "tolerance": 1.0, **settings}
    one = SimpleNamespace(
        source="file", recorded=False, environment="gridworld-a", world={}, demonstrations=given
    )
    check_demonstrations(SimpleNamespace(experiments={"mine": one}))


def taken_in(path, tolerance=1.0, folder=None):
    """The job that takes them in."""
    folder = folder or path.parent
    settings = {"environment": "gridworld-a", "world": {}, "demonstrations": {}}
    settings["demonstrations"]["tolerance"] = tolerance
    job = SimpleNamespace(
        input=SimpleNamespace(file=data_file(path)),
        output=[folder / "trajectories.parquet"],
        wildcards=["gridworld-a"],
        params=SimpleNamespace(settings=settings, code="c0de"),
        log=[folder / "import.log"],
        rule="import_demonstrations",
    )
    stage = Stage(job)
    stage.provenance = dict
    import_demonstrations.main(stage)
    return pq.read_table(job.output[0])


@pytest.mark.parametrize("look", [begun, taken_in])
def test_what_cannot_be_is_refused_unless_the_tolerance_allows_it(tmp_path, look):
    path = tmp_path / "mine.parquet"
    write_demonstrations(path, walks(3), GRID, {})
    look(path)
    write_demonstrations(path, walks(3, jump=3), GRID, {})
    with pytest.raises(InputError, match=r"expected the state \(1, 1\) after action 2 in \(0, 1\)"):
        look(path)
    look(path, tolerance=None)


@pytest.mark.parametrize(("episodes", "warned"), [(1, True), (2, False)])
def test_one_trajectory_alone_is_a_warning(tmp_path, capsys, episodes, warned):
    path = tmp_path / "mine.parquet"
    write_demonstrations(path, walks(episodes), GRID, {})
    assert taken_in(path).num_rows == 2 * episodes
    assert ("warning: " + str(path) + ": one trajectory" in capsys.readouterr().err) is warned


# ------------------------------------------------------------------ data sets of Minari

NAME = "minari:nav/careful-v0"


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """Where data sets lie: never in the home folder."""
    pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "sets"))
    return tmp_path / "sets"


def written(jump=0):
    walked = [Episode(*(part[0] for part in walks(1, jump).parts()[:3]))] * 3
    Demonstrations(walked).to_minari(NAME, repeat_last=True)


@pytest.mark.parametrize("look", [begun, taken_in])
def test_a_data_set_of_minari_is_looked_at_like_a_file(sets, look):
    more = {"folder": sets.parent} if look is taken_in else {}
    written(jump=3)
    said = r"^minari:nav/careful-v0: episode 0, step 1: expected the state \(1, 1\) after action 2"
    with pytest.raises(InputError, match=said):
        look(NAME, **more)
    look(NAME, tolerance=None, **more)


def test_its_own_files_are_what_its_job_reads(sets):
    written()
    one = SimpleNamespace(demonstrations={"file": NAME})
    plan = SimpleNamespace(experiment=lambda _: one)
    plan.imported_file = partial(Plan.imported_file, plan)
    data = sets / "nav/careful-v0/data"
    assert plan.imported_file(None) == str(data / "main_data.hdf5")
    assert Plan.imported_about(plan, None) == [str(data / METADATA)]
    one.demonstrations["file"] = "./mine.parquet"
    assert plan.imported_file(None) == "./mine.parquet" and Plan.imported_about(plan, None) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("minari:careful", "expected the name of a Minari data set"),
        ("minari:../up-v0", "expected the name of a Minari data set"),
        ("minari:", "expected the name of a Minari data set"),
        ("minari:nav/other-v0", "found nav/careful-v0; choose one that is there"),
    ],
)
def test_a_bad_name_is_one_sentence_before_anything_runs(sets, name, said):
    written()
    with pytest.raises(InputError, match=f"^{name}: .*{said}") as error:
        check_own_files(own(name))
    assert "\n" not in str(error.value)
    check_own_files(own(NAME))


def test_a_data_set_that_a_rerun_would_delete_is_refused(sets, monkeypatch):
    monkeypatch.chdir(sets.parent)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(sets.parent / "results/sets"))
    written()
    with pytest.raises(InputError, match=r"expected a Minari data set .* outside of results/"):
        check_own_files(own(NAME))


def own(name):
    one = SimpleNamespace(source="file", demonstrations={"file": name})
    return SimpleNamespace(experiments={"mine": one}, recorded=[])
