"""The episodes behind the reported metrics: equal draws give equal bytes, whatever the stack."""

import numpy as np
import pytest

from icl_core.environments import make_world
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.rollouts import roll_out
from icl_core.measuring.loading import ROLLOUTS_SCHEMA
from icl_core.measuring.rollouts import MeasuringSettings, report_rollouts, rollouts_table
from icl_core.randomness import generators
from icl_core.settings import build, defaults

WORLD = make_world("gridworld-a")
SEEDS = [2, 5, 9]


def policies():
    sizes = (WORLD.observation_size, 8, actions_of(WORLD).outputs)
    return Networks.initialise([np.random.default_rng(seed) for seed in SEEDS], sizes)


def test_they_are_the_rollouts_drawn_for_the_report():
    table = report_rollouts(WORLD, policies(), SEEDS, 4)
    expected = roll_out(WORLD, policies(), generators(SEEDS, "report"), 4)
    assert table.schema == ROLLOUTS_SCHEMA
    assert table.equals(rollouts_table(expected, SEEDS))
    assert len(table) == expected.lengths.sum()
    assert set(zip(*(table[c].to_pylist() for c in ("seed", "trajectory")), strict=True)) == {
        (seed, episode) for seed in SEEDS for episode in range(4)
    }


def test_a_seed_does_not_depend_on_its_neighbours():
    together = report_rollouts(WORLD, policies(), SEEDS, 3)
    alone = report_rollouts(WORLD, policies().pick([1]), SEEDS[1:2], 3)
    own = together.filter(np.equal(together["seed"].to_numpy(), SEEDS[1]))
    assert own.combine_chunks().equals(alone.combine_chunks())


def test_the_setting():
    assert defaults(MeasuringSettings) == {"report_episodes": 50}
    assert build(MeasuringSettings, {"report_episodes": 3}).report_episodes == 3
    with pytest.raises(InputError, match=r"measuring\.report_episodes: expected a whole number"):
        build(MeasuringSettings, {"report_episodes": 0}, "measuring")
