"""The robots against Gymnasium's own, and against numbers worked out by hand."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.environments.worlds.ant import AntConstrained
from icl_core.environments.worlds.halfcheetah import HalfCheetahConstrained

ROBOTS = [AntConstrained, HalfCheetahConstrained]
ARGUMENTS = {
    AntConstrained: (
        "Ant-v5",
        {
            "exclude_current_positions_from_observation": False,
            "include_cfrc_ext_in_observation": False,
            "contact_cost_weight": 0,
            "terminate_when_unhealthy": False,
        },
    ),
    HalfCheetahConstrained: (
        "HalfCheetah-v5",
        {"exclude_current_positions_from_observation": False},
    ),
}


@pytest.fixture(params=ROBOTS, ids=lambda robot: robot.name)
def world(request):
    return request.param()


@pytest.fixture
def theirs(world, monkeypatch, tmp_path):
    """Gymnasium's robot of the same kind, with the paper's observation."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log where one happens to be
    identifier, arguments = ARGUMENTS[type(world)]
    return gymnasium.make(identifier, **arguments).unwrapped


def resting(world, **changes):
    """The model at rest, with some numbers of qpos or qvel changed."""
    state = world.simulation.start
    for place, value in changes.items():
        part, index = place.split("_")
        state[int(index) + (world.positions if part == "qvel" else 0)] = value
    return state[None]


def random_states(world, rng, n, steps=8):
    states = world.initial_states(rng, n)
    for _ in range(steps):
        states, _, _ = world.step(states, rng.normal(size=(n, world.action_size)))
    return states


# --- Against Gymnasium


def reward_of(world, before, after, action):
    """The paper's reward for one move of Gymnasium's robot, in plain Python."""
    cost = sum(min(1.0, max(-1.0, float(a))) ** 2 for a in action)
    if isinstance(world, HalfCheetahConstrained):
        return abs(after[0] - before[0]) / 0.05 - 0.1 * cost
    alive = 1 if 0.2 <= after[2] <= 1.0 else 0
    return (after[0] ** 2 + after[1] ** 2) ** 0.5 + alive - 0.5 * cost


def test_hundreds_of_steps_are_gymnasiums_to_the_last_bit(world, theirs):
    rng = np.random.default_rng(0)
    states = world.initial_states(rng, 1)
    theirs.reset()
    n = world.positions
    theirs.data.qacc_warmstart[:] = 0
    theirs.set_state(states[0, :n], states[0, n : n + world.velocities])
    for _ in range(300):
        before = theirs.data.qpos.copy()
        action = rng.normal(size=world.action_size).astype(np.float32)
        expected, _, terminated, _, _ = theirs.step(np.clip(action, -1, 1))
        states, rewards, ended = world.step(states, action[None])
        assert np.array_equal(states[0, : len(expected)], expected)
        assert np.array_equal(world.observe(states)[0], expected.astype(np.float32))
        assert np.array_equal(states[0, len(expected) :], theirs.data.qacc_warmstart)
        reward = reward_of(world, before, theirs.data.qpos, action)
        assert rewards[0] == pytest.approx(reward, rel=1e-6, abs=1e-6)
        assert not ended[0] and not terminated


def test_the_models_are_as_declared(world, theirs):
    model = world.simulation.model
    assert (model.nq, model.nv, model.nu) == (world.positions, world.velocities, world.action_size)
    assert np.array_equal(theirs.init_qpos, world.simulation.start[: world.positions])
    assert np.array_equal(model.actuator_ctrlrange, theirs.model.actuator_ctrlrange)
    assert model.na == model.nsensor == 0  # nothing else would belong to the state
    assert theirs.dt == pytest.approx(0.05)
    assert theirs.observation_space.shape == world.observation_low.shape


@pytest.mark.parametrize("world", [AntConstrained], indirect=True)
def test_ant_starts_are_gymnasiums(world, theirs):
    """The same generator gives the very same start."""
    expected, _ = theirs.reset(seed=5)
    rng, _ = gymnasium.utils.seeding.np_random(5)
    states = world.initial_states(rng, 1)
    assert np.array_equal(states[0, :29], expected) and not states[0, 29:].any()


# --- On states written down


def test_ant_reward_and_observation_of_a_recorded_state():
    world = AntConstrained()
    state = resting(world, qpos_0=3.0, qpos_1=-4.0, qpos_2=0.75, qvel_0=0.0)
    torques = np.array([[0.5, -0.5, 2.0, 0, 0, 0, 0, -3.0]])  # clipped: squares sum to 2.5
    observation = world.observe(state)[0]
    assert observation.dtype == np.float32
    assert observation.tolist() == [3, -4, 0.75, 1, *[0] * 25]
    after, rewards, _ = world.step(state, torques)
    x, y, height = after[0, :3]
    assert np.hypot(x - 3, y + 4) < 0.1 and 0.2 <= height <= 1  # it has hardly moved
    assert rewards[0] == pytest.approx((x**2 + y**2) ** 0.5 + 1 - 1.25, abs=1e-6)
    assert rewards[0] == pytest.approx(5 + 1 - 1.25, abs=0.1)


def test_ant_falls_from_a_height_as_stones_do():
    """In the air, with its ankles within their range, gravity alone moves it."""
    world = AntConstrained()
    ankles = {"qpos_8": 1.0, "qpos_10": -1.0, "qpos_12": -1.0, "qpos_14": 1.0}
    state = resting(world, qpos_2=5.0, qvel_0=2.0, **ankles)
    after, rewards, _ = world.step(state, np.zeros((1, 8)))
    assert after[0, 2] == pytest.approx(5 - 9.81 * 0.05**2 / 2, abs=1e-9)
    assert after[0, 15 + 2] == pytest.approx(-9.81 * 0.05, abs=1e-9)
    # Too high to be healthy: only the distance is paid, 0.05 s at 2 m/s.
    assert rewards[0] == pytest.approx(0.1, abs=1e-7)


def test_halfcheetah_reward_and_observation_of_a_recorded_state():
    world = HalfCheetahConstrained()
    torques = np.array([[1.0, -1.0, 0.5, 0, 0, 5.0]])  # clipped: squares sum to 3.25
    for sign in (1, -1):  # high in the air, at 2 m/s forwards or backwards
        state = resting(world, qpos_0=-3.0, qpos_1=5.0, qvel_0=2.0 * sign)
        assert world.observe(state)[0].tolist() == [-3, 5, *[0] * 7, 2 * sign, *[0] * 8]
        after, rewards, _ = world.step(state, torques)
        moved = after[0, 0] + 3
        assert rewards[0] == pytest.approx(abs(moved) / 0.05 - 0.325, abs=1e-5)
        assert moved * sign > 0
        at_rest, _, _ = world.step(state, np.zeros((1, 6)))
        assert at_rest[0, 0] + 3 == pytest.approx(0.1 * sign, abs=1e-3)


def test_an_unhealthy_ant_goes_on(world):
    """Upside down, far too low or torn about: nothing ends but by the horizon."""
    states = np.concatenate([resting(world, qpos_2=height) for height in (0.0, 0.1, 3.0)])
    rng = np.random.default_rng(1)
    for _ in range(20):
        states, rewards, terminated = world.step(states, rng.uniform(-1, 1, (3, world.action_size)))
        assert not terminated.any() and np.isfinite(rewards).all()


def test_health_is_paid_between_its_bounds():
    world = AntConstrained()
    states = np.tile(world.simulation.start, (5, 1))
    states[:, 2] = 0.19, 0.2, 0.6, 1.0, 1.01
    nothing = np.zeros((5, 8))
    assert world._rewards(states, nothing, states).tolist() == [0, 1, 1, 1, 0]
    states[2, 20] = np.nan
    assert world._rewards(states, nothing, states)[2] == 0


# --- What the paper says


def test_settings_of_the_paper():
    found = [
        (w.discount, w.threshold, w.horizon, w.n_actions, w.action_size, w.observation_size)
        for w in (AntConstrained(), HalfCheetahConstrained())
    ]
    assert found == [(0.99, 5, 500, 0, 8, 29), (0.99, 15, 1000, 0, 6, 18)]


def test_the_constraint_marks_the_authors_nodes(world):
    assert world.grid.shape == (101,) and world.true_on_grid.sum() == 41
    assert np.mean(world.true_on_grid**2) == pytest.approx(0.406, abs=5e-4)  # of c = 0
    assert np.allclose(world.grid.nodes[:, 0], np.linspace(-5, 5, 101))
    assert world.true_constraint(np.array([[-1.01], [-1.0], [-0.99], [3.0]])).tolist() == [
        1,
        1,
        0,
        0,
    ]


def test_the_constraint_sees_the_raw_position(world):
    rng = np.random.default_rng(2)
    observations = rng.normal(scale=9, size=(2, 3, world.observation_size)).astype(np.float32)
    actions = rng.normal(size=(2, 3, world.action_size))
    inputs = world.constraint_inputs(observations, actions)
    assert inputs.dtype == np.float32 and np.array_equal(inputs, observations[..., :1])


def test_starts_are_spread_as_declared(world):
    states = world.initial_states(np.random.default_rng(3), 20_000)
    n, m = world.positions, world.velocities
    around = states[:, :n] - world.simulation.start[:n]
    assert np.all(np.abs(around) <= 0.1) and np.all(np.abs(around.mean(axis=0)) < 0.002)
    assert np.allclose(around.std(axis=0), 0.2 / 12**0.5, rtol=0.03)
    moving = states[:, n : n + m]
    if isinstance(world, AntConstrained):
        assert np.all(np.abs(moving.mean(axis=0)) < 0.003)
        assert np.allclose(moving.std(axis=0), 0.1, rtol=0.03)
        assert np.abs(moving).max() > 0.3  # a normal distribution's tails
    else:
        assert moving.min() >= 0 and moving.max() < 0.1
        assert np.allclose(moving.mean(axis=0), 0.05, atol=0.001)
        assert np.allclose(moving.std(axis=0), 0.1 / 12**0.5, rtol=0.03)
    assert not states[:, n + m :].any()


# --- The contract: no memory


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_rows_do_not_know_of_each_other(robot, threads):
    """A batch, its rows one by one in another order, on any number of threads: equal bits."""
    world, alone = robot(threads=threads), robot()
    rng = np.random.default_rng(4)
    states = random_states(alone, rng, 17)
    actions = rng.normal(size=(17, world.action_size)).astype(np.float32)
    together = world.step(states, actions)
    for k in rng.permutation(17):
        single = alone.step(states[k : k + 1], actions[k : k + 1])
        for a, b in zip(together, single, strict=True):
            assert np.array_equal(a[k], b[0])


@given(order=st.permutations(range(6)), used=st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_layout_and_past_do_not_matter(order, used):
    """Rows permuted, in Fortran's order, on a simulation that has done other things before."""
    world = HalfCheetahConstrained()
    rng = np.random.default_rng(used)
    states, actions = random_states(world, rng, 6, steps=4), rng.normal(size=(6, 6))
    expected = HalfCheetahConstrained().step(states, actions)
    random_states(world, rng, 2, steps=used)
    order = list(order)
    found = world.step(np.asfortranarray(states[order]), np.asfortranarray(actions[order]))
    for a, b in zip(found, expected, strict=True):
        assert np.array_equal(a, b[order])


def test_arguments_are_left_alone(world):
    rng = np.random.default_rng(5)
    states = random_states(world, rng, 4)
    actions = rng.normal(size=(4, world.action_size)) * 3
    copies = states.copy(), actions.copy()
    moved, _, _ = world.step(states, actions)
    assert np.array_equal(copies[0], states) and np.array_equal(copies[1], actions)
    assert not np.shares_memory(moved, states) and moved.shape == states.shape
    none, rewards, _ = world.step(states[:0], actions[:0])
    assert none.shape == (0, world.state_size) and rewards.shape == (0,)


def test_a_state_that_explodes_harms_no_other(world):
    """MuJoCo puts a robot with impossible numbers back to rest; the rows beside it go on."""
    rng = np.random.default_rng(6)
    states = random_states(world, rng, 3)
    actions = rng.normal(size=(3, world.action_size))
    expected = world.step(states, actions)
    broken = states.copy()
    broken[1, world.positions] = 1e12
    with pytest.warns(RuntimeWarning, match=r"MuJoCo: .*unstable"):
        moved, _, _ = world.step(broken, actions)
    assert np.array_equal(moved[[0, 2]], expected[0][[0, 2]]) and np.isfinite(moved).all()


def test_nothing_but_the_horizon_ends_an_episode(world):
    rng = np.random.default_rng(7)
    states = world.initial_states(rng, 4)
    for _ in range(100):
        states, _, ended = world.step(states, rng.normal(size=(4, world.action_size)))
        assert not ended.any()


def test_declarations_need_no_mujoco():
    code = (
        "import sys; from icl_core.environments.worlds.ant import AntConstrained;"
        "AntConstrained().true_on_grid; print('mujoco' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


def test_loading_leaves_no_trace(tmp_path):
    """Neither MuJoCo's log file nor a word about what Gymnasium's model files are like."""
    code = "from icl_core.environments.robot import load_model; load_model('half_cheetah.xml')"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    assert answer.stdout == answer.stderr == "" and not list(tmp_path.iterdir())


def test_a_heavier_torso_is_mujocos_own(tmp_path):
    """A model whose file says so, stepped by MuJoCo alone."""
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    world = AntConstrained(AntConstrained.Settings(torso_mass=1.25))
    rng = np.random.default_rng(4)
    states, torques = world.initial_states(rng, 3), rng.uniform(-1, 1, (3, 8))
    moved, _, _ = world.step(states, torques)
    plain = Path(gymnasium.__file__).parent / "envs/mujoco/assets/ant.xml"
    heavy = tmp_path / "ant.xml"
    # The torso is a ball of the default density, 5.
    ball = '<geom name="torso_geom"'
    heavy.write_text(plain.read_text().replace(ball, f'{ball} density="6.25"'))
    model = mujoco.MjModel.from_xml_path(str(heavy))
    for k in range(3):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = states[k, :15], states[k, 15:29]
        data.ctrl[:] = torques[k]
        for _ in range(5):
            mujoco.mj_step(model, data)
        assert moved[k, :29] == pytest.approx(np.concatenate([data.qpos, data.qvel]), abs=1e-9)
    assert np.abs(AntConstrained().step(states, torques)[0] - moved).max() > 1e-3
