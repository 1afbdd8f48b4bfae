"""MuJoCo over batches of states, without a memory of its own.

A state is (qpos, qvel, qacc_warmstart). The last part is where the contact solver
starts its search: it belongs to MuJoCo's state of integration, and without it a
trajectory leaves Gymnasium's after some hundred steps (contacts are chaotic);
with it the two agree to the last bit. So `mujoco.batch` is used and not
`mujoco.rollout`, which does not give the warm start back.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files

import mujoco
import numpy as np
from mujoco.batch import Batch


class Simulation:
    """A model of Gymnasium's that moves batches of states.

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
        self._batch = Batch(self.model, n, self.threads)
        # A row is MuJoCo's whole state of integration: the time, then ours (with neither
        # activations nor history in between, which these models do not have), then the rest.
        self._rows = self._batch.state[:, 1 : 1 + self._size]
        self._controls = self._batch.bind("ctrl")


def load_model(model_file: str) -> mujoco.MjModel:
    """A model that comes with Gymnasium, e.g. "ant.xml"."""
    # By its place in the package: `gymnasium.envs.mujoco` itself wants imageio to be imported.
    with as_file(files("gymnasium") / "envs/mujoco/assets" / model_file) as path, _warnings():
        model = mujoco.MjModel.from_xml_path(str(path))
    # A robot is one island of constraints: looking for others takes a tenth of Ant's time and
    # changes no bit of the result.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    return model


def posed(model: mujoco.MjModel, state: np.ndarray) -> mujoco.MjData:
    """The model's parts where a state (state_size,) has them."""
    data = mujoco.MjData(model)
    data.qpos[:] = state[: model.nq]
    mujoco.mj_forward(model, data)
    return data


def capsules(model: mujoco.MjModel, data: mujoco.MjData) -> list[tuple[np.ndarray, float]]:
    """The robot's parts: both ends (2, 3) and the radius; a sphere's ends are the same."""
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
