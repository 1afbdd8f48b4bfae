"""What every world promises: found on its shelf, none is listed here."""

import importlib
import subprocess
import sys
from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pytest

from icl_core import discovery
from icl_core.environments import make_world, world_type
from icl_core.environments.gymnasium import register
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.settings_schema import described
from tests.worlds import NAMES, random_actions, small_world

VARIANTS = [
    *[(name, {}) for name in NAMES],
    ("gridworld-a", {"slip": 0.3}),
    ("gridworld-b", {"slip": 0.5, "slip_over_all": True}),
    ("highd", {"centre_gap": True}),
    ("exid", {"distance": "authors"}),
]


def random_batch(world, rng, n=64):
    """States that occur: some random steps away from a start."""
    states = world.initial_states(rng, n)
    for _ in range(5):
        states, _, _ = world.step(states, *moves(world, rng, n))
    return states


def moves(world, rng, n):
    """Random actions and noise."""
    return random_actions(world, rng, n), rng.random((n, world.noise_size))


# --- The contract: every world, whatever it simulates


@pytest.fixture(params=VARIANTS, ids=str)
def world(request):
    name, given_settings = request.param
    return small_world(name, **given_settings)


def test_declarations(world):
    assert isinstance(world, World) and world_type(world.name) is type(world)
    assert world.title == discovery.title(discovery.WORLDS, world.name)
    assert 0 < world.discount <= 1 and world.threshold > 0 and world.horizon > 0
    assert world.observation_size == len(world.observation_low) == len(world.observation_high)
    assert world.observation_low.dtype == world.observation_high.dtype == np.float32
    assert world.input_size == len(world.grid.axes)
    assert world.grid.nodes.shape == (np.prod(world.grid.shape), world.input_size)
    assert np.array_equal(world.grid.locate(world.grid.nodes), np.arange(len(world.grid.nodes)))
    assert world.input_resolution.shape == (world.input_size,) and np.all(
        world.input_resolution > 0
    )
    if not world.discrete:
        assert world.action_low.dtype == world.action_high.dtype == np.float32
        assert world.action_shape == world.action_low.shape == world.action_high.shape


def test_shapes_and_types(world):
    rng = np.random.default_rng(0)
    states = world.initial_states(rng, 10)
    assert states.shape == (10, world.state_size) and states.dtype.kind == "f"
    actions, noise = moves(world, rng, 10)
    next_states, rewards, terminated = world.step(states, actions, noise)
    assert next_states.shape == states.shape and next_states.dtype == states.dtype
    assert rewards.shape == (10,) and rewards.dtype == np.float32
    assert terminated.shape == (10,) and terminated.dtype == bool
    observations = world.observe(states)
    assert observations.shape == (10, world.observation_size) and observations.dtype == np.float32
    inputs = world.constraint_inputs(observations, actions)
    assert inputs.shape == (10, world.input_size) and inputs.dtype == np.float32
    seen = world.features(observations)
    assert seen.shape == observations.shape and seen.dtype == np.float32
    if world.true_constraint is not None:
        values = world.true_constraint(inputs)
        assert values.shape == (10,) and values.dtype == np.float32
        assert set(np.unique(values)) <= {0.0, 1.0}


def test_constraints_take_any_leading_axes(world):
    rng = np.random.default_rng(1)
    observations = world.observe(random_batch(world, rng, 24))
    actions, _ = moves(world, rng, 24)
    flat = world.constraint_inputs(observations, actions)
    stacked = world.constraint_inputs(
        observations.reshape(2, 3, 4, -1), actions.reshape(2, 3, 4, *world.action_shape)
    )
    assert np.array_equal(stacked.reshape(flat.shape), flat)
    if world.true_constraint is not None:
        assert np.array_equal(world.true_constraint(stacked).ravel(), world.true_constraint(flat))
    assert np.array_equal(world.grid.locate(stacked).ravel(), world.grid.locate(flat))


def test_a_batch_steps_like_its_rows(world):
    """To the last bit: a run must not depend on what it is stacked with."""
    rng = np.random.default_rng(2)
    for n in (3, 17, 64):
        states = random_batch(world, rng, n)
        actions, noise = moves(world, rng, n)
        together = world.step(states, actions, noise)
        for k in range(n):
            alone = world.step(states[k : k + 1], actions[k : k + 1], noise[k : k + 1])
            for a, b in zip(together, alone, strict=True):
                assert np.array_equal(a[k], b[0])


def test_step_leaves_its_arguments_alone(world):
    rng = np.random.default_rng(3)
    states = random_batch(world, rng)
    actions, noise = moves(world, rng, len(states))
    copies = states.copy(), actions.copy(), noise.copy()
    next_states, _, _ = world.step(states, actions, noise)
    for before, after in zip(copies, (states, actions, noise), strict=True):
        assert np.array_equal(before, after)
    assert not np.shares_memory(next_states, states)


def test_equal_generators_give_equal_worlds(world):
    def run(seed):
        rng = np.random.default_rng(seed)
        states = [world.initial_states(rng, 8)]
        for _ in range(20):
            states.append(world.step(states[-1], *moves(world, rng, 8))[0])
        return np.array(states)

    assert np.array_equal(run(5), run(5))
    assert not np.array_equal(run(5), run(6))


def test_starts_are_inside(world):
    rng = np.random.default_rng(6)
    seen = world.observe(world.initial_states(rng, 500))
    assert np.all((seen >= world.observation_low) & (seen <= world.observation_high))
    inputs = world.constraint_inputs(seen, moves(world, rng, 500)[0])
    located = world.grid.locate(inputs)
    second = world.grid.axes[-1].nodes
    max_kl = second[-1] + (second[1] - second[0]) / 2
    if world.recorded:  # an empty road is longer than the grid, and velocities have no bounds
        assert np.array_equal(located < 0, np.abs(inputs[:, 1]) > max_kl)
    else:
        assert np.all(located >= 0)


def test_episodes_may_be_stepped_beyond_their_end(world):
    """Rollouts do so: an episode waits there until the last of its stack is over."""
    rng, n = np.random.default_rng(7), 4
    states = world.initial_states(rng, n)
    for _ in range(600):  # no world keeps count, and random steps end all that can end
        states, rewards, _ = world.step(states, *moves(world, rng, n))
        assert np.all(np.isfinite(rewards)) and np.all(np.isfinite(states))
    assert np.all(np.isfinite(world.observe(states)))


def test_the_true_constraint_on_the_grid(world):
    values = world.true_on_grid
    if world.true_constraint is None:
        assert values is None
    else:
        assert values.shape == (len(world.grid.nodes),) and values.dtype == np.float64


# --- Found, not registered: what is known of a world before it is imported


@pytest.mark.parametrize("name", NAMES)
def test_its_settings_say_what_they_mean(name):
    kind = world_type(name)
    assert kind.Settings() == small_world(name).settings
    for key, expected, default, about in described(kind.Settings):
        assert about and expected and default is not None, key


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_knows_it_by_what_its_file_says(name):
    module = discovery.module_name(discovery.WORLDS, name)
    register()  # once more changes nothing
    spec = gymnasium.spec(discovery.literal(module, "GYMNASIUM_ID", f"icl/{name}-v0"))
    assert spec.kwargs == {"world": name}
    assert spec.max_episode_steps in (None, world_type(name).horizon)


@pytest.mark.parametrize("name", NAMES)
def test_its_picture_is_a_function_of_its_drawing(name):
    drawing = world_type(name).drawing
    assert not drawing or callable(importlib.import_module(drawing).picture)


HEAVY = ("gymnasium", "torch", "pyarrow", "matplotlib", "mujoco", "highway_env")


def loaded_by(code):
    """The names of the modules that some code loads."""
    code = f"import sys\n{code}\nprint(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(answer.stdout.split())


def test_the_room_by_itself_loads_nothing_heavy():
    assert not loaded_by("import icl_core.environments") & {*HEAVY}


@pytest.mark.parametrize("name", NAMES)
def test_a_world_loads_no_other_one_and_no_picture(name):
    loaded = loaded_by(f"from icl_core.environments import world_type; world_type({name!r})")
    worlds = {one for one in loaded if one.startswith("icl_core.environments.worlds.")}
    assert worlds <= {discovery.module_name(discovery.WORLDS, name)}
    assert not any(one.startswith("icl_core.environments.pictures") for one in loaded)
    assert not loaded & {"gymnasium", "torch", "matplotlib", "mujoco", "highway_env"}


def test_an_unknown_world_names_the_known_ones():
    with pytest.raises(InputError, match=r"'mars' is unknown.*cartpole-mid.*gridworld-b"):
        make_world("mars")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"slip": 1.5}, r"environments\.gridworld-a\.slip: expected a number .* found 1\.5"),
        ({"slop": 0.1}, r"environments\.gridworld-a\.slop is unknown; did you mean slip"),
        ({"scene": "scene.parquet"}, r"gridworld-a: expected no scene"),
    ],
)
def test_wrong_settings_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        make_world("gridworld-a", **given)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "found none"),
        ("class One(Gridworld): ...\nclass Two(Gridworld): ...", "One .* Two of the name"),
        ("class One(Gridworld): name = 'mars'", "One of the name 'mars'"),
    ],
)
def test_a_file_holds_one_world_of_its_name(tmp_path, monkeypatch, text, found):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "corridor.py").write_text(
        f"from icl_core.environments.gridworld import Gridworld\n{text}\n"
    )
    monkeypatch.setattr(discovery, "module_name", lambda shelf, name: "corridor")
    monkeypatch.delitem(sys.modules, "corridor", raising=False)
    with pytest.raises(InputError, match=rf"corridor: expected one subclass .*'corridor'.*{found}"):
        make_world("corridor")
    monkeypatch.delitem(sys.modules, "corridor", raising=False)


def test_another_package_brings_a_world(tmp_path, monkeypatch):
    """By an entry point: it is made by its name, with its own settings, also by Gymnasium."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "meadow.py").write_text(
        "from dataclasses import dataclass\n"
        "from icl_core.environments.gridworld import Gridworld, block\n"
        "from icl_core.settings import setting\n"
        "class Meadow(Gridworld):\n"
        "    @dataclass(frozen=True)\n"
        "    class Settings(Gridworld.Settings):\n"
        "        flowers: int = setting(3, 'how many', at_least=0)\n"
        "    title, horizon, goal = 'Meadow', 9, (6, 6)\n"
        "    starts = constrained = block(range(2), range(2))\n"
    )
    point = EntryPoint("meadow", "meadow", discovery.ENTRY_POINTS[discovery.WORLDS])
    brought = {"meadow": point}
    monkeypatch.setattr(discovery, "_brought", lambda shelf: brought)
    world = make_world("meadow", flowers=5, slip=0.1)
    assert (world.name, world.settings.flowers, world.slip) == ("meadow", 5, 0.1)
    register()
    env = gymnasium.make("icl/meadow-v0", flowers=1)
    assert env.unwrapped.world.settings.flowers == 1
    del gymnasium.registry["icl/meadow-v0"]
    del sys.modules["meadow"]


# --- Numbers of the paper and the authors' grids


def test_constrained_nodes_are_as_many_as_the_authors():
    assert make_world("gridworld-a").true_on_grid.sum() == 4
    assert make_world("gridworld-b").true_on_grid.sum() == 9
    by_action = {
        name: make_world(name).true_on_grid.reshape(49, 2).sum(axis=0).tolist()
        for name in ("cartpole-mr", "cartpole-mid")
    }
    assert by_action == {"cartpole-mr": [26, 26], "cartpole-mid": [14, 15]}


def test_the_empty_constraint_scores_as_published():
    expected = {
        "gridworld-a": 0.082,
        "gridworld-b": 0.184,
        "cartpole-mr": 0.531,
        "cartpole-mid": 0.296,
    }
    for name, value in expected.items():
        assert np.mean(make_world(name).true_on_grid ** 2) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "discount", "threshold", "horizon", "actions"),
    [
        ("gridworld-a", 1.0, 0.99, 50, 8),
        ("gridworld-b", 1.0, 0.99, 50, 8),
        ("cartpole-mr", 0.99, 50, 200, 2),
        ("cartpole-mid", 0.99, 30, 200, 2),
        ("highd", 0.99, 0.1, 1000, 0),
        ("exid", 0.99, 5, 1000, 0),
        ("ant", 0.99, 5, 500, 0),
        ("halfcheetah", 0.99, 15, 1000, 0),
    ],
)
def test_settings_of_the_paper(name, discount, threshold, horizon, actions):
    world = small_world(name)
    found = (world.discount, world.threshold, world.horizon, world.n_actions)
    assert found == (discount, threshold, horizon, actions)
