"""The examples: their scripts compile and call what there is, and their constraint is a good one.

omnisafe and safety-gymnasium are not installed here; the pages of the examples say what they gave.
"""

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import icl_core as icl
import icl_core.environments.gymnasium  # registers "Nav-v0"
from icl_core.environments.worlds.nav import DISC, DISC_RADIUS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*/*.py"))
FILE = EXAMPLES / "omnisafe" / "constraint.safetensors"


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def six_values():
    return module(EXAMPLES / "safety_gymnasium" / "six_values.py")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_takes_from_the_library_exists(path):
    tree = ast.parse(path.read_text())
    compile(tree, path, "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("icl_core"):
            found = importlib.import_module(node.module)
            assert all(hasattr(found, alias.name) for alias in node.names)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "icl" or hasattr(icl, node.attr), node.attr


def test_the_constraint_is_high_in_the_disc_and_low_on_the_way_round():
    constraint = icl.Constraint.load(FILE)
    side = np.linspace(-1.5, 1.5, 61)
    places = np.stack(np.meshgrid(side, side), axis=-1)
    values = constraint.predict(places, np.zeros_like(places))
    inside = np.hypot(*np.moveaxis(places - DISC, -1, 0)) < DISC_RADIUS
    assert values[inside].mean() > 0.6 > values[~inside].mean()
    learn = module(EXAMPLES / "omnisafe" / "learn.py")
    shown = icl.Demonstrations.record("Nav-v0", learn.Careful(5), episodes=10, seed=5)
    assert shown.mean_cost() == 0
    costs = [constraint.predict(one.states, one.actions).sum() for one in shown]
    assert np.mean(costs) < constraint.beta


def test_six_values_are_those_of_a_learned_cost(six_values):
    constraint = icl.Constraint.load(FILE)
    env = six_values.SixValues(icl.LearnedCost(gymnasium.make("Nav-v0"), constraint))
    seen, _ = env.reset(seed=3)
    action = np.array([1, 0], np.float32)
    after, _, cost, terminated, truncated, info = env.step(action)
    assert cost == info["cost"] == pytest.approx(float(constraint.predict(seen, action)))
    assert not (terminated or truncated) and after[0] > seen[0]
    bare = six_values.SixValues(gymnasium.make("CartPole-v1"))
    bare.reset(seed=0)
    with pytest.raises(icl.InputError, match="expected a 'cost'"):
        bare.step(0)


def test_the_robot_for_older_gymnasiums_is_nav(six_values):
    ours, theirs = gymnasium.make("Nav-v0"), six_values.Robot()
    np.testing.assert_array_equal(ours.reset(seed=4)[0], theirs.reset(seed=4)[0])
    for _ in range(30):
        here, there = (env.step(np.array([1, 0.1], np.float32)) for env in (ours, theirs))
        np.testing.assert_array_equal(here[0], there[0])
        assert here[1:4] == there[1:4] and here[4]["cost"] == there[4]["cost"]
        if here[2] or here[3]:
            break
    assert here[2]


def test_one_environment_needs_no_newer_gymnasium():
    """Safe-RL libraries have Gymnasium 0.28, without what our worlds and vector wrappers import."""
    code = (
        "import sys, gymnasium, icl_core as icl\n"
        "env = gymnasium.make('CartPole-v1')\n"
        "env = icl.PenaliseCost(icl.CostBudget(env, 1.0, 0.9), 1.0)\n"
        "icl.Demonstrations.record(gymnasium.make('CartPole-v1'), lambda seen: 0, 1, 1)\n"
        "print(*(name for name in sys.modules if name.startswith('icl_core')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "icl_core.using.wrappers" in loaded
    assert not loaded & {"icl_core.using.vector_wrappers", "icl_core.environments.gymnasium"}
