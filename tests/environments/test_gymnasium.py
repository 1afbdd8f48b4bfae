"""The worlds as Gymnasium sees them."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from icl_core import discovery
from icl_core.environments import make_world, world_type
from icl_core.environments.gymnasium import WorldEnv, WorldVectorEnv
from icl_core.errors import InputError
from tests.worlds import NAMES, SYNTHETIC, random_actions, settings_of, small_world

VARIANTS = [(name, {}) for name in NAMES] + [("gridworld-a", {"slip": 0.4})]


def identity(name):
    """What Gymnasium calls the world."""
    module = discovery.module_name(discovery.WORLDS, name)
    return discovery.literal(module, "GYMNASIUM_ID", f"icl/{name}-v0")


def make(name, **settings):
    """By the name under which Gymnasium knows the world."""
    return gymnasium.make(identity(name), **settings_of(name), **settings)


def make_vec(name, **settings):
    return gymnasium.make_vec(identity(name), **settings_of(name), **settings)


def same_constraints(ours, theirs):
    """Whether two infos say the same, also where nobody knows the true constraint."""
    if "constraint" not in ours:
        return "_constraint" not in ours and not {"constraint", "cost"} & {*theirs}
    assert all(np.array_equal(info["cost"], info["constraint"]) for info in (ours, theirs))
    return np.array_equal(ours["constraint"], theirs["constraint"])


def skip_without_opengl(env):
    """Robots are drawn by MuJoCo: a machine may have no OpenGL."""
    env.reset(seed=0)
    try:
        env.render()
    except InputError as error:
        pytest.skip(str(error))


def start_for_all(world, rng, n):
    """One start state that many episodes share."""
    return np.repeat(world.initial_states(rng, 1), n, axis=0)


def test_the_names_are_registered():
    assert {identity(name) for name in NAMES} >= {
        "icl/GridworldA-v0",
        "icl/GridworldB-v0",
        "icl/CartPoleMoveRight-v0",
        "icl/CartPoleMiddle-v0",
        "icl/HighD-v0",
        "icl/ExiD-v0",
        "icl/AntConstrained-v0",
        "icl/HalfCheetahConstrained-v0",
    }
    for name in NAMES:
        spec = gymnasium.spec(identity(name))
        assert (spec.max_episode_steps, spec.kwargs) == (world_type(name).horizon, {"world": name})


@pytest.mark.parametrize("settings", [{}, {"render_mode": "rgb_array"}])
@pytest.mark.parametrize("name", NAMES)
def test_gymnasiums_checker_has_nothing_to_say(name, settings):
    env = make(name, **settings).unwrapped
    skip_without_opengl(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if name == "exid":  # velocities without bounds, as the paper has them
            warnings.filterwarnings("ignore", ".*symmetric and normalized space")
        check_env(env)


def test_importing_the_worlds_stays_cheap():
    code = (
        "import sys, icl_core.environments.gymnasium;"
        "print([m for m in ('torch', 'matplotlib', 'pygame', 'mujoco') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_make_vec_uses_the_batched_world(name):
    env = make_vec(name, num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(env, WorldVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, info = env.reset(seed=0)
    assert observations in env.observation_space and info == {}
    observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())
    assert observations in env.observation_space
    assert rewards.shape == terminated.shape == truncated.shape == (3,)
    if env.world.true_constraint is None:
        assert info == {}
    else:
        assert info["constraint"].shape == (3,) and info["_constraint"].all()
        np.testing.assert_array_equal(info["cost"], info["constraint"])
        np.testing.assert_array_equal(info["_cost"], info["_constraint"])


def test_world_settings_pass_through_make():
    assert gymnasium.make("icl/GridworldA-v0", slip=0.25).unwrapped.world.slip == 0.25
    assert gymnasium.make_vec("icl/GridworldA-v0", num_envs=2, slip=0.25).world.slip == 0.25
    with pytest.raises(InputError, match=r"gridworld-a\.slip: expected a number of at least 0"):
        gymnasium.make("icl/GridworldA-v0", slip=1.5)


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_a_vector_of_one_replays_the_single_environment(name, settings):
    """Same seed, same actions: the same numbers over many episodes, resets and slips included."""
    world = small_world(name, **settings)
    single, vector = WorldEnv(world), WorldVectorEnv(world, 1)
    known = world.true_constraint is not None
    rng = np.random.default_rng(3)
    ended, over = 0, False
    assert np.array_equal(single.reset(seed=8)[0], vector.reset(seed=8)[0][0])
    for _ in range(max(900, world.horizon + 100)):
        action = random_actions(single.world, rng)
        observation, reward, terminated, truncated, info = vector.step(action[None])
        if over:
            assert np.array_equal(observation[0], single.reset()[0])
            assert (reward[0], terminated[0], truncated[0]) == (0, False, False)
            assert not known or not info["_constraint"][0]
            over = False
            continue
        expected = single.step(action)
        assert np.array_equal(observation[0], expected[0])
        assert (reward[0], terminated[0], truncated[0]) == expected[1:4]
        assert not known or info["_constraint"][0]
        assert same_constraints({k: v[0] for k, v in info.items()}, expected[4])
        over = terminated[0] or truncated[0]
        ended += over
    assert ended >= (5 if world.horizon <= 200 else 1)


@pytest.mark.parametrize("name", NAMES)
def test_each_row_of_a_vector_is_a_single_episode(name):
    rng = np.random.default_rng(4)
    world, n = small_world(name), 16
    vector = WorldVectorEnv(world, n)
    starts = vector.world.initial_states(rng, n)
    actions = random_actions(vector.world, rng, 60, n)
    vector.reset(options={"state": starts})
    steps = [vector.step(row) for row in actions]
    for k in range(n):
        single = WorldEnv(world)
        single.reset(options={"state": starts[k]})
        for t in range(60):
            observation, reward, terminated, truncated, info = single.step(actions[t, k])
            assert np.array_equal(steps[t][0][k], observation)
            assert [steps[t][i][k] for i in (1, 2, 3)] == [reward, terminated, truncated]
            assert same_constraints({key: v[k] for key, v in steps[t][4].items()}, info)
            if terminated or truncated:
                break


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_agrees_with_gymnasiums_own_vectorisation(name):
    """SyncVectorEnv of single environments, until the first episode begins anew."""
    rng, n = np.random.default_rng(5), 8
    limit = {} if name in SYNTHETIC else {"max_episode_steps": 100}
    ours = make_vec(name, num_envs=n, **limit)
    theirs = make_vec(name, num_envs=n, vectorization_mode="sync", **limit)
    start = start_for_all(ours.world, rng, n)
    ours.reset(options={"state": start})
    theirs.reset(options={"state": start[0]})
    over = np.zeros(n, dtype=bool)
    for _ in range(ours.world.horizon + 1):
        actions = ours.action_space.sample()
        a, b = ours.step(actions), theirs.step(actions)
        for mine, other in zip(a[1:4], b[1:4], strict=True):
            assert mine.dtype == other.dtype and np.array_equal(mine, other)
        assert np.array_equal(a[0][~over], b[0][~over])
        if ours.world.true_constraint is not None:
            assert a[4]["_constraint"].tolist() == (~over).tolist()
        if "constraint" in b[4]:  # absent where every row begins anew
            assert np.array_equal(a[4]["constraint"], b[4]["constraint"])
            assert np.array_equal(a[4]["_constraint"], b[4]["_constraint"])
        if over.any():
            break
        over = a[2] | a[3]
    assert over.any()


@pytest.mark.parametrize("name", NAMES)
def test_episodes_are_cut_at_the_horizon(name):
    world = small_world(name)
    env, rng = WorldEnv(world), np.random.default_rng(0)
    env.reset(seed=0)
    # Alternating pushes keep the pole up long enough only by luck, so keep the state fixed instead.
    start, action = world.initial_states(rng, 1), random_actions(world, rng)
    for step in range(1, world.horizon + 1):
        env._state = start
        _, _, terminated, truncated, _ = env.step(action)
        assert not terminated and truncated == (step == world.horizon)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)


def test_a_shorter_limit_may_be_asked_for():
    for limit, expected in [(7, 7), (1000, 50), (-1, 50)]:
        vector = gymnasium.make_vec("icl/GridworldB-v0", num_envs=2, max_episode_steps=limit)
        vector.reset(options={"state": np.zeros((2, 2))})
        flags = [vector.step(np.array([3, 3]))[3].all() for _ in range(50)]  # up: the wall
        assert flags.index(True) + 1 == expected


def test_the_constraint_is_of_the_state_before_the_move():
    env = gymnasium.make("icl/GridworldA-v0")
    env.reset(options={"state": [2, 0]})
    down = 2
    values = [env.step(down)[4]["constraint"] for _ in range(3)]  # leaves rows 2, 3, 4
    assert values == [0.0, 1.0, 0.0]
    env = gymnasium.make("icl/CartPoleMiddle-v0")
    for x, action, expected in [(1.5, 1, 1.0), (1.5, 0, 0.0), (-1.5, 0, 1.0), (-1.5, 1, 0.0)]:
        env.reset(options={"state": [x, 0, 0, 0]})
        assert env.step(action)[4]["constraint"] == expected


def test_some_rows_can_be_reset_and_the_others_go_on():
    vector = WorldVectorEnv("gridworld-b", 3, max_episode_steps=5)
    vector.reset(options={"state": np.array([[0, 0], [3, 0], [5, 5]])})
    down = np.full(3, 2)
    before = vector.step(down)[0]
    rows = np.array([False, True, False])
    seen, info = vector.reset(options={"reset_mask": rows, "state": np.array([[6.0, 1.0]])})
    assert info == {} and seen[1].tolist() == [6, 1]
    np.testing.assert_array_equal(seen[~rows], before[~rows])
    cuts = np.array([vector.step(np.full(3, 3))[3] for _ in range(5)])  # up
    assert cuts.argmax(axis=0).tolist() == [3, 4, 3]  # the second row began a step later


@pytest.mark.parametrize("mask", [[True], [0, 1], np.zeros(2, bool)])
def test_a_wrong_mask_is_refused(mask):
    vector = WorldVectorEnv("gridworld-a", 2)
    vector.reset(seed=0)
    with pytest.raises(InputError, match="'reset_mask' must be 2 truth values"):
        vector.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("action", [8, -1, 0.5, None])
def test_a_wrong_action_is_refused(action):
    env = WorldEnv("gridworld-a")
    env.reset(seed=0)
    with pytest.raises(InputError, match="actions must be 1 integer from 0 to 7 in gridworld-a"):
        env.step(action)


@pytest.mark.parametrize("actions", [[0, 8], [0], [0.0, 1.0], [-1, 0]])
def test_wrong_actions_are_refused_in_a_batch(actions):
    env = WorldVectorEnv("gridworld-a", 2)
    env.reset(seed=0)
    with pytest.raises(InputError, match="actions must be 2 integers from 0 to 7"):
        env.step(actions)


@pytest.mark.parametrize("state", [[0, 9], [0], [0, np.nan]])
def test_a_wrong_start_is_refused(state):
    with pytest.raises(InputError, match="reset option 'state' of gridworld-a"):
        WorldEnv("gridworld-a").reset(options={"state": state})


def test_stepping_or_drawing_needs_a_reset():
    for env in (
        WorldEnv("gridworld-a", "rgb_array"),
        WorldVectorEnv("gridworld-a", 2, None, "rgb_array"),
    ):
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.render()


def test_a_ready_world_may_be_wrapped_but_takes_no_settings():
    world = make_world("gridworld-a", slip=0.3)
    assert WorldEnv(world).world is world
    with pytest.raises(InputError, match="slip"):
        WorldEnv(world, slip=0.2)


@pytest.mark.parametrize("name", NAMES)
def test_pictures(name):
    vector = make_vec(name, num_envs=2, render_mode="rgb_array")
    skip_without_opengl(vector)
    vector.reset(seed=1)
    frames = vector.render()
    assert len(frames) == 2
    for frame in frames:
        assert frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3
        if vector.world.discrete:
            assert (frame == (40, 90, 170)).all(axis=-1).any()  # the agent, or the pole


def test_gymnasiums_episode_statistics_work_on_the_vector():
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        gymnasium.make_vec("icl/CartPoleMoveRight-v0", num_envs=4)
    )
    env.reset(seed=0)
    lengths = []
    for _ in range(200):
        *_, info = env.step(np.ones(4, dtype=np.int64))  # always right: falls after about 9 steps
        if "episode" in info:
            lengths += list(info["episode"]["l"][info["_episode"]])
            assert np.array_equal(info["episode"]["r"], info["episode"]["l"])
    assert len(lengths) > 40 and max(lengths) < 15


def test_a_world_without_a_picture_says_so():
    class Corridor(world_type("gridworld-a")):
        name, drawing = "corridor", ""

    env = WorldEnv(Corridor(), "rgb_array")
    env.reset(seed=0)
    with pytest.raises(InputError, match=r"corridor has no picture; write .*`drawing`"):
        env.render()
