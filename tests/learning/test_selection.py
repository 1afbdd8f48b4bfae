"""The iteration to keep, by hand-made distances."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.learning.methods.icl.selection import choose
from icl_core.learning.methods.icl.state import LoopSettings

LOOP = LoopSettings(tolerance=None, patience=None, keep="closest", unconstrained_first_policy=True)


@pytest.mark.parametrize(
    ("nad", "options", "expected"),
    [
        ([3.0, 2.0, 1.0, 1.5], {}, 3),
        ([0.5, 2.0, 1.0, 1.5], {}, 3),  # the nominal policy is no candidate
        ([0.5, 2.0, 1.0, 1.5], {"unconstrained_first_policy": False}, 1),
        ([3.0, np.nan, 2.0, np.nan], {}, 3),
        ([3.0, 1.0, np.inf, np.inf], {}, 2),  # stopped after the second
        ([3.0, 2.0, 1.0, 1.5], {"keep": "last"}, 4),
        ([3.0, 2.0, np.inf, np.inf], {"keep": "last"}, 2),
        ([3.0, 2.0, np.nan], {"keep": "last"}, 3),  # without a NAD, and still the last
        ([0.5, np.inf, np.inf], {"keep": "last"}, 1),  # stopped at once: the others are blank
        ([0.5, np.inf, np.inf], {}, 1),
        ([0.5], {}, 1),  # nothing else to choose
        ([3.0, 1.0, 1.0], {}, 2),  # the earlier of two equals
    ],
)
def test_choice(nad, options, expected):
    column = np.array(nad)
    kept = choose(np.stack([column, column], axis=1), replace(LOOP, **options))
    np.testing.assert_array_equal(kept, [expected, expected])


def test_runs_choose_for_themselves():
    nad = np.array([[9.0, 9.0], [1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_array_equal(choose(nad, LOOP), [2, 3])
