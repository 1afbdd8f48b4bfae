"""A user's demonstrations: looked at when a run begins, and as a whole when they are taken in."""

from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.errors import InputError
from workflow.lib.begin import check_demonstrations
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


def taken_in(path, tolerance=1.0):
    """The job that takes them in."""
    folder = path.parent
    settings = {"environment": "gridworld-a", "world": {}, "demonstrations": {}}
    settings["demonstrations"]["tolerance"] = tolerance
    job = SimpleNamespace(
        input=SimpleNamespace(file=str(path)),
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
