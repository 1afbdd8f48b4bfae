"""A failed seed in the steps of ICL and in the scripts: stopped, marked, never measured."""

import importlib
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from icl_core.artifacts import read_table, read_tensors
from icl_core.demonstrations.files import write_demonstrations
from icl_core.errors import InputError
from icl_core.learning.constrained_rl.penalty import PenaltySettings
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.divergence import FAILED
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.optimisers import Adam
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.learning.engine.training import Job
from icl_core.learning.experts import ExpertSettings
from icl_core.learning.methods.icl import adjustment
from icl_core.learning.methods.icl.adjustment import adjust_constraint
from icl_core.learning.methods.icl.algorithm import Settings
from icl_core.learning.methods.icl.continuing import with_policies_of
from icl_core.learning.methods.icl.policy_step import train_policy
from icl_core.learning.methods.icl.selection import select_final
from icl_core.learning.methods.icl.state import ConstraintSettings, initial_constraint
from icl_core.learning.problem import Outcome
from icl_core.measuring.loading import evaluations
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.settings import plain, used
from icl_core.using.constraint import Constraint
from tests.learning.icl_steps import RL, TINY, steps_of, take_steps
from tests.learning.test_algorithm import Files, run_scripts
from tests.learning.test_methods import SEEDS
from tests.learning.tiny import (
    BAD,
    KEPT,
    PLACE,
    Listening,
    assert_only_bad_failed,
    problem_of,
)
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import write_outcome


@pytest.fixture(autouse=True)
def numpy_is_silent():
    """A run that diverges is said in words, and not by warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


# ------------------------------------------------------------------ the steps of ICL


def assert_same_rows(ours, theirs, rows):
    """Two states agree in some of their runs."""
    ours, theirs = ours.tensors(), theirs.tensors()
    for name in theirs:
        if name not in (FAILED, "activation"):
            np.testing.assert_array_equal(ours[name][rows], theirs[name][rows], err_msg=name)


def test_a_constraint_that_diverges_stays_as_it_was_and_its_seed_stops(monkeypatch):
    problem = problem_of("gridworld-a", list(SEEDS))
    healthy, calls, real = steps_of("gridworld-a", SEEDS, TINY), [], adjustment.descend

    def spoiled(network, *given):
        log = real(network, *given)
        calls.append(1)
        if len(calls) == 3:  # two rounds of seed 3 come before it
            network.parameters[:, 5] = np.inf
        return log

    monkeypatch.setattr(adjustment, "descend", spoiled)
    steps = take_steps(problem, TINY)
    for state in steps.constraints[1:]:
        np.testing.assert_array_equal(state.failed, [0, 1, 0])
        np.testing.assert_array_equal(state.stopped, [0, 1, 0])
        for name in ("networks", "first", "second", "steps"):
            was, now = (getattr(s, name) for s in (steps.constraints[0], state))
            if name == "networks":
                was, now = was.parameters, now.parameters
            np.testing.assert_array_equal(now[PLACE], was[PLACE])
    for ours, theirs in zip(steps.constraints, healthy.constraints, strict=True):
        assert_same_rows(ours, theirs, KEPT)
    for ours, theirs in zip(steps.policies, healthy.policies, strict=True):
        assert_same_rows(ours, theirs, KEPT)
    assert [BAD in log["seed"].to_pylist() for log in steps.logs] == [True, False, False, False]
    assert_only_bad_failed(steps.end, healthy.end)
    assert steps.end.failed[PLACE] == 1
    np.testing.assert_array_equal(steps.end.extras["kept"] > 0, [True, False, True])


def test_a_seed_can_fail_in_its_last_policy(spoil):
    healthy = steps_of("gridworld-a", SEEDS, TINY)
    spoil(step=2)
    problem, heard = problem_of("gridworld-a", list(SEEDS)), Listening()
    states = (healthy.constraints, healthy.policies)
    end = select_final(problem, *states, TINY.constrained_rl, TINY.loop, Job(heard))
    np.testing.assert_array_equal(end.failed, [0, 3, 0])  # after two iterations
    assert_only_bad_failed(end, healthy.end)
    assert "seed 8 has failed: its weights have diverged after epoch 2;" in heard.said[0]


def test_a_failed_density_fails_the_seed_in_the_first_iteration(monkeypatch):
    problem = problem_of("gridworld-a", list(SEEDS))
    healthy = steps_of("gridworld-a", SEEDS, TINY)
    density = replace(fit_density(problem, TINY.density), failed=np.array([0, 4, 0]))
    state, log = adjust_constraint(
        problem, density, healthy.policies[:1], healthy.constraints[0], TINY.adjustment, Job()
    )
    np.testing.assert_array_equal(state.failed, [0, 1, 0])
    assert_same_rows(state, healthy.constraints[1], KEPT)
    assert set(log["seed"].to_pylist()) == {3, 5}
    gone = replace(density, failed=np.array([1, 4, 2]))
    with pytest.raises(
        InputError, match=r"learning.icl.density and learning.icl.constrained_rl: .*"
    ):
        adjust_constraint(
            problem, gone, healthy.policies[:1], healthy.constraints[0], TINY.adjustment, Job()
        )


def test_who_stopped_well_is_not_lost_with_the_others(spoil):
    """The job ends with an error only where nobody has a result."""
    problem, rl, loop = problem_of("gridworld-a", list(SEEDS)), TINY.constrained_rl, TINY.loop
    fresh = initial_constraint(replace(problem, seeds=SEEDS), ConstraintSettings((16,)))
    first = np.array([True, False, False])
    spoil((8, 5))
    policy = train_policy(problem, fresh.stop(first), 2, rl, loop, Job())
    np.testing.assert_array_equal(policy.failed, [0, 1, 1])
    assert np.isinf(policy.nad).all() and not policy.final.parameters.any()
    assert len(policy.log) == 0
    with pytest.raises(InputError, match="seed 8 after epoch 1, seed 5 after epoch 1; no seed"):
        train_policy(problem, fresh.fail(first, 1), 2, rl, loop, Job())


def test_failures_are_taken_over_with_the_policies_of_an_original(spoil):
    problem, rl, loop = problem_of("gridworld-a", list(SEEDS)), TINY.constrained_rl, TINY.loop
    fresh = initial_constraint(replace(problem, seeds=SEEDS), ConstraintSettings((16,)))
    mine = train_policy(problem, fresh, 1, rl, loop, Job())
    spoil()
    original = train_policy(problem, fresh, 1, rl, loop, Job())
    for taken in (True, False):
        mixed = with_policies_of(mine, original, np.array([False, taken, True]))
        np.testing.assert_array_equal(mixed.failed, [0, taken, 0])
        again = type(mixed).from_tensors(mixed.tensors())
        np.testing.assert_array_equal(again.failed, mixed.failed)
        assert (FAILED in mixed.tensors()) == taken


# ------------------------------------------------------------------ the scripts of the workflow


ORDERED = sorted(SEEDS)  # as the workflow has the seeds of a stack


def settings_of(settings):
    """What the jobs of a stack on Gridworld B are given."""
    return {
        "environment": "gridworld-b",
        "world": {},
        "seeds": ORDERED,
        "learning": {"threshold": None, "icl": used(Settings, plain(settings))},
        "measuring": {"report_episodes": 5, "sets": 2},
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With demonstrations."""
    monkeypatch.chdir(tmp_path)
    problem = problem_of("gridworld-b", ORDERED)
    write_demonstrations("demonstrations.parquet", problem.demonstrations, problem.world, {})
    return tmp_path


def measured(final):
    """The table of metrics that the script makes of a stack."""
    job = SimpleNamespace(
        input=Files(demonstrations="demonstrations.parquet", **final, constraints=[], policies=[]),
        output=Files(metrics="m.parquet", evaluation="r.safetensors", portable="c.safetensors"),
        wildcards=SimpleNamespace(experiment="gridworld-b", method="icl"),
        params=SimpleNamespace(settings=settings_of(TINY), code="x"),
        log=["metrics.log"],
        rule="metrics",
    )
    stage = Stage(job)
    importlib.import_module("workflow.scripts.metrics").main(stage)
    return read_table("m.parquet", METRICS_SCHEMA).to_pylist(), stage.numbers


def test_files_say_who_has_failed_and_metrics_have_no_value_of_it(folder, spoil):
    final = run_scripts(settings_of(TINY), TINY.loop.iterations)
    healthy = {name: read_tensors(final[name]) for name in ("constraint", "policy")}
    assert all(FAILED not in tensors for tensors in healthy.values())
    before, numbers = measured(final)
    assert set(numbers) == {"CMSE", "NAD"}
    spoil()
    final = run_scripts(settings_of(TINY), TINY.loop.iterations)
    for name, tensors in healthy.items():
        found = read_tensors(final[name])
        np.testing.assert_array_equal(found.pop(FAILED), [0, 0, 1])
        assert found.keys() == tensors.keys()
        for part in tensors:
            np.testing.assert_array_equal(found[part][:2], tensors[part][:2])
    rows, numbers = measured(final)
    assert numbers["failed seeds"] == 1
    kept = [row for row in before if row["seed"] != BAD]
    (said,) = [row for row in rows if row["seed"] == BAD]
    assert [row for row in rows if row["seed"] != BAD] == kept
    assert (said["metric"], said["value"], said["reported"]) == ("failed", 1.0, True)
    assert [*evaluations("r.safetensors"), *evaluations("r.safetensors", "best")] == [3, 5, 3, 5]
    constraint = Constraint.load("c.safetensors")
    assert (constraint.seeds, constraint.failed_seeds) == ((3, 5), (BAD,))


def test_where_every_seed_diverges_the_job_ends_in_one_sentence(folder, monkeypatch, capsys):
    """Through the script, as Snakemake runs it: nothing is written but the log. Steps are made a
    million times as long as the largest learning rate that the settings accept.
    """
    ppo, step = PPOSettings(learning_rate=1.0), Adam.step

    def absurd(self, parameters, gradient):
        self.learning_rate = 1e6
        step(self, parameters, gradient)

    monkeypatch.setattr(Adam, "step", absurd)
    rl = replace(RL, penalty=PenaltySettings(episodes=4, ppo=ppo))
    demonstrations = ExpertSettings(trajectories=4, constrained_rl=rl)
    names = ("training", "policy", "trajectories", "time")
    job = SimpleNamespace(
        input=Files(),
        output=Files(**{name: f"out/{name}.x" for name in names}),
        wildcards=["gridworld-a"],
        params=SimpleNamespace(
            settings={
                "environment": "gridworld-a",
                "world": {},
                "seeds": [4],
                "demonstrations": plain(demonstrations),
            },
            code="x",
        ),
        log=["expert.log"],
        rule="expert",
    )
    monkeypatch.setattr(sys.modules["__main__"], "snakemake", job, raising=False)
    with pytest.raises(SystemExit) as end:
        run(importlib.import_module("workflow.scripts.expert").main)
    assert end.value.code == 1
    setting = "demonstrations.constrained_rl.penalty.ppo.learning_rate"
    (line,) = (folder / "expert.log").read_text().splitlines()
    assert line == (
        f"error: configuration: key {setting}: expected weights that stay bounded, found ones "
        "that diverge, seed 4 after epoch 1; no seed is left: give a smaller value"
    )
    assert line in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_weights_that_no_job_has_looked_at_are_not_written(folder):
    """A method of somebody else may train by itself."""
    networks = Networks.blank(3, (2, 4, 1))
    networks.parameters[1] = np.nan
    outcome = Outcome(networks, networks.like(np.zeros_like(networks.parameters)), None)
    stage = SimpleNamespace(output=SimpleNamespace(constraint="c", policy="p"), seeds=SEEDS)
    with pytest.raises(InputError, match="c: expected finite weights, found other ones in seed 8"):
        write_outcome(stage, outcome)
