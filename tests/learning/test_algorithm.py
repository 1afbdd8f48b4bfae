"""Algorithm 1: in one function the same bytes as in jobs; its states, stacks and stopping."""

import ast
import importlib
import inspect
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from icl_core.artifacts import read_table, read_tensors
from icl_core.demonstrations.files import write_demonstrations
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA, Job
from icl_core.learning.methods.icl import algorithm
from icl_core.progress import Progress
from icl_core.settings import plain, used
from tests.learning.icl_steps import (
    LAGRANGIAN,
    TINY,
    WORLDS,
    settings_for,
    steps_of,
)
from tests.learning.tiny import problem_of
from tests.worlds import short_world
from workflow.lib.stage import Stage

SEEDS = (3, 8, 5)


def with_loop(**options):
    return replace(TINY, loop=replace(TINY.loop, **options))


def assert_same_runs(whole, some, which):
    """The runs `which` of the first result are, bit for bit, the runs of the second."""
    states = zip(
        [*whole.constraints, *whole.policies], [*some.constraints, *some.policies], strict=True
    )
    for ours, theirs in states:
        for name, part in ours.tensors().items():
            picked = part if name.endswith("activation") else part[which]  # a word: of all runs
            np.testing.assert_array_equal(picked, theirs.tensors()[name], err_msg=name)
    assert_same_outcomes(whole.end, some.end, which)


def assert_same_outcomes(ours, theirs, which):
    for name in ("constraint", "policy"):
        stacks = (getattr(ours, name).parameters[which], getattr(theirs, name).parameters)
        np.testing.assert_array_equal(*stacks)
    np.testing.assert_array_equal(ours.extras["kept"][which], theirs.extras["kept"])


def assert_same_logs(ours, theirs):
    """A value that is not there (nan) is the same too."""
    assert ours.column_names == theirs.column_names
    for column in ours.column_names:
        np.testing.assert_array_equal(ours[column].to_numpy(), theirs[column].to_numpy())


# ------------------------------------------------------------------ one function and many jobs

STOPPING = with_loop(iterations=3, tolerance=3.0, patience=1)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gridworld-a", TINY),
        ("gridworld-b", STOPPING),
        ("cartpole-mid", TINY),
        ("gridworld-a", LAGRANGIAN),
        ("halfcheetah", LAGRANGIAN),
    ],
    ids=["penalty", "penalty, runs stop", "penalty, cart", "lagrangian", "lagrangian, robot"],
)
def test_the_function_gives_the_bytes_of_the_jobs(name, settings):
    jobs = steps_of(name, SEEDS, settings).end
    whole = algorithm.learn(problem_of(name, list(SEEDS)), settings, Job())
    assert_same_outcomes(whole, jobs, [0, 1, 2])
    assert_same_logs(whole.log, jobs.log)


def test_the_function_can_be_read_at_a_glance():
    """At most 25 lines of code: neither comments nor the docstring count."""
    source = inspect.getsource(algorithm.learn)
    (function,) = ast.parse(source).body
    start = function.body[1].lineno if ast.get_docstring(function) else function.body[0].lineno
    lines = [line.strip() for line in source.splitlines()[start - 1 :]]
    code = [line for line in lines if line and not line.startswith("#")]
    assert 5 < len(code) <= 25
    order = ["fit_density", "initial_constraint", "train_policy", "adjust_constraint"]
    places = [source.index(f"{step}(") for step in (*order, "select_final")]
    assert places == sorted(places), "as the paper's lines stand"


class Files(list):
    """A job's inputs or outputs, as Snakemake gives them: a list with names."""

    def __init__(self, **named):
        super().__init__(path for one in named.values() for path in np.atleast_1d(one).tolist())
        vars(self).update(named)


def run_script(name, settings, output, iteration=1, **given):
    """A script of the workflow in this folder, as a job runs it."""
    job = SimpleNamespace(
        input=Files(demonstrations="demonstrations.parquet", original=[], **given),
        output=Files(**output),
        wildcards=SimpleNamespace(iteration=str(iteration)),
        params=SimpleNamespace(settings=settings, code="x"),
        log=[f"{name}.log"],
        rule=name,
    )
    stage = Stage(job)
    stage.progress = lambda total=0: Progress.silent()
    importlib.import_module(f"workflow.scripts.{name}").main(stage)


def run_scripts(settings, iterations):
    """All jobs of ICL, one after the other; the files of the last."""
    constraints, policies = ["c0.safetensors"], []
    run_script("icl_density", settings, {"density": "density.safetensors"})
    run_script("icl_initial_constraint", settings, {"constraint": constraints[0]})
    for i in range(1, iterations + 1):
        policies.append(f"pi{i}.safetensors")
        trained = {"policy": policies[-1], "training": "t.parquet"}
        run_script("icl_policy", settings, trained, i, constraint=constraints[-1])
        adjusted = {"constraint": f"c{i}.safetensors", "adjustment": "a.parquet"}
        known = {"density": "density.safetensors", "constraint": constraints[-1]}
        run_script("icl_adjust", settings, adjusted, i, policies=list(policies), **known)
        constraints.append(adjusted["constraint"])
    final = {name: f"final/{name}.safetensors" for name in ("constraint", "policy", "selections")}
    final["training"] = "final/training.parquet"
    run_script("icl_select", settings, final, constraints=constraints, policies=policies)
    return final


@pytest.mark.parametrize("settings", [TINY, LAGRANGIAN], ids=["penalty", "lagrangian"])
def test_the_scripts_of_the_workflow_give_the_same_bytes(settings, tmp_path, monkeypatch):
    """The scripts themselves, each with its files; they leave what the function ends with."""
    monkeypatch.chdir(tmp_path)
    problem = problem_of("gridworld-b", list(SEEDS))
    write_demonstrations("demonstrations.parquet", problem.demonstrations, problem.world, {})
    icl = used(algorithm.Settings, plain(settings))
    given = {"environment": "gridworld-b", "world": {}, "seeds": list(SEEDS)}
    final = run_scripts(
        {**given, "learning": {"threshold": None, "icl": icl}}, settings.loop.iterations
    )
    whole = algorithm.learn(problem, settings, Job())
    for name, expected in [
        ("constraint", whole.constraint.tensors() | dict(whole.extras)),
        ("policy", whole.policy.tensors()),
    ]:
        found = read_tensors(final[name])
        assert found.keys() == expected.keys()
        for part, values in expected.items():
            np.testing.assert_array_equal(found[part], values, err_msg=f"{name} {part}")
    assert_same_logs(read_table(final["training"], TRAINING_SCHEMA), whole.log)


# ------------------------------------------------------------------ states and stacks


@pytest.mark.parametrize("name", WORLDS)
def test_the_loops_states_have_the_promised_shapes(name):
    world = short_world(name)
    constraints, policies, logs, end = steps_of(name, SEEDS, settings_for(name))
    outputs = actions_of(world).outputs
    assert len(constraints) == 3
    for i, state in enumerate(constraints):
        assert state.networks.sizes == (world.input_size, 16, 16, 1)
        assert state.weights.shape == (3, 2 * i)
        np.testing.assert_array_equal(state.steps, [6 * i] * 3)
        assert not state.stopped.any()
        inputs = np.broadcast_to(world.grid.nodes.astype(np.float32), (3, *world.grid.nodes.shape))
        values = state.function()(inputs)
        assert values.shape == inputs.shape[:2]
        assert ((values > 0) & (values < 1)).all()
    assert not np.array_equal(*(s.networks.parameters for s in constraints[:2]))
    for state in policies:
        assert state.final.sizes == (world.observation_size, 16, outputs) == state.halfway.sizes
        assert state.nad.shape == (3,)
    for k, log in enumerate(logs):
        assert log.schema == (ADJUSTMENT_SCHEMA if k % 2 else TRAINING_SCHEMA)
        # Two epochs; of the six steps of an adjustment the first and the last.
        assert log["seed"].to_pylist() == np.repeat(SEEDS, 2).tolist()
        assert k % 2 == 0 or log["step"].to_pylist() == [1, 6] * 3
    kept = end.extras["kept"]
    assert set(kept) <= {2, 3}  # the nominal first policy is no candidate
    for run, pair in enumerate(kept):
        np.testing.assert_array_equal(
            end.constraint.parameters[run], constraints[pair - 1].networks.parameters[run]
        )
        if pair <= 2:
            expected = policies[pair - 1].final.parameters[run]
            np.testing.assert_array_equal(end.policy.parameters[run], expected)


@pytest.mark.parametrize("name", WORLDS)
def test_every_state_of_a_seed_is_the_same_alone_and_in_a_stack(name):
    settings = settings_for(name)
    together = steps_of(name, SEEDS, settings)
    assert_same_runs(together, steps_of(name, (8,), settings), [1])
    assert_same_runs(together, steps_of(name, (5, 3), settings), [2, 0])


VARIANTS = [
    {"mixture": False},
    {"reweight": False},
    {"policies_per_iteration": 1},
    {"hinge": "mean"},
    {"objective": "lagrangian"},
    {"max_agent_cost": 0.1},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_variants_of_the_adjustment_keep_runs_apart_too(variant):
    settings = replace(TINY, adjustment=replace(TINY.adjustment, **variant))
    together = steps_of("gridworld-a", (1, 2), settings)
    assert_same_runs(together, steps_of("gridworld-a", (2,), settings), [1])
    each = variant.get("policies_per_iteration", 2)
    assert [s.weights.shape[1] for s in together.constraints] == [0, each, 2 * each]
    assert not together.logs[-1].equals(steps_of("gridworld-a", (1, 2), TINY).logs[-1])


# ------------------------------------------------------------------ stopping


def test_a_run_that_reaches_the_tolerance_is_carried_forward_unchanged():
    seeds = (1, 2, 3)
    going_on = with_loop(iterations=3, unconstrained_first_policy=False)
    plain = steps_of("gridworld-b", seeds, going_on)
    first = plain.policies[0].nad
    assert len(set(first)) == 3
    # between the closest and the second closest first policy: exactly one run stops at once
    epsilon = float(np.sort(first)[:2].mean())
    stopping = with_loop(iterations=3, unconstrained_first_policy=False, tolerance=epsilon)
    constraints, policies, logs, end = steps_of("gridworld-b", seeds, stopping)
    run = int(np.argmin(first))
    assert [int(state.stopped[run]) for state in constraints] == [0, 1, 1, 1]
    for state in constraints[1:]:
        for name in ("constraint.layer1.weight", "adam.first", "adam.second", "adam.steps"):
            np.testing.assert_array_equal(
                state.tensors()[name][run], constraints[0].tensors()[name][run]
            )
    for state in policies[1:]:
        assert np.isinf(state.nad[run])
        assert not state.final.parameters[run].any()
        assert seeds[run] not in state.log["seed"].to_pylist()
    assert seeds[run] not in logs[1]["seed"].to_pylist()
    assert seeds[run] not in end.log["seed"].to_pylist()
    assert end.extras["kept"][run] == 1
    # the others go on as if nothing had happened
    for other in {0, 1, 2} - {run}:
        if not constraints[2].stopped[other]:
            np.testing.assert_array_equal(
                constraints[2].networks.parameters[other],
                plain.constraints[2].networks.parameters[other],
            )


def test_when_all_runs_have_stopped_nothing_is_trained():
    stopping = with_loop(tolerance=1e9, unconstrained_first_policy=False)
    constraints, policies, logs, end = steps_of("gridworld-a", (1, 2), stopping)
    assert (constraints[-1].stopped == 1).all()
    np.testing.assert_array_equal(
        constraints[-1].networks.parameters, constraints[0].networks.parameters
    )
    assert np.isfinite(policies[0].nad).all()
    assert np.isinf(policies[1].nad).all()
    assert [len(log) for log in logs] == [4, 0, 0, 0]
    assert logs[2].schema == TRAINING_SCHEMA
    assert logs[3].schema == ADJUSTMENT_SCHEMA
    assert len(end.log) == 0


def test_stopped_runs_end_with_the_policy_that_reached_the_tolerance():
    """However close the first, nominal policy is: it was trained on no constraint."""
    stopping = with_loop(tolerance=1e9, unconstrained_first_policy=True)
    states, policies, _, end = steps_of("gridworld-a", (1, 2), stopping)
    np.testing.assert_array_equal(end.policy.parameters, policies[1].final.parameters)
    np.testing.assert_array_equal(end.constraint.parameters, states[1].networks.parameters)
    np.testing.assert_array_equal(end.extras["kept"], [2, 2])
