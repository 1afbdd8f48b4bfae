"""The claims about robots, over files like those of their runs."""

from pathlib import Path

import numpy as np
import pytest

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.layout import path
from icl_core.measuring.claims.claim import find_checks, read_claims
from icl_core.measuring.claims.evaluate import evaluate
from icl_core.measuring.evaluation import Evaluation, stored
from icl_core.measuring.metrics import Of, Run, concatenate, metric_rows
from icl_core.measuring.paper import PAPER
from icl_core.measuring.results import Results
from tests.measuring.claims.made_up import METHODS

ROBOTS = ("ant", "halfcheetah")
WORLDS = {name: make_world(name) for name in ROBOTS}
SEEDS = (1, 2, 3, 4, 5)
READ = {"metrics", "evaluation"}  # the kinds of files that are written here
CLAIMS = [
    claim
    for claim in read_claims(Path(__file__).parents[3] / "docs" / "claims.yaml")
    if set(claim.experiments) <= set(ROBOTS)
    and {need.kind for need in find_checks()[claim.check].needs} <= READ
    and claim.check != "as_in_the_paper"
    and not claim.id.endswith("-selected")
]


def write_metrics(root, contrary=False):
    """The paper's own means with a small spread over seeds, or with who was worst as the best."""
    rows = []
    for metric, values in PAPER.items():
        for name in ROBOTS:
            for method in METHODS:
                mean = values[name, method][0]
                mean = {"cmse": 0.5, "nad": 20.0}[metric] - mean if contrary else mean
                runs = mean + 0.001 * np.arange(-2, 3)
                run = Run(name, method, WORLDS[name], SEEDS)
                rows.append(metric_rows(run, metric, runs, 6, True, Of("last")))
    write_table(root / "metrics.parquet", concatenate(rows), {})


def write_evaluation(root, method, positions, reward):
    """For each seed two episodes of HalfCheetah at these positions, with this reward a step."""
    world, n = WORLDS["halfcheetah"], len(positions)
    states = np.zeros((5, 2, n, 18), np.float32)
    states[..., 0] = positions
    rewards = np.zeros((5, 2, n), np.float32) + reward + 0.01 * np.array(SEEDS)[:, None, None]
    lengths = np.full((5, 2), n)
    played = Trajectories(states, np.zeros((5, 2, n, 6), np.float32), rewards, lengths)
    expert = np.ones((5, *world.grid.shape))
    found = Evaluation.of(world, [played[:, :1], played[:, 1:]], expert)
    assert found.returns[2] == pytest.approx(n * (reward + 0.03))
    file = root / path("evaluation", experiment="halfcheetah", method=method, group="1-5")
    write_tensors(file, stored(SEEDS, "last", {"last": found}), {})


def verdicts(root, missing=""):
    paths = tuple(str(p) for p in root.rglob("*.*") if not missing or missing not in str(p))
    outcomes = evaluate(CLAIMS, Results("paper", WORLDS, paths, METHODS))
    return {outcome.claim.id: outcome for outcome in outcomes}


def test_results_like_the_papers_bear_it_out(tmp_path):
    write_metrics(tmp_path)
    # Beyond 5 m a robot is off the grid, and counts for neither side.
    write_evaluation(tmp_path, "icrl", [-1.0, 1.0, 2.0, 3.0, 7.0], reward=2.0)
    write_evaluation(tmp_path, "icl", [-1.0, 0.0, 1.0, 2.0, 7.0], reward=1.0)
    found = verdicts(tmp_path)
    assert {outcome.verdict for outcome in found.values()} == {"reproduced"}, found
    assert len(found) == 7
    below, beyond = found["halfcheetah-icrl-further-right"].effects
    assert (below.size, beyond.size) == pytest.approx((0.5 - 0.25, 0.5 - 0.25))
    more, kept = found["halfcheetah-icrl-earns-more"].effects
    assert (more.size, kept.size) == pytest.approx((5.0, 1 - 1 / 15))  # one step at z <= -1
    (worse,) = found["ant-icrl-fails"].effects
    assert worse.size == pytest.approx(0.41 - 41 * 60 / 101**2)


def test_the_contrary_refutes_it(tmp_path):
    write_metrics(tmp_path, contrary=True)
    write_evaluation(tmp_path, "icl", [-1.0, 1.0, 2.0, 3.0], reward=2.0)
    write_evaluation(tmp_path, "icrl", [-1.0, 0.0, 1.0, 2.0], reward=1.0)
    found = verdicts(tmp_path)
    assert {outcome.verdict for outcome in found.values()} == {"not reproduced"}, found


def test_a_method_that_was_not_run_leaves_its_claims_open(tmp_path):
    write_metrics(tmp_path)
    write_evaluation(tmp_path, "icl", [0.0, 1.0], reward=1.0)
    found = verdicts(tmp_path, missing="icrl")
    assert found["halfcheetah-icrl-earns-more"].reason == "ICRL on halfcheetah was not run."
    assert found["halfcheetah-icrl-further-right"].verdict == "not run"
    assert found["robots-cmse-lowest"].verdict == "reproduced"
