"""Robots: Gymnasium's, kept to z >= -1, moved by MuJoCo in batches of states.

z is the paper's name for the position along the world's x axis (App. C.2). MuJoCo is imported
where it is used: who only asks for a robot's declarations needs none.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from icl_core.environments.world import Axis, EvaluationGrid, ExpectedSteps, World, stepped

if TYPE_CHECKING:
    import mujoco

FRAME_SKIP = 5
TIME_STEP = 0.05  # seconds: FRAME_SKIP steps of the simulation, under the same action
LIMIT = -1.0  # z at and below which the constraint is violated
START_NOISE = 0.1


class Robot(World):
    """Positions and velocities are observed; actions are torques, clipped to [-1, 1].

    The state adds the solver's warm start (see `Simulation`). Nothing terminates an
    episode but the horizon. `threads` simulate a batch; the results do not depend on it.
    """

    model_file: ClassVar[str]
    positions: ClassVar[int]  # numbers in qpos
    velocities: ClassVar[int]  # numbers in qvel
    start_velocities: ClassVar[tuple[float, float]]  # their bounds at the start

    drawing = "icl_core.environments.pictures.robot"
    discount = 0.99
    input_resolution = np.array([0.05])  # half of the grid's spacing
    reward_room = 0.1
    # Sums of 0.1 in floating point, as the authors' are: 41 nodes are at or below -1.
    grid = EvaluationGrid((Axis("position z", np.arange(-5, 5.05, 0.1), "m"),))

    def __init__(self, settings: World.Settings | None = None, threads: int = 1):
        super().__init__(settings)
        self.threads = threads
        # Metres and radians, and these per second
        self.step_room = np.repeat([0.05, 5.0], [self.positions, self.velocities])

    @property
    def state_size(self) -> int:
        return self.positions + 2 * self.velocities

    @cached_property
    def simulation(self) -> Simulation:
        """Loaded on first use."""
        return Simulation(self.model_file, FRAME_SKIP, self.threads)

    def observe(self, states):
        return states[..., : self.positions + self.velocities].astype(np.float32)

    def initial_states(self, rng, n):
        states = np.tile(self.simulation.start, (n, 1))
        moving = slice(self.positions, self.positions + self.velocities)
        states[:, : self.positions] += rng.uniform(
            -START_NOISE, START_NOISE, size=(n, self.positions)
        )
        states[:, moving] += self._start_velocities(rng, (n, self.velocities))
        return states

    def step(self, states, actions, noise=None):
        torques = np.clip(np.asarray(actions, dtype=np.float64), -1, 1)
        next_states = self.simulation.advance(states, torques)
        rewards = self._rewards(states, torques, next_states)
        return next_states, rewards.astype(np.float32), np.zeros(len(states), dtype=bool)

    def off_start(self, observations):
        centre = self.simulation.start[: self.positions]
        places, moves = np.split(observations.astype(np.float64), [self.positions], axis=1)
        low, high = self.start_velocities
        return np.concatenate(
            [
                np.maximum(np.abs(places - centre) - START_NOISE, 0),
                np.maximum(np.maximum(low - moves, moves - high), 0),
            ],
            axis=1,
        )

    def expected_steps(self, observations, actions) -> ExpectedSteps:
        """Without the solver's warm start, which is not observed: that moves a step by far less
        than `step_room`, but for a foot that just touches the ground or just does not.
        """
        unknown = np.zeros((*observations.shape[:2], self.velocities))
        states = np.concatenate([observations.astype(np.float64), unknown], axis=2)
        return stepped(self, states, actions)

    def constraint_inputs(self, observations, actions):
        return observations[..., :1].astype(np.float32)

    def true_constraint(self, inputs):
        return (inputs[..., 0] <= LIMIT).astype(np.float32)

    @abstractmethod
    def _start_velocities(self, rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        """What is added to the velocities of the model at the start."""

    @abstractmethod
    def _rewards(self, states, torques, next_states) -> np.ndarray:
        """Of a step, (n,)."""


class Simulation:
    """A model of Gymnasium's that moves batches of states, without a memory of its own.

    A state is (qpos, qvel, qacc_warmstart). The last part is where the contact solver
    starts its search: it belongs to MuJoCo's state of integration, and without it a
    trajectory leaves Gymnasium's after some hundred steps (contacts are chaotic);
    with it the two agree to the last bit. So `mujoco.batch` is used and not
    `mujoco.rollout`, which does not give the warm start back.

    `threads` share a batch's rows; the results do not depend on them. What lies in
    the buffers between two calls is never read: every call writes the rows it moves.
    """

    def __init__(self, model_file: str, frame_skip: int, threads: int = 1):
        self.model = load_model(model_file)
        self.frame_skip = frame_skip
        self.threads = threads
        self._size = self.model.nq + 2 * self.model.nv
        self._make_room(1)

    @property
    def start(self) -> np.ndarray:
        """The model's resting state, (state_size,): no velocity, no warm start."""
        return np.concatenate([self.model.qpos0, np.zeros(2 * self.model.nv)])

    def advance(self, states: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """States (n, state_size) after `frame_skip` steps under controls (n, nu) held fixed."""
        n = len(states)
        if n > self._batch.nsim:
            self._make_room(n)
        rows = self._rows[:n]
        rows[:] = states
        self._controls[:n] = controls
        ids = None if n == self._batch.nsim else np.arange(n, dtype=np.int32)
        with _warnings():
            self._batch.step(ids, nstep=self.frame_skip)
        return rows.copy()

    def _make_room(self, n: int) -> None:
        from mujoco.batch import Batch

        self._batch = Batch(self.model, n, self.threads)
        # A row is MuJoCo's whole state of integration: the time, then ours (with neither
        # activations nor history in between, which these models do not have), then the rest.
        self._rows = self._batch.state[:, 1 : 1 + self._size]
        self._controls = self._batch.bind("ctrl")


def load_model(model_file: str) -> mujoco.MjModel:
    """A model that comes with Gymnasium, e.g. "ant.xml"."""
    import mujoco

    # By its place: to import Gymnasium takes 0.2 s, and `gymnasium.envs.mujoco` wants imageio.
    gymnasium = find_spec("gymnasium")
    assert gymnasium is not None and gymnasium.origin is not None
    path = Path(gymnasium.origin).parent / "envs/mujoco/assets" / model_file
    with _warnings():
        model = mujoco.MjModel.from_xml_path(str(path))
    # A robot is one island of constraints: looking for others takes a tenth of Ant's time and
    # changes no bit of the result.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    return model


def posed(model: mujoco.MjModel, state: np.ndarray) -> mujoco.MjData:
    """The model's parts where a state (state_size,) has them."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = state[: model.nq]
    mujoco.mj_forward(model, data)
    return data


def capsules(model: mujoco.MjModel, data: mujoco.MjData) -> list[tuple[np.ndarray, float]]:
    """The robot's parts: both ends (2, 3) and the radius; a sphere's ends are the same."""
    import mujoco

    found = []
    for geom in np.flatnonzero(model.geom_bodyid > 0):
        radius, half, _ = model.geom_size[geom]
        is_sphere = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE
        axis = data.geom_xmat[geom].reshape(3, 3)[:, 2] * (0 if is_sphere else half)
        found.append((data.geom_xpos[geom] + np.stack([-axis, axis]), float(radius)))
    return found


@contextmanager
def _warnings() -> Iterator[None]:
    """MuJoCo's warnings as Python's, not in a MUJOCO_LOG.TXT in the current folder."""
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_pass_on)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _pass_on(text: str) -> None:
    # An attribute of Gymnasium's half_cheetah.xml is going out of use: not the user's to fix.
    if "settotalmass" not in text:
        warnings.warn(f"MuJoCo: {text}", RuntimeWarning, stacklevel=2)
