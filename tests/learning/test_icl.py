"""The whole ICL loop in memory at tiny size: contract, determinism, stopping and choosing."""

from dataclasses import replace

import numpy as np
import pytest

from icl_core.environments import make_world
from icl_core.learning.constrained_rl.lagrangian import LagrangianSettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.density import DensitySettings, fit_density
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.on_policy import OnPolicySettings
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA
from icl_core.learning.methods.icl.adjustment import adjust_constraint, finished
from icl_core.learning.methods.icl.policy_step import dissimilarities, train_policy
from icl_core.learning.methods.icl.selection import choose, conclude
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.methods.icl.state import (
    ConstraintState,
    ICLSettings,
    PolicyState,
    initial_constraint,
)
from icl_core.randomness import generators
from tests.worlds import SYNTHETIC, short_world, some_policies

RL = ConstrainedRLSettings(
    epochs=2, episodes=4, ppo=PPOSettings(hidden=(16,), updates=2, batch=16, buffer=500)
)
ADJUSTMENT = AdjustmentSettings(rounds=2, steps=3, episodes=6)
ICL = ICLSettings(tolerance=None, patience=None, iterations=2, selection_episodes=8)
DENSITY = DensitySettings(blocks=2, hidden=(8,), epochs=1)
# As the paper has it: PPO-Lagrange for ExiD and the robots.
LAGRANGE = replace(
    RL,
    procedure="lagrangian",
    lagrangian=LagrangianSettings(
        on_policy=OnPolicySettings(hidden=(16,), steps=60, environments=3, passes=2, batch=30)
    ),
)
PROCEDURES = {"exid": LAGRANGE, "halfcheetah": LAGRANGE}
ALL = (*SYNTHETIC, "highd", "exid", "halfcheetah")


def demonstrations_of(world):
    """Episodes of some fixed policy: what they are does not matter here."""
    policy = some_policies(world, generators([99], "d"))
    return roll_out(world, policy, generators([99], "r"), 5)[0]


def through_checkpoint(state):
    """A state as the next job reads it."""
    return type(state).from_tensors({name: part.copy() for name, part in state.tensors().items()})


def learn(name, seeds, adjustment=ADJUSTMENT, icl=ICL, checkpoints=True):
    """Algorithm 1: every state of a stack of runs, and its conclusion."""
    world, rl = short_world(name), PROCEDURES.get(name, RL)
    demonstrations = demonstrations_of(world)
    density = fit_density(world, demonstrations, seeds, DENSITY)
    constraints, policies, logs = [initial_constraint(world, seeds, (16, 16))], [], []
    for iteration in range(1, icl.iterations + 1):
        pass_on = through_checkpoint if checkpoints else lambda state: state
        known = pass_on(constraints[-1])
        policy = train_policy(world, demonstrations, known, iteration, seeds, rl, icl)
        policies.append(policy)
        known_policies = [pass_on(p) for p in policies]
        state, log = adjust_constraint(
            world, demonstrations, density, known_policies, known, seeds, adjustment, icl
        )
        constraints.append(state)
        logs += [policy.log, log]
    end = conclude(world, demonstrations, constraints, policies, seeds, rl, icl, rollouts=7)
    return constraints, policies, logs, end


def assert_same_runs(whole, some, which):
    """The runs `which` of the first result are, bit for bit, the runs of the second."""
    (constraints, policies, _, end), (constraints_, policies_, _, end_) = whole, some
    states = zip([*constraints, *policies], [*constraints_, *policies_], strict=True)
    for ours, theirs in states:
        for name, part in ours.tensors().items():
            picked = part if name.endswith("activation") else part[which]  # a word: of all runs
            np.testing.assert_array_equal(picked, theirs.tensors()[name], err_msg=name)
    for ours, theirs in [(end.constraint, end_.constraint), (end.policy, end_.policy)]:
        np.testing.assert_array_equal(ours.parameters[which], theirs.parameters)
    np.testing.assert_array_equal(end.kept[which], end_.kept)
    np.testing.assert_array_equal(end.nad[which], end_.nad)
    for ours, theirs in zip(end.rollouts.parts(), end_.rollouts.parts(), strict=True):
        np.testing.assert_array_equal(ours[which], theirs)


@pytest.mark.parametrize("name", ALL)
def test_the_loops_states_have_the_promised_shapes(name):
    world, seeds = short_world(name), [3, 8, 5]
    constraints, policies, logs, end = learn(name, seeds)
    outputs = actions_of(world).outputs
    assert len(constraints) == 3
    for i, state in enumerate(constraints):
        assert state.networks.sizes == (world.input_size, 16, 16, 1)
        assert state.weights.shape == (3, 2 * i)
        np.testing.assert_array_equal(state.steps, [6 * i] * 3)
        assert not state.stopped.any()
        inputs = np.broadcast_to(world.grid.nodes.astype(np.float32), (3, *world.grid.nodes.shape))
        values = state.function()(inputs)
        assert values.shape == inputs.shape[:2]
        assert ((values > 0) & (values < 1)).all()
    assert not np.array_equal(*(s.networks.parameters for s in constraints[:2]))
    for state in policies:
        assert state.final.sizes == (world.observation_size, 16, outputs) == state.halfway.sizes
        assert state.nad.shape == (3,)
    for k, log in enumerate(logs):
        assert log.schema == (ADJUSTMENT_SCHEMA if k % 2 else TRAINING_SCHEMA)
        assert log["seed"].to_pylist() == np.repeat(seeds, 6 if k % 2 else 2).tolist()
    assert end.rollouts.rewards.shape == (3, 7, world.horizon)
    assert set(end.kept) <= {2, 3}  # the nominal first policy is no candidate
    for run, kept in enumerate(end.kept):
        np.testing.assert_array_equal(
            end.constraint.parameters[run], constraints[kept - 1].networks.parameters[run]
        )
        if kept <= 2:
            expected = policies[kept - 1].final.parameters[run]
            np.testing.assert_array_equal(end.policy.parameters[run], expected)


@pytest.mark.parametrize("name", ALL)
def test_a_seed_learns_the_same_again_alone_and_in_a_stack(name):
    together = learn(name, [3, 8, 5])
    assert_same_runs(together, learn(name, [3, 8, 5], checkpoints=False), [0, 1, 2])
    assert_same_runs(together, learn(name, [8]), [1])
    assert_same_runs(together, learn(name, [5, 3]), [2, 0])


VARIANTS = [
    {"mixture": False},
    {"reweight": False},
    {"snapshots": 1},
    {"hinge": "mean", "bound": 0.0},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_variants_of_the_adjustment_keep_runs_apart_too(variant):
    adjustment = replace(ADJUSTMENT, **variant)
    together = learn("gridworld-a", [1, 2], adjustment)
    assert_same_runs(together, learn("gridworld-a", [2], adjustment), [1])
    snapshots = variant.get("snapshots", 2)
    assert [s.weights.shape[1] for s in together[0]] == [0, snapshots, 2 * snapshots]


def test_learning_goes_on_from_checkpoints_with_adams_moments():
    """Through the artifact nothing changes; without any of clock and moments, everything would."""
    constraints, policies, _, _ = learn("gridworld-a", [1])
    world = make_world("gridworld-a")
    demonstrations = demonstrations_of(world)
    density = fit_density(world, demonstrations, [1], DENSITY)
    state = constraints[1]
    assert state.first.any()
    assert state.second.any()
    arguments = (world, demonstrations, density, policies[:2])
    kept, _ = adjust_constraint(*arguments, through_checkpoint(state), [1], ADJUSTMENT, ICL)
    np.testing.assert_array_equal(kept.networks.parameters, constraints[2].networks.parameters)
    forgotten = {
        "first": np.zeros_like(state.first),
        "second": np.zeros_like(state.second),
        "steps": np.zeros(1, np.int64),
    }
    for name, blank in forgotten.items():
        lossy = replace(state, **{name: blank})
        other, _ = adjust_constraint(*arguments, lossy, [1], ADJUSTMENT, ICL)
        moved = np.abs(other.networks.parameters - kept.networks.parameters).max()
        assert moved > 1e-6, f"{name} has no say"


def test_adjustment_leaves_its_inputs_as_they_are():
    constraints, policies, _, _ = learn("cartpole-mr", [1, 2])
    world = make_world("cartpole-mr")
    demonstrations = demonstrations_of(world)
    density = fit_density(world, demonstrations, [1, 2], DENSITY)
    before = {name: part.copy() for name, part in constraints[1].tensors().items()}
    adjust_constraint(
        world, demonstrations, density, policies, constraints[1], [1, 2], ADJUSTMENT, ICL
    )
    for name, part in constraints[1].tensors().items():
        np.testing.assert_array_equal(part, before[name], err_msg=name)


# ------------------------------------------------------------------ stopping


def test_a_run_that_reaches_the_tolerance_is_carried_forward_unchanged():
    seeds = [1, 2, 3]
    going_on = replace(ICL, iterations=3, unconstrained_first_policy=False)
    _, policies, _, _ = learn("gridworld-b", seeds, icl=going_on)
    first = policies[0].nad
    assert len(set(first)) == 3
    # between the closest and the second closest first policy: exactly one run stops at once
    epsilon = float(np.sort(first)[:2].mean())
    stopping = replace(going_on, tolerance=epsilon)
    constraints, policies, logs, end = learn("gridworld-b", seeds, icl=stopping)
    run = int(np.argmin(first))
    assert [int(state.stopped[run]) for state in constraints] == [0, 1, 1, 1]
    for state in constraints[1:]:
        for name in ("constraint.layer1.weight", "adam.first", "adam.second", "adam.steps"):
            np.testing.assert_array_equal(
                state.tensors()[name][run], constraints[0].tensors()[name][run]
            )
    for state in policies[1:]:
        assert np.isinf(state.nad[run])
        assert not state.final.parameters[run].any()
        assert seeds[run] not in state.log["seed"].to_pylist()
    assert seeds[run] not in logs[1]["seed"].to_pylist()
    assert np.isinf(end.nad[run])
    # the others go on as if nothing had happened
    plain = learn("gridworld-b", seeds, icl=going_on)
    for other in {0, 1, 2} - {run}:
        if not constraints[2].stopped[other]:
            np.testing.assert_array_equal(
                constraints[2].networks.parameters[other],
                plain[0][2].networks.parameters[other],
            )


def test_when_all_runs_have_stopped_nothing_is_trained():
    stopping = replace(ICL, tolerance=1e9, unconstrained_first_policy=False)
    constraints, policies, logs, end = learn("gridworld-a", [1, 2], icl=stopping)
    assert (constraints[-1].stopped == 1).all()
    np.testing.assert_array_equal(
        constraints[-1].networks.parameters, constraints[0].networks.parameters
    )
    assert np.isfinite(policies[0].nad).all()
    assert np.isinf(policies[1].nad).all()
    assert [len(log) for log in logs] == [4, 0, 0, 0]
    assert logs[2].schema == TRAINING_SCHEMA
    assert logs[3].schema == ADJUSTMENT_SCHEMA
    assert len(end.log) == 0


def test_stopped_runs_end_with_the_policy_that_reached_the_tolerance():
    """However close the first, nominal policy is: it was trained on no constraint."""
    states, policies, _, end = learn("gridworld-a", [1, 2], icl=replace(ICL, tolerance=1e9))
    np.testing.assert_array_equal(end.policy.parameters, policies[1].final.parameters)
    np.testing.assert_array_equal(end.constraint.parameters, states[1].networks.parameters)
    np.testing.assert_array_equal(end.kept, [2, 2])


@pytest.mark.parametrize(
    ("nad", "options", "expected"),
    [
        ([0.1], {"tolerance": 1.0}, False),  # nominal: nothing has been learned yet
        ([0.1], {"tolerance": 1.0, "unconstrained_first_policy": False}, True),
        ([9.0, 1.0], {"tolerance": 1.0}, True),
        ([9.0, 1.1], {"tolerance": 1.0}, False),
        ([9.0, np.nan], {"tolerance": 1.0}, False),
        ([9.0, 2.0, 3.0, 4.0], {"patience": 2}, True),
        ([9.0, 2.0, 3.0, 4.0], {"patience": 3}, False),
        ([1.0, 2.0, 3.0, 4.0], {"patience": 3}, False),  # the nominal policy does not count
        ([9.0, 3.0, 4.0, 2.0], {"patience": 2}, False),
        ([9.0, 8.0, 8.0, 8.0, 8.0], {}, False),
    ],
)
def test_when_a_run_stops(nad, options, expected):
    world = make_world("gridworld-a")
    stops = finished(np.array(nad)[:, None], replace(ICL, **options), world, None)
    assert stops == [expected]


# ------------------------------------------------------------------ the first policy, NAD


def test_a_nominal_start_ignores_the_constraint():
    world = make_world("gridworld-a")
    demonstrations = demonstrations_of(world)
    states = [initial_constraint(world, seeds, (16,)) for seeds in ([1], [7])]
    for icl, same in [(ICL, True), (replace(ICL, unconstrained_first_policy=False), False)]:
        rl = replace(RL, epochs=3)
        first = [train_policy(world, demonstrations, s, 1, [1], rl, icl) for s in states]
        values = [p.log["constraint_value"].to_numpy() for p in first]
        assert np.array_equal(*values) == same
        assert not same or not values[0].any()
    later = train_policy(world, demonstrations, states[0], 2, [1], RL, ICL)
    assert later.log["constraint_value"].to_numpy().all()


def test_dissimilarity_is_zero_to_oneself_and_large_to_a_policy_elsewhere():
    world = make_world("cartpole-mr")
    policies = Networks.initialise(generators([1, 2], "p"), (4, 16, 2))
    rngs = generators([1, 1], "same")
    episodes = roll_out(world, policies, generators([1, 1], "same"), 30)
    distances = dissimilarities(world, episodes[0], policies, rngs, 30)
    assert distances[0] == pytest.approx(0, abs=1e-12)
    assert distances[1] > 0


# ------------------------------------------------------------------ choosing


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
    kept = choose(np.stack([column, column], axis=1), replace(ICL, **options))
    np.testing.assert_array_equal(kept, [expected, expected])


def test_runs_choose_for_themselves():
    nad = np.array([[9.0, 9.0], [1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_array_equal(choose(nad, ICL), [2, 3])


def test_states_round_trip():
    constraints, policies, _, _ = learn("cartpole-mid", [1, 2])
    for state, kind in [(constraints[-1], ConstraintState), (policies[-1], PolicyState)]:
        again = kind.from_tensors(state.tensors())
        for name, part in state.tensors().items():
            np.testing.assert_array_equal(again.tensors()[name], part)
            assert again.tensors()[name].dtype == part.dtype
