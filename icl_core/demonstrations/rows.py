"""Steps of demonstrations under examination, a row each, wherever they were read from.

`Rows` is what a file (`files`) and a Minari data set (`minari_sets`) have in common: what their
columns must hold, how rows become episodes, and what their faults are called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError

SCHEMA = pa.schema(
    {
        "trajectory": pa.int32(),
        "step": pa.int32(),
        "state": pa.list_(pa.float32()),
        "action": pa.list_(pa.float32()),
        "reward": pa.float32(),
    }
)
# What several runs did, or were shown: whose each step is, besides.
SEEDED_SCHEMA = pa.schema([pa.field("seed", pa.int32()), *SCHEMA])


class Values(NamedTuple):
    """What stands in each row, all of it finite, in float64."""

    states: np.ndarray  # (rows, observation_size)
    actions: np.ndarray  # (rows, action_size)
    rewards: np.ndarray  # (rows,)


class Rows(ABC):
    """A source of steps under examination; see the module's docstring."""

    def __init__(self, name: str, most_steps: int | None = None):
        """`most_steps` counts every trajectory as long as the longest: so they lie in memory."""
        self.name = name  # what errors call it
        self.most_steps = most_steps
        self.rows: dict[str, np.ndarray] | None = None  # trajectory and step, once they are known
        # Once they are read: the rows by trajectory and step, and where in these each begins.
        self.order = self.starts = np.zeros(0, np.int64)

    @abstractmethod
    def check_world(self, world: World) -> None:
        """Raise an InputError where this cannot hold demonstrations of that world."""

    @abstractmethod
    def amount(self, world: World) -> int:
        """How many rows there are, found without reading them."""

    @abstractmethod
    def read(self) -> pa.Table:
        """The columns of `SCHEMA`; at least one row, a value in each."""

    def trajectories(self, world: World) -> Trajectories:
        """The episodes, in order of their numbers; InputError where they are faulty."""
        self.check_world(world)
        values = self.values(self.read(), world.observation_size, world.action_size)
        actions = values.actions
        _check_states(self, world, values.states)
        if world.discrete:
            actions = actions[:, 0]
            _check_actions(self, world, actions)
        lengths = self.arrange()
        _check_horizon(self, world, lengths)
        self.check_steps(len(lengths) * int(lengths.max()))
        at = np.nonzero(np.arange(lengths.max()) < lengths[:, None])
        return Trajectories(
            states=_padded(values.states[self.order], at, np.float32),
            actions=_padded(actions[self.order], at, np.int64 if world.discrete else np.float32),
            rewards=_padded(values.rewards[self.order], at, np.float32),
            lengths=lengths,
        )

    def values(self, table: pa.Table, observation_size: int, action_size: int) -> Values:
        """The columns, checked row by row for themselves."""
        self.rows = {name: self.whole(table, name) for name in ("trajectory", "step")}
        states = self.vectors(table, "state", observation_size)
        actions = self.vectors(table, "action", action_size)
        rewards = table["reward"].cast(pa.float64(), safe=False).to_numpy()
        return Values(states, actions, self.finite("reward", rewards))

    def arrange(self) -> np.ndarray:
        """Find each trajectory's rows; their steps are 0, 1, 2, ... The trajectories' lengths."""
        assert self.rows is not None
        self.order = order = np.lexsort((self.rows["step"], self.rows["trajectory"]))
        trajectory, step = self.rows["trajectory"][order], self.rows["step"][order]
        self.starts = np.flatnonzero(np.diff(trajectory, prepend=trajectory[0] - 1))
        lengths = np.diff(self.starts, append=len(trajectory))
        wanted = np.arange(len(step)) - np.repeat(self.starts, lengths)
        wrong = np.flatnonzero(step != wanted)
        if len(wrong):
            k = wrong[0]
            repeated = wanted[k] > 0 and step[k] == step[k - 1]
            raise self.fault(
                f"step {wanted[k]} of trajectory {trajectory[k]}",
                f"step {step[k]} " + ("a second time" if repeated else "in its place"),
                "number the steps of each trajectory 0, 1, 2, ... without gaps",
                int(order[k]),
            )
        return lengths

    def row(self, episode: int, step: int) -> int:
        """The row of a step, once the rows are arranged."""
        return int(self.order[self.starts[episode] + step])

    def place(self, row: int) -> str:
        """Where a fault is, in an error's words."""
        if self.rows is None:
            return f" row {row}"
        trajectory, step = (self.rows[name][row] for name in ("trajectory", "step"))
        return f" row {row} (trajectory {trajectory}, step {step})"

    def fault(self, expected: str, found: str, advice: str, row: int | None = None) -> InputError:
        """The error that says so."""
        where = "" if row is None else self.place(row)
        return InputError(f"{self.name}:{where} expected {expected}, found {found}; {advice}")

    def check(self, right: np.ndarray, values: np.ndarray, expected: str, advice: str) -> None:
        """Raise an InputError that names the first row that is not right."""
        if not right.all():
            row = int(np.argmin(right))
            raise self.fault(expected, shown(values[row]), advice, row)

    def check_steps(self, found: int) -> None:
        """Not more of them than `most_steps`."""
        if self.most_steps is not None and found > self.most_steps:
            expected = f"at most {self.most_steps} steps"
            raise self.fault(expected, f"{found}", "leave trajectories out")

    def whole(self, table: pa.Table, name: str) -> np.ndarray:
        """A column of whole numbers, int64, whatever number type it is stored in."""
        values = table[name].to_numpy()
        if values.dtype.kind == "f":
            right = (np.abs(values) < 2**53) & (values == np.rint(values))
        else:
            right = values <= np.iinfo(np.int64).max
        self.check(right, values, f"a whole number as {name!r}", "number the rows anew")
        return values.astype(np.int64)

    def vectors(self, table: pa.Table, name: str, size: int) -> np.ndarray:
        """A column of lists as (rows, size) float64, each list of that length and finite."""
        column = table[name].combine_chunks()
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        self.check(
            lengths == size,
            lengths,
            f"{size} number{'s' * (size != 1)} in {name!r}",
            f"give each row the {name} of this environment",
        )
        values = pc.list_flatten(column).cast(pa.float64(), safe=False)
        return self.finite(name, values.to_numpy(zero_copy_only=False).reshape(-1, size))

    def finite(self, name: str, values: np.ndarray) -> np.ndarray:
        """The same values, none undefined nor beyond float32, in which learning computes."""
        right = np.abs(values) <= np.finfo(np.float32).max  # False for NaN too
        advice = "correct the number or leave the trajectory out"
        expected = f"finite numbers in {name!r}" if values.ndim > 1 else f"a finite {name!r}"
        self.check(right.reshape(len(values), -1).all(axis=1), values, expected, advice)
        return values


def _check_states(rows: Rows, world: World, states: np.ndarray) -> None:
    # Half a float32 step of room: a bound may have been rounded on its way into the file.
    low, high = (np.float64(b) for b in (world.observation_low, world.observation_high))
    room = 1e-6 * np.maximum(1, np.abs(states))
    inside = ((states >= low - room) & (states <= high + room)).all(axis=1)
    bounds = f"{shown(world.observation_low)} to {shown(world.observation_high)}"
    advice = "check the state's columns and units"
    rows.check(inside, states, f"a state of {world.name} from {bounds}", advice)


def _check_actions(rows: Rows, world: World, actions: np.ndarray) -> None:
    right = (actions == np.rint(actions)) & (actions >= 0) & (actions < world.n_actions)
    expected = f"an action of {world.name}, a whole number from 0 to {world.n_actions - 1}"
    rows.check(right, actions, expected, "number the actions as this environment does")


def _check_horizon(rows: Rows, world: World, lengths: np.ndarray) -> None:
    beyond = np.flatnonzero(lengths > world.horizon)
    if len(beyond):
        episode = int(beyond[0])
        row = rows.row(episode, world.horizon)
        assert rows.rows is not None
        raise rows.fault(
            f"at most {world.horizon} steps in a trajectory of {world.name}",
            f"{lengths[episode]} in trajectory {rows.rows['trajectory'][row]}",
            "cut the trajectory at the horizon",
            row,
        )


def _padded(values: np.ndarray, at: tuple[np.ndarray, ...], dtype: type) -> np.ndarray:
    """Rows laid out as (episodes, longest, ...), zeros where no step was taken."""
    episode, step = at
    padded = np.zeros((episode[-1] + 1, step.max() + 1, *values.shape[1:]), dtype=dtype)
    padded[at] = values
    return padded


def lists(values: np.ndarray) -> pa.ListArray:
    """The rows of (n, size) as lists of float32."""
    offsets = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(offsets, pa.array(values.ravel(), pa.float32()))


def shown(values) -> str:
    """Numbers as they stand in an error: of many, the first."""
    if np.ndim(values) == 0:
        return f"{values:.6g}" if np.asarray(values).dtype.kind == "f" else str(values)
    more = ", ..." if len(values) > 6 else ""
    return "(" + ", ".join(f"{value:.6g}" for value in values[:6]) + more + ")"
