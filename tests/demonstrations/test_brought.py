"""A user's demonstrations and the physics of their world: our own pass, faults are refused."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from icl_core.demonstrations import brought
from icl_core.demonstrations.brought import read_brought
from icl_core.demonstrations.files import SCHEMA, lists, read_demonstrations, write_demonstrations
from icl_core.demonstrations.recordings.exid.replay import replay as replay_exid
from icl_core.demonstrations.recordings.highd.replay import replay as replay_highd
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError
from tests.environments.highd_scenes import make_highd, random_recording
from tests.worlds import NAMES, random_actions, short_world, small_world

ANY = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SEEDS = st.integers(0, 2**32 - 1)


def rolled_out(world, rng, episodes=5, longest=60):
    """Episodes of random actions, one step after another, until the world ends them."""
    steps = min(longest, world.horizon)
    seen = np.zeros((episodes, steps, world.observation_size), np.float32)
    actions = random_actions(world, rng, episodes, steps)
    rewards = np.zeros((episodes, steps), np.float32)
    lengths = np.zeros(episodes, np.int64)
    for k in range(episodes):
        state, over = world.initial_states(rng, 1), False
        while not over and lengths[k] < steps:
            t = lengths[k]
            seen[k, t] = world.observe(state)[0]
            noise = rng.random((1, world.noise_size))
            state, reward, ended = world.step(state, actions[k, t : t + 1], noise)
            rewards[k, t], over = reward[0], bool(ended[0])
            lengths[k] += 1
    return Trajectories(seen, actions, rewards, lengths)


def brought_back(path, world, trajectories, tolerance=1.0):
    write_demonstrations(path, trajectories, world, {})
    return read_brought(path, world, tolerance)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.parquet"


# --- What a world does itself is never refused


@pytest.mark.parametrize("name", NAMES)
@given(seed=SEEDS)
@ANY
def test_a_worlds_own_rollouts_pass(path, name, seed):
    world = short_world(name)
    found = brought_back(path, world, rolled_out(world, np.random.default_rng(seed)))
    for ours, theirs in zip(found.parts(), read_demonstrations(path, world).parts(), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("slip", [0.1, 1.0])
@pytest.mark.parametrize("over_all", [False, True])
@given(seed=SEEDS)
@ANY
def test_slips_pass(path, slip, over_all, seed):
    world = small_world("gridworld-b", slip=slip, slip_over_all=over_all)
    brought_back(path, world, rolled_out(world, np.random.default_rng(seed)))


@given(seed=SEEDS)
@ANY
def test_recorded_drives_pass(path, seed):
    rng = np.random.default_rng(seed)
    recording = random_recording(rng, 12, both=False)
    try:
        world = make_highd(path.with_name("scene.parquet"), recording)
    except InputError as error:  # a drawn recording may hold nobody who drives through
        assume("expected a vehicle of direction" not in str(error))
        raise
    brought_back(path, world, replay_highd(world, 0, rng))


@pytest.mark.parametrize("distance", ["perpendicular", "authors"])
def test_recorded_lane_changes_pass(path, distance):
    world = small_world("exid", distance=distance)
    brought_back(path, world, replay_exid(world, 6, np.random.default_rng(0)))


def test_a_world_that_declares_nothing_is_not_compared(path, monkeypatch):
    for name in ("off_start", "expected_steps"):
        monkeypatch.setattr(
            "icl_core.environments.gridworld.Gridworld." + name, getattr(World, name)
        )
    world = small_world("gridworld-a")
    trajectories = rolled_out(world, np.random.default_rng(0))
    trajectories.states[:, 1:3] = 4.5
    brought_back(path, world, trajectories)


# --- Faults


def an_episode(name, steps=12):
    """Two episodes, the first with at least some steps, for a test to spoil."""
    world = short_world(name)
    for seed in range(50):
        found = rolled_out(world, np.random.default_rng(seed), 2, steps)
        if found.lengths[0] >= 8:
            return world, found
    raise AssertionError(name)


def teleport(e):
    e.states[0, 5] = e.states[0, 5][::-1] if e.states.shape[2] > 1 else e.states[0, 5] + 3


def cell_elsewhere(e):
    e.states[0, 5] = 6 - e.states[0, 5]


def pay(e):
    e.rewards[e.rewards == 0] = 100.0
    e.rewards[...] = np.maximum(e.rewards, 100.0)


def half_a_cell(e):
    e.states[0, 4, 0] += 0.5 if e.states[0, 4, 0] < 6 else -0.5


def put(part, value, at=(0, 4)):
    def change(e):
        getattr(e, part)[at] = value

    change.__name__ = f"{part} {value:g}"
    return change


def start_elsewhere(e):
    e.states[0, 0, 0] += 0.7


FAULTS = [
    ("gridworld-a", cell_elsewhere, "step 5) expected the state "),
    ("gridworld-a", half_a_cell, "step 4) expected the state "),
    ("gridworld-a", pay, "step 0) expected a reward of 0 for action "),
    (
        "gridworld-a",
        put("states", 6.0, (0, 0)),
        "step 0) expected a state in which gridworld-a can",
    ),
    ("cartpole-mr", teleport, "step 5) expected the state "),
    ("cartpole-mr", put("states", 1e30, (0, 4, 1)), "numbers between -1e+06 and 1e+06 in 'state'"),
    ("cartpole-mr", pay, "expected a reward of 1 for action "),
    ("cartpole-mr", start_elsewhere, "expected a state in which cartpole-mr can start"),
    ("cartpole-mid", put("states", 0.0, (0, 0)), "a state in which cartpole-mid can start"),
    ("ant", teleport, " of the state (from 0), by a step from the row before, found "),
    ("ant", pay, "expected a reward of "),
    ("ant", put("actions", 1e6), "step 4) expected numbers between -201 and 201 in 'action'"),
    ("ant", put("states", 1e30), "numbers between -1e+06 and 1e+06 in 'state'"),
    ("ant", start_elsewhere, "expected a state in which ant can start"),
    ("halfcheetah", teleport, " of the state (from 0), by a step from the row before, found "),
    ("halfcheetah", pay, "expected a reward of "),
    ("highd", put("states", 300.0, (0, 5, 0)), " as number 0 of the state (from 0), by a step"),
    ("highd", put("states", 1.0, (0, 5, 12)), " as number 12 of the state (from 0)"),  # the gap
    ("highd", put("actions", 1e6), "numbers between -201 and 201 in 'action'"),
    ("highd", pay, "expected a reward of 0 for this step"),
    ("highd", start_elsewhere, "expected a state in which highd can start"),
    ("exid", teleport, "step 5) expected the state "),
    ("exid", put("actions", 1e6), "numbers between -1e+06 and 1e+06 in 'action'"),
    ("exid", put("actions", 50.0), "step 4) expected a reward of 0.853005 for action (50) in "),
    ("exid", put("states", 1e30), "numbers between -1e+06 and 1e+06 in 'state'"),
    ("exid", pay, "expected a reward of "),
    ("exid", start_elsewhere, "expected a state in which exid can start"),
]


@pytest.mark.parametrize(
    ("name", "spoil", "message"), FAULTS, ids=[f"{n} {f.__name__}" for n, f, _ in FAULTS]
)
def test_a_fault_is_told(path, name, spoil, message):
    world, episodes = an_episode(name)
    brought_back(path, world, episodes)
    spoil(episodes)
    with pytest.raises(InputError) as error:
        brought_back(path, world, episodes)
    read_demonstrations(path, world)  # as a file alone it is good
    text = str(error.value)
    assert text.startswith(f"{path}: row ") and message in text and "\n" not in text
    assert ", found " in text and "; " in text


def test_swapped_axes_are_told(path):
    """Down the grid is not along it."""
    world = small_world("gridworld-a")
    cells = np.array([[(0, 1), (1, 1), (2, 1), (3, 1)]] * 2, np.float32)
    actions, zeros = np.full((2, 4), 2), np.zeros((2, 4), np.float32)
    lengths = np.array([4, 4])
    brought_back(path, world, Trajectories(cells, actions, zeros, lengths))
    with pytest.raises(InputError, match=r"expected the state \(2, 0\) after action 2 in \(1, 0\)"):
        brought_back(path, world, Trajectories(cells[..., ::-1], actions, zeros, lengths))


def test_steps_after_the_end_are_told(path):
    grid = small_world("gridworld-a")
    cells = np.array([[(2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (6, 0), (6, 0)]], np.float32)
    rewards = np.array([[0, 0, 0, 0, 1, 1, 1]], np.float32)
    whole = Trajectories(cells, np.full((1, 7), 2), rewards, np.array([5]))
    assert brought_back(path, grid, whole).lengths.tolist() == [5]
    longer = Trajectories(*whole.parts()[:3], np.array([7]))
    message = r"step 5\) expected the end of the episode after action 2 in \(6, 0\), found another"
    with pytest.raises(InputError, match=message):
        brought_back(path, grid, longer)

    cart = small_world("cartpole-mr")
    state, seen = np.full((1, 4), 0.01), []
    for _ in range(40):  # pushed to the right until the pole has long fallen
        seen.append(state)
        state, _, _ = cart.step(state, np.ones(1, int))
    length = next(k for k, s in enumerate(seen) if abs(s[0, 2]) > 0.21)
    states = np.stack(seen, axis=1).astype(np.float32)[:, : length + 2]
    ones = np.ones(states.shape[:2], np.float32)
    episode = Trajectories(states, ones.astype(int), ones, np.array([length]))
    brought_back(path, cart, episode)
    with pytest.raises(InputError, match="expected the end of the episode after action 1"):
        brought_back(path, cart, Trajectories(*episode.parts()[:3], np.array([length + 2])))


def test_the_row_is_that_of_the_file(path):
    """Rows in any order, trajectories of any number."""
    world, episodes = an_episode("gridworld-a")
    cell_elsewhere(episodes)
    write_demonstrations(path, episodes, world, {})
    table = pq.read_table(path)
    numbers = pa.array(np.where(table["trajectory"].to_numpy() == 0, 7, -3), pa.int32())
    pq.write_table(table.set_column(0, "trajectory", numbers)[::-1], path)
    row = table.num_rows - 1 - 5
    with pytest.raises(InputError, match=rf"row {row} \(trajectory 7, step 5\) expected the state"):
        read_brought(path, world, 1.0)


# --- Relaxed


def test_a_tolerance_lets_pass_what_is_a_little_off(path):
    world, episodes = an_episode("cartpole-mr")
    episodes.states[0, 4:] += 0.005
    with pytest.raises(InputError, match=r"relax demonstrations\.tolerance \(data/README\.md\)"):
        brought_back(path, world, episodes)
    brought_back(path, world, episodes, tolerance=10.0)
    episodes.states[0, 4:, 0] += 1.0
    with pytest.raises(InputError):
        brought_back(path, world, episodes, tolerance=10.0)
    brought_back(path, world, episodes, tolerance=None)


def test_sizes_are_sane_whatever_the_tolerance(path):
    world, episodes = an_episode("cartpole-mr")
    episodes.states[1, 0, 3] = 1e30
    with pytest.raises(InputError, match="expected numbers between"):
        brought_back(path, world, episodes, tolerance=None)


def test_who_must_not_wait_has_the_first_trajectories_compared(path, monkeypatch):
    monkeypatch.setattr(brought, "AT_ONCE", 12)
    world, episodes = an_episode("gridworld-a")
    episodes.rewards[1, 0] = 7.0
    write_demonstrations(path, episodes, world, {})
    assert len(read_brought(path, world, 1.0, whole=False)) == 2
    with pytest.raises(InputError, match=r"\(trajectory 1, step 0\) expected a reward of 0"):
        read_brought(path, world, 1.0)


# --- How much


@pytest.mark.parametrize("place", range(2))
def test_a_column_whose_damaged_name_is_no_text_is_told(path, place):
    """A name stands at several places of a Parquet file; a flipped bit can end its UTF-8."""
    world, episodes = an_episode("gridworld-a")
    write_demonstrations(path, episodes, world, {})
    parts = path.read_bytes().split(b"reward")
    assert len(parts) > place + 1
    head, tail = b"reward".join(parts[: place + 1]), b"reward".join(parts[place + 1 :])
    path.write_bytes(head + b"rew\xe9rd" + tail)
    with pytest.raises(InputError, match=r"mine.parquet: expected ") as error:
        read_brought(path, world, 1.0)
    assert "\n" not in str(error.value)


def test_too_many_rows_are_refused_unread(path, monkeypatch):
    world = small_world("gridworld-a")
    monkeypatch.setattr(brought, "MOST_STEPS", 4000)
    monkeypatch.setattr(pq, "read_table", lambda *_, **__: pytest.fail("read"))
    n = 5000
    columns = [np.zeros(n, np.int32), np.zeros(n, np.int32), lists(np.zeros((n, 2)))]
    columns += [lists(np.zeros((n, 1))), np.zeros(n, np.float32)]
    pq.write_table(pa.table(dict(zip(SCHEMA.names, columns, strict=True))), path)
    assert path.stat().st_size < 5000
    with pytest.raises(InputError, match="expected at most 4000 steps, found 5000; leave"):
        read_brought(path, world, 1.0)


def test_too_long_lists_are_refused_unread(path, monkeypatch):
    monkeypatch.setattr(brought, "MOST_STEPS", 4000)
    monkeypatch.setattr(pq, "read_table", lambda *_, **__: pytest.fail("read"))
    row = {"trajectory": 0, "step": 0, "state": [0.0] * 9001, "action": [0.0], "reward": 0.0}
    pq.write_table(pa.Table.from_pylist([row], SCHEMA), path)
    with pytest.raises(InputError, match="expected at most 4000 steps, found 4501"):
        read_brought(path, small_world("gridworld-a"), 1.0)


def test_one_long_and_many_short_trajectories_are_counted_as_they_lie_in_memory(path, monkeypatch):
    monkeypatch.setattr(brought, "MOST_STEPS", 1000)
    world = small_world("gridworld-a")
    lengths = np.array([50, *[1] * 29])
    zeros = np.zeros((30, 50), np.float32)
    episodes = Trajectories(np.zeros((30, 50, 2), np.float32), zeros.astype(int), zeros, lengths)
    with pytest.raises(InputError, match=re.escape("at most 1000 steps, found 1500; leave")):
        brought_back(path, world, episodes, tolerance=None)
