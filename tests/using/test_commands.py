"""The commands of `icl` on constraints, from any folder."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from icl_core import program
from icl_core.demonstrations.files import write_demonstrations
from icl_core.environments import make_world
from icl_core.using.commands.sources import settings
from icl_core.using.constraint import Constraint
from tests.learning.tiny import demonstrations_of
from tests.small_grids import optimal_expert
from tests.using.robots import TINY, demonstrations

ENV = "tests.using.robots:Robot-v0"


def flat(nested, *keys):
    for key, value in nested.items():
        if isinstance(value, dict):
            yield from flat(value, *keys, key)
        else:
            yield f"{'.'.join((*keys, key))}={'null' if value is None else value}"


def test_words_become_settings():
    assert settings(flat(TINY["icl"])) == TINY["icl"]


@pytest.fixture
def shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "demonstrations.parquet"
    demonstrations().to_parquet(path)
    return path


@pytest.fixture
def learned(shown, tmp_path, capsys):
    sizes = list(flat(TINY["icl"]))
    words = [
        "learn",
        ENV,
        str(shown),
        "--inputs",
        "x",
        "y",
        "--seeds",
        "1",
        "2",
        "-o",
        "c.safetensors",
    ]
    assert program.main([*words, "--cost-limit", "1.5", "--set", *sizes]) == 0
    said = capsys.readouterr().out
    assert said.count("seed ") == 2 and "c.safetensors: Constraint(x, y; beta=1.5" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "c.safetensors",
        "demonstrations.parquet",
    ]
    return tmp_path / "c.safetensors"


def test_learn_evaluate_plot_and_export(learned, shown, tmp_path, capsys):
    constraint, data = Constraint.load(learned), demonstrations()
    assert program.main(["evaluate", str(learned), str(shown)]) == 0
    said = capsys.readouterr().out
    costs = [
        (constraint.predict(one.states, one.actions) * 0.99 ** np.arange(len(one))).sum()
        for one in data
    ]
    assert f"12 episodes cost {np.mean(costs):.3g} on average" in said
    assert program.main(["plot", str(learned), "-o", "c.png", "-d", str(shown)]) == 0
    assert (tmp_path / "c.png").stat().st_size > 5000
    assert program.main(["export", str(learned), "c.csv"]) == 0
    table = csv.read_csv(tmp_path / "c.csv")
    assert table.column_names == ["x", "y", "c", "spread", "seed 1", "seed 2"]
    places = np.stack([table["x"], table["y"]], axis=-1)
    found = constraint.predict(places, np.zeros((table.num_rows, 2)))
    np.testing.assert_allclose(table["c"], found, atol=1e-5)
    assert isinstance(table, pa.Table)


def test_identify_says_what_demonstrations_tell(tmp_path, capsys):
    world = make_world("gridworld-a")
    path = str(tmp_path / "own.parquet")
    shown = optimal_expert(world, world.true_on_grid)
    write_demonstrations(path, shown, world, {})
    for named in ("gridworld-a", "icl/GridworldA-v0"):
        assert program.main(["identify", named, path, "--cost-limit", "0.99"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2 + 49 + 1
        assert "the reward tells nothing" in lines[1]
        never = "cannot tell whether (3, 2) is forbidden: c may be anything from 0 to 1"
        assert sum(never in line for line in lines) == 1
        assert lines[-1].startswith("of 49 cells ") and "0 forbidden" in lines[-1]
    assert program.main(["identify", "cartpole-mr", path]) == 1
    assert "expected observations of 4 numbers" in capsys.readouterr().err


def test_identify_says_where_an_edge_can_lie(tmp_path, capsys):
    world = make_world("cartpole-mr")
    path = str(tmp_path / "own.parquet")
    write_demonstrations(path, demonstrations_of(world), world, {})
    assert program.main(["identify", "cartpole-mr", path, "--cost-limit", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all("an edge can be forbidden for edges" in one for one in lines)
    assert program.main(["identify", "cartpole-mr", path, "--cost-limit", "999"]) == 0
    assert capsys.readouterr().out.count("for every edge") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "No-v0", "demonstrations.parquet"], "env 'No-v0': expected an environment"),
        (["learn", ENV, "nothing.parquet"], "nothing.parquet: expected a Parquet file"),
        (
            ["learn", ENV, "demonstrations.parquet", "--method", "magic"],
            "choose one of exact-icl, exact-icl-ours, gail-con",
        ),
        (["learn", ENV, "demonstrations.parquet", "--set", "loop"], "expected KEY=VALUE"),
        (["learn", ENV, "demonstrations.parquet", "--set", "loop.x=1"], "loop.x"),
        (["evaluate", "c.safetensors", "demonstrations.parquet"], "expected a file, found nothing"),
        (["plot", "demonstrations.parquet"], "expected a complete safetensors file"),
        (["export", "c.safetensors", "c.xyz"], "expected a name that ends in .csv or .parquet"),
    ],
)
def test_a_wrong_word_is_one_sentence(shown, words, said, capsys):
    assert program.main(words) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and said in error
