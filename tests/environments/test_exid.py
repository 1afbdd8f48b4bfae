"""The ExiD world against closed forms and a slow reference."""

import math
import warnings
from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.artifacts import SOURCE, write_table
from icl_core.environments import make_world
from icl_core.environments.gymnasium import WorldEnv
from icl_core.environments.lane_change_scene import FRAME_COLUMNS, SCHEMA
from icl_core.environments.world import World
from icl_core.environments.worlds.exid import ExiD
from icl_core.errors import InputError
from tests.demonstrations.made_up_roads import (
    WIDTH,
    glide,
    left_bend,
    right_bend,
    scene_file,
    straight,
)

LEFT, RIGHT = 0.5 * WIDTH, 1.5 * WIDTH
VEHICLES = [glide(240, RIGHT, LEFT), glide(240, LEFT, RIGHT), glide(120, RIGHT, LEFT)]
ROADS = {"straight": straight(0.7), "left bend": left_bend(250.0), "right bend": right_bend(250.0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scenes")


def world_on(folder, name, distance="perpendicular"):
    path = folder / f"{name.replace(' ', '-')}.parquet"
    if not path.exists():
        scene_file(path, ROADS[name], VEHICLES, spacing=1.0)
    return ExiD(ExiD.Settings(distance), path)


@pytest.fixture(params=["perpendicular", "authors"])
def world(request, folder):
    return world_on(folder, "left bend", request.param)


def random_scene(folder, rng, changes=12, source="recorded"):
    """Lane changes with numbers of no meaning, in three recordings."""
    lengths = rng.integers(2, 40, size=changes)
    columns = {name: [rng.normal(0, 3, size=n) for n in lengths] for name in FRAME_COLUMNS}
    for name in ("distance", "across"):  # near enough for all to be used
        columns[name] = [rng.uniform(-1, 1, size=n) for n in lengths]
    for name in ("lateral", "authors_lateral", "along"):
        columns[name] = [0.5 * column for column in columns[name]]
    columns["slope"] = [rng.uniform(0.9, 1, size=n) for n in lengths]
    columns["recording"] = np.sort(rng.choice([1, 5, 30], size=changes))
    for name in ("track", "start_lanelet", "target_lanelet", "start_frame"):
        columns[name] = np.arange(changes)
    schema = SCHEMA.with_metadata({SOURCE: source.encode()})
    table = pa.table({name: columns[name] for name in SCHEMA.names}, schema=schema)
    write_table(folder / "random.parquet", table, {})
    return {name: columns[name] for name in SCHEMA.names}, folder / "random.parquet"


# --- Closed forms


@pytest.mark.parametrize("road", ROADS)
def test_the_first_distance_is_the_lanes_width(folder, road):
    """Positive where the target is to the left, negative where it is to the right."""
    world = world_on(folder, road)
    assert world.observe(world.start_states)[:, 0] == pytest.approx(
        [WIDTH, -WIDTH, WIDTH], abs=2e-3
    )


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("velocity", [0.5, 1.0, -1.0, 0.0])
def test_a_constant_velocity(folder, road, velocity):
    """d goes straight, whatever the road does; d = 0 comes at the step that it should."""
    world = world_on(folder, road)
    state = world.start_states[:2]
    seen, paid = [world.observe(state)[:, 0]], []
    towards = np.array([[-velocity], [velocity]])  # opposite to d's sign, for velocity > 0
    for _ in range(200):
        state, reward, ended = world.step(state, towards)
        seen.append(world.observe(state)[:, 0])
        paid.append(reward)
        assert not ended.any()
    expected = WIDTH - velocity / 25 * np.arange(201)
    assert np.array(seen)[:, 0] == pytest.approx(expected, abs=3e-3)
    assert np.array(seen)[:, 1] == pytest.approx(-expected, abs=3e-3)
    rewards = np.maximum(1 - np.abs(expected[1:]) / 10, 0)
    assert np.sum(paid, axis=0) == pytest.approx(rewards.sum(), abs=200 * 3e-4)
    if velocity > 0:
        reached = round(WIDTH / velocity * 25)
        assert np.argmin(np.abs(np.array(seen)[:, 0])) == pytest.approx(reached, abs=1)


def test_the_sign_convention(folder):
    """d > 0: target to the left. a > 0: to the right. Closing in needs opposite signs."""
    world = world_on(folder, "straight")
    states = world.start_states[:2]  # target to the left; target to the right
    before = world.observe(states)[:, 0]
    assert before[0] > 0 > before[1]
    rightwards = world.observe(world.step(states, np.array([[1.0], [1.0]]))[0])[:, 0]
    leftwards = world.observe(world.step(states, np.array([[-1.0], [-1.0]]))[0])[:, 0]
    assert rightwards - before == pytest.approx([0.04, 0.04], abs=1e-5)
    assert leftwards - before == pytest.approx([-0.04, -0.04], abs=1e-5)
    assert abs(leftwards[0]) < abs(before[0]) and abs(rightwards[1]) < abs(before[1])


def test_an_episode_lasts_as_long_as_the_recorded_change(folder):
    world = world_on(folder, "straight")
    states = world.start_states
    wanted = np.diff(world.scene.offsets) - 1
    lengths = np.zeros(3, int)
    for t in range(1, 300):
        states, _, ended = world.step(states, np.zeros((3, 1)))
        lengths[ended & (lengths == 0)] = t
        assert np.array_equal(ended, t >= wanted)  # and stays ended
    assert lengths.tolist() == wanted.tolist()


def test_far_away_nothing_is_paid(folder):
    world = world_on(folder, "straight")
    state = world.start_states[:1]
    _, reward, _ = world.step(state, np.array([[25 * (10 - WIDTH) - 1.0]]))
    assert 0 < reward[0] < 0.01
    _, reward, _ = world.step(state, np.array([[25 * (10 - WIDTH) + 1.0]]))
    assert reward[0] == 0
    _, reward, _ = world.step(state, np.array([[3e38]]))
    assert reward[0] == 0 and np.isfinite(world.observe(world.step(state, [[3e38]])[0])).all()


# --- A slow reference, on scenes of random numbers


def slow_distance(columns, distance, change, frame, lateral):
    at = {name: columns[name][change][frame] for name in FRAME_COLUMNS}
    if distance == "perpendicular":
        return at["distance"] + at["slope"] * lateral
    length = math.hypot(at["along"], at["across"] + lateral)
    side = at["side"] + at["side_slope"] * lateral
    return -length if -100 <= side < 0 else length


@given(st.integers(0, 2**32), st.sampled_from(["perpendicular", "authors"]))
@settings(max_examples=25, deadline=None)
def test_steps_against_a_slow_reference(tmp_path_factory, seed, distance):
    rng = np.random.default_rng(seed)
    columns, path = random_scene(tmp_path_factory.mktemp("random"), rng)
    world = ExiD(ExiD.Settings(distance), path)
    states = world.initial_states(rng, 30)
    for _ in range(20):
        actions = rng.normal(0, 2, size=(30, 1))
        moved, rewards, ended = world.step(states, actions)
        for k in range(30):
            change, frame, lateral = int(states[k, 0]), int(states[k, 1]), states[k, 2]
            last = len(columns["slope"][change]) - 1
            frame, lateral = min(frame + 1, last), lateral + actions[k, 0] / 25
            d = slow_distance(columns, distance, change, frame, lateral)
            assert moved[k] == pytest.approx([change, frame, lateral])
            assert world.observe(moved[k : k + 1])[0, 0] == pytest.approx(d, rel=1e-6, abs=1e-6)
            assert rewards[k] == pytest.approx(1 - abs(d) / 10 if abs(d) <= 10 else 0, abs=1e-6)
            assert ended[k] == (frame == last)
        states = moved


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_replaying_the_recorded_actions(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    columns, path = random_scene(tmp_path_factory.mktemp("random"), rng)
    for distance, name in (("perpendicular", "lateral"), ("authors", "authors_lateral")):
        world = ExiD(ExiD.Settings(distance), path)
        for state in world.start_states[:4]:
            change, state = int(state[0]), state[None]
            recorded = columns[name][change]
            assert state[0, 2] == recorded[0]
            for t, action in enumerate(world.recorded_actions(change)):
                state, _, ended = world.step(state, action[None])
                assert state[0, 2] == pytest.approx(recorded[t + 1], abs=1e-5)
            assert ended[0]


# --- Where episodes start


def test_a_recording_is_drawn_first_then_one_of_its_changes(tmp_path):
    columns, path = random_scene(tmp_path, np.random.default_rng(4))
    world, n = ExiD(scene=path), 30_000
    usable = world.start_states[:, 0].astype(int)
    drawn = world.initial_states(np.random.default_rng(1), n)
    counts = np.bincount(drawn[:, 0].astype(int), minlength=12)
    recording = columns["recording"]
    for change in range(12):
        siblings = np.sum(recording[usable] == recording[change])
        share = (change in usable) / siblings / len(set(recording[usable]))
        assert counts[change] / n == pytest.approx(share, abs=5 * math.sqrt(0.25 / n))
    assert np.all(drawn[:, 1] == 0)


def test_a_change_that_starts_too_far_is_never_drawn(tmp_path):
    for seed in range(5):
        _, path = random_scene(tmp_path, np.random.default_rng(seed))
        for distance in ("perpendicular", "authors"):
            world = ExiD(ExiD.Settings(distance), path)
            d = world.observe(world.initial_states(np.random.default_rng(0), 300))
            assert np.all(np.abs(d) <= 6)


# --- The contract of all worlds (tests/environments/test_worlds.py)


def test_declarations(world):
    assert isinstance(world, World) and world.name == "exid"
    assert (world.discount, world.threshold, world.horizon) == (0.99, 5, 1000)
    assert not world.discrete and world.action_size == 1 and world.action_shape == (1,)
    assert (world.state_size, world.observation_size, world.input_size) == (3, 1, 2)
    assert world.true_constraint is None and world.true_on_grid is None
    assert world.source == "simulated"


def test_the_grid():
    d, v = ExiD.grid.axes
    assert ExiD.grid.shape == (41, 51)
    assert d.physical == pytest.approx(np.arange(-10, 10.25, 0.5))
    assert v.physical == pytest.approx(np.arange(-2.5, 2.55, 0.1))
    assert (d.label, v.label) == ("distance d [m]", "lateral velocity v [m/s]")


def test_constraint_inputs(world):
    seen = np.array([[5.0], [-10.0]], np.float32)
    inputs = world.constraint_inputs(seen, np.array([[2.5], [-1.0]], np.float32))
    assert inputs.dtype == np.float32 and inputs == pytest.approx(
        np.array([[0.5, 0.5], [-1, -0.2]])
    )
    stacked = world.constraint_inputs(np.zeros((2, 3, 4, 1)), np.ones((2, 3, 4, 1)))
    assert stacked.shape == (2, 3, 4, 2)
    located = world.grid.locate(world.constraint_inputs(seen, np.zeros((2, 1))))
    assert located.tolist() == [30 * 51 + 25, 25]


def test_shapes_and_types(world):
    rng = np.random.default_rng(0)
    states = world.initial_states(rng, 10)
    assert states.shape == (10, 3) and states.dtype == np.float64
    moved, rewards, ended = world.step(states, rng.normal(size=(10, 1)).astype(np.float32))
    assert moved.shape == (10, 3) and moved.dtype == np.float64
    assert rewards.shape == (10,) and rewards.dtype == np.float32
    assert ended.shape == (10,) and ended.dtype == bool
    assert world.observe(states).shape == (10, 1) and world.observe(states).dtype == np.float32
    assert np.array_equal(
        world.observe(states.reshape(2, 5, 3)).ravel(), world.observe(states).ravel()
    )


def test_a_batch_steps_like_its_rows_and_leaves_its_arguments_alone(world):
    rng = np.random.default_rng(2)
    states, actions = world.initial_states(rng, 40), rng.normal(size=(40, 1))
    for _ in range(5):
        kept = states.copy(), actions.copy()
        together = world.step(states, actions)
        assert np.array_equal(states, kept[0]) and np.array_equal(actions, kept[1])
        for k in range(40):
            alone = world.step(states[k : k + 1], actions[k : k + 1])
            for a, b in zip(together, alone, strict=True):
                assert np.array_equal(a[k], b[0])
            assert np.array_equal(world.observe(states)[k], world.observe(states[k : k + 1])[0])
        states = together[0]


def test_equal_generators_give_equal_episodes(world):
    draws = [world.initial_states(np.random.default_rng(seed), 50) for seed in (1, 1, 2)]
    assert np.array_equal(draws[0], draws[1]) and not np.array_equal(draws[0], draws[2])


# --- Faults


def test_a_world_without_a_scene_says_how_to_make_one():
    with pytest.raises(InputError, match=r"exid: expected a scene.*found none.*snakemake --cores"):
        ExiD()
    with pytest.raises(InputError, match=r"results/paper/recordings/exid/scene.parquet.*nothing"):
        ExiD(scene="results/paper/recordings/exid/scene.parquet")


def test_wrong_settings_and_states_are_told(folder):
    path = folder / "straight.parquet"
    world_on(folder, "straight")
    with pytest.raises(
        InputError, match=r"exid\.distance: expected .*perpendicular, authors.*'up'"
    ):
        make_world("exid", scene=path, distance="up")
    with pytest.raises(InputError, match=r"lane change from 0 to 2, found 7"):
        ExiD(scene=path).observe(np.array([[7.0, 0.0, 0.0]]))


def test_steps_are_fast_enough(world):
    """30,000 steps a second on one core with 100 episodes; ten times that is usual."""
    rng = np.random.default_rng(0)
    states, actions = world.initial_states(rng, 100), rng.normal(size=(100, 1))
    best = math.inf
    for _ in range(5):
        begun = perf_counter()
        for _ in range(100):
            world.observe(states)
            states, _, _ = world.step(states, actions)
        best = min(best, perf_counter() - begun)
    assert 100 * 100 / best > 30_000


# --- As a Gymnasium environment


def test_gymnasium_accepts_it(world):
    env = WorldEnv(world)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check_env(env, skip_render_check=True)
    first, _ = env.reset(seed=3)
    assert first.shape == (1,) and abs(first[0]) <= 6


def test_a_gymnasium_episode_is_a_recorded_change(world):
    env = WorldEnv(world)
    env.reset(options={"state": world.start_states[1]})
    actions = world.recorded_actions(int(world.start_states[1, 0]))
    for t, action in enumerate(actions):
        _, _, terminated, truncated, info = env.step(action)
        assert terminated == (t + 1 == len(actions)) and not truncated
        assert "constraint" not in info  # nobody knows it
