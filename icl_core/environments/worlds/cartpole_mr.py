"""CartPole Move-Right: the cart starts where it may not stay (paper, App. C.2)."""

from __future__ import annotations

import numpy as np

from icl_core.environments.cartpole import CartPole

GYMNASIUM_ID = "icl/CartPoleMoveRight-v0"


class CartPoleMoveRight(CartPole):
    """Starts at the centre, which is constrained: the cart must move right."""

    title = "CartPole (MR)"
    horizon = 200
    threshold = 50.0

    def true_constraint(self, inputs):
        return (inputs[..., 0] <= 0.2).astype(np.float32)
