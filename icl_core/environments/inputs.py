"""What a constraint sees of an observation and an action: a few numbers, each along an axis.

All worlds of the paper, and whoever chooses components by name, see linear functions of the two:
these can be written to a file and used without the world. A function of one's own cannot, so it
must be given again to whoever reads the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, World
from icl_core.errors import InputError

REACH = 2.0  # chosen inputs go from minus this to this
# How many nodes an axis has, by the number of axes: so many that distances between all of them can
# still be measured exactly.
NODES = {1: 41, 2: 21, 3: 11, 4: 7, 5: 5, 6: 3, 7: 3}
Function = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (..., size), (..., size) -> (..., k)


@dataclass(frozen=True)
class Inputs:
    """From observations and actions to the k inputs of a constraint.

    Input k is what `function` gives, or the k-th row of `weights` times the joined observation and
    action (one of n actions is the number that it has); then `offset` is added.
    """

    grid: (
        EvaluationGrid  # an axis for each input: its name, unit, and the nodes that it is drawn at
    )
    observation_size: int
    action_size: int  # 1 for one of n actions
    weights: (
        np.ndarray
    )  # (inputs, observation_size + action_size) float32; of a function (inputs, inputs)
    offset: np.ndarray  # (inputs,) float32
    function: Function | None = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.grid.axes

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    def __call__(self, observations: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """(..., inputs) float32 of observations (..., size) and actions (...) or (..., size)."""
        if self.function is not None:
            seen = np.asarray(self.function(observations, actions), np.float32)
        else:
            observations = np.asarray(observations, np.float32)
            actions = np.asarray(actions, np.float32)
            if actions.ndim < observations.ndim:
                actions = actions[..., None]
            seen = np.concatenate([observations, actions], axis=-1)
        return seen @ self.weights.T + self.offset


def inputs_of(world: World) -> Inputs:
    """What the constraints of a world see, as a linear function: found by trying.

    A world whose inputs are no linear function keeps its own.
    """
    size = world.observation_size + world.action_size

    def seen(joined: np.ndarray) -> np.ndarray:
        observations, actions = np.split(joined, [world.observation_size], axis=-1)
        return world.constraint_inputs(observations, actions[..., 0] if world.discrete else actions)

    zero = np.zeros((1, size), np.float32)
    offset = seen(zero)[0]
    weights = (seen(np.eye(size, dtype=np.float32)) - offset).T
    trial = np.random.default_rng(0).uniform(-9, 9, (16, size)).astype(np.float32)
    linear = np.allclose(trial @ weights.T + offset, seen(trial), atol=1e-4)
    rest = (world.observation_size, world.action_size)
    if linear:
        return Inputs(world.grid, *rest, weights, offset)
    k = world.input_size
    own = world.constraint_inputs
    return Inputs(world.grid, *rest, np.eye(k, dtype=np.float32), np.zeros(k, np.float32), own)


def see(world: World, inputs: Inputs) -> None:
    """Let the constraints of a world see these inputs. Their truth is then not known."""
    spacing = [axis.nodes[1] - axis.nodes[0] for axis in inputs.axes]
    halves = [1.0 if k == inputs.grid.sliced_by else 0.5 for k in range(len(spacing))]
    vars(world).update(
        constraint_inputs=inputs,
        grid=inputs.grid,
        input_resolution=np.array(halves) * spacing,
        true_constraint=None,
    )


@dataclass(frozen=True)
class Components:
    """The numbers of observations and actions that a constraint may see."""

    names: tuple[str, ...]  # of observations, then of actions
    values: np.ndarray  # (n, observation_size + action_size) of demonstrations
    low: np.ndarray  # (observation_size + action_size,) bounds of the spaces, may be infinite
    high: np.ndarray
    observation_size: int
    n_actions: int = 0  # 0: actions are real vectors

    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        """Observations (n, size), and actions (n,) or (n, size)."""
        seen, done = np.split(self.values, [self.observation_size], axis=-1)
        return seen.astype(np.float32), done[:, 0] if self.n_actions else done.astype(np.float32)

    def place(self, one: int | str) -> int:
        """Where a component stands."""
        if isinstance(one, str) and one in self.names:
            return self.names.index(one)
        if isinstance(one, int | np.integer) and 0 <= one < len(self.names):
            return int(one)
        raise InputError(
            f"inputs: expected names of components ({', '.join(self.names)}) or their numbers from "
            f"0 to {len(self.names) - 1}, found {one!r}; choose among them, or give a function"
        )


Bounds = Mapping[str, tuple[float, float]]


def chosen_inputs(
    which: Sequence[int | str] | Function, components: Components, bounds: Bounds | None = None
) -> Inputs:
    """Inputs by the names or numbers of components, or by a function of one's own.

    Each is scaled to -2 to 2 over its range: that of the demonstrations and half as much on either
    side, within the bounds of the spaces, unless `bounds` says otherwise.
    """
    split = components.observation_size
    rest = (split, len(components.names) - split)
    if callable(which):
        seen = np.asarray(which(*components.halves()), np.float64)
        free = np.full(seen.shape[-1], np.inf)
        names = tuple(f"input {number}" for number in range(1, len(free) + 1))
        axes = _axes(names, seen, (-free, free), bounds)
        weights = np.eye(len(free))
        grid = EvaluationGrid(axes)
        return Inputs(grid, *rest, *_scaling(axes, weights), which)
    places = [components.place(one) for one in which]
    names = tuple(components.names[place] for place in places)
    limits = (components.low[places], components.high[places])
    axes = _axes(names, components.values[:, places], limits, bounds)
    sliced_by = None
    if components.n_actions and split in places:
        sliced_by = places.index(split)
        action = Axis(names[sliced_by], np.arange(components.n_actions, dtype=np.float64))
        axes = (*axes[:sliced_by], action, *axes[sliced_by + 1 :])
    weights = np.eye(len(components.names))[places]
    return Inputs(EvaluationGrid(axes, sliced_by), *rest, *_scaling(axes, weights))


def _scaling(axes: Sequence[Axis], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights and offsets with which the axes' units become their nodes."""
    scale, origin = (
        np.array([getattr(axis, name) for axis in axes]) for name in ("scale", "origin")
    )
    return (weights / scale[:, None]).astype(np.float32), (-origin / scale).astype(np.float32)


def _axes(
    names: Sequence[str],
    seen: np.ndarray,
    limits: tuple[np.ndarray, np.ndarray],
    bounds: Bounds | None,
) -> tuple[Axis, ...]:
    """An axis for each column of `seen` (n, inputs)."""
    bounds = dict(bounds or {})
    if not 1 <= len(names) <= max(NODES) or len(set(names)) < len(names):
        raise InputError(
            f"inputs: expected 1 to {max(NODES)} different components, found "
            f"{', '.join(names) or 'none'}; choose what the constraint may depend on"
        )
    unknown = [name for name in bounds if name not in names]
    if unknown:
        raise InputError(
            f"bounds: expected names of inputs ({', '.join(names)}), found {', '.join(unknown)}; "
            "correct the names"
        )
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = np.maximum(high - low, 1e-6) / 2
    low, high = np.maximum(low - room, limits[0]), np.minimum(high + room, limits[1])
    ends = [bounds.get(name, (low[k], high[k])) for k, name in enumerate(names)]
    count = NODES[len(names)]
    return tuple(_axis(name, one, count) for name, one in zip(names, ends, strict=True))


def _axis(name: str, ends: tuple[float, float], count: int) -> Axis:
    """An axis whose ends are the given numbers, in their own units."""
    low, high = ends
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(
            f"bounds of {name}: expected a lower and a higher number, found {low:g} and {high:g}; "
            "give bounds={...} for it"
        )
    nodes = np.linspace(-REACH, REACH, count)
    return Axis(name, nodes, scale=float(high - low) / (2 * REACH), origin=float(high + low) / 2)
