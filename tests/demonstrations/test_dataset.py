"""Demonstrations as users bring them: whatever has the parts is taken, all else is one sentence."""

from dataclasses import dataclass
from typing import ClassVar

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icl_core import Demonstrations, Episode, InputError, read_demonstrations
from icl_core.demonstrations.files import write_demonstrations
from icl_core.environments import make_world
from tests.demonstrations.test_files import random_episodes

GRID = make_world("gridworld-a")
SHAPES = {
    "seed": st.integers(0, 2**32 - 1),
    "size": st.integers(1, 4),
    "actions": st.integers(0, 3),  # 0: choices
    "count": st.integers(1, 4),
    "last": st.booleans(),
    "costs": st.booleans(),
}


EMPTY = pa.array([[], [], []], pa.list_(pa.float32()))


def made(seed=0, size=2, actions=0, count=3, last=True, costs=False):
    """Random episodes of 1 to 6 steps."""
    rng = np.random.default_rng(seed)
    episodes = []
    for steps in rng.integers(1, 7, size=count):
        choices = rng.integers(0, 5, size=steps)
        episodes.append(
            Episode(
                rng.normal(size=(steps + last, size)),
                rng.normal(size=(steps, actions)) if actions else choices,
                rng.normal(size=steps),
                terminated=bool(rng.integers(2)),
                truncated=bool(rng.integers(2)),
                costs=rng.random(steps) if costs else None,
            )
        )
    return Demonstrations(episodes)


def assert_equal(found, expected):
    assert len(found) == len(expected) and found.about() == expected.about()
    for one, other in zip(found, expected, strict=True):
        for name in ("observations", "actions", "rewards", "costs"):
            a, b = getattr(one, name), getattr(other, name)
            if b is None:
                assert a is None, name
            else:
                assert a.dtype == b.dtype and np.array_equal(a, b), name
        assert (one.terminated, one.truncated) == (other.terminated, other.truncated)


def parts(steps=2, **changes):
    whole = {
        "observations": np.zeros((steps + 1, 2)),
        "actions": np.zeros(steps, int),
        "rewards": np.zeros(steps),
    }
    whole |= changes
    return {key: value for key, value in whole.items() if value is not None}


# --- What they are


def test_numbers_of_a_set():
    first = parts(2, rewards=[1, 2], costs=[1, 1], actions=[0, 3])
    found = Demonstrations.from_episodes(
        [first, parts(3, costs=[0, 0, 0])], observation_names=["x", "y"], env_id="some/Env-v0"
    )
    assert (found.observation_size, found.action_size, found.n_actions) == (2, 1, 4)
    assert found.discrete and found.lengths.tolist() == [2, 3] and found.returns.tolist() == [3, 0]
    assert found.mean_cost() == 1 and found.mean_cost(0.5) == 0.75
    assert repr(found) == (
        "Demonstrations(2 episodes of 2 to 3 steps, observations (x, y), 4 choices of action, "
        "returns 1.5 +- 1.5, mean cost 1, env_id 'some/Env-v0')"
    )
    assert made().mean_cost() is None


def test_some_of_a_set():
    whole = made(count=4)
    assert whole[1] is whole.episodes[1] and whole[-1] is whole.episodes[3]
    assert whole[1:3].episodes == whole.episodes[1:3]
    assert whole[[3, 0]].episodes == (whole[3], whole[0])
    assert whole[whole.lengths > 0].episodes == whole.episodes
    assert whole[:2].n_actions == whole.n_actions  # choices are those of the whole set
    assert [len(one) for one in whole] == whole.lengths.tolist()


@given(**SHAPES)
@settings(max_examples=20, deadline=None)
def test_trajectories_are_what_was_seen_before_each_action(**shape):
    whole = made(**shape)
    found = whole.trajectories()
    assert np.array_equal(found.lengths, whole.lengths)
    assert found.states.dtype == found.rewards.dtype == np.float32
    for k, one in enumerate(whole):
        n = len(one)
        assert np.array_equal(found.states[k, :n], one.observations[:n])
        assert np.array_equal(found.actions[k, :n], one.actions)
        assert np.array_equal(found.rewards[k, :n], one.rewards)
        assert not found.states[k, n:].any() and not found.rewards[k, n:].any()


def test_arrays_are_copies():
    seen = np.zeros((3, 2), np.float32)
    (one,) = Demonstrations.from_episodes([parts(observations=seen)])
    seen[:] = 1
    assert not one.observations.any()


# --- What they are made from


@dataclass
class Trajectory:
    """As imitation has it."""

    obs: np.ndarray
    acts: np.ndarray
    infos: np.ndarray | None
    terminal: bool


@dataclass
class TrajectoryWithRew(Trajectory):
    rews: np.ndarray


@dataclass
class EpisodeData:
    """As Minari has it."""

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminations: np.ndarray
    truncations: np.ndarray
    infos: dict


def test_trajectories_of_imitation():
    zeros = np.zeros((3, 2)), np.array([1, 0])
    infos = np.array([{"cost": 1.0}, {"cost": 2.0}])
    (one,) = Demonstrations.from_episodes([TrajectoryWithRew(*zeros, infos, True, np.ones(2))])
    assert one.terminated and not one.truncated and one.costs.tolist() == [1, 2]
    infos = np.array([{}, {"TimeLimit.truncated": True}])
    (one,) = Demonstrations.from_episodes([TrajectoryWithRew(*zeros, infos, True, np.ones(2))])
    assert one.truncated and not one.terminated and one.costs is None


def test_without_rewards_there_must_be_a_function_of_them():
    bare = Trajectory(np.arange(6.0).reshape(3, 2), np.array([1, 0]), None, False)
    with pytest.raises(InputError, match=r"episode 0: rewards: expected .* expert was after"):
        Demonstrations.from_episodes([bare])
    (one,) = Demonstrations.from_episodes([bare], rewards=lambda seen, action: seen[0] + action)
    assert one.rewards.tolist() == [1, 2]


def test_episodes_of_minari():
    flags = np.array([False, True])
    infos = {"cost": np.array([9.0, 1.0, 2.0])}  # the first is of the reset
    one = EpisodeData(np.zeros((3, 2)), np.zeros((2, 1)), np.ones(2), flags, ~flags, infos)
    (found,) = Demonstrations.from_episodes([one])
    assert found.terminated and not found.truncated and found.costs.tolist() == [1, 2]
    assert not found.discrete and found.last_observation is not None


@pytest.mark.parametrize(
    ("episode", "said"),
    [
        (parts(observations=None), "expected an episode with observations, found a mapping with"),
        (5, "found an object of type int without"),
        (parts(observations={"a": np.zeros(3)}), "observations: expected one array, found a dict"),
        (parts(observations=np.zeros((3, 4, 4))), "observations: expected a vector .* flatten"),
        (parts(observations=np.zeros((4, 2))), r"observations: .* 2 steps.* found .* \(4, 2\)"),
        (parts(observations=[[1, 2], [3], [4, 5]]), "observations: expected an array of numbers"),
        (parts(observations=[[1, 2], [3, np.nan], [4, 5]]), "finite numbers, found nan in step 1"),
        (parts(rewards=[0, 1e39]), "rewards: expected finite numbers, found inf in step 1"),
        (parts(rewards=[]), "rewards: expected one number for each of one or more steps"),
        (parts(rewards=np.zeros((2, 1))), "rewards: expected one number"),
        (parts(actions=[0, -1]), "actions: expected choices numbered from 0 .* found -1"),
        (parts(actions=[0, 1, 2]), "actions: expected one for each of the 2 steps"),
        (parts(actions=np.zeros((2, 1, 1))), "actions: expected whole numbers"),
        (parts(costs=[1]), "costs: expected one number for each of the 2 steps"),
    ],
)
def test_faulty_episodes_are_one_sentence(episode, said):
    with pytest.raises(InputError, match=f"^episode 0: .*{said}") as error:
        Demonstrations.from_episodes([episode])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("episodes", "about", "said"),
    [
        ([], {}, "at least one episode, found none"),
        ([parts(), parts(observations=np.zeros((3, 5)))], {}, "episode 1: .* 2 numbers .* found 5"),
        ([parts(), parts(actions=[0.5, 0])], {}, "choices, found 2 numbers and 1 real actions"),
        ([parts()], {"observation_names": ["x"]}, "observation_names: expected 2 different texts"),
        ([parts()], {"observation_names": ["x", "x"]}, r"found \(x, x\)"),
        ([parts(actions=[0, 2])], {"action_names": ["left"]}, "action_names: expected 3 different"),
    ],
)
def test_episodes_that_do_not_belong_together_are_one_sentence(episodes, about, said):
    with pytest.raises(InputError, match=said):
        Demonstrations.from_episodes(episodes, **about)


# --- Parquet


@given(**SHAPES)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_parquet_gives_back_what_was_written(tmp_path, **shape):
    whole = made(**shape)
    whole.to_parquet(tmp_path / "mine.parquet")
    assert_equal(Demonstrations.from_parquet(tmp_path / "mine.parquet"), whole)


def test_names_travel_with_parquet(tmp_path):
    about = {"observation_names": ("x", "y"), "action_names": tuple("abcdefgh"), "env_id": "E-v0"}
    whole = Demonstrations(made().episodes, **about)
    whole.to_parquet(tmp_path / "mine.parquet")
    assert_equal(Demonstrations.from_parquet(tmp_path / "mine.parquet"), whole)


def test_some_costs_and_last_observations_may_be_unknown(tmp_path):
    whole = Demonstrations([*made(last=False, costs=True), *made(seed=1)])
    whole.to_parquet(tmp_path / "mine.parquet")
    assert_equal(Demonstrations.from_parquet(tmp_path / "mine.parquet"), whole)


def test_a_world_reads_the_same_file(tmp_path):
    whole = Demonstrations.record("icl/GridworldA-v0", lambda seen: 2, 2, seed=1)
    whole.to_parquet(tmp_path / "mine.parquet")
    found, expected = read_demonstrations(tmp_path / "mine.parquet", GRID), whole.trajectories()
    for a, b in zip(found.parts(), expected.parts(), strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    with pytest.raises(InputError, match="expected demonstrations of 'gridworld-b'"):
        read_demonstrations(tmp_path / "mine.parquet", make_world("gridworld-b"))


def test_a_file_of_the_pipeline_is_read_without_its_world(tmp_path):
    expected = random_episodes(GRID, 1, 5, 9)
    write_demonstrations(tmp_path / "mine.parquet", expected, GRID, {})
    found = Demonstrations.from_parquet(tmp_path / "mine.parquet")
    assert found.env_id == "gridworld-a" and found.discrete and found[0].last_observation is None
    for a, b in zip(found.trajectories().parts(), expected.parts(), strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"reward": [0.0, np.nan, 0.0]}, r"row 1 \(trajectory 0, step 1\) expected a finite"),
        ({"step": [0, 2, 0]}, "expected step 1 of trajectory 0, found step 2"),
        ({"state": [[0.0], [0.0, 1.0], [0.0]]}, "expected 1 number in 'state', found 2"),
        ({"state": EMPTY}, "expected numbers in 'state' and 'action', found none"),
        ({"action": [None, [0.0], [1.0]]}, "row 0 expected a value of 'action'"),
        ({"cost": ["a", "b", "c"]}, "expected numbers in column 'cost', found string"),
        ({"cost": [1.0, None, None]}, "a 'cost' of every step of the trajectory, or of none"),
        ({"cost": [1.0, np.inf, None]}, "costs: expected finite numbers"),
        (
            {"last_observation": [None, [1.0, 2.0], None]},
            "expected 1 numbers in 'last_observation'",
        ),
    ],
)
def test_faulty_files_are_one_sentence(tmp_path, spoil, said):
    columns = {"trajectory": [0, 0, 1], "step": [0, 1, 0], "reward": [0.0] * 3}
    columns |= {"state": [[0.0], [0.5], [1.0]], "action": [[0.0], [1.0], [2.0]]}
    pq.write_table(pa.table({**columns, **spoil}), tmp_path / "mine.parquet")
    with pytest.raises(InputError, match=said) as error:
        Demonstrations.from_parquet(tmp_path / "mine.parquet")
    assert str(tmp_path / "mine.parquet") in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(
        InputError, match="expected a Parquet file of demonstrations, found no such"
    ):
        Demonstrations.from_parquet(tmp_path / "none.parquet")


# --- Recorded


class Cart(gymnasium.Env):
    """Moves by its action and noise; costs where it is fast. Writes into one array."""

    metadata: ClassVar = {"observation_names": ("place", "speed"), "action_names": ("push",)}
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen = self.np_random.normal(size=2).astype(np.float32)
        return self.seen, {}

    def step(self, action):
        self.seen += self.np_random.normal(size=2) + action
        over = bool(self.np_random.random() < 0.2)
        return self.seen, float(self.seen[0]), over, False, {"cost": float(self.seen[1] > 1)}


class Predicting:
    def predict(self, seen, deterministic=False):
        return np.array([0.5 if deterministic else -0.5], np.float32), None


def test_recording_keeps_everything():
    found = Demonstrations.record(Cart, lambda seen: seen[:1] / 10, 3, seed=5)
    assert found.observation_names == ("place", "speed") and found.action_names == ("push",)
    assert found.env_id is None and found.mean_cost() is not None
    for one in found:
        assert len(one.observations) == len(one) + 1 and one.terminated and not one.truncated
        assert np.array_equal(one.rewards, one.observations[1:, 0])
        assert np.array_equal(one.costs, one.observations[1:, 1] > 1)
        assert np.allclose(one.actions, one.states[:, :1] / 10)


@pytest.mark.parametrize("env", ["CartPole-v1", "icl/GridworldA-v0", Cart, Cart()])
def test_the_same_seed_records_the_same(env):
    policy = Predicting() if not isinstance(env, str) else lambda seen: 1
    first, again = (Demonstrations.record(env, policy, 2, seed=3) for _ in range(2))
    assert_equal(again, first)
    other = Demonstrations.record(env, policy, 2, seed=4)
    seen = [[one.states[0].tolist() for one in whole] for whole in (first, other)]
    assert seen[0] != seen[1]


def test_later_episodes_do_not_depend_on_earlier_ones():
    short = Demonstrations.record(Cart, Predicting(), 3, seed=3)
    other = Demonstrations.record(Cart, lambda seen: np.ones(1), 3, seed=3)
    for one, two in zip(short, other, strict=True):
        assert np.array_equal(one.states[0], two.states[0])


@pytest.mark.parametrize("deterministic", [True, False])
def test_policies_of_stable_baselines(deterministic):
    found = Demonstrations.record(Cart, Predicting(), 1, 1, deterministic=deterministic)
    assert np.all(found[0].actions == (0.5 if deterministic else -0.5))


def test_ends_by_time_are_told_from_others():
    env = gymnasium.wrappers.TimeLimit(Cart(), 1)
    ends = {
        (one.terminated, one.truncated) for one in Demonstrations.record(env, Predicting(), 9, 1)
    }
    assert (False, True) in ends and ends <= {(False, True), (True, True)}


class Pictures(Cart):
    observation_space = gymnasium.spaces.Box(0, 255, (8, 8), np.uint8)


class Many(Cart):
    action_space = gymnasium.spaces.MultiDiscrete([2, 2])


class Late(Cart):
    action_space = gymnasium.spaces.Discrete(3, start=1)


@pytest.mark.parametrize(
    ("env", "policy", "episodes", "said"),
    [
        ("No-v0", Predicting(), 1, "env: expected the id of an environment .* 'No-v0'"),
        (
            5,
            Predicting(),
            1,
            "env: expected an id, a factory or a Gymnasium environment, found int",
        ),
        (Cart, 5, 1, "policy: expected a function .* found int"),
        (Cart, Predicting(), 0, "episodes: expected at least 1, found 0"),
        (
            Pictures,
            Predicting(),
            1,
            r"Box of one axis as observation space.*found Box of shape \(8",
        ),
        (Many, Predicting(), 1, "action space.*found MultiDiscrete"),
        (Late, Predicting(), 1, r"numbered from 0, found Discrete\(3, start=1\)"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(env, policy, episodes, said):
    with pytest.raises(InputError, match=said):
        Demonstrations.record(env, policy, episodes, seed=1)
