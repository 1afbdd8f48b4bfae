"""What checks on the adjustment's log measure, worked out by hand."""

import numpy as np
import pyarrow as pa
import pytest

from tests.measuring.claims.made_up import by, runs, sizes, world_of

GRID = "gridworld-a"
BETA = world_of(GRID).threshold
STEPS = (500, 1000, 1500, 2000)  # of each adjustment: two of them are 4,000 steps


def adjustments(*logs):
    """Of equal runs; each log is a mapping of columns."""
    return {"adjustments": lambda name: runs([pa.table(one) for one in logs])}


def over_steps(column, first, second):
    return adjustments(*({"step": STEPS, column: values} for values in (first, second)))


def test_both_directions_are_of_the_first_adjustment():
    shown = adjustments(
        {"expert_value": [5.0, 3.0, 4.0], "agent_value": [1.0, 9.0, 3.5]},
        {"expert_value": [4.0, 9.0], "agent_value": [3.5, 0.0]},
    )
    assert sizes("adjusts_both_ways", [GRID], shown) == [1.0, 2.5]


def test_agents_that_cost_less_refute_it_alone():
    shown = adjustments({"expert_value": [5.0, 3.0], "agent_value": [8.06, 4.55]})
    assert sizes("adjusts_both_ways", [GRID], shown) == pytest.approx([2.0, -3.51])


def test_budgets_are_those_at_the_ends_of_all_adjustments():
    shown = adjustments(
        {"expert_value": [9.0, 0.0, 1.0 * BETA]}, {"expert_value": [0.0, 9.0, 1.6 * BETA]}
    )
    both = {"at_most": {"gridworld-a": 1.05}, "above": {"gridworld-b": 1.1}}
    found = sizes("ends_within_budget", [GRID, "gridworld-b"], shown, **both)
    assert found == pytest.approx([1.05 - 1.3, 1.3 - 1.1])


def test_crossings_are_counted_behind_the_first_thousand_steps():
    # 1 is above beta, 0 below: up to step 1,500 two crossings, behind it four in 3,000 steps.
    above = (0, 1, 0, 1), (0, 0, 1, 0)
    shown = over_steps("expert_value", *(2 * BETA * np.array(one) for one in above))
    found = sizes("budget_is_crossed", [GRID], shown, times=2)
    assert found == pytest.approx([4 * 2000 / 3000 - 2])


def test_the_start_is_the_best_of_the_first_thousand_steps():
    shown = over_steps("expert_satisfaction", (0.75, 0.5, 0.9, 1.0), (1.0, 1.0, 1.0, 1.0))
    assert sizes("starts_satisfied", [GRID], shown, share=0.8) == pytest.approx([-0.05])


def test_a_fall_is_from_the_best_at_first_to_the_mean_of_the_last_quarter():
    shown = over_steps("expert_satisfaction", (0.6, 0.8, 0.95, 0.9), (0.9, 0.9, 0.4, 0.2))
    assert sizes("satisfaction_falls", [GRID], shown, more_than=0.1) == pytest.approx([0.5 - 0.1])


def test_to_hold_is_to_fall_by_little_and_by_less():
    logs = {
        name: [
            pa.table({"step": STEPS, "expert_satisfaction": values})
            for values in ([0.9, 0.9, 0.0, 0.0], [0.0, 0.0, end, end])
        ]
        for name, end in (("gridworld_a_mean_hinge", 0.7), ("gridworld_a_lagrangian", 0.4))
    }
    names = ["gridworld-a-mean-hinge", "gridworld-a-lagrangian"]
    found = sizes("satisfaction_holds", names, {"adjustments": by(0, **logs)}, at_most=0.1)
    assert found == pytest.approx([0.1 - 0.2, 0.5 - 0.2])


def test_members_are_counted_over_all_adjustments():
    made = [np.array([[1.0], [2.0]]), np.array([[2.0, 1.0], [2.0, 3.0]])]  # the middle one stays
    shown = {"member_costs": lambda name: runs(made)}
    assert sizes("raises_all_members", [GRID], shown, share=0.5) == pytest.approx([2 / 3 - 0.5])


def test_a_gain_is_that_of_the_gap_between_agents_and_expert():
    """Gains of 2, 3 and 4: J_mix alone falls behind from one to the next, and the log's middle
    says nothing. Of four policies three were adjusted to.
    """
    logs = [
        {"agent_value": [start, middle, end + risen], "expert_value": [0.0, 0.0, risen]}
        for start, middle, end, risen in ((3, 9, 5.0, 8.0), (1, 5, 4.0, 4.0), (-1, 0, 3.0, 0.0))
    ]
    nads = {"by_iteration": lambda metric, name: runs(np.array([1.0, 2.0, 3.0, 0.0]))}
    assert sizes("overlap_slows", [GRID], adjustments(*logs) | nads) == pytest.approx([1.0])
