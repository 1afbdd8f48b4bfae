"""What checks on experts measure, worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from icl_core.demonstrations.trajectories import Trajectories
from tests.measuring.claims.made_up import by, runs, sizes, world_of

GRID, SLIPS = "gridworld-a", ("gridworld-a", "gridworld-a-slip-10", "gridworld-a-slip-30")
BETA = world_of(GRID).threshold


def training(**columns):
    """Twenty epochs: two are a tenth."""
    return {"expert_training": lambda name: runs(pa.table(columns))}


def test_an_expert_earns_a_share_of_the_best_in_the_last_tenth():
    shown = training(**{"return": [*[0.0] * 18, 160.0, 190.0]})
    found = sizes("expert_earns", [GRID], shown, share=0.9, best={GRID: 200})
    assert found == pytest.approx([175 / 200 - 0.9])


def test_violations_are_those_of_the_first_tenth_less_the_last():
    shown = training(violations=[0.9, 0.7, *[0.0] * 16, 0.2, 0.1])
    assert sizes("expert_violates_less", [GRID], shown) == pytest.approx([0.8 - 0.15])


@pytest.mark.parametrize("before", [(90.0, 92.0), (109.0, 109.0)])
def test_who_has_settled_changes_little_from_the_last_tenth_but_one(before):
    shown = training(**{"return": [*[0.0] * 16, *before, 99.0, 101.0]})
    assert sizes("experts_settle", [GRID], shown, margin=0.05) == pytest.approx([0.05 - 0.09])


def test_to_learn_worse_is_to_earn_less_and_not_for_the_constraints_sake():
    logs = {
        "gridworld_a_soft_ppo": {"return": [0.0, np.nan, 0.2], "violations": [0.9, 0.5, 0.1]},
        "gridworld_a_projection": {"return": [0.2, 0.6, 1.0], "violations": [1.0, 0.8, 0.6]},
    }
    shown = by(0, **{name: pa.table(one) for name, one in logs.items()})
    names = ["gridworld-a-soft-ppo", "gridworld-a-projection"]
    found = sizes("learns_worse", names, {"expert_training": shown}, margin=0.05)
    assert found == pytest.approx([0.6 - 0.1, 0.05 - 0.3])


def test_to_be_feasible_is_a_matter_of_the_mean():
    shown = {
        "expert_episodes": lambda name: runs("played"),
        "true_costs": lambda name, played: BETA * np.array([0.0, 0.5, 3.1]),
    }
    assert sizes("expert_feasible", [GRID], shown, times=1.05) == pytest.approx([1.05 - 1.2])


def test_regret_grows_at_each_step():
    best = dict(zip(SLIPS, (1.0, 0.9, 0.8), strict=True))
    earned = dict(zip(SLIPS, ([1.0, 0.9], [0.7, 0.5], [0.6, 0.4]), strict=True))
    shown = {
        "best_return": best.get,
        "expert_episodes": lambda name: runs(SimpleNamespace(returns=np.array(earned[name]))),
    }
    assert sizes("regret_grows", SLIPS, shown) == pytest.approx([0.3 - 0.05, 0.3 - 0.3])


def walks(nodes, lengths):
    """Episodes that are at these nodes, and how to find them again."""
    states = np.array(nodes, np.float32)[..., None]
    actions, rewards = np.zeros(states.shape[:2], np.int64), np.zeros(states.shape[:2], np.float32)
    return Trajectories(states, actions, rewards, np.array(lengths))


def test_noise_is_what_the_node_does_not_tell_of_the_next():
    """From node 0 three ways of four lead to 1 and one to 2; from 1 all lead to 0."""
    certain = walks([[0, 1, 0, 1, 0]], [5])
    noisy = walks([[0, 1, 0, 1, 0, 1], [0, 2, 7, 8, 9, 9]], [6, 2])
    quarter = 0.25 * np.log2(4) + 0.75 * np.log2(4 / 3)
    shown = {
        "nodes_of": lambda name: lambda taken: taken.states[..., 0].astype(int),
        "demonstrations": by(0, gridworld_a=certain, gridworld_a_slip_10=noisy),
    }
    # Of the noisy ones' six steps four start from node 0.
    assert sizes("demonstrations_noisier", SLIPS[:2], shown) == pytest.approx([quarter * 4 / 6])


def test_who_is_wider_visits_more_nodes():
    shown = {
        "expert_visits": by(0, gridworld_a=np.array([9, 0, 1]), gridworld_a_slip_10=np.ones(5))
    }
    assert sizes("demonstrations_wider", SLIPS[:2], shown) == [3.0]


def test_new_episodes_keep_the_constraint_less_often_by_so_much():
    shown = {
        "satisfied": lambda name, taken: runs({"had": 0.95, "new": 0.7}[taken]),
        "demonstrations": lambda name: "had",
        "expert_episodes": lambda name: "new",
    }
    found = sizes("keeps_new_demonstrations", [GRID], shown, most=0.1)
    assert found == pytest.approx([0.1 - 0.25])
