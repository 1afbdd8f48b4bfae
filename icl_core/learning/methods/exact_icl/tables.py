"""Tables over the cells of a gridworld as networks: what reads networks reads them.

A first layer measures how far row and column lie beyond each of the seven, on either side; a second
has one unit for each cell, max(0, 1 - |i - i0| - |j - j0|), which is 1 there and 0 in all other
cells; the last layer holds the table. In cells this is the table itself, to float32. Between cells,
where no gridworld ever is, it says nothing that was learned.
"""

from __future__ import annotations

import numpy as np

from icl_core.environments.gridworld import SIZE
from icl_core.learning.engine.networks import Networks

# sigmoid(15) = 1 - 3e-7: c = 0 and c = 1 have no finite logits.
STEEPEST = 15.0
RAREST = 1e-9  # probability of an action that is never taken


def constraint_networks(constraints: np.ndarray) -> Networks:
    """c = sigmoid(output) of tables (runs, cells)."""
    edge = 1.0 / (1.0 + np.exp(STEEPEST))
    inside = np.clip(constraints, edge, 1.0 - edge)
    return _networks((np.log(inside) - np.log1p(-inside))[..., None])


def policy_networks(policies: np.ndarray) -> Networks:
    """pi = softmax(outputs) of tables (runs, cells, actions)."""
    return _networks(np.log(np.maximum(policies, RAREST)))


def _networks(values: np.ndarray) -> Networks:
    """Networks whose output in each cell is (runs, cells, outputs)."""
    runs, cells, outputs = values.shape
    networks = Networks.blank(runs, (2, 4 * SIZE, cells, outputs))
    (sides, beyond), (units, room), (table, _) = networks.layers
    lines = np.arange(SIZE)
    for axis in range(2):
        for way, sign in enumerate((1.0, -1.0)):
            place = (2 * axis + way) * SIZE + lines
            sides[:, axis, place], beyond[:, 0, place] = sign, -sign * lines
            # Cell s lies in this line of the axis.
            mine = (np.arange(cells) // SIZE, np.arange(cells) % SIZE)[axis]
            units[:, (2 * axis + way) * SIZE + mine, np.arange(cells)] = -1.0
    room[...] = 1.0
    table[...] = values
    return networks
