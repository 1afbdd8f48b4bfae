"""What every environment declares, in one place.

A `World` is the paper's CMDP (S, A, p, mu, r, gamma) with its constraint
function c and threshold beta. It is written over batches: `initial_states`
draws n start states and `step` moves n episodes at once, so that a stack of
independent runs can be simulated together. It keeps no state and no random
generator of its own: randomness is passed in, which is what makes a run
reproducible and independent of the runs it is stacked with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Axis:
    """One input of the constraint function and the nodes at which it is evaluated."""

    name: str
    nodes: np.ndarray  # (n,) evenly spaced, increasing, as the constraint function sees them
    unit: str = ""
    scale: float = 1.0  # units per 1 of the input, where it is seen in other units than drawn
    origin: float = 0.0  # in these units, of the input 0

    @property
    def label(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def physical(self) -> np.ndarray:
        """(n,) the nodes in `unit`."""
        return self.nodes * self.scale + self.origin

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """Index of the nearest node, or -1 where a value lies outside the grid."""
        spacing = self.nodes[1] - self.nodes[0]
        index = np.rint((values - self.nodes[0]) / spacing)
        # Compared before the cast: NaN, infinite and huge values are outside, without a warning.
        inside = (index >= 0) & (index < len(self.nodes))
        return np.where(inside, index, -1).astype(np.int64)


@dataclass(frozen=True)
class EvaluationGrid:
    """The nodes on which constraints are compared (CMSE) and visits counted (NAD).

    `sliced_by` names an axis whose slices are compared separately: CartPole's
    accruals are normalised per action and their distances added (paper, App. C).
    """

    axes: tuple[Axis, ...]
    sliced_by: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.nodes) for axis in self.axes)

    @cached_property
    def nodes(self) -> np.ndarray:
        """All nodes, (n, inputs), last axis fastest."""
        mesh = np.meshgrid(*(axis.nodes for axis in self.axes), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=-1)

    def locate(self, inputs: np.ndarray) -> np.ndarray:
        """Flat node index of each row of constraint inputs (..., k); -1 outside."""
        index = [axis.nearest(inputs[..., k]) for k, axis in enumerate(self.axes)]
        outside = np.any([i < 0 for i in index], axis=0)
        flat = np.ravel_multi_index([np.maximum(i, 0) for i in index], self.shape)
        return np.where(outside, -1, flat)


class ExpectedSteps(NamedTuple):
    """What must follow each row of some episodes; a row agrees with one of the cases or is wrong.

    NaN stands where the observations do not tell what must follow.
    """

    observations: np.ndarray  # (cases, episodes, steps, observation_size) of the next row
    rewards: np.ndarray  # (cases, episodes, steps)
    over: np.ndarray  # (cases, episodes, steps) bool: the episode is over, so there is no next row


class World(ABC):
    """A constrained environment; see the module's docstring.

    A state is whatever the simulation needs, an observation what the agent is given
    of it. In the simplest worlds they are the same.

    A world is found by the name of its file: `worlds/gridworld_a.py` is `gridworld-a`. There it
    writes out, as plain values, `title` and `horizon`, and at the file's top `GYMNASIUM_ID`: so
    they are known without importing it. Its settings are a dataclass `Settings` inside the class,
    with `icl_core.settings.setting` for each; they are given to `__init__`.
    """

    @dataclass(frozen=True)
    class Settings:
        """What a user may choose of a world: nothing, unless it says so."""

    name: str  # as it appears in configuration, paths and tables; by default that of the file
    title: str  # as the paper writes it
    recorded: ClassVar[bool] = False  # whether it replays recordings: `__init__` takes a `scene`
    forward: ClassVar[bool] = False  # whether it can only begin episodes and step (`forward`)
    source: str | None = None  # of its recordings: SIMULATED or RECORDED
    drawing: ClassVar[str] = ""  # the module with its `picture(world, state)`, imported to draw
    discount: float  # gamma
    threshold: float  # beta, the paper's
    horizon: int  # steps after which an episode ends
    n_actions: int = 0  # actions are 0 .. n_actions - 1; 0: they are real vectors
    action_low: np.ndarray  # (action_size,) float32, of real vectors; may be infinite
    action_high: np.ndarray
    observation_low: np.ndarray  # (observation_size,) float32
    observation_high: np.ndarray
    # What each number of an observation and of an action is called, for users; may be left out.
    observation_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    grid: EvaluationGrid
    noise_size: int = 0  # uniform draws that `step` needs per episode
    input_resolution: np.ndarray  # (inputs,) spacing below which two inputs count as the same
    # (observation_size,) how far a demonstrated row may lie from the expected one
    step_room: np.ndarray | float = 1e-3
    reward_room: float = 1e-3  # and its reward

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2].strip("_").replace("_", "-")

    def __init__(self, settings: Settings | None = None):
        self.settings = self.Settings() if settings is None else settings

    @property
    def discrete(self) -> bool:
        """Whether an action is one of `n_actions`; otherwise it is a real vector."""
        return self.n_actions > 0

    @property
    def action_size(self) -> int:
        """Numbers that an action is written with."""
        return 1 if self.discrete else len(self.action_low)

    @property
    def action_shape(self) -> tuple[int, ...]:
        """Axes that actions have besides those of the steps."""
        return () if self.discrete else (self.action_size,)

    @property
    def observation_size(self) -> int:
        return len(self.observation_low)

    @property
    def state_size(self) -> int:
        return self.observation_size

    @property
    def input_size(self) -> int:
        """Number of inputs of the constraint function."""
        return len(self.grid.axes)

    def observe(self, states: np.ndarray) -> np.ndarray:
        """What the agent is given of states (..., state_size): (..., observation_size) float32."""
        return states.astype(np.float32)

    def features(self, observations: np.ndarray) -> np.ndarray:
        """Observations as policy and value networks see them: of order one, where they are not."""
        return observations

    @abstractmethod
    def initial_states(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n start states from mu, (n, state_size), as precise as the simulation needs them."""

    @abstractmethod
    def step(
        self, states: np.ndarray, actions: np.ndarray, noise: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Move (n, state_size) states: next states, rewards (n,), terminated (n,).

        Actions are (n,) whole numbers, or (n, action_size) as a policy drew them: a world
        with bounds clips them itself. `noise` holds (n, noise_size) uniform draws where the
        world needs them. The horizon is kept by whoever rolls out, not here.
        """

    @abstractmethod
    def constraint_inputs(self, observations: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """What the constraint function sees of (s, a): (..., input_size) float32."""

    # The true c at inputs (..., input_size), 0 or 1: for experts and scoring only. None where
    # nobody knows it.
    true_constraint: Callable[[np.ndarray], np.ndarray] | None

    # Both of these look at demonstrations that a user brings. By default nothing is checked.

    def off_start(self, observations: np.ndarray) -> np.ndarray | None:
        """How far first observations (n, observation_size) lie from where an episode can start.

        The same shape, 0 where nothing is wrong; None: not known.
        """
        return None

    def expected_steps(self, observations: np.ndarray, actions: np.ndarray) -> ExpectedSteps | None:
        """What must follow each row of episodes (n, steps, ...), padded with zeros; None: unknown.

        Where the observation is the whole state and `step` draws nothing, that is
        `stepped(self, observations, actions)`.
        """
        return None

    @cached_property
    def true_on_grid(self) -> np.ndarray | None:
        """The true c at the grid's nodes, flat."""
        if self.true_constraint is None:
            return None
        return self.true_constraint(self.grid.nodes).astype(np.float64)


def stepped(
    world: World, states: np.ndarray, actions: np.ndarray, noise: np.ndarray | None = None
) -> ExpectedSteps:
    """What `step` makes of each of (n, steps, state_size) states.

    `noise` (cases, noise_size) lists draws that show all that may happen, where it is a matter of
    chance.
    """
    n, steps = states.shape[:2]
    flat, taken = states.reshape(n * steps, -1), actions.reshape(n * steps, *world.action_shape)
    cases = [None] if noise is None else [np.tile(one, (n * steps, 1)) for one in noise]
    found = [world.step(flat, taken, case) for case in cases]
    return ExpectedSteps(
        np.stack([world.observe(moved).reshape(n, steps, -1) for moved, _, _ in found]),
        np.stack([rewards.reshape(n, steps) for _, rewards, _ in found]),
        np.stack([over.reshape(n, steps) for _, _, over in found]),
    )
