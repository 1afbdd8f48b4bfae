"""The commands of `icl` on constraints, from any folder."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from icl_core import program
from icl_core.using.commands.sources import settings
from icl_core.using.constraint import Constraint
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "No-v0", "demonstrations.parquet"], "env 'No-v0': expected an environment"),
        (["learn", ENV, "nothing.parquet"], "nothing.parquet: expected a Parquet file"),
        (["learn", ENV, "demonstrations.parquet", "--method", "magic"], "choose one of gail-con"),
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
