"""States between jobs: they come back from their tensors as they were."""

import numpy as np

from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    ConstraintState,
    PolicyState,
    initial_constraint,
)
from tests.learning.icl_steps import TINY, steps_of
from tests.worlds import small_world


def test_states_round_trip():
    constraints, policies, _, _ = steps_of("cartpole-mid", (1, 2), TINY)
    for state, kind in [(constraints[-1], ConstraintState), (policies[-1], PolicyState)]:
        again = kind.from_tensors(state.tensors())
        for name, part in state.tensors().items():
            np.testing.assert_array_equal(again.tensors()[name], part)
            assert again.tensors()[name].dtype == part.dtype


def test_the_first_constraint_is_about_the_initial_value_everywhere():
    """The last bias alone carries it: the same networks, shifted."""
    world = small_world("cartpole-mr")
    half, low = (
        initial_constraint(world, [1, 2], ConstraintSettings((16,), initial))
        for initial in (0.5, 0.1)
    )
    nodes = np.broadcast_to(world.grid.nodes.astype(np.float32), (2, *world.grid.nodes.shape))
    logits = [state.networks(nodes) for state in (half, low)]
    np.testing.assert_allclose(logits[1] - logits[0], np.log(0.1 / 0.9), rtol=1e-5)
