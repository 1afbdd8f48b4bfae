"""The episodes behind the reported metrics: equal draws give equal bytes, whatever the stack."""

import numpy as np
import pytest

from icl_core.demonstrations.accruals import visits
from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.measuring.evaluation import MeasuringSettings, evaluate
from icl_core.randomness import generators
from icl_core.settings import build, defaults

WORLD = make_world("gridworld-a")
SEEDS = [2, 5, 9]


def policies():
    sizes = (WORLD.observation_size, 8, actions_of(WORLD).outputs)
    return Networks.initialise([np.random.default_rng(seed) for seed in SEEDS], sizes)


def test_they_are_the_episodes_drawn_for_the_report():
    found = evaluate(WORLD, policies(), SEEDS, MeasuringSettings(4, 2))
    for k in range(2):
        played = roll_out(WORLD, policies(), generators(SEEDS, "report", k), 4)
        np.testing.assert_array_equal(found.visits[:, k], visits(WORLD, played))
        np.testing.assert_array_equal(found.returns[:, k], played.returns)
        for run, episode in np.ndindex(3, 4):
            cells = played.states[run, episode, : played.lengths[run, episode]].astype(int)
            broken = WORLD.constrained[cells[:, 0], cells[:, 1]]
            cost = (broken * WORLD.discount ** np.arange(len(cells))).sum()
            assert found.costs[run, k, episode] == pytest.approx(cost)


def test_a_seed_does_not_depend_on_its_neighbours():
    settings = MeasuringSettings(3, 2)
    together = evaluate(WORLD, policies(), SEEDS, settings)
    alone = evaluate(WORLD, policies().pick([1]), SEEDS[1:2], settings)
    for mine, own in zip(together.run(1), alone.run(0), strict=True):
        np.testing.assert_array_equal(mine, own)


def test_what_nobody_knows_costs_nothing_that_is_known():
    world = make_world("gridworld-a")
    world.true_constraint = None
    found = evaluate(world, policies(), SEEDS, MeasuringSettings(2, 1))
    assert np.isnan(found.costs).all() and np.isfinite(found.returns).all()


def test_the_settings():
    assert defaults(MeasuringSettings) == {"report_episodes": 50, "sets": 20}
    assert build(MeasuringSettings, {"report_episodes": 3}).report_episodes == 3
    with pytest.raises(InputError, match=r"measuring\.report_episodes: expected a whole number"):
        build(MeasuringSettings, {"report_episodes": 0}, "measuring")
