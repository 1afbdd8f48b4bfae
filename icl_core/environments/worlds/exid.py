"""ExiD: lane changes on a motorway, started and timed as recorded (paper, App. C)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from icl_core.environments.lane_change_scene import FARTHEST_START, FRAME_RATE, read_scene
from icl_core.environments.world import Axis, EvaluationGrid, ExpectedSteps, World, stepped
from icl_core.errors import InputError
from icl_core.settings import setting

GYMNASIUM_ID = "icl/ExiD-v0"
TIME_STEP = 1 / FRAME_RATE  # seconds
FULL_SCALE = 10.0  # metres from the target line at which the reward has fallen to 0
VELOCITY_SCALE = 5.0  # m/s
ALIKE = 3  # starts that are looked at, for a distance may be that of several lane changes
LARGEST = float(np.finfo(np.float32).max)


class ExiD(World):
    """The agent sees d, the signed distance to the target lane's centre line in metres, and
    chooses a, its lateral velocity in m/s, without bounds.

    d > 0: the target lies to the left. a > 0: the vehicle moves to the right. So d grows by
    a / 25 a step, and closing in needs an a of the sign opposite to d's. Along the road the
    vehicle moves as the recorded one did; there are no others. The reward is 1 - |d| / 10
    after the move, never below 0, and an episode lasts as long as the recorded lane change.

    The state is (lane change, frame of it, lateral offset l); how d follows from it is said
    in `lane_change_scene`, for the perpendicular distance and for the authors'.
    """

    @dataclass(frozen=True)
    class Settings(World.Settings):
        """How the distance is measured."""

        distance: str = setting(
            "perpendicular",
            "perpendicular: straight across to the target line; authors: with their longitudinal "
            "part",
            choices=("perpendicular", "authors"),
        )

    title = "ExiD"
    recorded = True
    drawing = "icl_core.environments.pictures.exid"
    discount = 0.99
    threshold = 5.0
    horizon = 1000
    action_low = np.array([-np.inf], dtype=np.float32)
    action_high = -action_low
    observation_low = np.array([-np.inf], dtype=np.float32)
    observation_high = -observation_low
    state_size = 3
    true_constraint = None
    # Finer than the grid, coarse enough that demonstrations share their inputs.
    input_resolution = np.array([0.1 / FULL_SCALE, 0.05 / VELOCITY_SCALE])
    grid = EvaluationGrid(
        (
            Axis("distance d", np.linspace(-10, 10, 41) / FULL_SCALE, "m", FULL_SCALE),
            Axis(
                "lateral velocity v",
                np.linspace(-2.5, 2.5, 51) / VELOCITY_SCALE,
                "m/s",
                VELOCITY_SCALE,
            ),
        )
    )

    def __init__(self, settings: Settings | None = None, scene: str | os.PathLike | None = None):
        given = settings or self.Settings()
        super().__init__(given)
        if scene is None:
            raise InputError(
                "environment exid: expected a scene, the path of a file of lane changes, found "
                "none; name one, made with "
                "`snakemake --cores 2 results/paper/recordings/exid/scene.parquet`"
            )
        self.scene = read_scene(scene)
        self.distance = given.distance
        self.source = self.scene.source
        frames = self.scene.frames
        self._lateral = frames["lateral" if self.distance == "perpendicular" else "authors_lateral"]
        self._first = self.scene.offsets[:-1]
        self._steps = np.diff(self.scene.offsets) - 1  # of each lane change
        self._find_starts(scene)

    def _find_starts(self, path: str | os.PathLike) -> None:
        """The lane changes that start near enough, in order of recording."""
        near = np.abs(self.signed_distance(self._first, self._lateral[self._first]))
        usable = np.flatnonzero(near <= FARTHEST_START)
        if not len(usable):
            raise InputError(
                f"{path}: expected a lane change that starts within {FARTHEST_START:g} m of its "
                f"target, found {near.min():.1f} m as the nearest of {len(near)} by the "
                f"{self.distance} distance; use other recordings"
            )
        self._usable = usable
        _, self._begins, self._counts = np.unique(
            self.scene.recording[usable], return_index=True, return_counts=True
        )

    @cached_property
    def start_states(self) -> np.ndarray:
        """(n, 3) the start of every usable lane change."""
        lateral = self._lateral[self._first[self._usable]]
        return np.stack([self._usable, np.zeros(len(lateral)), lateral], axis=1)

    def initial_states(self, rng, n):
        """A recording, each as likely as the others, then one of its lane changes."""
        recording = rng.integers(len(self._counts), size=n)
        within = (rng.random(n) * self._counts[recording]).astype(np.int64)
        return self.start_states[self._begins[recording] + within]

    def step(self, states, actions, noise=None):
        change = states[:, 0].astype(np.int64)
        steps = self._steps[change]
        frame = np.minimum(states[:, 1].astype(np.int64) + 1, steps)
        lateral = states[:, 2] + TIME_STEP * np.asarray(actions, np.float64)[:, 0]
        next_states = np.empty((len(states), 3))
        next_states[:, 0], next_states[:, 1], next_states[:, 2] = change, frame, lateral
        distance = self.signed_distance(self._first[change] + frame, lateral)
        rewards = np.maximum(1 - np.abs(distance) / FULL_SCALE, 0).astype(np.float32)
        return next_states, rewards, frame == steps

    def off_start(self, observations):
        nearest = self._likely_starts(observations)[:, 0]
        return np.abs(observations - self.observe(nearest))

    def expected_steps(self, observations, actions) -> ExpectedSteps:
        """Which lane change it is says the first distance; all else follows from the actions."""
        n, steps = observations.shape[:2]
        starts = self._likely_starts(observations[:, 0])
        moves = TIME_STEP * actions[..., 0].astype(np.float64)
        found = []
        for case in range(starts.shape[1]):
            change, _, lateral = starts[:, case].T
            states = np.empty((n, steps, 3))
            states[..., 0], states[..., 1] = change[:, None], np.arange(steps)
            states[..., 2] = np.cumsum(np.column_stack([lateral, moves[:, :-1]]), axis=1)
            found.append(stepped(self, states, actions))
        return ExpectedSteps(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _likely_starts(self, first: np.ndarray) -> np.ndarray:
        """(n, k, 3) the starts whose distance is nearest to each of (n, 1), the nearest first."""
        apart = np.abs(first - self.observe(self.start_states)[:, 0])
        return self.start_states[np.argsort(apart, axis=1, kind="stable")[:, :ALIKE]]

    def observe(self, states):
        change = states[..., 0].astype(np.int64)
        if np.any((change < 0) | (change >= len(self.scene))):
            raise InputError(
                f"a state of exid is (lane change, frame, lateral offset): expected a lane change "
                f"from 0 to {len(self.scene) - 1}, found {change.min()} to {change.max()}; "
                "correct it"
            )
        frame = np.clip(states[..., 1].astype(np.int64), 0, self._steps[change])
        distance = self.signed_distance(self._first[change] + frame, states[..., 2])
        return np.clip(distance, -LARGEST, LARGEST)[..., None].astype(np.float32)

    def signed_distance(self, rows: np.ndarray, lateral: np.ndarray) -> np.ndarray:
        """d at rows of the scene's frames and lateral offsets, any equal shapes."""
        frames = self.scene.frames
        if self.distance == "perpendicular":
            return frames["distance"][rows] + frames["slope"][rows] * lateral
        length = np.hypot(frames["along"][rows], frames["across"][rows] + lateral)
        side = frames["side"][rows] + frames["side_slope"][rows] * lateral
        # The authors look for the target line up to 100 m away; not found counts as to the left.
        return np.where((side < 0) & (side >= -100), -length, length)

    def recorded_lateral(self, change: int) -> np.ndarray:
        """(steps + 1,) the recorded vehicle's lateral offsets, metres."""
        return self._lateral[self.scene.offsets[change] : self.scene.offsets[change + 1]]

    def recorded_actions(self, change: int) -> np.ndarray:
        """(steps, 1) float32: the recorded vehicle's lateral velocities, m/s."""
        return (np.diff(self.recorded_lateral(change)) / TIME_STEP).astype(np.float32)[:, None]

    def constraint_inputs(self, observations, actions):
        scaled = observations[..., 0] / FULL_SCALE, actions[..., 0] / VELOCITY_SCALE
        return np.stack(scaled, axis=-1).astype(np.float32)
