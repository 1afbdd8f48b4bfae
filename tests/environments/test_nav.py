"""The point robot: geometry that can be reckoned by hand."""

import numpy as np
import pytest

from icl_core.demonstrations.trajectories import Trajectories, accumulate
from icl_core.environments import make_world
from icl_core.environments.gymnasium import WorldEnv, WorldVectorEnv
from icl_core.environments.worlds.nav import DISC, DISC_RADIUS, GOAL, GOAL_RADIUS, STRIDE, WALL
from icl_core.learning.engine.costs import constraint_values
from icl_core.learning.engine.training import Job
from icl_core.learning.experts import ExpertSettings, train_experts
from icl_core.settings import build

WORLD = make_world("nav")


def straight(start):
    """The way of a robot that knows nothing of the disc, at full speed: (steps, 2)."""
    places, states, ended = [], np.array([start]), np.array([False])
    while not ended[0]:
        places.append(states[0])
        states, _, ended = WORLD.step(states, 5 * (GOAL - states))
    return np.array([*places, states[0]])


def test_the_straight_way_leads_through_the_disc_from_every_start():
    for start in WORLD.initial_states(np.random.default_rng(0), 200):
        way = straight(start)
        inside = np.sum((way - DISC) ** 2, axis=1) < DISC_RADIUS**2
        assert inside.sum() >= 5 and not inside[0] and not inside[-1]
        assert len(way) <= 22  # 2 m at 0.1 m a step


@pytest.mark.parametrize(
    ("velocity", "moved"),
    [((1, 0), (0.1, 0)), ((3, 4), (0.06, 0.08)), ((0.3, -0.4), (0.03, -0.04))],
)
def test_speed_is_cut_and_direction_kept(velocity, moved):
    after, reward, ended = WORLD.step(np.array([[0.5, 0.5]]), np.array([velocity]))
    assert after[0] == pytest.approx(np.add((0.5, 0.5), moved))
    nearer = np.hypot(0.5, 0.5) - np.hypot(after[0, 0] - 1, after[0, 1])
    assert reward[0] == pytest.approx(nearer) and not ended[0]


def test_walls_hold():
    after, _, _ = WORLD.step(np.array([[WALL, -WALL]]), np.array([[1.0, -1.0]]))
    assert after.tolist() == [[WALL, -WALL]]


def test_all_ways_to_the_goal_pay_the_same():
    """What is paid is the distance gained: the sum knows the ends only."""
    way = straight((-1.0, 0.1))
    round_ = np.array([*np.linspace((-1.0, 0.1), (0, 1), 20), *np.linspace((0, 1), way[-1], 20)])
    for places in (way, round_):
        steps = np.diff(places, axis=0) / STRIDE
        rewards = [WORLD.step(a[None], v[None])[1][0] for a, v in zip(places, steps, strict=False)]
        expected = np.hypot(-2.0, 0.1) - np.hypot(*(way[-1] - GOAL))
        assert sum(rewards) == pytest.approx(expected, abs=1e-5)


def test_it_ends_within_the_goal_and_nowhere_else():
    rim = GOAL - (GOAL_RADIUS + STRIDE, 0)
    little = np.array([0.001, 0])
    ended = WORLD.step(np.array([rim + little, rim - little]), np.array([[1, 0], [1, 0]]))[2]
    assert ended.tolist() == [True, False]


def test_numbers_have_names_in_gymnasium():
    names = {"observation_names": ("x", "y"), "action_names": ("vx", "vy")}
    for env in (WorldEnv("nav"), WorldVectorEnv("nav", 2)):
        assert {key: env.metadata[key] for key in names} == names
    assert "observation_names" not in WorldEnv("gridworld-a").metadata


def test_an_expert_reaches_the_goal_and_keeps_out():
    settings = build(ExpertSettings, {"trajectories": 20, "constrained_rl": {"epochs": 150}})
    kept: Trajectories = train_experts(WORLD, settings, [1], Job()).trajectories[0]
    costs = constraint_values(WORLD, WORLD.true_constraint, kept[None])[0]
    assert accumulate(costs, kept.mask, WORLD.discount).mean() <= WORLD.threshold
    assert (kept.lengths < WORLD.horizon).mean() > 0.8 and kept.returns.mean() > 1.7
