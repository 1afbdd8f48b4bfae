"""States between jobs: they come back from their tensors as they were."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    ConstraintState,
    PolicyState,
    initial_constraint,
    initial_values,
)
from tests.learning.icl_steps import TINY, steps_of
from tests.learning.tiny import problem_of


def test_states_round_trip():
    constraints, policies, _, _ = steps_of("cartpole-mid", (1, 2), TINY)
    for state, kind in [(constraints[-1], ConstraintState), (policies[-1], PolicyState)]:
        again = kind.from_tensors(state.tensors())
        for name, part in state.tensors().items():
            np.testing.assert_array_equal(again.tensors()[name], part)
            assert again.tensors()[name].dtype == part.dtype


def test_the_first_constraint_is_about_the_initial_value_everywhere():
    """The last bias alone carries it: the same networks, shifted."""
    problem = problem_of("cartpole-mr", [1, 2])
    world = problem.world
    half, low = (
        initial_constraint(problem, ConstraintSettings((16,), initial)) for initial in (0.5, 0.1)
    )
    nodes = np.broadcast_to(world.grid.nodes.astype(np.float32), (2, *world.grid.nodes.shape))
    logits = [state.networks(nodes) for state in (half, low)]
    np.testing.assert_allclose(logits[1] - logits[0], np.log(0.1 / 0.9), rtol=1e-5)


@pytest.mark.parametrize("beta", [0.6, 1e-3, 99.0])
def test_demonstrations_cost_beta_under_the_first_constraint(beta):
    """Discounted steps by hand: (1 + 0.5 + 0.25) and (1 + 0.5), and one half at most."""
    problem = problem_of("gridworld-a", [1, 2])
    shown = problem.demonstrations[:2]
    problem.world.discount = 0.5
    problem = replace(problem, demonstrations=replace(shown, lengths=np.array([3, 2])), beta=beta)
    expected = min(0.5, beta / ((1.75 + 1.5) / 2))
    found = initial_values(problem, ConstraintSettings(initial="demonstrations"))
    np.testing.assert_allclose(found, [expected, expected])
