"""Costs in Gymnasium environments, compared with a slow loop over single episodes."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import icl_core
import icl_core.environments.gymnasium
from icl_core.errors import InputError
from icl_core.using.wrappers import CostBudget, LearnedCost, PenaliseCost
from tests.using.some import constraint

IDS = {"gridworld-a": "icl/GridworldA-v0", "cartpole-mr": "icl/CartPoleMoveRight-v0"}
CARTPOLE = IDS["cartpole-mr"]
LIMIT, DISCOUNT, WEIGHT, ROWS = 7.0, 0.98, 0.5, 3
MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)


def near(expected):
    """Batches of other sizes round otherwise."""
    return pytest.approx(expected, abs=2e-6)


def all_three(env, made, end="terminate"):
    return CostBudget(PenaliseCost(LearnedCost(env, made), WEIGHT), LIMIT, DISCOUNT, end)


class Episodes:
    """One row by hand: an environment without wrappers, and sums in plain Python."""

    def __init__(self, made, seed, end):
        self.env, self.made, self.end = gymnasium.make(CARTPOLE), made, end
        self.begin(seed)

    def begin(self, seed=None):
        self.seen, _ = self.env.reset(seed=seed)
        self.costs = []

    def step(self, action):
        cost = float(self.made.predict(self.seen, action))
        std = float(self.made.disagreement(self.seen, action))
        self.seen, reward, terminated, truncated, info = self.env.step(action)
        self.costs.append(cost)
        total = sum(DISCOUNT**t * value for t, value in enumerate(self.costs))
        spent = total >= LIMIT
        terminated |= spent and self.end == "terminate"
        truncated |= spent and self.end == "truncate"
        costs = {"cost": cost, "cost_std": std, "cost_sum": total, "env_cost": info["cost"]}
        return self.seen, reward - WEIGHT * cost, terminated, truncated, costs, spent


@pytest.mark.parametrize("end", ["terminate", "truncate"])
def test_one_environment_agrees_with_the_loop(end):
    made, rng = constraint("cartpole-mr"), np.random.default_rng(0)
    env, row = all_three(gymnasium.make(CARTPOLE), made, end), Episodes(made, 5, end)
    np.testing.assert_array_equal(env.reset(seed=5)[0], row.seen)
    ends = {True: 0, False: 0}
    for _ in range(600):
        action = rng.integers(2)
        found, (*expected, costs, spent) = env.step(action), row.step(action)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1] == near(expected[1])
        assert found[2:4] == tuple(expected[2:])
        assert {key: found[4][key] for key in costs} == near(costs)
        assert "constraint" in found[4]  # what the environment said stays
        if found[2] or found[3]:
            ends[spent] += 1
            if spent:
                with pytest.raises(gymnasium.error.ResetNeeded):
                    env.step(action)
            row.begin()
            np.testing.assert_array_equal(env.reset()[0], row.seen)
    assert min(ends.values()) > 3  # by the pole, and by the budget


@pytest.mark.parametrize("end", ["terminate", "truncate"])
@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_vector_agrees_with_the_loop(mode, inside, end):
    """The learned cost around the vector, or around each of its environments."""
    made, rng = constraint("cartpole-mr"), np.random.default_rng(1)

    def one():
        env = gymnasium.make(CARTPOLE)
        return LearnedCost(env, made) if inside else env

    vector = SyncVectorEnv([one] * ROWS, autoreset_mode=mode)
    env = vector if inside else LearnedCost(vector, made)
    env = CostBudget(PenaliseCost(env, WEIGHT), LIMIT, DISCOUNT, end)
    rows = [Episodes(made, 9 + k, end) for k in range(ROWS)]
    np.testing.assert_array_equal(env.reset(seed=9)[0], [row.seen for row in rows])
    over, ends = np.zeros(ROWS, bool), {True: 0, False: 0}
    for _ in range(400):
        if mode is AutoresetMode.DISABLED and over.any():
            observations, _ = env.reset(options={"reset_mask": over})
            for k in np.flatnonzero(over):
                rows[k].begin()
            np.testing.assert_array_equal(observations, [row.seen for row in rows])
        actions = rng.integers(2, size=ROWS)
        observations, rewards, terminated, truncated, info = env.step(actions)
        for k, row in enumerate(rows):
            if mode is AutoresetMode.NEXT_STEP and over[k]:
                row.begin()
                np.testing.assert_array_equal(observations[k], row.seen)
                assert (rewards[k], terminated[k], truncated[k]) == (0, False, False)
                for key in ("_cost", "_cost_sum", "_cost_std", "_constraint"):
                    assert key not in info or not info[key][k]
                over[k] = False
                continue
            seen, reward, ended, cut, costs, spent = row.step(actions[k])
            assert rewards[k] == near(reward)
            assert (terminated[k], truncated[k]) == (ended, cut)
            assert info["_cost_sum"][k]
            assert info["cost_sum"][k] == near(costs["cost_sum"])
            for key in ("cost", "cost_std", "env_cost"):
                where = info
                if inside and not info.get(f"_{key}", np.zeros(ROWS))[k]:
                    # What an environment's own wrapper says last is in its last info.
                    assert mode is AutoresetMode.SAME_STEP and (ended or cut)
                    where = info["final_info"]
                assert where[f"_{key}"][k] and where[key][k] == near(costs[key])
            over[k] = ended or cut
            if over[k]:
                ends[spent] += 1
            if over[k] and mode is AutoresetMode.SAME_STEP:
                np.testing.assert_array_equal(info["final_obs"][k], seen)
                assert info["_final_obs"][k] and info["_final_info"][k]
                row.begin()
            np.testing.assert_array_equal(observations[k], row.seen)
    assert min(ends.values()) > 3


def test_our_own_vector_agrees_with_what_it_shows():
    """Its rows share a generator: costs are compared by the observations that it gives."""
    made, rng = constraint("cartpole-mr"), np.random.default_rng(2)
    env = all_three(gymnasium.make_vec(CARTPOLE, num_envs=ROWS), made)
    before, _ = env.reset(seed=0)
    total, steps, over = np.zeros(ROWS), np.zeros(ROWS), np.zeros(ROWS, bool)
    begun = 0
    for _ in range(400):
        actions = rng.integers(2, size=ROWS)
        after, rewards, terminated, truncated, info = env.step(actions)
        cost = made.predict(before, actions)
        for key in ("_cost", "_cost_std", "_cost_sum", "_constraint", "_env_cost"):
            assert info.get(key, ~over).tolist() == (~over).tolist()
        np.testing.assert_allclose(info["cost"][~over], cost[~over], atol=2e-6)
        np.testing.assert_allclose(rewards, np.where(over, 0, 1 - WEIGHT * cost), atol=2e-6)
        total = np.where(over, 0, total + DISCOUNT**steps * cost)
        steps = np.where(over, 0, steps + 1)
        np.testing.assert_allclose(info["cost_sum"], total, atol=1e-5)
        assert np.all(np.abs(after[over]) <= 0.05)  # where episodes start
        fallen = (np.abs(after[:, 0]) > 2.4) | (np.abs(after[:, 2]) > 12 * np.pi / 180)
        np.testing.assert_array_equal(terminated, ~over & (fallen | (total >= LIMIT)))
        assert not truncated.any()
        before, over = after, terminated
        begun += over.sum()
    assert begun > 20


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("kind", ["learned", "penalised", "budget"])
def test_gymnasiums_checker_has_nothing_to_say(name, kind):
    env = LearnedCost(gymnasium.make(IDS[name]), constraint(name))
    if kind == "penalised":
        env = PenaliseCost(env, 2.0)
    elif kind == "budget":
        env = CostBudget(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(env, skip_render_check=True)


def test_a_budget_takes_its_limit_from_the_constraint_below():
    made = constraint("cartpole-mr")
    wrapped = PenaliseCost(LearnedCost(gymnasium.make(CARTPOLE), made), 1)
    assert CostBudget(wrapped).budget == (made.beta, made.discount, True)
    assert CostBudget(wrapped, 3, end="truncate").budget == (3, made.discount, False)
    vector = SyncVectorEnv([lambda: LearnedCost(gymnasium.make(CARTPOLE), made)] * 2)
    assert CostBudget(vector).budget == (made.beta, made.discount, True)
    plain = gymnasium.make(CARTPOLE)
    with pytest.raises(InputError, match="found none, and no LearnedCost below to take them from"):
        CostBudget(plain, limit=3)
    assert CostBudget(plain, 3, 1.0).budget == (3, 1.0, True)  # its own cost is enough


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda env: CostBudget(env, 1, 1, end="stop"), "end: expected 'terminate' or 'truncate'"),
        (lambda env: CostBudget(env, np.nan, 1), "expected a finite limit"),
        (lambda env: CostBudget(env, 1, 1.2), "found 1 and 1.2"),
        (lambda env: PenaliseCost(env, -1), "weight: expected a finite number of at least 0"),
        (lambda env: PenaliseCost(env, "2"), "weight: expected .* found '2'"),
    ],
)
def test_wrong_numbers_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        make(gymnasium.make(CARTPOLE))


@pytest.mark.parametrize("wrap", [lambda e: PenaliseCost(e, 1), lambda e: CostBudget(e, 1, 1)])
@pytest.mark.parametrize("vector", [False, True])
def test_an_environment_without_a_cost_is_refused_with_advice(wrap, vector):
    one = gymnasium.make("CartPole-v1")
    env = wrap(SyncVectorEnv([lambda: one] * 1) if vector else one)
    env.reset(seed=0)
    with pytest.raises(InputError, match=r"expected a 'cost' .* found nothing; .*LearnedCost\(env"):
        env.step(np.array([0]) if vector else 0)


def test_a_vector_that_cannot_reset_single_rows_is_refused():
    class Stubborn(gymnasium.vector.VectorEnv):
        num_envs, metadata = 2, {"autoreset_mode": AutoresetMode.NEXT_STEP}

    with pytest.raises(InputError, match=r"can reset single rows, .* around each of its environm"):
        CostBudget(Stubborn(), 1, 1)


def test_a_step_needs_a_reset():
    for env in (gymnasium.make(CARTPOLE), gymnasium.make_vec(CARTPOLE, num_envs=2)):
        with pytest.raises(gymnasium.error.ResetNeeded):
            LearnedCost(env, constraint("cartpole-mr")).step(0)


def test_stable_baselines_learns_with_a_penalised_reward():
    sb3 = pytest.importorskip("stable_baselines3")
    env = PenaliseCost(LearnedCost(gymnasium.make(CARTPOLE), constraint("cartpole-mr")), weight=2.0)
    model = sb3.PPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=1, device="cpu", seed=0)
    model.learn(256)
    assert model.num_timesteps == 256
    rewards = model.rollout_buffer.rewards
    # 1 less twice a cost that is not constant
    assert rewards.max() < 1 and rewards.min() > -1 and rewards.std() > 1e-4


def test_the_names_are_those_of_the_package():
    assert icl_core.LearnedCost is LearnedCost
    assert icl_core.PenaliseCost is PenaliseCost
    assert icl_core.CostBudget is CostBudget
