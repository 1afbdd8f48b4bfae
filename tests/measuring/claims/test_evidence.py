"""What checks are given of files: by seed, with the experts that belong to the seeds."""

import numpy as np
import pyarrow as pa
import pytest

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.trajectories import Trajectories, side_by_side
from icl_core.environments import make_world
from icl_core.job_times import Record, write_time
from icl_core.layout import ALL, path
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import (
    ADJUSTMENT_SCHEMA,
    TRAINING_COLUMNS,
    TRAINING_SCHEMA,
    log_table,
)
from icl_core.learning.linear_program import evaluate_policy
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.learning.true_fit import FIT_SCHEMA
from icl_core.measuring.claims.evidence import Evidence, MissingError
from icl_core.measuring.claims.evidence.experts import SHARED, own
from icl_core.measuring.claims.evidence.learned import expected_visits
from icl_core.measuring.evaluation import MeasuringSettings, evaluate, stored
from icl_core.measuring.metrics import Of, Run, concatenate, metric_rows
from icl_core.measuring.results import Results
from icl_core.randomness import generators
from tests.measuring.claims.made_up import METHODS
from tests.worlds import small_world

NAME, SEEDS = "gridworld-a", [1, 2, 3]
WORLD = make_world(NAME)
RUN = {"experiment": NAME, "method": "icl", "group": "1-3"}


def networks(seeds=SEEDS, sizes=(2, 4, 1)):
    return Networks.initialise([np.random.default_rng(seed) for seed in seeds], sizes)


def policies(seeds=SEEDS):
    return networks(seeds, (2, 8, 8))


def evidence(root, **more):
    files = tuple(str(found) for found in root.rglob("*") if found.is_file())
    return Evidence(Results("paper", {NAME: WORLD}, files, METHODS), (NAME,), "a-claim", **more)


def shown(episodes=6, seed=1):
    return roll_out(WORLD, policies([seed]), generators([seed], "shown"), episodes)[0]


def write_evaluation(root, episodes, sets):
    expert, settings = visits(WORLD, shown())[None].repeat(3, 0), MeasuringSettings(episodes, sets)
    played = {"last": evaluate(WORLD, policies(), SEEDS, expert, settings)}
    write_tensors(root / path("evaluation", **RUN), stored(SEEDS, "last", played), {})


def write_shown(root):
    file = root / path("demonstrations", experiment=NAME, group=ALL)
    write_demonstrations(file, shown(), WORLD, {})


def write_experts(root, group, seeds):
    file = root / path("demonstrations", experiment=NAME, group=group)
    sets = side_by_side([shown(seed=seed) for seed in seeds])
    write_demonstrations(file, sets, WORLD, {}, seeds)


def test_what_policies_do_is_what_was_played(tmp_path):
    write_evaluation(tmp_path, 8, 1)
    made = roll_out(WORLD, policies(), generators(SEEDS, "report", 0), 8)
    found, there = evidence(tmp_path).visits(NAME), evidence(tmp_path)
    assert list(found) == SEEDS
    for run, seed in enumerate(SEEDS):
        np.testing.assert_array_equal(found[seed], visits(WORLD, made[run]))
        assert there.returns(NAME)[seed] == pytest.approx(made[run].returns.mean())
    counts = visits(WORLD, made[0]).ravel() @ WORLD.true_on_grid / 8
    assert there.costs(NAME)[1] == pytest.approx(counts)


def test_a_shared_set_stands_for_all_runs(tmp_path):
    write_shown(tmp_path)
    taken = evidence(tmp_path).demonstrations(NAME)
    assert len(own(taken, 2)) == len(own(taken, 3)) == 6
    assert evidence(tmp_path).noise_floor(NAME)[SHARED] > 0
    assert evidence(tmp_path).expert_visits(NAME)[SHARED].sum() == shown().lengths.sum()


def test_run_k_has_expert_k(tmp_path):
    write_experts(tmp_path, "1-2", [1, 2])
    write_experts(tmp_path, "3-3", [3])
    counts = evidence(tmp_path).expert_visits(NAME)
    assert list(counts) == SEEDS
    for seed in SEEDS:
        np.testing.assert_array_equal(own(counts, seed), visits(WORLD, shown(seed=seed)))
    with pytest.raises(MissingError, match="the expert of seed 4 was not trained"):
        own(counts, 4)


def test_policies_are_measured_on_sets_of_episodes(tmp_path):
    write_evaluation(tmp_path, 6, 3)
    sets = evidence(tmp_path).nad_of_sets(NAME)
    assert {seed: len(values) for seed, values in sets.items()} == dict.fromkeys(SEEDS, 3)
    played = roll_out(WORLD, policies(), generators(SEEDS, "report", 1), 6)
    pair = visits(WORLD, shown()), visits(WORLD, played[0])
    assert sets[1][1] == pytest.approx(accrual_dissimilarity(WORLD.grid, *pair))
    write_evaluation(tmp_path, 6, 1)
    with pytest.raises(MissingError, match="has one set of reported episodes a run"):
        evidence(tmp_path).nad_of_sets(NAME)


def test_experts_are_rolled_out_anew(tmp_path):
    for group, seeds in (("1-2", [1, 2]), ("3-3", [3])):
        here = {"experiment": NAME, "group": group}
        write_tensors(tmp_path / path("expert_policy", **here), policies(seeds).tensors(), {})
        columns = dict.fromkeys(TRAINING_COLUMNS, np.full((5, len(seeds)), seeds))
        log = log_table(TRAINING_SCHEMA, columns, seeds)
        write_table(tmp_path / path("expert_training", **here), log, {})
    there = evidence(tmp_path)
    logs = there.expert_training(NAME)
    assert {expert: log["return"].to_pylist() for expert, log in logs.items()} == {
        seed: [seed] * 5 for seed in SEEDS
    }
    episodes = there.expert_episodes(NAME)
    assert {expert: len(taken) for expert, taken in episodes.items()} == dict.fromkeys(SEEDS, 300)
    alone = roll_out(WORLD, policies([3]), generators([3], "unfiltered"), 300)[0]
    np.testing.assert_array_equal(visits(WORLD, episodes[3]), visits(WORLD, alone))
    counts = visits(WORLD, episodes[1]).ravel() @ WORLD.true_on_grid / 300
    assert there.true_costs(NAME, episodes[1]).mean() == pytest.approx(counts)
    assert there.best_return(NAME) == pytest.approx(1.0)


def test_satisfied_demonstrations_are_counted_under_each_runs_constraint(tmp_path):
    stack = Networks.blank(3, (2, 4, 1))
    stack.layers[-1][1][...] = np.array([-20.0, 20.0, -20.0])[:, None, None]
    write_tensors(tmp_path / path("constraint", **RUN), stack.tensors(), {})
    found = evidence(tmp_path).satisfied(NAME, {SHARED: shown()})
    assert found == {1: 1.0, 2: 0.0, 3: 1.0}
    assert evidence(tmp_path).constraints(NAME)[2] == pytest.approx(np.ones((7, 7)))
    left = evidence(tmp_path, left_out={"someone": [2]})
    assert list(left.constraints(NAME)) == [1, 3]


def test_members_cost_what_their_expected_visits_say(tmp_path):
    agents = policies()
    for iteration in (0, 1, 2):
        here = {**RUN, "iteration": f"{iteration:02d}"}
        stack = networks([10 + iteration + seed for seed in SEEDS])
        file = tmp_path / path("iteration_constraint", **here)
        write_tensors(file, stack.tensors("constraint."), {})
        if iteration:
            state = PolicyState(agents, agents, np.ones(3), np.zeros(3, np.int64))
            write_tensors(tmp_path / path("iteration_policy", **here), state.tensors(), {})
            # Run 3 has stopped after the first iteration.
            seeds = SEEDS[: 4 - iteration]
            columns = dict.fromkeys(ADJUSTMENT_SCHEMA.names[2:], np.ones((4, len(seeds))))
            log = log_table(ADJUSTMENT_SCHEMA, columns, seeds)
            write_table(tmp_path / path("adjustment", **here), log, {})
    found = evidence(tmp_path).member_costs(NAME)
    assert {seed: len(made) for seed, made in found.items()} == {1: 2, 2: 2, 3: 1}
    assert [one.shape for one in found[1]] == [(2, 1), (2, 2)]
    np.testing.assert_allclose(found[1][0][1], found[1][1][0, :1])  # after is before the next


def test_first_policies_are_played_as_often_as_the_last_ones(tmp_path):
    write_experts(tmp_path, "1-3", SEEDS)
    for iteration, agents in (("01", policies()), ("02", policies([7, 8, 9]))):
        file = tmp_path / path("iteration_policy", **RUN, iteration=iteration)
        state = PolicyState(agents, agents, np.ones(3), np.zeros(3, np.int64))
        write_tensors(file, state.tensors(), {})
    run = Run(NAME, "icl", WORLD, SEEDS)
    ends = [metric_rows(run, "nad", [9.0] * 3, 3, True, Of("last", n)) for n in (8, 24)]
    write_table(tmp_path / "metrics.parquet", concatenate(ends), {})
    there, played = evidence(tmp_path), MeasuringSettings(8, 3)
    assert there.played(NAME) == played
    found = there.first_nad(NAME, played)
    for k, seed in enumerate(SEEDS):
        made = [roll_out(WORLD, policies(), generators(SEEDS, "report", n), 8) for n in range(3)]
        counts = sum(visits(WORLD, one[k]) for one in made)
        pair = visits(WORLD, shown(seed=seed)), counts
        assert found[seed] == pytest.approx(accrual_dissimilarity(WORLD.grid, *pair))
    left = evidence(tmp_path, left_out={"someone": [2]}).first_nad(NAME, played)
    assert left == {seed: found[seed] for seed in (1, 3)}


def test_expected_visits_are_exact():
    policy = policies([4])
    states = np.indices((7, 7)).reshape(2, -1).T.astype(np.float32)
    logits = policy(WORLD.observe(states)[None])[0].astype(float)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    cost = np.random.default_rng(0).random(49)
    _, expected = evaluate_policy(WORLD, chances, cost)
    assert expected_visits(WORLD, policy) @ cost == pytest.approx(expected, rel=1e-5)


def test_times_are_as_of_all_iterations(tmp_path):
    for iteration, seeds in ((1, SEEDS), (2, SEEDS[:1]), (3, [])):
        here = {**RUN, "iteration": f"{iteration:02d}"}
        columns = dict.fromkeys(ADJUSTMENT_SCHEMA.names[2:], np.ones((4, len(seeds))))
        log = log_table(ADJUSTMENT_SCHEMA, columns, seeds)
        write_table(tmp_path / path("adjustment", **here), log, {})
    for method in ("icl", "icrl"):
        file = tmp_path / path("job_time", rule="learn", **{**RUN, "method": method})
        file.parent.mkdir(parents=True, exist_ok=True)
        write_time(file, Record(60.0, 60.0, ""))
    there = evidence(tmp_path)
    assert there.seconds(NAME, "icrl") == 20.0
    assert there.seconds(NAME) == pytest.approx(20.0 * 3 / np.mean([2, 1, 1]))


def write_fit(root, architecture, errors):
    rows = [(seed, 10 * k, one) for seed in SEEDS for k, one in enumerate(errors)]
    columns = dict(zip(FIT_SCHEMA.names, zip(*rows, strict=True), strict=True))
    fields = {"experiment": NAME, "architecture": architecture, "group": "1-3"}
    write_table(root / path("true_fit", **fields), pa.table(columns, schema=FIT_SCHEMA), {})


def test_networks_are_compared_where_the_first_has_arrived(tmp_path):
    write_fit(tmp_path, "b", [0.1, 0.004, 0.001])
    write_fit(tmp_path, "a1", [0.1, 0.03, 0.002])
    there = evidence(tmp_path)
    assert there.error(NAME, "a1").mean == pytest.approx(0.002)
    assert there.error(NAME, "a1", "b").mean == pytest.approx(0.03)
    # One that never arrives is compared at the end.
    assert there.error(NAME, "b", "b").mean == pytest.approx(0.004)
    write_fit(tmp_path, "b", [0.1, 0.09, 0.08])
    assert evidence(tmp_path).error(NAME, "a1", "b").mean == pytest.approx(0.002)


def test_settings_are_counted():
    there = Evidence(Results("paper", {}, (), METHODS), (), "a-claim")
    assert 10 < there.settings_of("icrl") < 100


def test_the_theorem_holds_where_its_assumptions_do():
    there = Evidence(Results("paper", {}, (), METHODS), (), "a-claim")
    assert set(there.alternations().values()) == {1.0}


def test_gaps_are_from_centre_to_centre(tmp_path):
    assert evidence(tmp_path).between_centres(NAME) == 0.0
    worlds = {"bumpers": small_world("highd"), "centres": small_world("highd", centre_gap=True)}
    there = Evidence(Results("paper", worlds, (), METHODS), tuple(worlds), "a-claim")
    lengths = 2 * worlds["bumpers"].tracks.half_length
    assert there.between_centres("bumpers") == pytest.approx(lengths.mean())
    assert lengths.min() > 1.0
    assert there.between_centres("centres") == 0.0


def test_curves_are_of_iterations_and_not_of_ends(tmp_path):
    run = Run(NAME, "icl", WORLD, SEEDS)
    rows = [metric_rows(run, "nad", [i + 0.1 * s for s in SEEDS], i, False) for i in (10, 2, 1)]
    rows += [metric_rows(run, "nad", [9.0] * 3, 11, s == "last", Of(s)) for s in ("last", "best")]
    write_table(tmp_path / "metrics.parquet", concatenate(rows), {})
    found = evidence(tmp_path, left_out={"someone": [2]}).by_iteration("nad", NAME)
    assert {seed: curve.tolist() for seed, curve in found.items()} == {
        1: pytest.approx([1.1, 2.1, 10.1]),
        3: pytest.approx([1.3, 2.3, 10.3]),
    }


def test_steps_are_those_of_all_policies(tmp_path):
    """ICL's of each iteration and of the last policy; of a baseline's one training."""

    def write(kind, method, steps, **more):
        columns = {name: np.ones((2, 3)) for name in TRAINING_COLUMNS}
        columns["steps"] = np.array([[steps] * 3, [1, 2, 3]])
        file = tmp_path / path(kind, **{**RUN, "method": method}, **more)
        write_table(file, log_table(TRAINING_SCHEMA, columns, SEEDS), {})

    for kind, more in (("training", {}), ("iteration_training", {"iteration": "01"})):
        for method in ("icl", "icrl"):
            write(kind, method, 100, **more)
    write("iteration_training", "icl", 50, iteration="02")
    there = evidence(tmp_path)
    assert there.steps(NAME) == {1: 253.0, 2: 256.0, 3: 259.0}
    assert there.steps(NAME, "icrl") == {1: 101.0, 2: 102.0, 3: 103.0}


def test_nodes_of_steps(tmp_path):
    states = np.array([[[0, 0], [0, 1], [6, 6]]], np.float32)
    actions = np.zeros((1, 3), np.int64)
    taken = Trajectories(states, actions, np.zeros((1, 3), np.float32), np.array([3]))
    assert evidence(tmp_path).nodes_of(NAME)(taken).tolist() == [[0, 1, 48]]
