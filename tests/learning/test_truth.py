"""Methods never read the true constraint: it makes experts and scores, and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from icl_core import discovery
from icl_core.learning.engine.training import Job
from icl_core.learning.problem import Problem
from icl_core.settings import build
from tests.learning.tiny import demonstrations_of
from tests.worlds import short_world

LEARNING = Path(discovery.__file__).parent / "learning"
MAY_READ_IT = {"experts.py", "true_fit.py"}


def test_no_module_of_a_method_names_it():
    for path in LEARNING.rglob("*.py"):
        if path.name not in MAY_READ_IT:
            text = path.read_text()
            assert "true_constraint" not in text and "true_on_grid" not in text, path


@pytest.mark.parametrize("method", discovery.names(discovery.METHODS))
def test_a_method_learns_the_same_where_there_is_none(method):
    module = discovery.load(discovery.METHODS, method)
    outcomes = []
    for known in (True, False):
        world = short_world("gridworld-a")
        given = demonstrations_of(world)
        if not known:
            world.true_constraint = None
        problem = Problem(world, given, [1], world.threshold)
        settings = build(module.Settings, module.SIZES["smoke"], method)
        outcomes.append(module.learn(problem, settings, Job()))
    with_truth, without = outcomes
    np.testing.assert_array_equal(with_truth.constraint.parameters, without.constraint.parameters)
    np.testing.assert_array_equal(with_truth.policy.parameters, without.policy.parameters)
