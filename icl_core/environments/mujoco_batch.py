"""MuJoCo over batches of states, without a memory of its own.

A state is (qpos, qvel, qacc_warmstart). The last part is where the contact solver
starts its search: it belongs to MuJoCo's state of integration, and without it a
trajectory leaves Gymnasium's after some hundred steps (contacts are chaotic);
with it the two agree to the last bit. `mujoco.rollout` would move a whole batch
in one call, but does not give the warm start back, so the rows are stepped here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib.resources import as_file, files

import mujoco
import numpy as np

_STATE = int(
    mujoco.mjtState.mjSTATE_QPOS | mujoco.mjtState.mjSTATE_QVEL | mujoco.mjtState.mjSTATE_WARMSTART
)


class Simulation:
    """A model of Gymnasium's that moves batches of states.

    `threads` shares a batch's rows out; the results do not depend on it. One
    simulation serves one caller at a time: its threads each own a scratch MjData.
    """

    def __init__(self, model_file: str, frame_skip: int, threads: int = 1):
        self.model = load_model(model_file)
        self.frame_skip = frame_skip
        self.threads = threads
        self._scratch = [mujoco.MjData(self.model) for _ in range(threads)]

    @property
    def start(self) -> np.ndarray:
        """The model's resting state, (state_size,)."""
        velocities = np.zeros(2 * self.model.nv)  # and no warm start
        return np.concatenate([self.model.qpos0, velocities])

    def advance(self, states: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """States (n, state_size) after `frame_skip` steps under controls (n, nu) held fixed."""
        states = np.ascontiguousarray(states, dtype=np.float64)
        controls = np.asarray(controls, dtype=np.float64)
        moved = np.empty_like(states)
        with _warnings():
            if self.threads == 1 or len(states) == 1:
                self._advance_rows(self._scratch[0], states, controls, moved)
            else:
                self._share_out(states, controls, moved)
        return moved

    def _share_out(self, *arrays: np.ndarray) -> None:
        """`_advance_rows` on a thread for each part of the rows."""
        parts = [np.array_split(rows, self.threads) for rows in arrays]
        jobs = [
            self._pool.submit(self._advance_rows, *job)
            for job in zip(self._scratch, *parts, strict=True)
        ]
        for job in jobs:
            job.result()

    def _advance_rows(self, data, states, controls, moved) -> None:
        model, frames, control = self.model, self.frame_skip, data.ctrl
        for before, chosen, after in zip(states, controls, moved, strict=True):
            mujoco.mj_setState(model, data, before, _STATE)
            control[:] = chosen
            mujoco.mj_step(model, data, frames)  # lets go of Python's lock
            mujoco.mj_getState(model, data, after, _STATE)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads)


def load_model(model_file: str) -> mujoco.MjModel:
    """A model that comes with Gymnasium, e.g. "ant.xml"."""
    # By its place in the package: `gymnasium.envs.mujoco` itself wants imageio to be imported.
    with as_file(files("gymnasium") / "envs/mujoco/assets" / model_file) as path, _warnings():
        model = mujoco.MjModel.from_xml_path(str(path))
    # A robot is one island of constraints: looking for others takes a tenth of Ant's time and
    # changes no bit of the result.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    return model


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
    # An attribute of Gymnasium's half_cheetah.xml is going out of use: not the user's to mend.
    if "settotalmass" not in text:
        warnings.warn(f"MuJoCo: {text}", RuntimeWarning, stacklevel=2)
