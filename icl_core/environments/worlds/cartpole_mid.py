"""CartPole Middle: the cart starts near an end and must come to the middle (paper, App. C.2)."""

from __future__ import annotations

import numpy as np

from icl_core.environments.cartpole import X_LIMIT, CartPole

GYMNASIUM_ID = "icl/CartPoleMiddle-v0"
NEAREST = 1.15  # to the middle, at the start


class CartPoleMiddle(CartPole):
    """Starts near either end; pushing further outwards there is constrained."""

    title = "CartPole (Mid)"
    horizon = 200
    threshold = 30.0

    def initial_states(self, rng, n):
        states = super().initial_states(rng, n)
        side = rng.choice([-1.0, 1.0], size=n)
        states[:, 0] = side * rng.uniform(NEAREST, X_LIMIT, size=n)
        return states

    def off_start(self, observations):
        off = super().off_start(observations)
        x = np.abs(observations[:, 0])
        off[:, 0] = np.maximum(np.maximum(NEAREST - x, x - X_LIMIT), 0)
        return off

    def true_constraint(self, inputs):
        x, action = inputs[..., 0], np.rint(inputs[..., 1])
        outwards = ((x > 1) & (action == 1)) | ((x < -1) & (action == 0))
        return outwards.astype(np.float32)
