"""The development suite: its worlds, its statistics, and that it goes on where it stopped."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from develop import effects
from develop.choices import CHOICES, SIZES, STARTS, TINY
from develop.grids import RandomGrid, worth_learning
from develop.run import CONTINUOUS, Units, run_world
from develop.unit import Choice, settings_of
from icl_core.measuring.claims.intervals import Estimate

ROOT = Path(__file__).parents[2]


def test_no_world_of_the_paper_is_imported():
    code = (
        "import sys, develop.run\n"
        "from icl_core import discovery\n"
        "discovery.load(discovery.METHODS, 'icl')\n"
        "print([m for m in sys.modules if m.startswith('icl_core.environments.worlds.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_grids_come_from_their_seed_and_differ():
    grids = [RandomGrid(seed) for seed in range(1, 21)]
    assert all(worth_learning(grid) for grid in grids)
    assert len({grid.constrained.tobytes() for grid in grids}) == 20
    again = RandomGrid(3)
    assert (again.goal, again.threshold, again.slip) == (
        grids[2].goal,
        grids[2].threshold,
        grids[2].slip,
    )
    assert (again.constrained == grids[2].constrained).all()


@pytest.mark.parametrize("seed", [3, 14])
def test_steps_of_a_grid_are_those_of_its_matrix(seed):
    grid, rng = RandomGrid(seed), np.random.default_rng(0)
    matrix = grid.transition_matrix()
    assert matrix.sum(axis=2) == pytest.approx(1)
    cells = np.argwhere(~grid.blocked).astype(np.float32)
    for _ in range(50):
        actions = rng.integers(8, size=len(cells))
        moved, _, _ = grid.step(cells, actions, rng.random((len(cells), 1)))
        target = moved.astype(int) @ (7, 1)
        going = (cells != grid.goal).any(axis=1)
        assert (matrix[cells.astype(int) @ (7, 1), actions, target] > 0)[going].all()


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_batch_moves_as_each_state_alone(name):
    world, rng = CONTINUOUS[name](name), np.random.default_rng(0)
    states = world.initial_states(rng, 20)
    for _ in range(30):
        actions = rng.normal(size=(20, world.action_size))
        together = world.step(states, actions)
        alone = [world.step(s[None], a[None]) for s, a in zip(states, actions, strict=True)]
        for part, parts in zip(together, zip(*alone, strict=True), strict=True):
            assert (part == np.concatenate(parts)).all()
        states = together[0]
        assert (states >= world.low).all() and (states <= world.high).all()
    assert 0 < world.true_on_grid.mean() < 0.7


def unit(*pairs):
    return {"runs": [{"cmse": c, "nad": n} for c, n in pairs]}


def test_effects_by_hand():
    choice = Choice("b", "bound", {"adjustment": {"max_agent_cost": 6.0}})
    units = {("w1", "icl"): unit((0.4, 1.0), (0.2, 1.0)), ("w1", "b"): unit((0.2, 1), (0.2, 0))}
    units |= {("w2", "icl"): unit((0.5, 1.0), (0.3, 1)), ("w2", "b"): unit((0.2, 1), (None, 1))}
    found = effects.effect(choice, units)
    assert found.cmse.size == pytest.approx(-0.2)  # of -0.1 and -0.3
    assert found.cmse.high == pytest.approx(-0.2 + 12.706 * 0.1, abs=1e-3)
    assert found.nad.size == pytest.approx(-0.25)
    assert effects.chosen([found]) == {"bound": effects.START}


def test_every_choice_is_compared_with_one_that_is_there():
    by_name = {choice.name: choice for choice in CHOICES}
    assert len(by_name) == len(CHOICES) and {one.against for one in CHOICES} <= set(by_name)
    for one in CHOICES:
        if one.subject != effects.METHOD and one.name != one.against:
            start = settings_of(by_name[one.against], SIZES)
            assert settings_of(one, SIZES) != start, f"{one.name} changes nothing"


def test_what_was_measured_is_read_as_it_was_written():
    units = {
        ("w1", "icl"): {"runs": [{"expert": 1, "spent": 0.5, "cmse": 0.1, "nad": 2.0}]},
        ("w1", "b"): {"runs": [{"expert": 1, "spent": 0.5, "cmse": None, "nad": None}]},
    }
    assert effects.read_csv(effects.csv(units)) == units


def test_a_baseline_has_the_benefit_of_the_doubt():
    def one(method, cmse, nad):
        return effects.Effect(Choice("b", "bound", {}, method), cmse, nad, 2)

    doubtful = effects.Estimate(-0.1, -0.3, 0.1), effects.Estimate(0.1, -1, 1)
    clear = effects.Estimate(-0.1, -0.2, -0.05), effects.Estimate(0.0, -1, 1)
    assert effects.chosen([one("gail-constraint", *doubtful)]) == {"bound": "b"}
    assert effects.chosen([one("icl", *doubtful)]) == {"bound": effects.START}
    assert effects.chosen([one("icl", *clear)]) == {"bound": "b"}


@pytest.mark.parametrize("method", STARTS)
def test_defaults_are_what_the_suite_chose(method):
    chosen = next(one for one in CHOICES if one.name == method)
    assert settings_of(chosen, SIZES) == settings_of(chosen._replace(changes={}), SIZES)


def test_a_share_holds_all_that_paired_differences_do_not_refute():
    rng = np.random.default_rng(0)
    old = rng.uniform(0.1, 0.3, 20)
    new = old * 0.5 + rng.normal(scale=0.02, size=20)
    found = effects.share(list(zip(old, new, strict=True)))
    assert found.low < found.size < found.high and 0.4 < found.size < 0.6
    for end in (found.low, found.high):
        rest = new - end * old
        low, high = scipy.stats.t.interval(0.95, 19, rest.mean(), rest.std(ddof=1) / np.sqrt(20))
        assert min(abs(low), abs(high)) < 1e-9  # just not refuted


def test_a_run_goes_on_where_it_stopped(tmp_path):
    choices = [
        Choice("icl", "method", {}),
        Choice("mean", "ICL: hinge", {"adjustment": {"hinge": "mean"}}),
        Choice("same", "ICL: hinge", {"adjustment": {"hinge": "trajectory"}}),  # as ICL's default
    ]
    units = Units(tmp_path, TINY)
    assert len(run_world("grid-01", choices, units)) == 2
    first = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    assert run_world("grid-01", choices, units) == []
    units.path("grid-01", choices[1]).unlink()  # alone, without the other's first policy: the same
    assert len(run_world("grid-01", choices, units)) == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == first


def test_what_was_tried_together_stands_alone():
    def one(name, subject, cmse, nad=-1.0):
        choice = Choice(name, subject, {}, "icl-plus", "start")
        width = Estimate(cmse, cmse - 0.01, cmse + 0.01)
        return effects.Effect(choice, width, Estimate(nad, nad, nad), 9)

    alone = [one("a", "ICL+: bound", -0.05), one("b", "ICL+: steps", 0.0)]
    assert effects.chosen(alone) == {"ICL+: bound": "a", "ICL+: steps": effects.START}
    both = one("c", "ICL+: together", -0.03)
    found = effects.chosen([*alone, both, one("d", "ICL: bound", -0.05)])
    assert found == {
        "ICL+: bound": effects.START,
        "ICL+: steps": effects.START,
        "ICL+: together": "c",
        "ICL: bound": "d",
    }
    worse = one("c", "ICL+: together", -0.03, nad=0.1)
    assert effects.chosen([*alone, worse])["ICL+: bound"] == "a"
