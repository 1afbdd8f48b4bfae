"""Artifacts: written whole or not at all, read back checked."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from icl_core import artifacts, disk
from icl_core.errors import InputError
from icl_core.job_times import Record, read_time, write_time

SCHEMA = pa.schema([("seed", pa.int32()), ("state", pa.list_(pa.float32()))])
TABLE = pa.table({"seed": [1, 2], "state": [[0.0, 1.0], [2.0, 3.0]]}, schema=SCHEMA)
TENSORS = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "scalar": np.array(3.0)}
ABOUT = {"code": "abc", "seeds": [1, 2]}


def one_line(error) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def test_table_returns_with_its_provenance_and_metadata(tmp_path):
    path = tmp_path / "deep" / "table.parquet"
    artifacts.write_table(path, TABLE.replace_schema_metadata({"environment": "x"}), ABOUT)
    table = artifacts.read_table(path, SCHEMA)
    assert table.equals(TABLE)
    assert table.schema.metadata[b"environment"] == b"x"
    assert artifacts.read_provenance(path) == ABOUT


@given(
    st.dictionaries(
        st.text("abc.", min_size=1),
        arrays.arrays(
            st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]),
            arrays.array_shapes(min_dims=0, min_side=0),
        ),
        min_size=1,
    )
)
def test_any_tensors_return_as_they_were(tmp_path_factory, tensors):
    path = tmp_path_factory.mktemp("tensors") / "n.safetensors"
    artifacts.write_tensors(path, {name: t.T for name, t in tensors.items()}, ABOUT)
    found = artifacts.read_tensors(path)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        np.testing.assert_array_equal(found[name], tensor.T)
    assert artifacts.read_provenance(path) == ABOUT


def test_equal_inputs_give_equal_bytes(tmp_path):
    for name in ("one", "two"):
        artifacts.write_table(tmp_path / f"{name}.parquet", TABLE, ABOUT)
        about = dict(reversed(ABOUT.items()))
        tensors = dict(reversed(TENSORS.items())) if name == "two" else TENSORS
        artifacts.write_tensors(tmp_path / f"{name}.safetensors", tensors, about)
    for suffix in (".parquet", ".safetensors"):
        one, two = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("keep", [0, 3, 50, -1])
def test_truncated_table_is_refused(tmp_path, keep):
    path = tmp_path / "t.parquet"
    artifacts.write_table(path, TABLE, ABOUT)
    path.write_bytes(path.read_bytes()[:keep])
    for read in (lambda p: artifacts.read_table(p, SCHEMA), artifacts.read_provenance):
        with pytest.raises(InputError) as error:
            read(path)
        assert str(path) in one_line(error)


@pytest.fixture(scope="module")
def sealed_files(tmp_path_factory):
    """One file of each format, as results hold them, with what reads it."""
    root = tmp_path_factory.mktemp("flips") / "results/smoke"
    run = "runs/a/icl/seeds-1-2"
    noise = pa.table({"seed": pa.array(np.random.default_rng(0).integers(0, 2**31, 500))})
    paths = [root / f"{run}/metrics.parquet", root / f"{run}/density.safetensors"]
    paths += [root / "figures/figure-01.json", root / "benchmarks/expert/a.tsv"]
    artifacts.write_table(paths[0], noise, ABOUT)
    artifacts.write_tensors(paths[1], TENSORS, ABOUT)
    artifacts.write_record(paths[2], ABOUT, [])
    write_time(paths[3], Record(1.5, 2.5, "NAD 3"))
    reads = [lambda path: artifacts.read_table(path, noise.schema), artifacts.read_tensors]
    return dict(zip(paths, [*reads, artifacts.read_record, read_time], strict=True))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 3), st.floats(0, 1, exclude_max=True), st.integers(0, 7))
def test_any_flipped_bit_is_refused(sealed_files, which, place, bit):
    path, read = list(sealed_files.items())[which]
    content = path.read_bytes()
    read(path)
    at = int(place * len(content))
    path.write_bytes(content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :])
    try:
        with pytest.raises(InputError) as error:
            read(path)
    finally:
        path.write_bytes(content)
    assert str(path) in one_line(error)


@pytest.mark.parametrize(
    "there",
    [
        "runs/b/icl/seeds-1-2/density.safetensors",  # another experiment's
        "runs/a/icrl/seeds-1-2/density.safetensors",  # another method's
        "runs/a/icl/seeds-3-4/density.safetensors",  # of other seeds
        "runs/a/icl/seeds-1-2/iteration-01/policy.safetensors",  # another kind
    ],
)
def test_a_file_that_belongs_elsewhere_is_refused(tmp_path, there):
    root = tmp_path / "results/smoke"
    here = root / "runs/a/icl/seeds-1-2/density.safetensors"
    artifacts.write_tensors(here, TENSORS, ABOUT)
    other = Path(os.path.normpath(root / there))
    other.parent.mkdir(parents=True)
    shutil.copy2(here, other)
    with pytest.raises(InputError, match=r"found density \(experiment a, group 1-2, method icl"):
        artifacts.read_tensors(other)
    moved = shutil.copytree(tmp_path / "results", tmp_path / "elsewhere/results")
    assert artifacts.read_tensors(moved / "smoke" / here.relative_to(root))  # all of it may move


def test_a_file_without_a_seal_is_no_result(tmp_path):
    path = tmp_path / "results/smoke/runs/a/icl/seeds-1-2/density.safetensors"
    artifacts.write_tensors(tmp_path / "own.safetensors", TENSORS, {})
    safetensors.numpy.save_file(TENSORS, tmp_path / "bare.safetensors")
    assert artifacts.read_tensors(tmp_path / "bare.safetensors")  # a user's own
    path.parent.mkdir(parents=True)
    shutil.copy2(tmp_path / "bare.safetensors", path)
    with pytest.raises(InputError, match="bytes without a checksum"):
        artifacts.read_tensors(path)


@pytest.mark.parametrize("keep", [0, 3, 20, -1])
def test_truncated_tensors_are_refused(tmp_path, keep):
    path = tmp_path / "results" / "smoke" / "n.safetensors"
    artifacts.write_tensors(path, TENSORS, ABOUT)
    path.write_bytes(path.read_bytes()[:keep])
    for read in (artifacts.read_tensors, artifacts.read_provenance):
        with pytest.raises(InputError) as error:
            read(path)
        message = one_line(error)
        assert "safetensors" in message
        assert "scale=smoke -- results/smoke/n.safetensors" in message


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="found nothing"):
        artifacts.read_table(tmp_path / "absent.parquet", SCHEMA)
    with pytest.raises(InputError, match="found a directory"):
        artifacts.read_tensors(tmp_path)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pa.table({"seed": [1]}), "expected the columns seed, state, found seed;"),
        (TABLE.set_column(0, "seed", pa.array([1, 2], pa.int64())), "type int32, found int64"),
        (
            TABLE.set_column(1, "state", pa.array([[1], [2]], pa.list_(pa.int8()))),
            r"'state' of type list<item: float>, found list<",
        ),
        (TABLE.set_column(0, "seed", pa.array([1, None], pa.int32())), "found none in row 1"),
    ],
)
def test_a_wrong_schema_is_refused(tmp_path, table, sentence):
    path = tmp_path / "t.parquet"
    artifacts.write_table(path, table, ABOUT)
    with pytest.raises(InputError, match=sentence) as error:
        artifacts.read_table(path, SCHEMA)
    one_line(error)


def test_a_crash_in_the_middle_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("old")

    def crash():
        with disk.atomic(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crash()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_is_replaced(tmp_path):
    path = tmp_path / "t.txt"
    with disk.atomic(path) as temporary:
        name = temporary.name
        temporary.write_text("whole")
    done = subprocess.Popen(["true"])
    done.wait()
    (tmp_path / name.replace(str(os.getpid()), str(done.pid))).write_text("left behind")
    with disk.atomic(path) as temporary:
        temporary.write_text("again")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "again"


def test_provenance_holds_hashes_and_versions_and_no_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("abc")
    about = artifacts.make_provenance("digest", {"epochs": 3}, ["in.txt"], np.array([1, 2]))
    # sha256 of "abc" is the first example of FIPS 180-2.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert about["inputs"] == {"in.txt": digest}
    assert about["packages"]["numpy"] == np.__version__
    assert {"code", "configuration", "job", "kernels", "seeds"} < set(about)
    assert len(about) == 7
    assert json.loads(json.dumps(about)) == about
