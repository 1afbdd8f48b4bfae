"""The density: a proper one, reproducible, and able to know the expert from others."""

import numpy as np
import pytest
import torch

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from icl_core.learning.engine.density import Density, DensitySettings, Flow, normal_surprise
from icl_core.learning.engine.density_fit import adam_of, build_flow, fit_density
from icl_core.learning.problem import Problem

FAST = DensitySettings(epochs=6)


def fit(world, demonstrations, seeds, settings):
    return fit_density(Problem(world, demonstrations, seeds, world.threshold), settings)


def demonstrated(world, rng, episodes=30, steps=20):
    """Made-up demonstrations: a diagonal band of the grid, or carts in [0, 1]."""
    if world.state_size == 2:
        first = rng.integers(0, 4, size=(episodes, steps))
        second = np.clip(first + rng.integers(0, 2, size=first.shape), 0, 6)
        states = np.stack([first, second], axis=-1)
    else:
        states = np.zeros((episodes, steps, 4))
        states[..., 0] = rng.uniform(0, 1, size=(episodes, steps))
    actions = rng.integers(2, size=(episodes, steps))
    lengths = rng.integers(steps // 2, steps + 1, size=episodes)
    mask = np.arange(steps) < lengths[:, None]
    states = states.astype(np.float32) * mask[..., None]
    return Trajectories(states, actions * mask, np.zeros((episodes, steps), np.float32), lengths)


@pytest.fixture(scope="module", params=["gridworld-a", "cartpole-mr"])
def fitted(request):
    world = make_world(request.param)
    demonstrations = demonstrated(world, np.random.default_rng(0))
    return world, demonstrations, fit(world, demonstrations, [1, 2], FAST)


def taken(world, demonstrations):
    """Inputs of the steps that exist, one at a time."""
    return np.array(
        [
            world.constraint_inputs(demonstrations.states[k, t], demonstrations.actions[k, t])
            for k in range(len(demonstrations))
            for t in range(demonstrations.lengths[k])
        ]
    )


def test_statistics_are_those_of_the_demonstrated_steps(fitted):
    world, demonstrations, density = fitted
    inputs = taken(world, demonstrations)
    np.testing.assert_array_equal(density.low, [inputs.min(axis=0)] * 2)
    np.testing.assert_array_equal(density.high, [inputs.max(axis=0)] * 2)
    for run in range(2):
        surprise = density.negative_log_likelihood(run, inputs).astype(np.float64)
        assert surprise.shape == (len(inputs),)
        assert density.mean[run] == pytest.approx(surprise.mean(), rel=1e-5)
        assert density.deviation[run] == pytest.approx(surprise.std(ddof=1), rel=1e-5)
        limit = density.mean[run] + density.deviation[run]
        np.testing.assert_array_equal(density.unusual(run, inputs), surprise > limit)


def test_the_density_integrates_to_one(fitted):
    """Midpoint rule over scaled coordinates, far beyond the data's [-1, 1]."""
    _, _, density = fitted
    edges = np.linspace(-5, 5, 201)
    middle, cell = (edges[1:] + edges[:-1]) / 2, (edges[1] - edges[0]) ** 2
    scaled = np.stack(np.meshgrid(middle, middle, indexing="ij"), axis=-1).reshape(-1, 2)
    for run in range(2):
        low, high = density.low[run], density.high[run]
        inputs = low + (scaled + 1) / 2 * (high - low)
        total = np.exp(-density.negative_log_likelihood(run, inputs).astype(np.float64)).sum()
        assert total * cell == pytest.approx(1.0, abs=0.02)


def test_tensors_round_trip(fitted):
    world, demonstrations, density = fitted
    again = Density.from_tensors({k: v.copy() for k, v in density.tensors().items()})
    inputs = taken(world, demonstrations)[:200]
    for run in range(2):
        np.testing.assert_array_equal(
            again.negative_log_likelihood(run, inputs), density.negative_log_likelihood(run, inputs)
        )
        np.testing.assert_array_equal(again.unusual(run, inputs), density.unusual(run, inputs))
    for name, values in density.tensors().items():
        assert isinstance(values, np.ndarray)
        np.testing.assert_array_equal(again.tensors()[name], values)


def test_the_shape_is_read_off_the_weights():
    world = make_world("gridworld-a")
    demonstrations = demonstrated(world, np.random.default_rng(0), episodes=3)
    for shape in [{"blocks": 2, "hidden": (8,)}, {"blocks": 12, "hidden": (4, 6, 5)}]:
        density = fit(world, demonstrations, [1], DensitySettings(epochs=1, **shape))
        again = Density.from_tensors(density.tensors())
        nodes = world.grid.nodes
        np.testing.assert_array_equal(
            again.negative_log_likelihood(0, nodes), density.negative_log_likelihood(0, nodes)
        )


def test_a_seed_fits_the_same_alone_and_in_a_stack_and_leaves_torch_alone(fitted):
    world, demonstrations, density = fitted
    torch.manual_seed(123)
    before = torch.random.get_rng_state()
    alone = fit(world, demonstrations, [2], FAST)
    Density.from_tensors(alone.tensors())
    assert torch.equal(torch.random.get_rng_state(), before)
    for name, values in alone.tensors().items():
        name = name.replace("run0", "run1")
        whole = density.tensors()[name]
        of_all = name in ("low", "high", "mean", "deviation")
        np.testing.assert_array_equal(whole[1:] if of_all else whole, values)


def test_training_raises_the_likelihood_of_the_demonstrations():
    world = make_world("cartpole-mr")
    demonstrations = demonstrated(world, np.random.default_rng(1), episodes=20)
    means = [
        fit(world, demonstrations, [1], DensitySettings(epochs=epochs)).mean[0]
        for epochs in (0, 4, 12)
    ]
    assert means[0] > means[1] > means[2]


def test_far_points_are_unusual_and_most_demonstrated_ones_are_not(fitted):
    world, demonstrations, density = fitted
    inputs = taken(world, demonstrations)
    far = [[6, 0], [6, 1], [0, 6]] if world.state_size == 2 else [[-2, 0], [-2, 1], [2.4, 0]]
    for run in range(2):
        assert density.unusual(run, inputs).mean() < 0.25
        assert density.unusual(run, np.array(far, np.float32)).all()


def test_an_input_that_never_varies_is_no_division_by_zero():
    world = make_world("cartpole-mr")
    demonstrations = demonstrated(world, np.random.default_rng(2), episodes=10)
    demonstrations.actions[...] = 0  # always to the left
    density = fit(world, demonstrations, [1], FAST)
    inputs = taken(world, demonstrations)
    assert np.isfinite(density.negative_log_likelihood(0, inputs)).all()
    assert np.isfinite([density.mean[0], density.deviation[0]]).all()
    other = inputs.copy()
    other[:, 1] = 1.0  # never seen
    assert density.unusual(0, other).mean() > density.unusual(0, inputs).mean()


def test_of_one_input_the_flow_is_the_normal_distribution():
    """Its mean -log p has a closed form; few steps leave it far from there."""
    world, rng = make_world("halfcheetah"), np.random.default_rng(3)
    states = np.zeros((30, 100, world.observation_size), np.float32)
    states[..., 0] = rng.normal(4.0, 2.5, size=(30, 100))
    actions = np.zeros((30, 100, *world.action_shape), np.float32)
    lengths = np.full(30, 100)
    demonstrations = Trajectories(states, actions, np.zeros((30, 100), np.float32), lengths)
    z = states[..., :1].reshape(-1, 1).astype(np.float64)
    unit = 2.0 * (z - z.min()) / np.ptp(z) - 1.0
    expected = 0.5 * np.log(2.0 * np.pi * np.e * unit.var())

    enough = DensitySettings(epochs=15, learning_rate=5e-3)
    density = fit(world, demonstrations, [1, 2], enough)
    assert normal_surprise(density, 0, z) == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(density.mean, expected, atol=0.02)
    hasty = fit(world, demonstrations, [1, 2], DensitySettings(epochs=1))
    assert (hasty.mean > expected + 0.5).any()


@pytest.mark.parametrize("features", [1, 2, 3, 5])
@pytest.mark.parametrize(("blocks", "hidden"), [(1, (8,)), (5, (64, 64)), (3, (16, 8, 4))])
def test_numpy_evaluates_a_flow_as_zuko_does(features, blocks, hidden):
    flow = build_flow(features, blocks, hidden, torch_seed=features)
    with torch.no_grad():  # away from the initial weights, which are nearly the identity
        for parameter in flow.parameters():
            parameter.mul_(1.2).add_(0.01)
    state = {name: tensor.numpy() for name, tensor in flow.state_dict().items()}
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (500, features)).astype(np.float32)
    with torch.no_grad():
        zuko = -flow().log_prob(torch.as_tensor(points)).numpy()
    ours = Flow(state).negative_log_likelihood(points)
    np.testing.assert_allclose(ours, zuko, rtol=1e-5, atol=1e-5)
    assert ours.dtype == np.float32


def test_a_step_of_adam_is_that_of_torchs_class():
    """Of the fused one: the other takes MKL's square roots, which processors do not share."""
    data = torch.linspace(-1, 1, 60).reshape(20, 3)

    def network():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layers = torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
        return torch.nn.Sequential(*layers)

    ours, theirs = network(), network()
    step = adam_of(list(ours.parameters()), 1e-2)
    optimiser = torch.optim.Adam(theirs.parameters(), 1e-2, fused=True)
    for _ in range(30):
        step(ours(data).square().mean())
        optimiser.zero_grad()
        theirs(data).square().mean().backward()
        optimiser.step()
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
