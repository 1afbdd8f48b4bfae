"""The HighD world against a slow plain-Python reference and closed forms."""

import math
import time
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from icl_core.artifacts import write_table
from icl_core.environments.gymnasium import WorldEnv, WorldVectorEnv
from icl_core.environments.pictures import BLUE
from icl_core.environments.traffic import Headway, read_scene
from icl_core.environments.world import World
from icl_core.environments.worlds.highd import (
    COLLISION,
    EGO,
    GAP,
    GAP_SCALE,
    SPEED_SCALE,
    TIME,
    HighD,
    V,
    X,
    Y,
)
from icl_core.errors import InputError
from tests.environments.highd_scenes import VIEW, Recording, make_highd, random_recording

DT = 1 / 25
SEEDS = st.integers(0, 2**32 - 1)
QUICKLY = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scene.parquet"


def alone(path, v=30.0, **options):
    """A world of one ego, with nobody else on the road."""
    recording = Recording()
    recording.drive(2.0, v)
    recording.drive(VIEW - 2.0, 0.0, lane=1, until=2)  # shows how long the view is
    return make_highd(path, recording, **options)


def following(path, gap, v_ego, v_lead, centre_gap=False):
    """A world whose first ego follows a slower car, 4 m long both, in an empty lane."""
    recording = Recording()
    recording.drive(2.0, v_ego)
    recording.drive(6.0 + gap, v_lead)
    recording.drive(VIEW - 2.0, 0.0, lane=1, until=2)
    return make_highd(path, recording, centre_gap=centre_gap)


def start(world, ego=0):
    return world._starts[[ego]].copy()


def roll(world, state, action=0.0):
    """All states from a start to the end, and the rewards."""
    states, rewards = [state[0]], []
    for _ in range(world.horizon):
        state, reward, ended = world.step(state, np.array([[action]]))
        states.append(state[0])
        rewards.append(float(reward[0]))
        if ended[0]:
            break
    return np.array(states), rewards


# --- The slow reference: lists of dictionaries and plain floats


class Reference:
    """One ego among the rows of a scene, as the paper's appendix has it."""

    def __init__(self, scene, ego_number):
        lists = {name: column.tolist() for name, column in scene.columns.items()}
        n = len(lists["x"])
        rows = [{name: column[i] for name, column in lists.items()} for i in range(n)]
        egos = sorted({(r["road"], r["vehicle"]) for r in rows if r["ego"]})
        self.key = egos[ego_number]
        own = [r for r in rows if (r["road"], r["vehicle"]) == self.key]
        first = min(own, key=lambda r: r["frame"])
        self.road = scene.roads[first["road"]]
        self.goal = scene.goal
        self.frame, self.t = int(first["frame"]), 0
        self.x, self.y, self.v, self.acc = (float(first[k]) for k in ("x", "y", "v", "acc"))
        self.length = float(first["length"])
        self.others = {}
        for r in rows:
            if r["road"] == first["road"] and (r["road"], r["vehicle"]) != self.key:
                self.others.setdefault(int(r["frame"]), []).append(r)
        self.look()

    def look(self):
        lanes = len(self.road.markings) - 1
        half_lane = self.road.markings[-1] / lanes / 2
        self.gap, self.collision = -1.0, False
        for other in self.others.get(self.frame + self.t, []):
            if abs(float(other["y"]) - self.y) > half_lane:
                continue
            distance = float(other["x"]) - self.x
            space = abs(distance) - float(other["length"]) / 2 - self.length / 2
            if space <= 0:
                self.collision = True
            if distance >= 0 and (self.gap < 0 or max(space, 0.0) < self.gap):
                self.gap = max(space, 0.0)

    def step(self, action):
        self.acc = min(2.0, max(-2.0, 2.0 * action))
        faster = max(0.0, self.v + DT * self.acc)
        self.x += DT * (self.v + faster) / 2
        self.v = faster
        self.t += 1
        self.look()
        return self.judge()

    def judge(self):
        length = self.road.length
        self.out = self.x < 0 or self.x > length
        self.near = self.x >= (1 - self.goal) * length and not self.out
        self.late, self.stopped = self.t >= 1000, self.v == 0 and self.t > 0
        if self.near:
            return 1.0, True
        wrong = self.late + self.collision + self.out
        if wrong:
            aside = self.road.markings[-1] / 2 - self.y
            distance = math.hypot((1 - self.goal / 2) * length - self.x, aside)
            return round(-wrong * distance / (0.9 * length), 3), True
        return (-0.1 if self.stopped else 0.0), False

    def features(self):
        parsed = self.road.length if self.gap < 0 else self.gap
        flags = (self.stopped, self.near, self.late, self.out, self.collision)
        moving = (self.x, self.y, self.v, self.acc, 0, 0, 0)
        return [*moving, *map(float, flags), self.gap, parsed]


@given(seed=SEEDS, both=st.booleans(), bias=st.sampled_from([-1.0, 0.0, 1.0]))
@QUICKLY
def test_episodes_are_those_of_the_slow_reference(path, seed, both, bias):
    rng = np.random.default_rng(seed)
    directions = (1, 2) if both else (2,)
    recording = random_recording(rng, 10, both=both)
    recording.drive(5.0, 30.0)  # one ego at least
    world = make_highd(path, recording, directions=directions, window=600)
    ego = int(rng.integers(world.n_egos))
    slow, state = Reference(read_scene(path), ego), start(world, ego)
    slow.judge()
    np.testing.assert_allclose(world.observe(state)[0], slow.features(), rtol=1e-6, atol=1e-4)
    for _ in range(400):
        action = rng.normal(bias, 0.8, size=1).astype(np.float32)
        state, reward, ended = world.step(state, action[None])
        expected, over = slow.step(float(action[0]))
        np.testing.assert_allclose(world.observe(state)[0], slow.features(), rtol=1e-6, atol=1e-4)
        assert reward[0] == pytest.approx(expected, abs=1.1e-3) and bool(ended[0]) == over
        if over:
            break


@given(seed=SEEDS)
@QUICKLY
def test_a_batch_steps_like_its_rows(path, seed):
    rng = np.random.default_rng(seed)
    recording = random_recording(rng, 15)
    recording.drive(5.0, 30.0)
    try:
        world = make_highd(path, recording, directions=(1, 2))
    except InputError:
        reject()  # of random vehicles it can happen that none drives the whole way
    states = world.initial_states(rng, 9)
    for _ in range(40):
        actions = rng.normal(size=(9, 1))
        together = world.step(states, actions)
        for k in range(9):
            single = world.step(states[k : k + 1], actions[k : k + 1])
            for a, b in zip(together, single, strict=True):
                assert np.array_equal(a[k], b[0])
        states = together[0]


# --- Closed forms


@given(u=st.floats(-3, 3), v=st.floats(1, 40))
@QUICKLY
def test_kinematics(path, u, v):
    """x = v t + a t^2 / 2 exactly as long as the ego moves, and it never drives backwards."""
    world = alone(path, v=30.0)
    state = start(world)
    x0, v = state[0, X], float(v)
    state[0, V] = v
    acc = np.clip(2 * u, -2, 2)
    for n in range(1, 60):
        state, _, _ = world.step(state, np.array([[u]]))
        t = n * DT
        if v + acc * t >= 0:
            assert state[0, X] == pytest.approx(x0 + v * t + acc * t**2 / 2, abs=1e-9)
        assert state[0, V] == pytest.approx(max(0.0, v + acc * t), abs=1e-9)


@given(
    gap=st.floats(1, 30),
    v_ego=st.floats(24, 40),
    share=st.floats(0.1, 0.9),
)
@QUICKLY
def test_a_constant_speed_ego_hits_a_slower_car_exactly_when_it_should(path, gap, v_ego, share):
    world = following(path, gap, v_ego, share * v_ego)
    states, rewards = roll(world, start(world))
    gap = states[0, GAP]  # as stored, in float32
    closing = states[0, V] - np.float32(share * v_ego)
    steps = math.ceil(gap / (closing * DT))
    goal_step = math.ceil((0.9 * VIEW - states[0, X]) / (states[0, V] * DT))
    uncertain = abs(gap / (closing * DT) - round(gap / (closing * DT))) < 1e-2
    if uncertain or abs(steps - goal_step) < 3:
        return
    if steps < goal_step:
        assert len(rewards) == steps and states[-1, COLLISION] and not states[:-1, COLLISION].any()
        distance = math.hypot(0.95 * VIEW - states[-1, X], 4.0 - states[-1, Y])
        assert rewards[-1] == pytest.approx(-distance / (0.9 * VIEW), abs=6e-4)
        assert states[-1, GAP] == 0
    else:
        assert not states[:, COLLISION].any() and rewards[-1] == 1
    apart = gap - closing * DT * np.arange(len(states))
    seen = states[:, GAP] >= 0
    np.testing.assert_allclose(states[seen, GAP], np.maximum(apart, 0)[seen], atol=2e-3)


@pytest.mark.parametrize("v", [12.0, 25.0, 33.3, 40.0])
def test_the_goal_is_reached_at_the_closed_forms_step(path, v):
    world = alone(path, v)
    states, rewards = roll(world, start(world))
    assert len(rewards) == math.ceil((0.9 * VIEW - 2.0) / (v * DT))
    assert rewards == [0.0] * (len(rewards) - 1) + [1.0]
    assert world.observe(states)[-1, 8] == 1


def test_a_lane_further_nobody_is_ahead_and_the_gap_is_the_views_length(path):
    recording = Recording()
    recording.drive(2.0, 30.0)
    recording.drive(30.0, 20.0, lane=1)
    recording.drive(VIEW - 2.0, 0.0, lane=1, until=2)
    world = make_highd(path, recording)
    seen = world.observe(start(world))[0]
    assert seen[12] == -1 and seen[13] == pytest.approx(VIEW)
    assert world.constraint_inputs(seen, np.zeros(1)).tolist() == pytest.approx(
        [30 / SPEED_SCALE, VIEW / GAP_SCALE]
    )
    _, rewards = roll(world, start(world))
    assert rewards[-1] == 1


def test_the_gap_may_be_measured_between_centres(path):
    for between_centres, expected in ((False, 20.0), (True, 24.0)):
        world = following(path, 20.0, 30.0, 25.0, centre_gap=between_centres)
        assert start(world)[0, GAP] == pytest.approx(expected, abs=1e-4)


def test_a_follower_that_runs_into_the_ego_is_a_collision_but_no_gap(path):
    recording = Recording()
    recording.drive(30.0, 20.0)
    recording.drive(2.0, 40.0)
    recording.drive(VIEW - 2.0, 0.0, lane=1, until=2)
    world = make_highd(path, recording)
    states, rewards = roll(world, start(world))
    assert np.all(states[:, GAP] == -1)
    assert len(rewards) == math.ceil(24 / (20 * DT)) and states[-1, COLLISION]


def test_others_vanish_where_their_tracks_end_and_the_own_track_is_gone(path):
    recording = Recording()
    recording.drive(2.0, 30.0)
    recording.drive(30.0, 30.0, until=20)  # in view for 20 frames only
    recording.drive(VIEW - 2.0, 0.0, lane=1, until=2)
    world = make_highd(path, recording)
    states, _ = roll(world, start(world))
    assert np.all(states[:20, GAP] > 0) and np.all(states[20:, GAP] == -1)


def test_rest_costs_and_the_time_limit_ends(path):
    world = alone(path, v=4.0)
    states, rewards = roll(world, start(world), action=-1.0)
    at_rest = states[1:, V] == 0
    assert len(rewards) == world.horizon and at_rest[:49].sum() == 0 and at_rest[50:].all()
    assert np.allclose(np.array(rewards)[:-1][at_rest[:-1]], -0.1)
    distance = math.hypot(0.95 * VIEW - states[-1, X], 4.0 - states[-1, Y])
    assert rewards[-1] == pytest.approx(-distance / (0.9 * VIEW), abs=6e-4)
    seen = world.observe(states)
    assert seen[-1, 7] == 1 and seen[-1, 9] == 1 and seen[0, 7] == 0 and seen[-2, 9] == 0


def test_frames_after_the_window_are_empty(path):
    recording = Recording()
    recording.drive(2.0, 25.0, frame=100)
    recording.drive(20.0, 30.0, frame=100)
    recording.frame_the_view()
    world = make_highd(path, recording, window=600)
    slow = start(world)
    states, _ = roll(world, slow, action=-0.5)
    assert np.all(states[states[:, TIME] > 500, GAP] == -1)


# --- The contract


@pytest.fixture
def world(path):
    recording = random_recording(np.random.default_rng(7), 40)
    return make_highd(path, recording, Headway(2.0, 1.4), directions=(1, 2))


def test_declarations(world):
    assert isinstance(world, World) and (world.discount, world.threshold) == (0.99, 0.1)
    assert world.horizon == 1000 and not world.discrete and world.action_shape == (1,)
    assert world.observation_size == 14 and world.state_size == 8 and world.input_size == 2
    assert world.true_on_grid is None and world.source == "simulated"
    speed, gap = world.grid.axes
    assert np.allclose(speed.physical, np.arange(41)) and speed.label == "speed v [m/s]"
    assert np.allclose(gap.physical, np.arange(0, 200.1, 2.5)) and gap.label == "gap g [m]"
    assert np.array_equal(world.grid.locate(world.grid.nodes), np.arange(41 * 81))
    assert world.headway.gap(30.0) == 44.0


def test_starts_are_the_egos_and_what_is_seen_is_within_bounds(world):
    rng = np.random.default_rng(0)
    states = world.initial_states(rng, 400)
    assert states.shape == (400, 8) and set(states[:, EGO]) == set(range(world.n_egos))
    for _ in range(30):
        seen = world.observe(states)
        assert seen.dtype == np.float32
        assert np.all((seen >= world.observation_low) & (seen <= world.observation_high))
        assert np.all(np.abs(world.features(seen)) < 10)
        copy = states.copy()
        moved, rewards, ended = world.step(states, rng.normal(size=(400, 1)))
        assert np.array_equal(copy, states) and not np.shares_memory(moved, states)
        assert rewards.dtype == np.float32 and ended.dtype == bool
        states = moved


def test_leading_axes_do_not_matter(world):
    rng = np.random.default_rng(1)
    states = world.initial_states(rng, 24)
    seen, actions = world.observe(states), rng.normal(size=(24, 1)).astype(np.float32)
    assert np.array_equal(world.observe(states.reshape(2, 12, -1)).reshape(24, -1), seen)
    flat = world.constraint_inputs(seen, actions)
    stacked = world.constraint_inputs(seen.reshape(2, 3, 4, -1), actions.reshape(2, 3, 4, 1))
    assert flat.dtype == np.float32 and np.array_equal(stacked.reshape(flat.shape), flat)


def test_equal_generators_give_equal_starts(world):
    a, b, c = (world.initial_states(np.random.default_rng(s), 50) for s in (1, 1, 2))
    assert np.array_equal(a, b) and not np.array_equal(a, c)


def test_a_hundred_episodes_side_by_side_are_fast_enough(world):
    rng = np.random.default_rng(2)
    states, actions = world.initial_states(rng, 100), rng.normal(size=(100, 1))
    begin = time.process_time()
    for _ in range(300):
        world.observe(states)
        states, _, ended = world.step(states, actions)
        states[ended] = world.initial_states(rng, ended.sum())
    assert 300 * 100 / (time.process_time() - begin) > 30_000


def test_gymnasium_finds_nothing_to_say(world):
    env = WorldEnv(world, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    vector = WorldVectorEnv(world, 5, render_mode="rgb_array")
    observations, _ = vector.reset(seed=0)
    assert observations.shape == (5, 14)
    for _ in range(60):
        observations, *_ = vector.step(vector.action_space.sample())
        assert observations in vector.observation_space
    assert all((frame == BLUE).all(axis=-1).any() for frame in vector.render())


# --- Files


def test_a_missing_or_foreign_scene_is_told(path, tmp_path):
    with pytest.raises(InputError, match=r"environment highd: expected a scene.*snake"):
        HighD()
    with pytest.raises(InputError, match=r"scene.parquet: expected a file, found nothing"):
        HighD(scene=path)
    path.write_bytes(b"not a table")
    with pytest.raises(InputError, match=r"scene.parquet: expected a complete Parquet table"):
        HighD(scene=path)


def test_a_scene_without_its_details_is_told(path):
    import pyarrow.parquet as pq

    make_highd(path, random_recording(np.random.default_rng(3)))
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(InputError, match="expected the roads of a scene in the metadata"):
        HighD(scene=path)
    write_table(path, table.slice(0, 0), {})
    with pytest.raises(InputError, match="expected a vehicle that an agent may drive, found none"):
        HighD(scene=path)
