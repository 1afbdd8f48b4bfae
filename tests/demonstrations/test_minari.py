"""Demonstrations as data sets of Minari: what is written comes back, and all else is refused."""

import json
import shutil

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icl_core import Demonstrations, InputError
from icl_core.demonstrations.brought import read_brought
from icl_core.environments import make_world
from tests.demonstrations.test_dataset import SHAPES, Cart, Predicting, assert_equal, made

minari = pytest.importorskip("minari")
from minari.data_collector import EpisodeBuffer  # noqa: E402  only where it is installed

GRID = make_world("gridworld-a")


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    """Data sets in a folder of the test's own, never in the home folder."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "sets"))
    return tmp_path / "sets"


def walk():
    """Down from a start cell of a gridworld, as it really moves."""
    return Demonstrations.record("icl/GridworldA-v0", lambda seen: 2, 2, seed=1)


# --- What is written comes back


@given(**{**SHAPES, "last": st.just(True)})
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_minari_gives_back_what_was_written(root, **shape):
    whole = made(**shape)
    shutil.rmtree(root, ignore_errors=True)
    whole.to_minari("nav/careful-v0")
    assert_equal(Demonstrations.from_minari("nav/careful-v0"), whole)


def test_names_travel_with_minari():
    about = {"observation_names": ("x", "y"), "action_names": tuple("abcdefgh"), "env_id": "E-v0"}
    whole = Demonstrations(made(costs=True).episodes, **about)
    whole.to_minari("careful-v0")
    assert_equal(Demonstrations.from_minari("minari:careful-v0"), whole)


def test_an_environment_gives_its_spaces():
    walk().to_minari("nav/walk-v0", env="icl/GridworldA-v0", author="me", description="down")
    found = minari.load_dataset("nav/walk-v0")
    assert found.action_space == spaces.Discrete(8)
    assert found.env_spec.id == "icl/GridworldA-v0"
    assert found.storage.metadata["author"] == {"me"}
    assert_equal(Demonstrations.from_minari("nav/walk-v0"), walk())


def test_minari_reads_costs_where_its_own_collector_puts_them():
    whole = made(costs=True)
    whole.to_minari("nav/careful-v0")
    for one, other in zip(minari.load_dataset("nav/careful-v0"), whole, strict=True):
        assert len(one.observations) == len(other) + 1
        assert one.infos["cost"].tolist() == [0, *other.costs.tolist()]
        assert one.terminations[-1] == other.terminated and not one.terminations[:-1].any()
    again = Demonstrations.from_episodes(minari.load_dataset("nav/careful-v0"))
    assert_equal(again, made(costs=True))


def test_last_observations_are_wanted():
    whole = made(last=False)
    with pytest.raises(InputError, match=r"episode 0: .* after the last step.* repeat_last=True"):
        whole.to_minari("nav/careful-v0")
    whole.to_minari("nav/careful-v0", repeat_last=True)
    for one in Demonstrations.from_minari("nav/careful-v0"):
        assert np.array_equal(one.observations[-1], one.observations[-2])


def test_nothing_is_left_of_what_could_not_be_written(root):
    with pytest.raises(ValueError, match="No storage implemented for xml"):
        made().to_minari("nav/careful-v0", data_format="xml")
    made().to_minari("nav/careful-v0")
    with pytest.raises(InputError, match="expected a name that is free"):
        made().to_minari("nav/careful-v0")


def test_minari_writes_to_absolute_paths_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", "sets")
    with pytest.raises(InputError, match="MINARI_DATASETS_PATH: expected an absolute path"):
        made().to_minari("nav/careful-v0")


def test_an_environment_of_another_kind_is_refused():
    with pytest.raises(InputError, match="2 observed numbers and at least 5 choices"):
        made().to_minari("nav/careful-v0", env=Cart)
    with pytest.raises(InputError, match="2 observed numbers and 2 real actions"):
        made(actions=2).to_minari("nav/careful-v0", env=Cart)
    made(actions=1).to_minari("nav/careful-v0", env=Cart)


# --- What is refused


@pytest.mark.parametrize("name", ["nope", "../up-v0", "a b-v0", "/etc/x-v0", "", "nav/x", "x-v"])
def test_names_that_no_data_set_can_have(name):
    for way in (Demonstrations.from_minari, made().to_minari):
        with pytest.raises(InputError, match=r"expected the name of a Minari data set, .*name-v"):
            way(name)


def test_a_data_set_that_is_not_there_is_never_downloaded(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("downloaded")

    monkeypatch.setattr("minari.storage.hosting.download_dataset", refused)
    with pytest.raises(InputError, match="found none at all"):
        Demonstrations.from_minari("nav/other-v0")
    made().to_minari("nav/careful-v0")
    made().to_minari("brisk-v1")
    with pytest.raises(InputError, match="found brisk-v1, nav/careful-v0; choose one") as error:
        Demonstrations.from_minari("nav/other-v0")
    assert "\n" not in str(error.value)


BOX, PICTURE = spaces.Box(-1, 1, (2,)), spaces.Box(0, 255, (8, 8, 3), np.uint8)


@pytest.mark.parametrize(
    ("observations", "actions", "said"),
    [
        (spaces.Dict({"a": BOX}), BOX, "found Dict; flatten"),
        (spaces.Tuple([BOX]), BOX, "found Tuple; flatten"),
        (PICTURE, BOX, r"found Box of shape \(8, 8, 3\); flatten"),
        (spaces.Discrete(4), BOX, r"observation space.*found Discrete\(4\)"),
        (BOX, spaces.MultiDiscrete([2, 2]), "action space.*found MultiDiscrete"),
        (BOX, spaces.Dict({"a": BOX}), "action space.*found Dict"),
        (BOX, spaces.Discrete(3, start=1), "numbered from 0"),
    ],
)
def test_spaces_in_which_nothing_can_be_learned(observations, actions, said):
    def two(space, n):
        if isinstance(space, spaces.Dict):
            return {key: two(one, n) for key, one in space.items()}
        if isinstance(space, spaces.Tuple):
            return tuple(two(one, n) for one in space)
        return [space.sample() for _ in range(n)]

    buffer = EpisodeBuffer(
        observations=two(observations, 3),
        actions=two(actions, 2),
        rewards=[0.0, 1.0],
        terminations=[False, True],
        truncations=[False, False],
    )
    with pytest.warns(UserWarning):
        minari.create_dataset_from_buffers(
            "other-v0", [buffer], observation_space=observations, action_space=actions
        )
    with pytest.raises(InputError, match=f"minari:other-v0: .*{said}"):
        Demonstrations.from_minari("other-v0")


def damaged_data(folder):
    data = folder / "main_data.hdf5"
    data.write_bytes(data.read_bytes()[:100])


def damaged_metadata(folder):
    (folder / "metadata.json").write_text("{")


def without_spaces(folder):
    """Minari would make the environment that the metadata name, and so run its code."""
    about = json.loads((folder / "metadata.json").read_text())
    del about["observation_space"]
    (folder / "metadata.json").write_text(json.dumps(about))


def with_too_many(folder):
    about = json.loads((folder / "metadata.json").read_text())
    (folder / "metadata.json").write_text(json.dumps({**about, "total_episodes": 99}))


@pytest.mark.parametrize("spoil", [damaged_data, damaged_metadata, without_spaces, with_too_many])
def test_damaged_data_sets_are_one_sentence(root, spoil):
    made().to_minari("nav/careful-v0")
    spoil(root / "nav/careful-v0/data")
    with pytest.raises(InputError, match="expected") as error:
        Demonstrations.from_minari("nav/careful-v0")
    assert "\n" not in str(error.value) and "careful-v0" in str(error.value)


# --- As a run takes them in


def test_a_data_set_is_compared_with_its_world():
    walk().to_minari("nav/walk-v0")
    expected = walk().trajectories()
    for a, b in zip(
        read_brought("minari:nav/walk-v0", GRID, 1.0).parts(), expected.parts(), strict=True
    ):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    with pytest.raises(InputError, match=r"demonstrations of 'gridworld-b' .* icl/GridworldA-v0"):
        read_brought("minari:nav/walk-v0", make_world("gridworld-b"), 1.0)


def test_a_step_that_the_world_does_not_do_is_named():
    one = walk()[0]
    one.rewards[3] += 5
    Demonstrations([one]).to_minari("nav/walk-v0")
    said = r"minari:nav/walk-v0: episode 0, step 3: expected a reward of 0 .*, found 5"
    with pytest.raises(InputError, match=said):
        read_brought("minari:nav/walk-v0", GRID, 1.0)
    read_brought("minari:nav/walk-v0", GRID, None)


def test_a_data_set_of_another_size_is_refused():
    Demonstrations.record(Cart, Predicting(), 2, seed=1).to_minari("cart-v0")
    with pytest.raises(InputError, match=r"minari:cart-v0: episode 0, step \d+: expected"):
        read_brought("minari:cart-v0", GRID, None)
