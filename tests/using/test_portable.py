"""A constraint's file: the same to the bit, small, and refused in one sentence if it is wrong."""

import dataclasses
import json
import struct

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.artifacts import read_provenance, write_tensors
from icl_core.environments.inputs import inputs_of
from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.errors import InputError
from icl_core.using.constraint import Constraint
from icl_core.using.portable import SPEC
from tests.using.some import constraint, networks, pairs
from tests.using.test_constraint import squares, with_function
from tests.worlds import NAMES, small_world


def assert_equal(one, other):
    for name in ("beta", "discount", "seeds", "failed_seeds"):
        assert getattr(one, name) == getattr(other, name)
    assert one.networks.sizes == other.networks.sizes
    assert one.networks.activation == other.networks.activation
    assert one.networks.parameters.tobytes() == other.networks.parameters.tobytes()
    ours, theirs = one.inputs, other.inputs
    assert ours.weights.tobytes() == theirs.weights.tobytes()
    assert ours.offset.tobytes() == theirs.offset.tobytes()
    assert (ours.observation_size, ours.action_size) == (
        theirs.observation_size,
        theirs.action_size,
    )
    assert ours.grid.sliced_by == theirs.grid.sliced_by
    for a, b in zip(ours.axes, theirs.axes, strict=True):
        assert (a.name, a.unit, a.scale) == (b.name, b.unit, b.scale)
        assert a.nodes.dtype == b.nodes.dtype and a.nodes.tobytes() == b.nodes.tobytes()


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_gives_back_everything_to_the_bit(tmp_path, name, activation):
    made = constraint(
        name, activation=activation, about={"by": "a test"}, failed=np.array([0, 3, 0])
    )
    made.save(tmp_path / "a.safetensors")
    read = Constraint.load(tmp_path / "a.safetensors")
    assert_equal(read, made)
    assert read.failed_seeds == (2,) and read.about["by"] == "a test"
    assert "numpy" in read.about["packages"]
    obs, act = pairs(name, np.random.default_rng(0), 50)
    np.testing.assert_array_equal(read.predict_all(obs, act), made.predict_all(obs, act))
    # The same content, the same bytes, also by way of a file.
    made.save(tmp_path / "b.safetensors")
    read.save(tmp_path / "c.safetensors")
    first = (tmp_path / "a.safetensors").read_bytes()
    assert first == (tmp_path / "b.safetensors").read_bytes()
    assert first == (tmp_path / "c.safetensors").read_bytes()
    assert len(first) < 10_000


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.text().filter(lambda key: key not in ("seal", SPEC, "artifact", "packages"))


@given(
    about=st.dictionaries(KEYS, PLAIN, max_size=3),
    beta=st.floats(-1e30, 1e30),
    discount=st.floats(0, 1, exclude_min=True),
    names=st.lists(st.text(), min_size=2, max_size=2),
    scale=st.floats(1e-6, 1e6),
)
@settings(max_examples=60, deadline=None)
def test_whatever_it_says_comes_back(tmp_path_factory, about, beta, discount, names, scale):
    nodes = [np.linspace(-1, 1, 7) * scale, np.arange(3, dtype=np.float32)]
    axes = tuple(Axis(name, own, "m/s²", scale) for name, own in zip(names, nodes, strict=True))
    inputs = dataclasses.replace(constraint().inputs, grid=EvaluationGrid(axes, 0))
    made = Constraint(networks(2, (1,)), inputs, beta, discount, (1,), about)
    path = tmp_path_factory.mktemp("any") / "a.safetensors"
    made.save(path)
    read = Constraint.load(path)
    assert_equal(read, made)
    assert {key: read.about[key] for key in about} == about


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "c.safetensors"
    made = constraint(seeds=(1,))
    made.save(path)
    return path.read_bytes()


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_no_flipped_bit_goes_unnoticed(tmp_path_factory, whole, data):
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    content = bytearray(whole)
    content[bit // 8] ^= 1 << bit % 8
    refuse(tmp_path_factory, bytes(content))


def test_no_flipped_bit_of_the_seal_goes_unnoticed(tmp_path_factory, whole):
    start = whole.index(b"icl-sha256:")
    for place in range(start, start + 75, 3):
        content = bytearray(whole)
        content[place] ^= 0x20  # another case: no checksum is found there
        refuse(tmp_path_factory, bytes(content))


@given(length=st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_no_missing_end_goes_unnoticed(tmp_path_factory, whole, length):
    refuse(tmp_path_factory, whole[: length % len(whole)])


def refuse(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError) as found:
        Constraint.load(path)
    said = str(found.value)
    assert said.startswith(f"{path}: expected ") and "; " in said and "\n" not in said


def test_what_is_no_constraint_of_ours_is_refused(tmp_path):
    path = tmp_path / "c.safetensors"
    with pytest.raises(InputError, match=r"c\.safetensors: expected a file, found nothing; give"):
        Constraint.load(path)
    with pytest.raises(InputError, match="expected a file, found a directory"):
        Constraint.load(tmp_path)
    with pytest.raises(InputError, match="expected a file's name, found a folder"):
        constraint().save(tmp_path)
    safetensors.numpy.save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(InputError, match="bytes without its checksum, of another kind or damaged"):
        Constraint.load(path)
    policy = tmp_path / "results/quick/runs/a/icl/seeds-1-2/final/policy.safetensors"
    write_tensors(policy, networks(2, (1, 2)).tensors(), {"seeds": [1, 2]})
    with pytest.raises(InputError, match=r"found policy \(experiment a, group 1-2, method icl\)"):
        Constraint.load(policy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "expected a constraint of version 1, found version 2; install a newer"),
        ({"axes": []}, "found one that lacks parts"),
        ({"seeds": None}, "found one that lacks parts"),
        ({"axes": [["a", "", 1.0]] * 3}, "lacks parts .*axis2"),
    ],
)
def test_another_version_or_a_wrong_part_is_refused(tmp_path, change, said):
    path = tmp_path / "c.safetensors"
    constraint().save(path)
    spec = read_provenance(path)[SPEC]
    tensors = safetensors.numpy.load(path.read_bytes())
    write_tensors(path, tensors, {SPEC: spec | change})
    with pytest.raises(InputError, match=said):
        Constraint.load(path)
    write_tensors(path, {}, {SPEC: spec})
    with pytest.raises(InputError, match="lacks parts"):
        Constraint.load(path)


def test_a_function_must_be_given_again(tmp_path):
    path = tmp_path / "c.safetensors"
    made = with_function()
    made.save(path)
    with pytest.raises(InputError, match=r"found none; give it: load\(path, inputs=function\)"):
        Constraint.load(path)
    read = Constraint.load(path, inputs=squares)
    assert_equal(read, made)
    obs = np.random.default_rng(0).uniform(0, 3, (30, 2))
    np.testing.assert_array_equal(read.predict(obs, obs[:, 0]), made.predict(obs, obs[:, 0]))
    constraint().save(path)
    with pytest.raises(InputError, match=r"holds what the constraint sees, found one; leave it"):
        Constraint.load(path, inputs=squares)


def test_a_file_may_lie_anywhere_also_among_results(tmp_path):
    path = tmp_path / "results/quick/mine/c.safetensors"
    made = constraint()
    made.save(path)
    moved = tmp_path / "results/quick/other/d.safetensors"
    moved.parent.mkdir()
    path.rename(moved)
    assert_equal(Constraint.load(moved), made)


def test_what_cannot_be_written_is_refused(tmp_path):
    made = constraint(about={"made": object()})
    with pytest.raises(InputError, match="about: expected numbers, texts, lists and mappings"):
        made.save(tmp_path / "c.safetensors")


def test_others_can_read_the_header(tmp_path):
    """The format is safetensors, its header JSON: nothing of ours is needed."""
    path = tmp_path / "c.safetensors"
    constraint("cartpole-mr").save(path)
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    spec = json.loads(header["__metadata__"]["provenance"])[SPEC]
    assert spec["version"] == 1
    assert spec["axes"] == [["position x", "m", 1.0, 0.0], ["action a", "", 1.0, 0.0]]
    world = small_world("cartpole-mr")
    read = safetensors.numpy.load(content)
    np.testing.assert_array_equal(read["inputs.weights"], inputs_of(world).weights)
