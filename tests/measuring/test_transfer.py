"""Intervals of agents elsewhere, against SciPy's."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from icl_core.measuring.transfer import TRANSFER_SCHEMA, by_condition, student_interval, words


def test_an_interval_is_scipys():
    for n in (2, 5, 9):
        values = np.random.default_rng(n).normal(3, 2, n)
        low, high = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
        assert student_interval(values) == pytest.approx((values.mean(), low, high))


def test_one_seed_has_a_mean_and_no_interval():
    mean, low, high = student_interval([4.0])
    assert mean == 4.0 and np.isnan([low, high]).all()


def test_an_interval_holds_the_mean_in_95_of_100_cases():
    rng = np.random.default_rng(0)
    found = [student_interval(rng.normal(7, 3, 5)) for _ in range(2000)]
    assert np.mean([low < 7 < high for _, low, high in found]) == pytest.approx(0.95, abs=0.015)


def test_conditions_come_in_the_order_of_tables():
    row = {"experiment": "a", "agent": "b", "change": "", "episodes": 2, "length": 1.0}
    rows = [
        {**row, "condition": c, "seed": seed, "return": r, "true_cost": 0.5}
        for c, seed, r in (("true", 1, 1.0), ("none", 1, 2.0), ("none", 2, 3.0))
    ]
    found = by_condition(pa.Table.from_pylist(rows, schema=TRANSFER_SCHEMA), "return")
    assert {key: value.tolist() for key, value in found.items()} == {"none": [2, 3], "true": [1]}
    assert list(found) == ["none", "true"]


def test_a_change_in_words():
    assert words({"slip": 0.1, "slip_over_all": 1}) == "slip 0.1, slip over all 1"
    assert words({}) == ""
