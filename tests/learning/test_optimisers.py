"""Adam and the multiplier of a stack, against PyTorch."""

import numpy as np
import torch

from icl_core.learning.engine.optimisers import Adam, Multiplier


def test_adam_follows_torch_on_given_gradients():
    """Without feedback through a network rounding cannot grow, so the tolerance is tight.

    The gradients span 12 orders of magnitude: epsilon matters in the smallest.
    """
    rng = np.random.default_rng(4)
    start = rng.normal(size=(3, 40)).astype(np.float32)
    scales = 10.0 ** rng.uniform(-10, 2, size=(1, 40))
    theirs = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([theirs], 5e-4)
    ours, parameters = Adam(start, 5e-4), start.copy()
    for _ in range(200):
        gradient = (rng.normal(size=start.shape) * scales).astype(np.float32)
        theirs.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
        ours.step(parameters, gradient.copy())
    np.testing.assert_allclose(parameters, theirs.detach().numpy(), atol=1e-5)


def test_adam_lets_no_moment_become_denormal():
    adam, parameters = Adam(np.zeros((1, 2), np.float32), 1e-3), np.zeros((1, 2), np.float32)
    adam.step(parameters, np.array([[1.0, 1e-12]], np.float32))
    smallest = np.finfo(np.float32).tiny
    for _ in range(2000):
        adam.step(parameters, np.zeros((1, 2), np.float32))
        for moments in (adam.first, adam.second):
            assert not ((moments != 0) & (np.abs(moments) < smallest)).any()


def test_the_multiplier_follows_torch():
    """nu = softplus(kappa), Adam on -nu (cost - budget), nu = 0.1 at first."""
    ours = Multiplier(2, 0.1, 0.01)
    np.testing.assert_allclose(ours.value, 0.1)
    kappa = torch.full((2,), float(np.log(np.expm1(0.1))), dtype=torch.float64, requires_grad=True)
    theirs = torch.optim.Adam([kappa], 0.01)
    rng = np.random.default_rng(0)
    for _ in range(100):
        excess = rng.uniform(-0.5, 1.0, size=2)
        ours.step(excess.copy())
        theirs.zero_grad()
        (-torch.nn.functional.softplus(kappa) * torch.tensor(excess)).sum().backward()
        theirs.step()
    expected = torch.nn.functional.softplus(kappa).detach().numpy()
    np.testing.assert_allclose(ours.value, expected, rtol=1e-4)


def test_a_multiplier_grows_while_there_is_any_cost():
    multiplier = Multiplier(1, 0.1, 0.01)
    values = []
    for _ in range(50):
        multiplier.step(np.array([0.01]))
        values.append(multiplier.value[0])
    assert (np.diff([0.1, *values]) > 0).all()
