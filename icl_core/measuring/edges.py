"""Where the edge of a forbidden side can lie, by what the demonstrations spend there.

In worlds whose constraint is one position (the robots; CartPole, whatever the action), take
c(x) = 1 on one side of an edge and 0 on the other. The farther the edge reaches into what the
demonstrations visit, the more they cost, so those with J_E(c) <= beta are all edges up to one. Only
the budget is asked here: whether the expert is optimal under such an edge would need its dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, discounts
from icl_core.environments.world import Axis, World
from icl_core.errors import InputError


@dataclass(frozen=True)
class Edges:
    """The edges that the budget allows, along one axis and in its units."""

    axis: Axis
    below: float  # x < edge can be forbidden for all edges up to this; inf: for every edge
    above: float  # x > edge can be forbidden for all edges from this on; -inf: for every edge


def has_edge(world: World) -> bool:
    """Whether its constraint is one position, whatever the action."""
    return len(_places(world)) == 1


def _places(world: World) -> list[int]:
    return [k for k in range(world.input_size) if k != world.grid.sliced_by]


def edge_axis(world: World) -> int:
    """The one input that is no action; an InputError where there are several."""
    if has_edge(world):
        return _places(world)[0]
    names = ", ".join(world.grid.axes[k].name for k in _places(world))
    raise InputError(
        f"{world.name}: expected a gridworld, or a constraint of one position, found one of {names}"
        "; choose one input"
    )


def allowed_edges(world: World, demonstrations: Trajectories, beta: float) -> Edges:
    """{edge : J_E(c_edge) <= beta} for either side, from the demonstrations alone."""
    which = edge_axis(world)
    axis = world.grid.axes[which]
    inputs = world.constraint_inputs(demonstrations.states, demonstrations.actions)
    episode, step = np.nonzero(demonstrations.mask)
    places = inputs[episode, step, which].astype(np.float64) * axis.scale + axis.origin
    weights = discounts(world.discount, inputs.shape[1])[step] / len(demonstrations)
    return Edges(axis, _farthest(places, weights, beta), -_farthest(-places, weights, beta))


def _farthest(places: np.ndarray, weights: np.ndarray, beta: float) -> float:
    """The largest edge such that places below it weigh at most beta together."""
    order = np.argsort(places, kind="stable")
    spent = np.cumsum(weights[order])
    broken = np.searchsorted(spent, beta * (1 + 1e-12), side="right")
    return float(places[order[broken]]) if broken < len(places) else float("inf")
