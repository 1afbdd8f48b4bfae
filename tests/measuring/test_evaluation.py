"""The episodes behind the reported metrics: equal draws give equal bytes, whatever the stack."""

import numpy as np
import pytest

from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.measuring.evaluation import Evaluation, MeasuringSettings, evaluate, stored
from icl_core.randomness import generators
from icl_core.settings import build, defaults

WORLD = make_world("gridworld-a")
SEEDS = [2, 5, 9]


def policies():
    sizes = (WORLD.observation_size, 8, actions_of(WORLD).outputs)
    return Networks.initialise([np.random.default_rng(seed) for seed in SEEDS], sizes)


def shown(world=WORLD):
    """What each run was shown: some visits of every node."""
    return np.random.default_rng(0).integers(1, 9, size=(len(SEEDS), *world.grid.shape))


def test_they_are_the_episodes_drawn_for_the_report():
    found = evaluate(WORLD, policies(), SEEDS, shown(), MeasuringSettings(4, 2))
    sets = [roll_out(WORLD, policies(), generators(SEEDS, "report", k), 4) for k in range(2)]
    counts = [visits(WORLD, played) for played in sets]
    np.testing.assert_array_equal(found.visits, counts[0] + counts[1])
    for run, k in np.ndindex(3, 2):
        played = sets[k][run]
        assert found.returns[run, k] == pytest.approx(played.returns.mean())
        nad = accrual_dissimilarity(WORLD.grid, shown()[run], counts[k][run])
        assert found.nads[run, k] == pytest.approx(nad)
        costs = []
        for episode in range(4):
            cells = played.states[episode, : played.lengths[episode]].astype(int)
            broken = WORLD.constrained[cells[:, 0], cells[:, 1]]
            costs.append((broken * WORLD.discount ** np.arange(len(cells))).sum())
        assert found.costs[run, k] == pytest.approx(np.mean(costs))


def test_a_seed_does_not_depend_on_its_neighbours():
    settings = MeasuringSettings(3, 2)
    together = evaluate(WORLD, policies(), SEEDS, shown(), settings)
    alone = evaluate(WORLD, policies().pick([1]), SEEDS[1:2], shown()[1:2], settings)
    for mine, own in zip(together.run(1), alone.run(0), strict=True):
        np.testing.assert_array_equal(mine, own)


def test_what_nobody_knows_has_no_cost():
    world = make_world("gridworld-a")
    world.true_constraint = None
    found = evaluate(world, policies(), SEEDS, shown(), MeasuringSettings(2, 1))
    assert np.isnan(found.costs).all() and np.isfinite(found.returns).all()


def test_a_file_holds_them_by_selection():
    settings = MeasuringSettings(2, 2)
    last = evaluate(WORLD, policies(), SEEDS, shown(), settings)
    best = Evaluation(*(part + 1 for part in last))
    named = stored(SEEDS, "best", {"last": last, "best": best})
    assert named["reported"].tobytes() == b"best" and named["seeds"].tolist() == SEEDS
    for name, expected in (("last", last), ("best", best)):
        for mine, own in zip(Evaluation.from_tensors(named, name), expected, strict=True):
            np.testing.assert_array_equal(mine, own)


def test_the_settings():
    assert defaults(MeasuringSettings) == {"report_episodes": 50, "sets": 20}
    assert build(MeasuringSettings, {"report_episodes": 3}).report_episodes == 3
    with pytest.raises(InputError, match=r"measuring\.report_episodes: expected a whole number"):
        build(MeasuringSettings, {"report_episodes": 0}, "measuring")
